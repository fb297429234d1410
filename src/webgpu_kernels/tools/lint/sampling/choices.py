"""Values to try for what a call chooses: attributes, arguments, dtypes, sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from webgpu_kernels.contract import UNSET
from webgpu_kernels.language.syntax import Chain, ListOf, Literal, Unary
from webgpu_kernels.tools.lint.trees import dotted, nodes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from webgpu_kernels.contract import Attribute, Manifest, ScalarArg

ABSENT: Final = object()
"""The choice to leave an attribute or argument out."""
MAX_VALUES: Final = 12
SIZES: Final = (1, 2, 3, 4, 5, 7, 8, 16, 31, 32, 33, 64, 96, 100, 128, 255, 256, 320, 512, 640, 1000, 1024, 1280, 4096)
SHAPES: Final[tuple[tuple[int, ...], ...]] = (
    (8,), (1,), (7,), (64,), (1000,), (4096,), (65537,), (1048576,), (0,),
    (4, 8), (3, 5), (1, 1), (2, 7), (16, 64), (33, 320), (128, 1024), (70000, 4), (4, 70000), (0, 4),
    (2, 4, 8), (1, 3, 5), (2, 16, 64), (3, 7, 33), (1, 128, 320), (1, 70000, 4),
    (1, 4, 4, 8), (2, 3, 5, 7), (1, 1, 1, 1), (2, 64, 64, 320), (2, 32, 32, 640), (1, 8, 8, 32), (2, 32, 8, 8),
    (2, 320, 64, 64), (1, 128, 256, 256), (1, 256, 256, 128), (1, 7, 9, 96), (2, 1280, 16, 16), (2, 16, 16, 1280),
    (0, 4, 4, 8),
    (2, 3, 4, 5, 8), (1, 2, 8, 8, 32), (1, 2, 3, 1, 5, 3, 1), (),
)  # fmt: skip
"""Shapes to begin with: small, odd, whole vectors, of real models, long, empty."""


class Choices(NamedTuple):
    """What may be chosen.

    Attributes:
        attrs: attribute name to values; the first is the plainest.
        args: argument name to values.
        dtypes: type variable to dtypes.
        inputs: optional inputs.
        outputs: optional outputs.
        sizes: sizes of an axis: the usual ones, and numbers that stand in the formulas.
    """

    attrs: dict[str, tuple[Any, ...]]
    args: dict[str, tuple[Any, ...]]
    dtypes: dict[str, tuple[str, ...]]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    sizes: tuple[int, ...]


def choices(manifest: Manifest, trees: Iterable[object]) -> Choices:
    """Gather what a call of a contract may choose.

    Args:
        manifest: the contract.
        trees: syntax trees of its formulas: the values that they compare with are worth a try.

    Returns:
        The choices.
    """
    compared: dict[str, list[Any]] = {}
    numbers: set[int] = set()
    for tree in trees:
        for node, _ in nodes(tree):
            if isinstance(node, Chain):
                _take_compared(node, compared)
            if isinstance(node, Literal) and type(node.value) is int and 1 < node.value <= 8192:
                numbers.add(node.value)
    return Choices(
        attrs={name: _attribute_values(each, compared) for name, each in manifest.attributes.items()},
        args={name: _argument_values(each, compared) for name, each in manifest.args.items()},
        dtypes=dict(manifest.type_constraints),
        inputs=tuple(name for name, port in manifest.inputs.items() if port.optional),
        outputs=tuple(name for name, port in manifest.outputs.items() if port.optional),
        sizes=(*SIZES, *sorted(numbers - set(SIZES))[:24]),
    )


def _take_compared(node: Chain, compared: dict[str, list[Any]]) -> None:
    operands = [node.first, *(operand for _, operand in node.rest)]
    if not all(operator in {"==", "!=", "<", "<=", ">", ">=", "in", "not in"} for operator, _ in node.rest):
        return
    values = [value for operand in operands for value in _literals(operand)]
    if node.rest[0][0] in {"<", "<=", ">", ">="}:
        values += [value + 1 for value in values if type(value) is int]
    for operand in operands:
        path = dotted(operand)
        if path.startswith(("attrs.", "args.")):
            compared.setdefault(path, []).extend(values[:MAX_VALUES])


def _literals(node: object) -> list[Any]:
    if isinstance(node, Literal) and isinstance(node.value, int | float | str):
        return [node.value]
    if isinstance(node, Unary) and node.operator == "-":
        return [-value for value in _literals(node.operand) if not isinstance(value, str)]
    return [value for item in node.items for value in _literals(item)] if isinstance(node, ListOf) else []


def _attribute_values(attribute: Attribute, compared: dict[str, list[Any]]) -> tuple[Any, ...]:
    default = attribute.default
    if attribute.values is not None:
        return _distinct([*(() if default is UNSET else (default,)), *attribute.values])
    found = compared.get(f"attrs.{attribute.name}", [])
    numbers = [each for each in found if not isinstance(each, str)]
    if default is UNSET or default is None:
        plain = [*found, *(() if len(numbers) < len(found) else (1, 2, 32, 4, 0, -1)), [0], [1]]
        absent = [] if attribute.required or default is None else [ABSENT]
        return _distinct([*plain[:2], *absent, *plain[2:]])
    return _distinct([default, *_beside(default, found, numbers)])


def _beside(default: object, found: list[Any], numbers: list[Any]) -> list[Any]:
    """Return values to try beside a default, of its kind."""
    if isinstance(default, str):
        return [each for each in found if isinstance(each, str)]
    if isinstance(default, list | tuple):
        return [[0], [1], [-1], [0, 1], [1, 1], []]
    if isinstance(default, float) and default != int(default):
        return []
    return [*numbers, *((0, 1, 2, 4, -1) if default in {0, 1} else (0, 1, 2, 4, 16, 32, -1))]


def _argument_values(argument: ScalarArg, compared: dict[str, list[Any]]) -> tuple[Any, ...]:
    found = compared.get(f"args.{argument.name}", [])
    plain: dict[str, list[Any]] = {
        "bool": [True, False],
        "string": list(argument.one_of or [each for each in found if isinstance(each, str)] or [""]),
        "f32": [1.0, 0.5],
        "u32": [1, 0, 2, 4, *(each for each in found if type(each) is int and each >= 0)],
        "i32": [1, 0, 2, -1, *(each for each in found if type(each) is int)],
    }
    return _distinct([*plain[argument.kind], *(() if argument.required else (ABSENT,))])


def _distinct(values: Iterable[Any]) -> tuple[Any, ...]:
    """Drop repetitions, by kind too: 1 and True are two choices, 1 and 1.0 one."""
    seen: dict[object, Any] = {}
    for value in values:
        seen.setdefault((isinstance(value, bool), repr(value) if isinstance(value, list) else value), value)
    return tuple(seen.values())[:MAX_VALUES]
