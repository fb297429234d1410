"""The page's plots as Vega-Lite: plain values, with colours that the page's style sheet decides.

Colours are custom properties of CSS (``var(--chosen)``), so that one drawing serves light, dark and paper.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from webgpu_kernels.tools.report.text import duration, figure

if TYPE_CHECKING:
    from collections.abc import Sequence

Spec = dict[str, Any]

BARS_WIDTH: Final = 400
WIDE: Final = 920
NARROW: Final = 340
_SCHEMA: Final = "https://vega.github.io/schema/vega-lite/v5.json"
_ROW: Final = 38
_TICK: Final = "var(--muted)"
_CONFIG: Final[Spec] = {
    "font": "inherit",
    "background": None,
    "view": {"stroke": None},
    "axis": {
        "labelColor": _TICK,
        "titleColor": _TICK,
        "titleFontWeight": "normal",
        "titleFontSize": 12,
        "labelFontSize": 12,
        "gridColor": "var(--line)",
        "domain": False,
        "ticks": False,
        "labelPadding": 6,
        "titlePadding": 10,
    },
    "legend": {
        "labelColor": "var(--ink)",
        "labelFontSize": 12,
        "labelLimit": 260,
        "title": None,
        "orient": "top",
        "symbolSize": 70,
        "symbolFillColor": "transparent",
        "symbolStrokeWidth": 1.75,
        "columnPadding": 18,
        "offset": 14,
    },
}
# Okabe and Ito's colours, told apart by people who see few; the style sheet has them for either theme.
_SERIES: Final = tuple(f"var(--series-{index})" for index in range(6))
_FILLS: Final = {
    "plain": "var(--fill)",
    "solid": "var(--chosen)",
    "marked": "var(--alarm)",
    "hollow": "transparent",
}
_SHAPES: Final = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross")


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


class Point(NamedTuple):
    """A point of a plot.

    Attributes:
        x: where it is.
        y: where it is, a row's name in a strip.
        series: what it belongs to.
        kind: its look: ``plain``, ``solid``, ``marked`` or ``hollow``.
        target: the id of what it leads to.
        said: what a screen reader and a hovering pointer are told.
    """

    x: float
    y: float | str
    series: str
    kind: str
    target: str
    said: str


def bars(rows: Sequence[Bar], copy_us: float | None) -> Spec:
    """Return times as bars, a line for each, over the time that a copy of as many bytes takes.

    Args:
        rows: what was timed, in order.
        copy_us: the copy's median, None where it is not known.

    Returns:
        A drawing BARS_WIDTH wide and as high as its rows.
    """
    own = [row.median for row in rows if row.kind not in {"peer", "uncounted"}] or [row.median for row in rows]
    top = 1.04 * max([*own, copy_us or 0])
    # A peer that takes many times as long would press all others against the axis: its bar is cut off.
    top = min(max(row.high for row in rows), top * 1.6) if rows else top
    values = [
        {
            "at": at,
            "name": row.name,
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
    text: Spec = {"type": "text", "fontSize": 13, "baseline": "bottom", "dy": -1}
    layers: list[Spec] = [
        {
            "mark": {"type": "bar", "height": 10, "yOffset": 8, "cornerRadiusEnd": 2},
            "encoding": {"x": {**across, "field": "median"}, "color": color, "description": {"field": "said"}},
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
            "encoding": {"x": {"value": BARS_WIDTH}, "text": {"field": "time"}},
        },
    ]
    if copy_us is not None:
        layers.insert(0, _copy_rule(copy_us, across))
    return {
        **_drawing(BARS_WIDTH, {"step": _ROW}),
        "padding": {"left": 1, "right": 1, "top": 20, "bottom": 2},
        "data": {"values": values},
        "encoding": {"y": place},
        "layer": layers,
    }


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


def roofline(points: Sequence[Point], roof: Sequence[tuple[float, float]], width: int) -> Spec:
    """Return how fast each benchmark moves its bytes, under the speed of a copy of as many.

    Args:
        points: bytes and GB/s of what was chosen, a series for each package.
        roof: bytes and GB/s of copies.
        width: of the plot, in pixels of CSS.

    Returns:
        A drawing with two logarithmic axes.
    """
    series = list(dict.fromkeys(point.series for point in points))
    x: Spec = {
        "field": "x",
        "type": "quantitative",
        "scale": {"type": "log", "base": 4, "nice": False, "padding": 16},
        "axis": {"title": "bytes moved", "grid": False, "labelExpr": _BYTES, "values": _powers(points, roof)},
    }
    y: Spec = {
        "field": "y",
        "type": "quantitative",
        "scale": {"type": "log"},
        "axis": {"title": "GB/s", "titleAngle": 0, "titleAlign": "left", "titleX": -44, "titleY": -10,
                 "labelExpr": "format(datum.value, '~g')"},
    }  # fmt: skip
    speeds = [speed for _, speed in roof] + [float(point.y) for point in points]
    bottom, top = min(speeds, default=1) * 0.6, max(speeds, default=10) * 1.5
    y["scale"] |= {"domain": [bottom, top], "nice": False}
    y["axis"]["values"] = _decades(bottom, top)
    copies = [{"x": at, "y": speed, "bottom": bottom} for at, speed in sorted(roof)]
    return {
        **_drawing(width, 300 if width > 500 else 260),
        "layer": [
            {
                "data": {"values": copies},
                "mark": {"type": "area", "color": "var(--copy)", "opacity": 0.08, "interpolate": "monotone",
                         "aria": False},
                "encoding": {"x": x, "y": y, "y2": {"field": "bottom"}},
            },
            {
                "data": {"values": copies},
                "mark": {"type": "line", "color": "var(--copy)", "strokeDash": [4, 3], "strokeWidth": 1.5,
                         "interpolate": "monotone", "aria": False},
                "encoding": {"x": x, "y": y},
            },
            {"data": {"values": [_value(point) for point in points]}, **_points(series, x, y, width)},
        ],
    }  # fmt: skip


def strip(points: Sequence[Point], rows: Sequence[str], width: int, *, axis: str) -> Spec:
    """Return factors as points of a logarithmic axis, a row for each of what they belong to.

    Args:
        points: factor and row of each.
        rows: from top to bottom.
        width: of the plot, in pixels of CSS.
        axis: what the factor is.

    Returns:
        A drawing as high as its rows.
    """
    series = list(dict.fromkeys(point.series for point in points))
    least = min([point.x for point in points], default=1)
    most = max([point.x for point in points], default=1)
    low, high = min(0.9, least * 0.95), max(1.1, most * 1.05)
    x: Spec = {
        "field": "x",
        "type": "quantitative",
        "scale": {"type": "log", "domain": [low, high], "nice": False},
        "axis": {"title": axis, "values": _factors(low, high, width), "labelExpr": "format(datum.value, '~g') + '×'"},
    }
    y: Spec = {
        "field": "y",
        "type": "nominal",
        "sort": list(rows),
        "scale": {"domain": list(rows)},
        "axis": {"title": None, "orient": "left", "labelColor": "var(--ink)", "labelFontSize": 13, "labelAlign": "left",
                 "labelBaseline": "bottom", "labelPadding": -2, "labelOffset": -13, "labelLimit": width,
                 "grid": True},
    }  # fmt: skip
    one: Spec = {
        "data": {"values": [{"x": 1}]},
        "mark": {"type": "rule", "color": "var(--copy)", "strokeDash": [4, 3], "strokeWidth": 1.5, "aria": False},
        "encoding": {"x": x},
    }
    data = {"data": {"values": [_value(point) for point in points]}}
    return {**_drawing(width, {"step": 46}), "layer": [one, {**data, **_points(series, x, y, width)}]}


def _drawing(width: int, height: int | Spec) -> Spec:
    fit = {"type": "pad" if width == BARS_WIDTH else "fit-x", "contains": "padding"}
    return {"$schema": _SCHEMA, "config": _CONFIG, "width": width, "height": height, "autosize": fit}


def _points(series: list[str], x: Spec, y: Spec, width: int) -> Spec:
    ours: Spec = {"field": "series", "type": "nominal", "sort": series}
    legend: Spec = {"columns": max(1, width // 250)} if len(series) > 1 else {}
    return {
        "mark": {"type": "point", "size": 64, "strokeWidth": 1.75, "opacity": 1},
        "encoding": {
            "x": x,
            "y": y,
            "shape": {**ours, "scale": {"domain": series, "range": list(_SHAPES[: len(series)])},
                      "legend": legend or None},
            "stroke": {**ours, "scale": {"domain": series, "range": list(_SERIES[: len(series)])},
                       "legend": legend or None},
            "fill": {
                "field": "fill",
                "type": "nominal",
                "legend": None,
                "scale": None,
            },
            "href": {"field": "target"},
            "description": {"field": "said"},
        },
    }  # fmt: skip


def _value(point: Point) -> Spec:
    fill = _FILLS[point.kind]
    return {
        "x": point.x,
        "y": point.y,
        "series": point.series,
        "fill": fill,
        "target": f"#{point.target}",
        "said": point.said,
    }


_BYTES: Final = (
    "datum.value >= 1073741824 ? datum.value / 1073741824 + ' GiB' : datum.value >= 1048576 ? "
    "datum.value / 1048576 + ' MiB' : datum.value >= 1024 ? datum.value / 1024 + ' KiB' : datum.value + ' B'"
)


def _powers(points: Sequence[Point], roof: Sequence[tuple[float, float]]) -> list[int]:
    places = [point.x for point in points] + [at for at, _ in roof]
    if not places:
        return []
    low, high = math.floor(math.log2(min(places))), math.ceil(math.log2(max(places)))
    step = max(1, math.ceil((high - low) / 6))
    return [2**power for power in range(low, high + 1, step)]


def _decades(low: float, high: float) -> list[float]:
    digits = (1, 2, 5) if high / low < 200 else (1,)
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    marks = [float(f"{digit}e{power}") for power in range(first, last + 1) for digit in digits]
    return [mark for mark in marks if low <= mark <= high]


def _factors(low: float, high: float, width: int) -> list[float]:
    steps = (1, 2, 5) if high / low > 4 else (1, 1.25, 1.5, 2, 3, 5, 7, 8, 9)
    marks = [digit * 10.0**power for power in range(-3, 5) for digit in steps]
    marks = [float(figure(mark, 3).replace(",", "")) for mark in marks if low <= mark <= high]
    most = 5 if width < 500 else 10
    while len(marks) > most:
        marks = [mark for at, mark in enumerate(marks) if mark == 1 or at % 2 == marks.index(1) % 2]
    return marks
