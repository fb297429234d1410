"""Puts the page together: one file that holds the program, its data, the runner and itself, and asks for nothing."""

from __future__ import annotations

import base64
import html
import json
from importlib.resources import files
from typing import TYPE_CHECKING

from webgpu_kernels.tools.export.fields import as_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webgpu_kernels.tools.export.document import ProgramDocument


def compose_page(document: ProgramDocument, shaders: Mapping[str, str], data: Mapping[str, bytes]) -> str:
    """Return the page of an export.

    Args:
        document: program.json.
        shaders: WGSL file name to text.
        data: data file name to bytes; empty where the page shall draw its own.

    Returns:
        HTML that a browser may open from the disk.

    Source: docs/export.md.
    """
    title = f"{document.operator or 'a kernel'} · {document.variant or 'program'}"
    inlined = {
        "program": as_json(document),
        "shaders": dict(shaders),
        "data": {name: base64.b64encode(contents).decode() for name, contents in data.items()},
    }
    parts = {
        "title": html.escape(title),
        "style": _asset("base.css") + _asset("export/page.css"),
        "runner": _asset("export/runner.js"),
        "script": _asset("export/page.js"),
        # Within a script element only "<" can end it.
        "inlined": json.dumps(inlined, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c"),
    }
    page = _asset("export/page.html")
    for name, text in parts.items():
        before, mark, after = page.partition("{{" + name + "}}")
        assert mark
        page = before + text + after
    return page


def _asset(name: str) -> str:
    return (files("webgpu_kernels.tools") / name).read_text("utf-8")
