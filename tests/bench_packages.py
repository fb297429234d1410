"""Packages with a bench.json, and what tests of measuring share; nothing that was timed is asserted anywhere."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from doubling_package import write_doubling

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

BENCH_CASE = {"name": "many", "inputs": {"x": {"dtype": "float32", "shape": [4096]}}}


def write_benched(
    root: Path,
    bodies: Mapping[str, str] | None = None,
    cases: Sequence[Mapping[str, Any]] = (BENCH_CASE,),
    *,
    head: Mapping[str, Any] | None = None,
    **options: Any,
) -> Path:
    """Write the doubling package with a bench.json and return its folder.

    Args:
        root: where; it is made.
        bodies: as for ``write_doubling``.
        cases: of bench.json.
        head: further keys of bench.json.
        options: as for ``write_doubling``.
    """
    write_doubling(root, bodies, **options)
    (root / "build" / "webgpu" / "bench.json").write_text(json.dumps({**(head or {}), "cases": list(cases)}))
    return root
