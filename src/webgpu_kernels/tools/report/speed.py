"""What benchmarks say: how near to a copy's speed, whether the right variant was chosen, how others fare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from webgpu_kernels.tools.report.noise import Time, difference, sane, time_of
from webgpu_kernels.tools.report.text import change, duration, figure, named, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from webgpu_kernels.tools.report.runs import Run
    from webgpu_kernels.tools.results import BenchResult, PeerTime, VariantTime

Kind: TypeAlias = Literal["chosen", "faster", "other", "peer", "uncounted"]
Verdict: TypeAlias = Literal["best", "wrong", "noisy", "unknown"]

_MOST_BYTES: Final = 2**50
NOISY: Final = 0.1
"""A spread of more than this part of the median says little."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """A variant's or a peer's time.

    Attributes:
        name: the variant's id, or the peer with its version.
        kind: how it stands to the chosen one.
        time: median and spread, None where it did not run.
        speed: GB/s, None where it is not known.
        of_copy: that as a part of the copy's speed, None where it is not known.
        ratio: its time over the chosen one's, None where there is none.
        notes: remarks: why it did not run, why not to trust it, why it does not count.
    """

    name: str
    kind: Kind
    time: Time | None
    speed: float | None
    of_copy: float | None
    ratio: float | None
    notes: tuple[str, ...]

    @property
    def said(self) -> str:
        """The time in words, for a screen reader and a hovering pointer."""
        assert self.time is not None, "only what ran is drawn"
        words = f"{self.name}: {duration(self.time.median)} ± {duration(self.time.spread)}"
        if self.kind == "chosen":
            return f"{words}, chosen"
        return f"{words}, {change(self.ratio)} against the chosen one" if self.ratio else words


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """One benchmark of one run.

    Attributes:
        index: its place among all of the page.
        run: whose it is.
        package: the operator.
        case: the case's name.
        request: tensors and attributes.
        moved: bytes read and written.
        operations: arithmetic operations, or None.
        clock: what timed it.
        copy: what a copy takes, or None.
        copy_speed: the copy's GB/s, or None.
        variants: the fastest first, those that did not run last.
        peers: the fastest first, those that do not count or did not run last.
        verdict: whether the choice was right.
    """

    index: int
    run: Run
    package: str
    case: str
    request: str
    moved: int
    operations: float | None
    clock: Literal["gpu", "wall"]
    copy: Time | None
    copy_speed: float | None
    variants: tuple[Timing, ...]
    peers: tuple[Timing, ...]
    verdict: Verdict

    @property
    def id(self) -> str:
        """Its anchor in the page."""
        return f"b{self.index}"

    @property
    def chosen(self) -> Timing | None:
        """The variant that a call takes, where it ran."""
        return next((timing for timing in self.variants if timing.kind == "chosen" and timing.time), None)

    @property
    def better(self) -> Timing | None:
        """The fastest variant that beats the chosen one beyond the noise."""
        return next((timing for timing in self.variants if timing.kind == "faster"), None)

    @property
    def tags(self) -> tuple[str, ...]:
        """What filters find it by."""
        failed = any(not timing.time for timing in self.variants)
        return (self.verdict, *(("error",) if failed else ()), *(("wall",) if self.clock == "wall" else ()))


def benches_of(runs: Sequence[Run]) -> tuple[Bench, ...]:
    """Return every benchmark of every run, in the files' order.

    Args:
        runs: of the report.
    """
    pairs = [(run, bench) for run in runs for bench in run.results.benches]
    return tuple(_bench(index, run, bench) for index, (run, bench) in enumerate(pairs))


def _bench(index: int, run: Run, bench: BenchResult) -> Bench:
    best = bench.variants.get(bench.chosen) if bench.chosen is not None else None
    chosen = time_of(best.median_us, best.spread_us) if best else None
    moved = min(bench.bytes_read + bench.bytes_written, _MOST_BYTES)
    copy = time_of(bench.copy.median_us, bench.copy.spread_us) if bench.copy else None
    variants = sorted((_variant(name, time, bench, chosen) for name, time in bench.variants.items()), key=_order)
    peers = sorted((_peer(name, time, chosen) for name, time in bench.peers.items()), key=_order)
    return Bench(
        index=index,
        run=run,
        package=named(bench.package),
        case=named(bench.case),
        request=visible(bench.request),
        moved=moved,
        operations=sane(bench.operations),
        clock=bench.clock,
        copy=copy,
        copy_speed=sane(bench.copy.gb_per_s) if bench.copy else None,
        variants=tuple(variants),
        peers=tuple(peers),
        verdict=_verdict(chosen, variants),
    )


def _verdict(chosen: Time | None, variants: Sequence[Timing]) -> Verdict:
    if chosen is None:
        return "unknown"
    if any(timing.kind == "faster" for timing in variants):
        return "wrong"
    # Whether another one is faster cannot be told where noise hides what the medians say.
    hidden = any(timing.time and timing.ratio and timing.ratio < 1 and _noisy(timing.time) for timing in variants)
    return "noisy" if _noisy(chosen) or hidden else "best"


def _noisy(time: Time) -> bool:
    return time.spread > NOISY * time.median


def _is_faster(time: Time, chosen: Time) -> bool:
    return not _noisy(time) and not _noisy(chosen) and difference(time, chosen) == "faster"


def _variant(name: str, found: VariantTime, bench: BenchResult, chosen: Time | None) -> Timing:
    time = time_of(found.median_us, found.spread_us)
    kind: Kind = "chosen" if name == bench.chosen else "other"
    if kind == "other" and time and chosen and _is_faster(time, chosen):
        kind = "faster"
    return Timing(
        name=named(name),
        kind=kind,
        time=time,
        speed=sane(found.gb_per_s),
        of_copy=sane(found.of_copy),
        ratio=time.median / chosen.median if time and chosen else None,
        notes=tuple(visible(note) for note in (found.error, found.note) if note),
    )


def _peer(name: str, found: PeerTime, chosen: Time | None) -> Timing:
    time = time_of(found.median_us, found.spread_us)
    notes = [f"{found.device}, {'GPU time' if found.clock == 'gpu' else 'wall time'}"]
    notes += [found.note] if found.note else []
    if time and not found.counted:
        wrong = sane(found.error_of_allowed)
        notes += [f"its error is {figure(wrong)} times what is allowed" if wrong else "it computes something else"]
    return Timing(
        name=named(f"{name} {found.version}".strip()),
        kind="peer" if found.counted else "uncounted",
        time=time,
        speed=None,
        of_copy=None,
        ratio=time.median / chosen.median if time and chosen else None,
        notes=tuple(map(visible, notes)),
    )


def _order(timing: Timing) -> tuple[bool, bool, float]:
    return (timing.time is None, timing.kind == "uncounted", timing.time.median if timing.time else 0.0)
