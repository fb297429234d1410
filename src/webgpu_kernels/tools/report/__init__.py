"""Results of test and bench as one page of HTML that needs nothing else."""

from __future__ import annotations

from webgpu_kernels.tools.report.content import Content, content_of
from webgpu_kernels.tools.report.figures import figures_of
from webgpu_kernels.tools.report.page import page_of, plots_of, report_page, require_libraries

__all__ = ["Content", "content_of", "figures_of", "page_of", "plots_of", "report_page", "require_libraries"]
