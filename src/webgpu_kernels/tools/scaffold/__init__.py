"""A new package: a small operator with everything that a kernel has, which runs, passes and may be rewritten."""

from __future__ import annotations

from webgpu_kernels.tools.scaffold.files import Started, start_package
from webgpu_kernels.tools.scaffold.naming import OperatorName, operator_name

__all__ = ["OperatorName", "Started", "operator_name", "start_package"]
