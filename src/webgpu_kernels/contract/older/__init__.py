"""The older dialect, manifest spec 1.0, read into the same ``Manifest`` as spec 2.1 by ``older.reader``."""

from __future__ import annotations

from webgpu_kernels.contract.older.dialect import SPECS, Dialect, dialect_of_spec, is_older

__all__ = ["SPECS", "Dialect", "dialect_of_spec", "is_older"]
