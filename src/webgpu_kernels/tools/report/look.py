"""What all plots have in common, as Vega-Lite.

Colours are custom properties of CSS (``var(--chosen)``), so that one drawing serves light, dark and paper.
"""

from __future__ import annotations

from typing import Any, Final, Literal

Spec = dict[str, Any]

_SCHEMA: Final = "https://vega.github.io/schema/vega-lite/v5.json"
_CONFIG: Final[Spec] = {
    "font": "sans-serif",
    "background": None,
    "view": {"stroke": None},
    "axis": {
        "labelColor": "var(--muted)",
        "titleColor": "var(--muted)",
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
        "labelLimit": 230,
        "title": None,
        "orient": "top",
        "symbolSize": 70,
        "symbolFillColor": "transparent",
        "symbolStrokeWidth": 1.75,
        "columnPadding": 44,
        "offset": 14,
    },
}


def plot(width: int, height: int | Spec, *, fit: Literal["pad", "fit-x"], **members: Any) -> Spec:
    """Return a plot.

    Args:
        width: in pixels of CSS.
        height: the same, or a step for each row.
        fit: whether axes are added to the width or taken from it.
        members: the rest of the specification.

    Source: https://vega.github.io/vega-lite/docs/spec.html
    """
    autosize = {"type": fit, "contains": "padding"}
    return {"$schema": _SCHEMA, "config": _CONFIG, "width": width, "height": height, "autosize": autosize, **members}
