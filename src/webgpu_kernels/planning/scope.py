"""The names that expressions and templates see, from the request down to a pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

from webgpu_kernels.contract import LOGICAL_DTYPES, NIBBLE_DTYPES, SPLIT_WINDOW, wgsl_scalar
from webgpu_kernels.errors import EvaluationError, KernelError, RequestError, UnknownIdentifierError
from webgpu_kernels.language import FUNCTIONS, Value, host_value, make_f16_ok
from webgpu_kernels.planning.capabilities import MAX_GRID, Capabilities

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from webgpu_kernels.contract import Derived
    from webgpu_kernels.language import Expression
    from webgpu_kernels.planning.request import Request

Scope = dict[str, Value]

NAMESPACES = (
    "shapes, ranks, dtypes, logicalDtypes, tensorDtypes, present, attrs, args, tunables, device, derive, repeat"
)
_CONCRETE_SCALARS: dict[str, Value] = {dtype: wgsl_scalar(dtype) for dtype in LOGICAL_DTYPES}
_CONCRETE_DTYPES: dict[str, Value] = {dtype: dtype for dtype in LOGICAL_DTYPES}


def device_namespace(capabilities: Capabilities) -> dict[str, Value]:
    """Return what expressions see as ``device``.

    Args:
        capabilities: the device.

    Returns:
        features, wgslLanguageFeatures (each with a callable ``has``), limits and adapterInfo.

    Source: FORMAT, section 3.
    """
    return {
        "features": {"has": _membership(frozenset(capabilities.features))},
        "wgslLanguageFeatures": {"has": _membership(frozenset(capabilities.wgsl_language_features))},
        "limits": dict(capabilities.limits),
        "adapterInfo": {name: host_value(value) for name, value in capabilities.adapter_info.items()},
    }


def _membership(names: frozenset[str]) -> Callable[[Value], Value]:
    def has(name: Value) -> Value:
        return name in names

    return has


def request_scope(request: Request) -> Scope:
    """Build the scope that manifest-level expressions see before any derive.

    Args:
        request: the bound call, its outputs known or still empty.

    Returns:
        A new dictionary, values normalised for the expression language.

    Source: FORMAT, section 3.
    """
    manifest = request.manifest
    tensors = request.tensors
    bound = request.dtypes
    scope: Scope = dict(FUNCTIONS)
    scope["f16Ok"] = make_f16_ok("shader-f16" in request.capabilities.features)
    scope["device"] = device_namespace(request.capabilities)
    scope["dtypes"] = _CONCRETE_SCALARS | {variable: wgsl_scalar(dtype) for variable, dtype in bound.items()}
    scope["logicalDtypes"] = {**_CONCRETE_DTYPES, **bound}
    ports = {**manifest.inputs, **manifest.outputs}
    supplied = [(ports[name], spec) for name, spec in tensors.items()]
    scope["tensorDtypes"] = {port.semantic: port.storage or spec.dtype for port, spec in supplied}
    scope["shapes"] = {port.semantic: list(spec.shape) for port, spec in supplied}
    scope["ranks"] = {port.semantic: len(spec.shape) for port, spec in supplied}
    scope["present"] = _presence(request, tensors)
    scope["args"] = dict(request.args)
    scope["attrs"] = dict(request.attrs)
    scope["tunables"] = {**{name: tunable.default for name, tunable in manifest.tunables.items()}, **request.tunables}
    scope["derive"] = {}
    scope["DISPATCH_FOLD_WIDTH"] = MAX_GRID
    _extend(scope, manifest.extensions, request.capabilities)
    return scope


def _extend(scope: Scope, extensions: frozenset[str], capabilities: Capabilities) -> None:
    """Add what the manifest's extensions bring."""
    if "int4" in extensions:
        scope["dtypes"] = {**{dtype: wgsl_scalar(dtype) for dtype in NIBBLE_DTYPES}, **scope["dtypes"]}
        scope["logicalDtypes"] = {**{dtype: dtype for dtype in NIBBLE_DTYPES}, **scope["logicalDtypes"]}
    if "split" in extensions:
        scope[SPLIT_WINDOW] = window_bytes(capabilities)


def window_bytes(capabilities: Capabilities) -> int:
    """Return how much of a split tensor one window covers.

    Args:
        capabilities: the device.

    Returns:
        Bytes, a multiple of 256: of every offset alignment and of every element's size.

    Source: docs/format.md, "Extensions"; WebGPU, section 3.6.2.
    """
    limits = capabilities.limits
    return min(limits["maxStorageBufferBindingSize"], limits["maxBufferSize"]) // 256 * 256


def _presence(request: Request, tensors: Mapping[str, object]) -> dict[str, Value]:
    """A required output is present before its shape is known: that is when output shapes are evaluated."""
    manifest = request.manifest
    ports = {**manifest.inputs, **manifest.outputs}
    present: dict[str, Value] = {name: name in tensors or not port.optional for name, port in ports.items()}
    present.update({name: name in request.args for name in manifest.args})
    return present


def check_names(expression: Expression, scope: Scope, *, where: str) -> None:
    """Refuse an expression that names something unknown, before it is evaluated.

    Raises:
        UnknownIdentifierError: listing the unknown names and the namespaces there are.

    Source: FORMAT, section 3.
    """
    if expression.names <= scope.keys():
        return
    unknown = sorted(expression.names - scope.keys())
    raise UnknownIdentifierError(
        f"unknown identifier{'s' if len(unknown) > 1 else ''} {', '.join(unknown)}",
        where=f"{where} `{expression.source}`",
        hint=f"In scope are derived names, functions and {NAMESPACES}.",
    )


def evaluate_in(expression: Expression, scope: Scope, *, where: str) -> Value:
    """Evaluate after checking that every name is known; errors say ``where``."""
    check_names(expression, scope, where=where)
    return expression.evaluate(scope)


def derive_into(scope: Scope, derived: Iterable[Derived]) -> None:
    """Evaluate derives in order and add each to the scope, by name and under ``derive``.

    Args:
        scope: extended in place.
        derived: name and expression pairs; one may use the names before it.

    Raises:
        LanguageError: of the first derive that fails.

    Source: FORMAT, section 4.
    """
    namespace: dict[str, Value] = dict(scope["derive"])
    scope["derive"] = namespace
    for entry in derived:
        expression = entry.expression
        if not expression.names <= scope.keys():
            check_names(expression, scope, where=f"derive {entry.name}")
        value = host_value(expression.evaluate(scope))
        scope[entry.name] = namespace[entry.name] = value


def manifest_scope(request: Request) -> Scope:
    """Build the scope with every manifest-level derive evaluated.

    Args:
        request: the call with its outputs known.

    Returns:
        The scope that ``when`` and ``demoteWhen`` clauses see.

    Raises:
        RequestError: a derive fails; by the format that fails the whole call.

    Source: FORMAT, section 4, step 1.
    """
    scope = request_scope(request)
    try:
        derive_into(scope, request.manifest.derive)
    except (EvaluationError, KernelError) as error:
        raise RequestError(
            f"the contract cannot be evaluated for this call: {error}",
            where=request.manifest.op_id,
            got=describe_request(request),
        ) from error
    return scope


def describe_request(request: Request) -> str:
    """Return the request's tensors and attributes in one line."""
    tensors = [f"{name} {spec}" for name, spec in request.inputs.items()]
    attrs = [f"{name}={value!r}" for name, value in request.attrs.items()]
    return ", ".join(tensors + attrs)
