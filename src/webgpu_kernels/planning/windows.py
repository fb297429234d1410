"""Tensors larger than one binding may be: bound as consecutive windows, each at its own ``@binding``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from webgpu_kernels.errors import LanguageError, LimitError, PlanError
from webgpu_kernels.planning.scope import Scope, evaluate_in, window_bytes

if TYPE_CHECKING:
    from webgpu_kernels.contract import Binding
    from webgpu_kernels.language import Expression
    from webgpu_kernels.planning.bindings import PlannedBinding
    from webgpu_kernels.planning.request import Request


def cut(size_bytes: int, window: int) -> tuple[tuple[int, int], ...]:
    """Cut a tensor into windows.

    Args:
        size_bytes: the tensor's bytes, positive.
        window: bytes of every window but the last, positive.

    Returns:
        (offset, size) of each in bytes: every byte lies in exactly one of them.

    Source: docs/format.md, "Extensions".
    """
    return tuple((start, min(window, size_bytes - start)) for start in range(0, size_bytes, window))


def split_binding(
    binding: Binding, whole: PlannedBinding, scope: Scope, request: Request, *, size_bytes: int, where: str
) -> tuple[PlannedBinding, ...]:
    """Return what one declared binding binds: the whole of its buffer, or windows of it.

    Args:
        binding: its declaration.
        whole: the binding as it would be without ``split``.
        scope: the pass's scope.
        request: the bound call, for the device's limits.
        size_bytes: bytes of the tensor.
        where: operator, variant and pass, for messages.

    Returns:
        One binding, or as many as ``split`` says, called ``<name>0``, ``<name>1``, …

    Raises:
        PlanError: ``split`` is no positive integer, or not the number of windows that cover the tensor.
        LimitError: more windows than a bind group holds.

    Source: docs/format.md, "Extensions".
    """
    if binding.split is None:
        return (whole,)
    path = f"{where}: binding {binding.name!r}"
    _check_parts(_parts(binding.split, scope, path), size_bytes, request, path)
    windows = cut(size_bytes, window_bytes(request.capabilities))
    if windows[-1][1] < whole.min_bytes:
        raise PlanError(
            "the last window is too small for its type",
            where=path,
            expected=f"{whole.min_bytes} bytes for array<{whole.element_type}>",
            got=f"{windows[-1][1]} bytes",
        )
    return tuple(
        replace(whole, name=f"{binding.name}{index}", offset_bytes=offset, size_bytes=size)
        for index, (offset, size) in enumerate(windows)
    )


def _parts(split: Expression, scope: Scope, path: str) -> int:
    try:
        value = evaluate_in(split, scope, where=f"{path}: split")
    except LanguageError as error:
        raise PlanError(f"'split' fails: {error}", where=path) from error
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value // 1 or value < 1:
        raise PlanError("wrong number of windows", where=path, expected="a positive integer", got=repr(value))
    return int(value)


def _check_parts(parts: int, size_bytes: int, request: Request, path: str) -> None:
    window, limits = window_bytes(request.capabilities), request.capabilities.limits
    if window == 0:
        raise LimitError(
            "a window is too large",
            limit="maxStorageBufferBindingSize",
            asked=256,
            available=limits["maxStorageBufferBindingSize"],
            where=path,
        )
    needed = -(-size_bytes // window)
    if parts != needed:
        raise PlanError(
            f"too {'few' if parts < needed else 'many'} windows",
            where=path,
            expected=f"{needed} for {size_bytes} bytes, {window} in a window",
            got=str(parts),
        )
    # Windows are counted against maxStorageBuffersPerShaderStage with the pass's other bindings; this bounds the plan.
    if needed > limits["maxBindingsPerBindGroup"]:
        raise LimitError(
            "too many windows",
            limit="maxBindingsPerBindGroup",
            asked=needed,
            available=limits["maxBindingsPerBindGroup"],
            where=path,
        )


def check_variables(bindings: tuple[PlannedBinding, ...], where: str) -> None:
    """Refuse windows whose names meet another variable or struct of the shader.

    Args:
        bindings: a pass's bindings in order.
        where: operator, variant and pass, for the message.

    Raises:
        PlanError: naming the variable.

    Source: docs/format.md, "Extensions".
    """
    structs = {binding.struct.name for binding in bindings if binding.struct is not None}
    seen: set[str] = set()
    for binding in bindings:
        if binding.name in seen or binding.name in structs:
            raise PlanError(
                f"the shader gets two things called {binding.name!r}",
                where=where,
                hint="Windows are called by the binding's name and a number: set 'name' of one of them.",
            )
        seen.add(binding.name)
