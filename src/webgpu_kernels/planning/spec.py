"""A tensor as the contract sees it: shape, dtype and how the device stores it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from webgpu_kernels.contract import DTYPES, LOGICAL_DTYPES, NIBBLE_DTYPES
from webgpu_kernels.errors import DtypeError, ShapeError

_NEAREST = {
    "float64": ("float32", "float16"),
    "uint64": ("int64", "uint32", "int32"),
    "uint16": ("uint32", "int32", "int64"),
}
"""What numpy's dtypes that no port can have are converted to, the nearest first."""


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """Shape and dtype of a tensor that need not exist.

    Args:
        shape: dimensions, row-major, non-negative.
        dtype: a logical dtype: a name such as ``"float16"``, a numpy dtype or scalar type.
        layout: ``"packed"`` for four uint8 values a word, else None; int4 and uint4 always lie eight to a word.
        storage: storage dtype on the device where it differs from the logical one (a projected int64), else None.

    Raises:
        ShapeError: a dimension that is not a non-negative integer.
        DtypeError: a dtype that no port can have.

    Source: FORMAT, sections 2 and 9.
    """

    shape: tuple[int, ...]
    dtype: str
    layout: str | None = None
    storage: str | None = None
    _hash: int = field(init=False, repr=False, compare=False, default=0)

    def __post_init__(self) -> None:
        """Normalise what numpy and JSON may give."""
        object.__setattr__(self, "shape", _dimensions(self.shape))
        object.__setattr__(self, "dtype", logical_dtype(self.dtype))
        if self.dtype in NIBBLE_DTYPES and self.layout == "packed":
            object.__setattr__(self, "layout", None)
        object.__setattr__(self, "_hash", hash((self.shape, self.dtype, self.layout, self.storage)))

    def __hash__(self) -> int:
        """Return what was worked out once: every call looks its plan up by the specs of its tensors."""
        return self._hash

    def __reduce__(self) -> tuple[object, ...]:
        """Rebuild from the parts: hashes of strings differ from process to process."""
        return (TensorSpec, (self.shape, self.dtype, self.layout, self.storage))

    @property
    def size(self) -> int:
        """Number of elements; 1 for a scalar."""
        count = 1
        for dimension in self.shape:
            count *= dimension
        return count

    def __str__(self) -> str:
        """Return ``float16[2, 64, 64, 320]``."""
        suffix = "".join(f" {mark}" for mark in (self.layout, self.storage and f"stored as {self.storage}") if mark)
        return f"{self.dtype}{list(self.shape)}{suffix}"


def logical_dtype(dtype: object, *, where: str | None = None, allowed: Sequence[str] = LOGICAL_DTYPES) -> str:
    """Return the logical dtype's name of a name, a numpy dtype or a numpy scalar type.

    Args:
        dtype: what the caller gave.
        where: the port or array concerned, for the message.
        allowed: the dtypes that the message lists.

    Returns:
        One of the format's logical dtypes.

    Raises:
        DtypeError: not one of them; the message says how to convert.

    Source: FORMAT, section 9.
    """
    name = getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or str(dtype)
    if name in DTYPES:
        return str(name)
    raise DtypeError(
        "unsupported dtype",
        where=where,
        expected=f"one of {', '.join(allowed)}",
        got=name,
        hint=_remedy(str(name), allowed),
    )


def _remedy(name: str, allowed: Sequence[str]) -> str | None:
    if name == "object":
        return "Give a numeric array; object arrays hold Python references."
    if name not in _NEAREST:
        return None
    nearest = next((dtype for dtype in _NEAREST[name] if dtype in allowed), allowed[0])
    view = ", or view float16 bits with array.view('float16')" if name == "uint16" and "float16" in allowed else ""
    return f"Convert with array.astype('{nearest}'){view}."


def _dimensions(shape: object) -> tuple[int, ...]:
    if isinstance(shape, str) or not isinstance(shape, Iterable):
        raise ShapeError("a shape is a sequence of dimensions", got=repr(shape))
    return tuple(_dimension(entry, shape) for entry in shape)


def _dimension(entry: object, shape: object) -> int:
    index = getattr(entry, "__index__", None)
    if index is None or isinstance(entry, bool) or index() < 0:
        raise ShapeError("dimensions are non-negative integers", got=repr(shape))
    return int(index())
