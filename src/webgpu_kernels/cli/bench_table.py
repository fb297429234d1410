"""How the commands that measure show times: a table of at most 80 columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from webgpu_kernels.cli.screen import Part
    from webgpu_kernels.tools.results import BenchResult

COLUMNS: Final = ("case, chosen variant", "µs", "±", "GB/s", "copy", "others take")
RIGHT: Final = (1, 2, 3, 4)
_GOOD: Final = 0.7
_POOR: Final = 0.4
_FASTER: Final = 0.97
_TIMES: Final = "\N{MULTIPLICATION SIGN}"


def row_of(bench: BenchResult) -> list[Part]:
    """Return a case's row: the chosen variant's figures, and how long others take in terms of it.

    Args:
        bench: what was measured.

    Returns:
        One cell for each of ``COLUMNS``.
    """
    chosen = bench.variants.get(bench.chosen or "")
    median = chosen.median_us if chosen else None
    if chosen is None or median is None:
        return [f"{bench.case}\n  {bench.chosen}", "—", "", "", "", "\n".join(_others(bench, None))]
    spread = (chosen.spread_us or 0) / median if median else 0
    part = chosen.of_copy or 0
    style = "green" if part >= _GOOD else "red" if part < _POOR else ""
    return [
        f"{bench.case}\n  {bench.chosen}",
        microseconds(float(median)),
        (f"{spread:.0%}{'?' if chosen.note else ''}", "yellow" if chosen.note else ""),
        f"{float(chosen.gb_per_s or 0):.3g}" if (chosen.gb_per_s or 0) < 1000 else f"{chosen.gb_per_s:,.0f}",
        (f"{part:.0%}", style),
        _joined(bench, float(median)),
    ]


def microseconds(value: float) -> str:
    """Return a time with three figures or all before the point: ``4.71``, ``16.1``, ``1,045``."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _joined(bench: BenchResult, median: float) -> Part:
    """Return how many times the chosen variant's time others take; a variant that takes less stands out."""
    lines = _others(bench, median)
    best = _best_other(bench)
    faster = best is not None and best[1] < _FASTER * median
    return ("\n".join(lines), "bold yellow") if faster else "\n".join(lines)


def _others(bench: BenchResult, median: float | None) -> list[str]:
    lines = []
    best = _best_other(bench)
    if best is not None:
        lines.append(f"{best[0]} {_times(best[1], median)}")
    for name, peer in bench.peers.items():
        if peer.median_us is None:
            lines.append(f"{name} —")
        elif not peer.counted:
            lines.append(f"{name} wrong")
        else:
            lines.append(f"{name} {_times(float(peer.median_us), median)}")
    return lines


def _best_other(bench: BenchResult) -> tuple[str, float] | None:
    times = {
        name: float(time.median_us)
        for name, time in bench.variants.items()
        if time.median_us is not None and name != bench.chosen
    }
    return min(times.items(), key=lambda entry: entry[1], default=None)


def _times(value: float, median: float | None) -> str:
    if not median:
        return f"{microseconds(value)} µs"
    ratio = value / median
    return f"{ratio:.2f}{_TIMES}" if ratio < 10 else f"{ratio:,.0f}{_TIMES}"
