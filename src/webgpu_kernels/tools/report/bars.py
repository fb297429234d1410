"""The times of one benchmark as bars, over the time that a copy takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from webgpu_kernels.tools.report.look import plot
from webgpu_kernels.tools.report.text import duration, short

if TYPE_CHECKING:
    from collections.abc import Sequence

    from webgpu_kernels.tools.report.look import Spec

WIDTH: Final = 400
_ROW: Final = 38


class Bar(NamedTuple):
    """One line of a benchmark's bars.

    Attributes:
        name: what was timed.
        kind: ``chosen``, ``faster``, ``other``, ``peer`` or ``uncounted``.
        median: microseconds.
        low: the fast end of the noise, microseconds.
        high: its slow end.
        said: what a screen reader and a hovering pointer are told.
    """

    name: str
    kind: str
    median: float
    low: float
    high: float
    said: str


def bars(rows: Sequence[Bar], copy_us: float | None) -> Spec:
    """Return times as bars, a line for each, over the time that a copy of as many bytes takes.

    Args:
        rows: what was timed, in order.
        copy_us: the copy's median, None where it is not known.

    Returns:
        A drawing WIDTH wide and as high as its rows.
    """
    own = [row.median for row in rows if row.kind not in {"peer", "uncounted"}] or [row.median for row in rows]
    top = 1.04 * max([*own, copy_us or 0])
    # A peer that takes many times as long would press all others against the axis: its bar is cut off.
    top = min(max(row.high for row in rows), top * 1.6) if rows else top
    values = [
        {
            "at": at,
            "name": short(row.name, 44),
            "kind": row.kind,
            "median": min(row.median, top),
            "low": min(row.low, top),
            "high": min(row.high, top),
            "time": duration(row.median) + (" ▸" if row.median > top else ""),
            "said": row.said,
        }
        for at, row in enumerate(rows)
    ]
    place: Spec = {"field": "at", "type": "ordinal", "axis": None, "scale": {"paddingInner": 0, "paddingOuter": 0}}
    across: Spec = {"type": "quantitative", "axis": None, "scale": {"domain": [0, top], "nice": False}}
    color: Spec = {
        "field": "kind",
        "legend": None,
        "scale": {
            "domain": ["chosen", "faster", "other", "peer", "uncounted"],
            "range": ["var(--chosen)", "var(--alarm)", "var(--other)", "var(--peer)", "var(--uncounted)"],
        },
    }
    # What does not count is hollow, whatever one sees of colours.
    outline: Spec = {"condition": {"test": "datum.kind === 'uncounted'", "value": "var(--edge)"}, "value": None}
    text: Spec = {"type": "text", "fontSize": 13, "baseline": "bottom", "dy": -1}
    layers: list[Spec] = [
        {
            "mark": {"type": "bar", "height": 10, "yOffset": 8, "cornerRadiusEnd": 2},
            "encoding": {
                "x": {**across, "field": "median"},
                "color": color,
                "stroke": outline,
                "description": {"field": "said"},
            },
        },
        {
            "mark": {"type": "rule", "yOffset": 8, "strokeWidth": 1.5, "color": "var(--ink)", "aria": False},
            "encoding": {"x": {**across, "field": "low"}, "x2": {"field": "high"}},
        },
        {
            "mark": {**text, "align": "left", "limit": 285, "color": "var(--ink)", "aria": False},
            "encoding": {"x": {"value": 0}, "text": {"field": "name"}},
        },
        {
            "mark": {**text, "align": "right", "color": "var(--ink)", "aria": False},
            "encoding": {"x": {"value": WIDTH}, "text": {"field": "time"}},
        },
    ]
    if copy_us is not None:
        layers.insert(0, _copy_rule(copy_us, across))
    return plot(
        WIDTH,
        {"step": _ROW},
        fit="pad",
        padding={"left": 1, "right": 1, "top": 20, "bottom": 2},
        data={"values": values},
        encoding={"y": place},
        layer=layers,
    )


def _copy_rule(copy_us: float, across: Spec) -> Spec:
    rule: Spec = {"type": "rule", "strokeDash": [4, 3], "strokeWidth": 1.5, "color": "var(--copy)", "aria": False}
    label: Spec = {"type": "text", "baseline": "bottom", "fontSize": 12, "color": "var(--copy)", "y": -4}
    at = copy_us / across["scale"]["domain"][1]
    label["align"] = "left" if at < 0.3 else ("right" if at > 0.7 else "center")
    return {
        "data": {"values": [{"copy": copy_us, "label": f"copy {duration(copy_us)}"}]},
        "encoding": {"x": {**across, "field": "copy"}},
        "layer": [
            {"mark": rule, "encoding": {"y": {"value": 0}, "y2": {"value": "height"}}},
            {"mark": {**label, "aria": False}, "encoding": {"y": {"value": -4}, "text": {"field": "label"}}},
        ],
    }
