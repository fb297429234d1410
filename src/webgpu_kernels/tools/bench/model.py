"""The cases of bench.json as plain values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webgpu_kernels.language import Expression
    from webgpu_kernels.tools.calls import CallDescription
    from webgpu_kernels.tools.suites.model import Data, Tolerance


class Traffic(NamedTuple):
    """What a call moves and computes, as formulas over the contract's names; None where nobody says.

    Attributes:
        read: bytes that it has to read.
        written: bytes that it has to write.
        operations: arithmetic operations.
    """

    read: Expression | None = None
    written: Expression | None = None
    operations: Expression | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchCase:
    """One case.

    Attributes:
        name: unique in its suite.
        call: tensors and options.
        inputs: input to what it holds; others hold random numbers.
        tolerances: output to how exact it has to be; others as ``checking`` says.
        traffic: what it moves.
        description: which model, and where in it.
    """

    name: str
    call: CallDescription
    inputs: Mapping[str, Data] = field(default_factory=dict)
    tolerances: Mapping[str, Tolerance] = field(default_factory=dict)
    traffic: Traffic = field(default_factory=Traffic)
    description: str = ""
