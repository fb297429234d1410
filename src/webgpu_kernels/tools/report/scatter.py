"""Benchmarks as points: under the speed of a copy, and beside peers or an earlier run."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

from webgpu_kernels.tools.report.look import plot
from webgpu_kernels.tools.report.text import TIMES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from webgpu_kernels.tools.report.look import Spec

WIDE: Final = 1088
NARROW: Final = 340
ALARM: Final = "var(--alarm)"
# Okabe and Ito's colours, told apart by people who see few; the style sheet has them for either theme.
_COLORS: Final = 6
_SHAPES: Final = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "triangle-right")


class Point(NamedTuple):
    """A point of a plot, and a link.

    Attributes:
        x: where it is.
        y: where it is, a row's name in a strip.
        series: what it belongs to, such as a package.
        fill: a colour, ``series`` for that of its series, or None for a hollow one.
        target: the id of what it leads to.
        said: what a screen reader and a hovering pointer are told.
    """

    x: float
    y: float | str
    series: str
    fill: str | None
    target: str
    said: str


def roofline(points: Sequence[Point], roof: Sequence[tuple[float, float]], width: int) -> Spec:
    """Return how fast each benchmark moves its bytes, under the speed of a copy of as many.

    Args:
        points: bytes and GB/s of what was chosen, a series for each package.
        roof: bytes and GB/s of copies.
        width: of the plot, in pixels of CSS.

    Returns:
        A drawing with two logarithmic axes.
    """
    looks = _looks(points)
    x: Spec = {
        "field": "x",
        "type": "quantitative",
        "scale": {"type": "log", "base": 4, "nice": False, "padding": 16},
        "axis": {"title": "bytes moved", "grid": False, "labelExpr": _BYTES, "values": _powers(points, roof, width)},
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
    return plot(
        width,
        300 if width > 500 else 260,
        fit="fit-x",
        layer=[
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
            {"data": {"values": _values(points, looks)}, **_marks(looks, x, y, width)},
        ],
    )  # fmt: skip


def strip(
    points: Sequence[Point], width: int, *, axis: str, looks: Mapping[str, tuple[str, str]] | None = None
) -> Spec:
    """Return factors as points of a logarithmic axis, a row for each of what they belong to.

    Args:
        points: factor and row of each.
        width: of the plot, in pixels of CSS.
        axis: what the factor is.
        looks: colour and shape of each series; by default those of packages.

    Returns:
        A drawing as high as its rows.
    """
    rows = list(dict.fromkeys(str(point.y) for point in points))
    factors = [point.x for point in points]
    low, high = min(0.95, *factors) * 0.97, max(1.05, *factors) * 1.03
    x: Spec = {
        "field": "x",
        "type": "quantitative",
        "scale": {"type": "log", "domain": [low, high], "nice": False},
        "axis": {"title": axis, "values": _factors(low, high, width),
                 "labelExpr": f"format(datum.value, '~g') + '{TIMES}'"},
    }  # fmt: skip
    y: Spec = {
        "field": "y",
        "type": "nominal",
        "sort": rows,
        "scale": {"domain": rows},
        "axis": {"title": None, "orient": "left", "labelColor": "var(--ink)", "labelFontSize": 13, "labelAlign": "left",
                 "labelBaseline": "bottom", "labelPadding": -2, "labelOffset": -13, "labelLimit": width,
                 "grid": True},
    }  # fmt: skip
    one: Spec = {
        "data": {"values": [{"x": 1}]},
        "mark": {"type": "rule", "color": "var(--copy)", "strokeDash": [4, 3], "strokeWidth": 1.5, "aria": False},
        "encoding": {"x": x},
    }
    looks = looks or _looks(points)
    marks = {"data": {"values": _values(points, looks)}, **_marks(looks, x, y, width)}
    return plot(width, {"step": 46}, fit="fit-x", layer=[one, marks])


def _looks(points: Sequence[Point]) -> dict[str, tuple[str, str]]:
    """Give each series a colour and a shape; the seventh has the first one's colour and another shape."""
    names = dict.fromkeys(point.series for point in points)
    return {
        name: (f"var(--series-{at % _COLORS})", _SHAPES[(at + at // _COLORS) % len(_SHAPES)])
        for at, name in enumerate(names)
    }


def _marks(looks: Mapping[str, tuple[str, str]], x: Spec, y: Spec, width: int) -> Spec:
    names = list(looks)
    series: Spec = {
        "field": "series",
        "type": "nominal",
        "sort": names,
        "legend": {"columns": max(1, width // 250)} if len(names) > 1 else None,
    }
    stroke = {"scale": {"domain": names, "range": [color for color, _ in looks.values()]}}
    return {
        "mark": {"type": "point", "size": 64, "strokeWidth": 1.75, "opacity": 1},
        "encoding": {
            "x": x,
            "y": y,
            "shape": {**series, "scale": {"domain": names, "range": [shape for _, shape in looks.values()]}},
            "stroke": {**series, **stroke},
            "fill": {"field": "fill", "type": "nominal", "legend": None, "scale": None},
            "href": {"field": "target"},
            "description": {"field": "said"},
        },
    }


def _values(points: Sequence[Point], looks: Mapping[str, tuple[str, str]]) -> list[Spec]:
    """Return the points in the order in which they are drawn: alarms last, so that they lie on top."""
    return [_value(point, looks) for point in sorted(points, key=lambda point: point.fill == ALARM)]


def _value(point: Point, looks: Mapping[str, tuple[str, str]]) -> Spec:
    fill = looks[point.series][0] if point.fill == "series" else point.fill or "transparent"
    return {
        "x": point.x,
        "y": point.y,
        "series": point.series,
        "fill": fill,
        "target": f"#{point.target}",
        "said": point.said,
    }


_STEPS: Final = (
    (0.8, 0.85, 0.9, 0.95, 1, 1.05, 1.1, 1.15, 1.2, 1.25, 1.3, 1.4, 1.5, 1.6, 1.8, 2, 2.5, 3, 4, 5, 6),
    (1, 1.1, 1.2, 1.3, 1.5, 1.7, 2, 2.5, 3, 4, 5, 6, 7, 8, 9),
    (1, 1.5, 2, 3, 5, 7),
    (1, 2, 5),
    (1, 3),
    (1,),
)
_BYTES: Final = (
    "datum.value >= 1073741824 ? datum.value / 1073741824 + ' GiB' : datum.value >= 1048576 ? "
    "datum.value / 1048576 + ' MiB' : datum.value >= 1024 ? datum.value / 1024 + ' KiB' : datum.value + ' B'"
)


def _powers(points: Sequence[Point], roof: Sequence[tuple[float, float]], width: int) -> list[int]:
    places = [point.x for point in points] + [at for at, _ in roof]
    if not places:
        return []
    low, high = math.floor(math.log2(min(places))), math.ceil(math.log2(max(places)))
    step = max(1, math.ceil((high - low) / (10 if width > 500 else 5)))
    return [2**power for power in range(low, high + 1, step)]


def _decades(low: float, high: float) -> list[float]:
    digits = (1, 2, 5) if high / low < 100 else (1, 3) if high / low < 3000 else (1,)
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    marks = [float(f"{digit}e{power}") for power in range(first, last + 1) for digit in digits]
    return [mark for mark in marks if low <= mark <= high]


def _factors(low: float, high: float, width: int) -> list[float]:
    """Return round factors on either side of 1, fewer where there is little room."""
    most = 5 if width < 500 else 10
    for steps in _STEPS:
        marks = [float(f"{step}e{power}") for power in range(-3, 6) for step in steps]
        marks = [mark for mark in marks if low <= mark <= high]
        if len(marks) <= most:
            return marks
    return [10.0**power for power in range(-3, 6, 2) if low <= 10.0**power <= high]
