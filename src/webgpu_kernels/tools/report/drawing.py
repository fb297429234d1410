"""Vega-Lite to SVG, by vl-convert: no browser, no network, and nothing of Vega in the page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from webgpu_kernels.tools.report.look import Spec

# Vega resolves links against the place of its own samples; ours lead to places in the page.
_BASE: Final = 'href="https://vega.github.io/vega-datasets/#'
# What XML cannot hold ends the whole process in vl-convert, so that none of it may get there.
_NOT_IN_XML: Final = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_PROLOGUE: Final = (
    ' xmlns="http://www.w3.org/2000/svg"',
    ' xmlns:xlink="http://www.w3.org/1999/xlink"',
    ' version="1.1"',
)


def drawn(spec: Spec, *, label: str) -> str:
    """Draw a plot.

    Args:
        spec: Vega-Lite.
        label: what a screen reader says of it; its points have labels of their own.

    Returns:
        An ``svg`` element for a page in HTML.
    """
    import vl_convert  # noqa: PLC0415 - 80 MB that only a report needs
    from markupsafe import escape  # noqa: PLC0415 - part of the same extra

    text: str = vl_convert.vegalite_to_svg(_drawable(spec))
    for words in _PROLOGUE:
        text = text.replace(words, "", 1)
    text = text.replace(f"xlink:{_BASE}", 'href="#').replace(' opacity="1"', "")
    return text.replace("<svg ", f'<svg role="group" aria-label="{escape(label)}" ', 1)


def _drawable(value: Any) -> Any:
    if isinstance(value, str):
        return _NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, dict):
        return {key: _drawable(member) for key, member in value.items()}
    return [_drawable(entry) for entry in value] if isinstance(value, list | tuple) else value
