"""The cases of test.json as plain values."""

from __future__ import annotations

from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, Protocol, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from webgpu_kernels.tools.calls import CallDescription

Distribution: TypeAlias = Literal["normal", "uniform", "integers"]
SkipCategory: TypeAlias = Literal["permanent", "todo"]
Element: TypeAlias = "int | float | bool"

SKIP_CATEGORIES: Final[tuple[SkipCategory, ...]] = ("permanent", "todo")
DISTRIBUTIONS: Final[tuple[Distribution, ...]] = ("normal", "uniform", "integers")
MAX_ELEMENTS: Final = 2**28
"""Elements of one tensor of a suite: what is larger is a mistake, or means harm."""


@dataclass(frozen=True, slots=True)
class Values:
    """Elements as they are listed, row-major."""

    values: tuple[Element, ...]


@dataclass(frozen=True, slots=True)
class Fill:
    """Every element alike."""

    value: Element


@dataclass(frozen=True, slots=True)
class Range:
    """Element i is ``start + step * (i mod modulo)``, or ``start + step * i`` without a modulo."""

    start: int | float
    step: int | float
    modulo: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Random:
    """Numbers that look drawn and are the same everywhere; ``generators`` says how they are made.

    Attributes:
        seed: which ones.
        distribution: how they are spread; None for normal floats, and integers of the dtype's whole range.
        mean: of ``normal``.
        std: of ``normal``.
        low: the least of ``uniform`` and ``integers``, None for the default.
        high: the bound of ``uniform``, which is not reached, and the greatest of ``integers``; None for the default.
        outlier_every: each element whose index plus 1 is a multiple of it is an outlier; 0 for none.
        outlier_scale: what outliers are multiplied by.
    """

    seed: int
    distribution: Distribution | None = None
    mean: float = 0.0
    std: float = 1.0
    low: int | float | None = None
    high: int | float | None = None
    outlier_every: int = 0
    outlier_scale: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FillFloat32:
    """Element i is ``scale * (sin(i * sin_step) + cos(i * cos_step))``, rounded to float32 and then to the dtype."""

    sin_step: float
    cos_step: float
    scale: float = 1.0


Data: TypeAlias = "Values | Fill | Range | Random | FillFloat32"


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far a result may be from the reference: ``|y - ref| <= atol + rtol * |ref|``."""

    atol: float = 0.0
    rtol: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseOutput:
    """What a case expects of an output.

    Attributes:
        dtype: its logical dtype, None for whatever the contract gives.
        shape: its shape, or None likewise.
        data: its values, None to ask the package's reference.
        tolerance: how exact it has to be.
        allow_nan: whether a NaN is right where the reference has one.
    """

    dtype: str | None = None
    shape: tuple[int, ...] | None = None
    data: Data | None = None
    tolerance: Tolerance = field(default_factory=Tolerance)
    allow_nan: bool = False


@dataclass(frozen=True, slots=True)
class ExpectedError:
    """The error that a case expects.

    Attributes:
        kind: a class of ``webgpu_kernels.errors``; its subclasses will do.
        message: text that must occur in the message.
    """

    kind: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class SkipGpu:
    """Why a case is not for GPUs."""

    category: SkipCategory
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One case.

    Attributes:
        name: unique in its suite.
        call: tensors and options.
        inputs: input to what it holds; an input of a case that expects an error may be missing and holds zeros then.
        outputs: output to what is expected of it.
        variant: the id that a call must take, or None.
        force: the only variants to run it on; empty for all that accept it.
        error: what it expects instead of outputs, or None.
        skip_gpu: why it is skipped, or None.
        description: what it is for.
        provenance: where it comes from.
    """

    name: str
    call: CallDescription
    inputs: Mapping[str, Data]
    outputs: Mapping[str, CaseOutput]
    variant: str | None = None
    force: tuple[str, ...] = ()
    error: ExpectedError | None = None
    skip_gpu: SkipGpu | None = None
    description: str = ""
    provenance: Mapping[str, Any] = field(default_factory=dict)


class Named(Protocol):
    """What has a name: a case of test.json or bench.json."""

    @property
    def name(self) -> str:
        """Unique in its suite."""


NamedCase = TypeVar("NamedCase", bound=Named)


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite(Generic[NamedCase]):
    """The cases of one package's test.json or bench.json.

    Attributes:
        where: the package, for messages.
        cases: in the file's order.
    """

    where: str
    cases: tuple[NamedCase, ...]

    def matching(self, patterns: Sequence[str]) -> tuple[NamedCase, ...]:
        """Return the cases whose name one of some shell patterns matches; all cases where there are none."""
        return tuple(
            case for case in self.cases if not patterns or any(fnmatchcase(case.name, pattern) for pattern in patterns)
        )
