"""The numpy references beside the bundled packages: their folders' names are no Python names."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

KERNELS = Path(__file__).resolve().parents[1] / "src" / "webgpu_kernels" / "kernels"


@cache
def reference_of(op_id: str) -> Callable[..., Any]:
    """Import a package's ``reference.py`` and return its function."""
    spec = importlib.util.spec_from_file_location(
        f"{op_id.replace('.', '_')}_reference", KERNELS / op_id / "reference.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function: Callable[..., Any] = module.reference
    return function
