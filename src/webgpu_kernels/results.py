"""Named results of a call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar

from webgpu_kernels.errors import UnknownNameError

T_co = TypeVar("T_co", covariant=True)


class Results(Mapping[str, T_co], Generic[T_co]):
    """A call's outputs by name: ``out["Y"]`` or ``out.Y``, in the contract's order.

    Args:
        values: output name to numpy array or GPU tensor.
        where: the operator, for messages.
    """

    __slots__ = ("_values", "_where")

    def __init__(self, values: Mapping[str, T_co], where: str) -> None:
        self._values = values if type(values) is dict else dict(values)
        self._where = where

    def __getitem__(self, name: str) -> T_co:
        """Return one output.

        Raises:
            UnknownNameError: the call did not compute it.
        """
        try:
            return self._values[name]
        except KeyError:
            raise UnknownNameError(
                f"no output {name!r}",
                where=self._where,
                expected=f"one of {', '.join(self._values)}",
                hint="Optional outputs are computed where outputs=[…] names them.",
            ) from None

    def __getattr__(self, name: str) -> T_co:
        """Return one output as an attribute."""
        values: dict[str, T_co] = object.__getattribute__(self, "_values")
        if name in values:
            return values[name]
        raise AttributeError(
            f"no output {name!r}; this call computed {', '.join(values)}", name=name, obj=self
        ) from None

    def __iter__(self) -> Iterator[str]:
        """Iterate over names in the contract's order."""
        return iter(self._values)

    def __len__(self) -> int:
        """Return how many outputs there are."""
        return len(self._values)

    def __dir__(self) -> list[str]:
        """List the outputs beside the methods."""
        return [*super().__dir__(), *self._values]

    def __repr__(self) -> str:
        """Return each output with shape and dtype."""
        parts = (
            f"{name}: {getattr(v, 'dtype', '?')}{list(getattr(v, 'shape', ()))}" for name, v in self._values.items()
        )
        return f"Results({', '.join(parts)})"


class Rendering(Results[str]):
    """The WGSL of each pass by pass id; ``str()`` gives all of it."""

    def __str__(self) -> str:
        """Return every shader under a comment that names its pass."""
        return "\n".join(f"// pass {name}\n{wgsl}" for name, wgsl in self.items())

    def __repr__(self) -> str:
        """Return each pass with the length of its shader."""
        return f"Rendering({', '.join(f'{name}: {wgsl.count(chr(10)) + 1} lines' for name, wgsl in self.items())})"
