"""The page itself: the template filled in, with its style, its script and its data inside."""

from __future__ import annotations

import base64
import hashlib
import json
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from webgpu_kernels.errors import ExtraMissing
from webgpu_kernels.tools.report import text
from webgpu_kernels.tools.report.drawing import drawn
from webgpu_kernels.tools.report.figures import figures_of
from webgpu_kernels.tools.report.matrix import details

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import jinja2

    from webgpu_kernels.tools.report.content import Content
    from webgpu_kernels.tools.report.figures import Figure

HERE: Final = Path(__file__).parent
FAILURES_TOLD: Final = 100
"""Failures that the page tells in full above the matrix; all are in it."""
_LIBRARIES: Final = ("jinja2", "vl_convert")


def require_libraries() -> None:
    """Check that what draws and writes pages is there.

    Raises:
        ExtraMissing: it is not.
    """
    missing = [name for name in _LIBRARIES if find_spec(name) is None]
    if missing:
        raise ExtraMissing(
            f"a report needs {' and '.join(missing)}", hint="They come with: pip install 'webgpu-kernels[report]'."
        )


def page_of(content: Content, plots: Mapping[str, str]) -> str:
    """Write the page.

    Args:
        content: what it says.
        plots: the drawings of ``figures_of(content)`` by their keys.

    Returns:
        HTML that needs no other file and no network.
    """
    from markupsafe import Markup  # noqa: PLC0415 - part of the extra

    script = (HERE / "assets" / "report.js").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    template = _environment().get_template("page.html.j2")
    return template.render(
        content=content,
        plots={key: Markup(plot) for key, plot in plots.items()},  # noqa: S704 - vl-convert escapes what it draws
        style=Markup(style_text()),  # noqa: S704 - ours
        script=Markup(script),  # noqa: S704 - ours
        policy=f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; img-src data:; "
        "base-uri 'none'; form-action 'none'",
        data=Markup(_data(content)),  # noqa: S704 - no "<" is left in it
        told=FAILURES_TOLD,
        version=version("webgpu-kernels"),
    )


def plots_of(figures: Iterable[Figure]) -> Iterable[tuple[str, str]]:
    """Draw plots one by one, so that a caller can show how far it is.

    Args:
        figures: what to draw.

    Returns:
        Key and drawing of each.
    """
    for figure in figures:
        yield figure.key, drawn(figure.spec, label=figure.label)


def report_page(content: Content) -> str:
    """Draw all plots and write the page.

    Args:
        content: what it says.

    Returns:
        HTML.

    Raises:
        ExtraMissing: the libraries are not installed.
    """
    require_libraries()
    return page_of(content, dict(plots_of(figures_of(content))))


def style_text() -> str:
    """Return the page's style: what all pages have, and its own."""
    return "".join(path.read_text("utf-8") for path in (HERE.parent / "base.css", HERE / "assets" / "report.css"))


def _environment() -> jinja2.Environment:
    import jinja2  # noqa: PLC0415 - part of the extra

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters = (text.change, text.counted, text.duration, text.figure, text.share, text.size)
    environment.filters |= {function.__name__: function for function in filters}
    return environment


def _data(content: Content) -> str:
    """Return what the cells of the matrices open, as JSON that can stand in a page."""
    cells: dict[int, list[Any]] = {
        cell.index: [
            cell.run, cell.package, cell.case, cell.request, cell.variant, int(cell.chosen), cell.outcome, cell.reason,
            cell.error, cell.seconds, cell.worst, cell.command,
        ]
        for cell in details(content.matrices)
    }  # fmt: skip
    data = {"runs": [run.name for run in content.runs], "cells": cells}
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
