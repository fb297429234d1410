"""The results of a run as plain values; each member's JSON name is the attribute's in camel case."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webgpu_kernels.tools.engines import DeviceCensus

FORMAT: Final = "webgpu-kernels-results"
VERSION: Final = 1

Kind: TypeAlias = Literal["test", "bench", "both"]
Outcome: TypeAlias = Literal["passed", "failed", "skipped", "error"]
Clock: TypeAlias = Literal["gpu", "wall"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
OUTCOMES: Final[tuple[Outcome, ...]] = get_args(Outcome)
CLOCKS: Final[tuple[Clock, ...]] = get_args(Clock)
Number: TypeAlias = "int | float"
"""An element of an array, or what is computed of elements; NaN and infinities are allowed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """The computer.

    Attributes:
        system: operating system and version.
        processor: its name, or its architecture where nobody says more.
        cores: how many logical ones there are.
        python: the interpreter's version.
    """

    system: str
    processor: str
    cores: int
    python: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultDevice:
    """The device and what it can do.

    Attributes:
        census: what it is.
        features: WebGPU's names, sorted.
        limits: WebGPU's names to numbers.
    """

    census: DeviceCensus
    features: tuple[str, ...] = ()
    limits: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantFacts:
    """One variant of a package.

    Attributes:
        id: its id.
        description: a sentence, or None.
        priority: as the manifest has it.
    """

    id: str
    description: str | None = None
    priority: Number = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageFacts:
    """One package that was run.

    Attributes:
        op_id: the operator.
        source: what was typed.
        id: of its metadata, or None.
        version: of its metadata, or None.
        revision: the Hub's commit, or None.
        digest: SHA-256 over the digests of its files, 64 hexadecimal digits.
        variants: in the manifest's order.
    """

    op_id: str
    source: str
    id: str | None = None
    version: int | None = None
    revision: str | None = None
    digest: str = ""
    variants: tuple[VariantFacts, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Worst:
    """The element that is farthest beyond what is allowed, or nearest to it.

    Attributes:
        output: its tensor.
        index: where, one number an axis; empty for a scalar.
        got: what the kernel gave.
        expected: what the reference gives.
        difference: the distance of the two; NaN where it means nothing.
        allowed: the greatest distance that passes.
    """

    output: str
    index: tuple[int, ...]
    got: Number
    expected: Number
    difference: Number
    allowed: Number


@dataclass(frozen=True, slots=True, kw_only=True)
class TestResult:
    """One case on one variant.

    Attributes:
        package: the operator.
        case: the case's name.
        request: tensors and attributes in one line.
        variant: its id; empty where the case ended before variants mattered.
        chosen: whether it is the one that a call takes.
        outcome: ``passed``, ``failed`` (a wrong result), ``error`` (it could not be run) or ``skipped``.
        reason: what is wrong, or why it was skipped; None where it passed.
        error_of_allowed: the greatest error as a part of what is allowed; up to 1 passes, None where nothing compares.
        worst: where that is, or None.
        seconds: wall time.
    """

    __test__ = False  # pytest must not take it for a test

    package: str
    case: str
    request: str
    variant: str
    chosen: bool
    outcome: Outcome
    reason: str | None = None
    error_of_allowed: Number | None = None
    worst: Worst | None = None
    seconds: Number = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyTime:
    """How long a copy that moves the case's bytes takes on the same device in the same run.

    Attributes:
        median_us: microseconds.
        spread_us: the half width of the middle half of the runs, in microseconds.
        gb_per_s: 10**9 bytes read and written a second.
    """

    median_us: Number
    spread_us: Number
    gb_per_s: Number


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantTime:
    """How long a variant takes.

    Attributes:
        median_us: microseconds, or None where it did not run.
        spread_us: the half width of the middle half of the runs, in microseconds, or None.
        runs_us: every run.
        gb_per_s: 10**9 bytes read and written a second, or None.
        of_copy: that as a part of the copy's speed, or None.
        note: why not to trust it, or None.
        error: why it did not run, or None.
    """

    median_us: Number | None = None
    spread_us: Number | None = None
    runs_us: tuple[Number, ...] = ()
    gb_per_s: Number | None = None
    of_copy: Number | None = None
    note: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerTime:
    """How long another implementation takes.

    Attributes:
        version: of the implementation.
        device: where it ran.
        clock: how it was timed.
        median_us: microseconds, or None where it did not run.
        spread_us: the half width of the middle half of the runs, in microseconds, or None.
        error_of_allowed: its greatest error as a part of what is allowed, or None where nothing was compared.
        counted: whether it computes the same.
        note: a remark, or None.
    """

    version: str
    device: str
    clock: Clock
    median_us: Number | None = None
    spread_us: Number | None = None
    error_of_allowed: Number | None = None
    counted: bool = True
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchResult:
    """One measured case.

    Attributes:
        package: the operator.
        case: the case's name.
        request: tensors and attributes in one line.
        bytes_read: bytes that it has to read.
        bytes_written: bytes that it has to write.
        operations: arithmetic operations, or None where nobody says.
        clock: how it was timed.
        copy: what a copy of as many bytes takes, or None.
        chosen: the variant that a call takes, or None.
        variants: id to time.
        peers: name to time.
    """

    package: str
    case: str
    request: str
    bytes_read: int
    bytes_written: int
    operations: Number | None = None
    clock: Clock
    copy: CopyTime | None = None
    chosen: str | None = None
    variants: Mapping[str, VariantTime] = field(default_factory=dict)
    peers: Mapping[str, PeerTime] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedBench:
    """A case of bench.json that was not measured.

    Attributes:
        package: the operator.
        case: the case's name.
        reason: why.
        fault: whether the package is at fault, not the device.
    """

    package: str
    case: str
    reason: str
    fault: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResults:
    """Everything that one run found.

    Attributes:
        kind: what it did.
        created: when, in UTC, such as ``2026-11-30T05:00:00Z``.
        command: what was typed.
        machine: the computer.
        versions: library to version.
        device: the device.
        packages: those that were run.
        tests: the cases of test.json.
        benches: the cases of bench.json.
        skipped: those of them that were not measured.
    """

    kind: Kind
    created: str
    command: str
    machine: Machine
    versions: Mapping[str, str]
    device: ResultDevice
    packages: tuple[PackageFacts, ...] = ()
    tests: tuple[TestResult, ...] = ()
    benches: tuple[BenchResult, ...] = ()
    skipped: tuple[SkippedBench, ...] = ()

    def count(self, outcome: Outcome) -> int:
        """Return how many tests ended so."""
        return sum(test.outcome == outcome for test in self.tests)
