"""What a shader asks of a workgroup, read from its text: wgpu compiles one that asks too much, and the GPU may hang.

Only declarations are read: constants, aliases, structs, variables and ``@workgroup_size``. A type or a size
that this small reader does not understand counts as nothing: no shader is refused by mistake, and the compiler is next.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from webgpu_kernels.device.wgsl_constants import ConstantExpression, NotUnderstoodError
from webgpu_kernels.device.wgsl_declarations import TooLongError, enclosed, read_declarations, split
from webgpu_kernels.device.wgsl_text import Tokens, refused, strip_comments, tokenize
from webgpu_kernels.errors import LimitError, ShaderError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from webgpu_kernels.device.wgsl_declarations import Declarations
    from webgpu_kernels.planning.program import ProgramPass

_SCALARS: Final = {"f32": 4, "i32": 4, "u32": 4, "bool": 4, "f16": 2}
_SUFFIXES: Final = {"f": "f32", "i": "i32", "u": "u32", "h": "f16"}
_VECTOR: Final = re.compile(r"vec([234])([fiuh])?")
_MATRIX: Final = re.compile(r"mat([234])x([234])([fh])?")
_MAX_DEPTH: Final = 32
MAX_VARIABLE_BYTES: Final = 8192
"""Bytes of all private variables of a shader, and of the variables of each function (WGSL, section 2.4)."""
_STORAGE_ALIGNMENT: Final = 16
_TOO_LONG: Final = "its declarations are longer than this library reads"
_SIZE_LIMITS: Final = ("maxComputeWorkgroupSizeX", "maxComputeWorkgroupSizeY", "maxComputeWorkgroupSizeZ")


class WorkgroupNeeds(NamedTuple):
    """What one workgroup of a shader takes.

    Attributes:
        storage_bytes: workgroup memory in bytes, each variable rounded up to 16.
        size: threads along x, y, z.
    """

    storage_bytes: int
    size: tuple[int, int, int]

    @property
    def invocations(self) -> int:
        """Threads of a workgroup."""
        return self.size[0] * self.size[1] * self.size[2]


class _Layout(NamedTuple):
    size: int
    align: int


def workgroup_needs(wgsl: str) -> WorkgroupNeeds:
    """Read what a workgroup of a shader takes.

    Args:
        wgsl: the complete shader text; its entry point is the one with ``@workgroup_size``.

    Returns:
        Bytes of the workgroup variables that the text uses, and the workgroup's size.

    Raises:
        ShaderError: its declarations are longer than anybody writes them.

    Source: WGSL, sections 14.3.1 "Workgroup size" and 14.4.1 "Alignment and size"; WebGPU, section 10.2.
    """
    try:
        return _needs(tokenize(wgsl))
    except TooLongError as error:
        raise ShaderError(f"the shader is refused: {_TOO_LONG}", wgsl=wgsl) from error


def _needs(tokens: Tokens) -> WorkgroupNeeds:
    declarations = read_declarations(tokens)
    reader = _Reader(declarations)
    used = [kind for name, kind in declarations.workgroup.items() if declarations.uses[name] > 1]
    total = sum(_round_up(reader.bytes_of(kind), _STORAGE_ALIGNMENT) for kind in used)
    axes = [reader.axis(tokens) for tokens in declarations.size[:3]]
    x, y, z = (*axes, 1, 1, 1)[:3]
    return WorkgroupNeeds(storage_bytes=total, size=(x, y, z))


def check_workgroup(wgsl: str, limits: Mapping[str, int], *, where: str) -> WorkgroupNeeds:
    """Refuse a shader whose workgroup takes more than a device has.

    Args:
        wgsl: the complete shader text.
        limits: the device's limits under WebGPU's names.
        where: operator, variant and pass, for the message.

    Returns:
        What the shader needs.

    Raises:
        LimitError: names the limit, what was asked and what there is.
        ShaderError: its declarations are longer than anybody writes them.

    Source: WebGPU, section 10.2 "GPUComputePipeline"; GPU_NOTES, "Traps".
    """
    try:
        needs = workgroup_needs(wgsl)
    except ShaderError as error:
        error.where = where
        raise
    asked = {"maxComputeWorkgroupStorageSize": needs.storage_bytes, **dict(zip(_SIZE_LIMITS, needs.size, strict=True))}
    asked["maxComputeInvocationsPerWorkgroup"] = needs.invocations
    for limit, amount in asked.items():
        if amount > limits[limit]:
            what = "bytes of workgroup memory" if "Storage" in limit else "threads in a workgroup"
            raise LimitError(
                f"the shader takes too many {what}", limit=limit, asked=amount, available=limits[limit], where=where
            )
    return needs


def check_memory(program_pass: ProgramPass, *, where: str) -> None:
    """Refuse a shader whose variables take more than WGSL allows: drivers end the process over large ones.

    Args:
        program_pass: the pass whose shader it is.
        where: operator and variant, for the message.

    Raises:
        ShaderError: names the variable that is too much, its line, what all take together and the bound.

    Source: WGSL, section 2.4 "Limits".
    """
    try:
        groups = _variables(tokenize(program_pass.wgsl))
    except TooLongError as error:
        raise refused(_TOO_LONG, program_pass, None, where=where) from error
    for what, sizes in groups:
        total = sum(size for size, _ in sizes)
        if total > MAX_VARIABLE_BYTES:
            largest = max(sizes)[1]
            message = f"its variables take too much {what}: {total} bytes, WGSL allows {MAX_VARIABLE_BYTES}"
            raise refused(message, program_pass, _line_of(largest, program_pass.wgsl), where=where)


def _variables(tokens: Tokens) -> list[tuple[str, list[tuple[int, str]]]]:
    """Return the private variables and those of each function, each with its bytes."""
    declarations = read_declarations(tokens)
    reader = _Reader(declarations)
    used = [(name, kind) for name, kind in declarations.private.items() if declarations.uses[name] > 1]
    groups = [("private memory", used)]
    groups += [(f"memory in the function {name}", variables) for name, variables in declarations.functions]
    return [(what, [(reader.bytes_of(kind), name) for name, kind in variables]) for what, variables in groups]


def _line_of(variable: str, wgsl: str) -> int | None:
    text = strip_comments(wgsl)
    found = re.search(rf"\bvar\s*(?:<[^>]*>)?\s*{variable}\b", text)
    return text.count("\n", 0, found.end()) + 1 if found else None


def _round_up(value: int, multiple: int) -> int:
    return -(-value // multiple) * multiple


class _Reader:
    """Sizes of types and values of constant expressions, in the scope of a shader's declarations."""

    def __init__(self, declarations: Declarations) -> None:
        self._known = declarations
        self._structs: dict[str, _Layout] = {}
        self._values: dict[str, int] = {}

    def bytes_of(self, kind: Tokens) -> int:
        try:
            return self._layout(kind, 0).size
        except NotUnderstoodError:
            return 0

    def axis(self, tokens: Tokens) -> int:
        try:
            return self._value(tokens, 0)
        except NotUnderstoodError:
            return 1

    def _layout(self, kind: Tokens, depth: int) -> _Layout:
        if not kind or depth > _MAX_DEPTH:
            raise NotUnderstoodError
        self._known.spend(len(kind))
        name, arguments = kind[0], tuple(split(enclosed(kind[1:]), ",")) if len(kind) > 1 else ()
        if name in _SCALARS:
            return _Layout(_SCALARS[name], _SCALARS[name])
        if name == "atomic" and arguments:
            return self._layout(arguments[0], depth + 1)
        if name == "array" and len(arguments) == 2:
            return self._array(self._layout(arguments[0], depth + 1), self._value(arguments[1], depth + 1))
        if name in self._known.aliases:
            return self._layout(self._known.aliases[name], depth + 1)
        if name in self._known.structs:
            if name not in self._structs:  # without a memory, structs of structs would take exponential time
                self._structs[name] = self._struct(self._known.structs[name], depth + 1)
            return self._structs[name]
        return self._vector_or_matrix(name, arguments, depth)

    def _vector_or_matrix(self, name: str, arguments: Sequence[Tokens], depth: int) -> _Layout:
        vector, matrix = _VECTOR.fullmatch(name), _MATRIX.fullmatch(name)
        found = vector or matrix
        if found is None:
            raise NotUnderstoodError
        suffix = found.groups()[-1]
        element = (_SUFFIXES[suffix],) if suffix else arguments[0] if arguments else ()
        scalar = self._layout(element, depth + 1).size
        if vector is not None:
            return _vector(int(vector[1]), scalar)
        return self._array(_vector(int(found[2]), scalar), int(found[1]))

    @staticmethod
    def _array(element: _Layout, count: int) -> _Layout:
        return _Layout(_round_up(element.size, element.align) * max(0, count), element.align)

    def _struct(self, body: Tokens, depth: int) -> _Layout:
        self._known.spend(len(body))
        size, align = 0, 1
        for member in split(body, ","):
            if ":" not in member or "@" in member:
                raise NotUnderstoodError
            layout = self._layout(member[member.index(":") + 1 :], depth)
            size = _round_up(size, layout.align) + layout.size
            align = max(align, layout.align)
        return _Layout(_round_up(size, align), align)

    def _value(self, tokens: Tokens, depth: int) -> int:
        if depth > _MAX_DEPTH:
            raise NotUnderstoodError
        self._known.spend(len(tokens))
        return ConstantExpression(tokens, lambda name: self._constant(name, depth + 1)).value()

    def _constant(self, name: str, depth: int) -> int:
        if name not in self._known.constants:
            raise NotUnderstoodError
        if name not in self._values:
            self._values[name] = self._value(self._known.constants[name], depth)
        return self._values[name]


def _vector(width: int, scalar: int) -> _Layout:
    return _Layout(width * scalar, (2 if width == 2 else 4) * scalar)
