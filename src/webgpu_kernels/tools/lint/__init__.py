"""Everything that can be wrong with a package, without a GPU and with one: findings with code, place and remedy."""

from webgpu_kernels.tools.lint.codes import CODES, FAMILIES, Code
from webgpu_kernels.tools.lint.findings import Finding, Findings, Place
from webgpu_kernels.tools.lint.report import LintReport, finding_json, lint_package, report_json

__all__ = [
    "CODES",
    "FAMILIES",
    "Code",
    "Finding",
    "Findings",
    "LintReport",
    "Place",
    "finding_json",
    "lint_package",
    "report_json",
]
