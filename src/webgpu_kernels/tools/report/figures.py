"""Which plots the page has: of what, how wide, and what a screen reader says of each."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

from webgpu_kernels.tools.report.bars import Bar, bars
from webgpu_kernels.tools.report.scatter import ALARM, NARROW, WIDE, Point, roofline, strip
from webgpu_kernels.tools.report.text import TIMES, change, counted, duration, figure, share, short

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from webgpu_kernels.tools.report.comparing import Comparison
    from webgpu_kernels.tools.report.content import Content
    from webgpu_kernels.tools.report.look import Spec
    from webgpu_kernels.tools.report.speed import Bench

_SLOWER: Final = f"time now over the base's: right of 1{TIMES} it is slower"
_PER_OCTAVE: Final = 4
_WORDS: Final = {"slower": "slower", "same": "within the noise", "faster": "faster", "device": "as the copy"}
_LOOKS: Final = {
    "slower": (ALARM, "triangle-up"),
    "within the noise": ("var(--edge)", "circle"),
    "as the copy": ("var(--edge)", "square"),
    "faster": ("var(--chosen)", "triangle-down"),
}


class Figure(NamedTuple):
    """A plot to draw.

    Attributes:
        key: what the template asks for it by.
        spec: Vega-Lite.
        label: what a screen reader says.
    """

    key: str
    spec: Spec
    label: str


def figures_of(content: Content) -> tuple[Figure, ...]:
    """Return the plots of a page.

    Args:
        content: what the page says.

    Returns:
        Those that have anything to show; overviews in two widths, keys ending in ``-wide`` and ``-narrow``.
    """
    found: list[Figure] = []
    for run in content.runs:
        benches = content.benches_of(run)
        found += _roofs(f"roof-{run.index}", benches)
        found += _peers(f"peers-{run.index}", benches)
    found += [figure for comparison in content.comparisons for figure in _changes(comparison)]
    found += [figure for bench in content.benches for figure in _bars(bench)]
    return tuple(found)


def _roofs(key: str, benches: Sequence[Bench]) -> Iterator[Figure]:
    points = [
        Point(
            x=bench.moved,
            y=bench.chosen.speed,
            series=short(bench.package, 48),
            fill=ALARM if bench.better else None,
            target=bench.id,
            said=f"{bench.case}: {figure(bench.chosen.speed)} GB/s"
            + (f", {share(bench.chosen.of_copy)} of a copy" if bench.chosen.of_copy else ""),
        )
        for bench in benches
        if bench.chosen and bench.chosen.speed and bench.moved
    ]
    roof = _roof(benches)
    label = f"Achieved GB/s of {counted(len(points), 'benchmark')} under the speed of a copy of as many bytes"
    for name, width in (("wide", WIDE), ("narrow", NARROW)) if points else ():
        yield Figure(f"{key}-{name}", roofline(points, roof, width), label)


def _roof(benches: Sequence[Bench]) -> list[tuple[float, float]]:
    """Return the best of the copies of about as many bytes: a roof is what was reached, not the noise below it."""
    best: dict[int, tuple[float, float]] = {}
    for bench in benches:
        if bench.copy_speed and bench.moved:
            place = round(_PER_OCTAVE * math.log2(bench.moved))
            point = (float(bench.moved), bench.copy_speed)
            best[place] = max(best.get(place, point), point, key=lambda point: point[1])
    return list(best.values())


def _peers(key: str, benches: Sequence[Bench]) -> Iterator[Figure]:
    points = [
        Point(
            x=peer.ratio,
            y=short(peer.name, 48),
            series=short(bench.package, 48),
            fill="series" if peer.kind == "peer" else None,
            target=bench.id,
            said=f"{bench.case}: {peer.name} takes {figure(peer.ratio, 2)} times as long as ours"
            + ("" if peer.kind == "peer" else ", and computes something else"),
        )
        for bench in benches
        for peer in bench.peers
        if peer.ratio
    ]
    rows = list(dict.fromkeys(str(point.y) for point in points))
    for name, width in (("wide", WIDE), ("narrow", NARROW)) if points else ():
        spec = strip(points, width, axis=f"its time over ours: right of 1{TIMES} we are faster")
        yield Figure(f"{key}-{name}", spec, f"Times of {' and '.join(rows)} over ours")


def _changes(comparison: Comparison) -> Iterator[Figure]:
    points = [
        Point(
            x=found.ratio,
            y=short(found.bench.package, 48),
            series=_WORDS[found.verdict],
            fill=None if found.verdict == "same" else _LOOKS[_WORDS[found.verdict]][0],
            target=found.bench.id,
            said=f"{found.bench.case}: {change(found.ratio)}, {duration(found.base.median)} then, "
            f"{duration(found.now.median)} now",
        )
        for found in comparison.changes
        if found.called
    ]
    for name, width in (("wide", WIDE), ("narrow", NARROW)) if points else ():
        spec = strip(points, width, axis=_SLOWER, looks=_LOOKS)
        label = f"Changes of {counted(len(points), 'benchmark')} against the base"
        yield Figure(f"changes-{comparison.run.index}-{name}", spec, label)


def _bars(bench: Bench) -> Iterator[Figure]:
    rows = [
        Bar(timing.name, timing.kind, timing.time.median, timing.time.low, timing.time.high, timing.said)
        for timing in (*bench.variants, *bench.peers)
        if timing.time
    ]
    if rows:
        spec = bars(rows, bench.copy.median if bench.copy else None)
        yield Figure(bench.id, spec, f"Times of {bench.case} by variant")
