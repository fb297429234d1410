"""A package's reference.py, looked at without running it: whether the tests can call what they need."""

from __future__ import annotations

import ast
import warnings
from typing import TYPE_CHECKING

from webgpu_kernels.contract.files import read_some, reason_of
from webgpu_kernels.errors import KernelError
from webgpu_kernels.tools.lint.findings import Place
from webgpu_kernels.tools.suites.reading import suite_of
from webgpu_kernels.tools.suites.references import REFERENCE_FILE, reference_path

if TYPE_CHECKING:
    from pathlib import Path

    from webgpu_kernels.contract import Package
    from webgpu_kernels.tools.lint.findings import Findings
    from webgpu_kernels.tools.lint.subject import Subject

_FUNCTION = "reference"
_PARAMETERS = 3
_RIGHT = f"def {_FUNCTION}(inputs, attrs, outputs): ..."
_MOST_BYTES = 200_000
"""Longer ones are left to the tests: to parse one takes ten seconds for each 4 MiB, and much memory."""


def check_reference(subject: Subject, findings: Findings) -> None:
    """Report a reference that tests cannot call, or that is not there although a case needs one.

    Args:
        subject: the package.
        findings: where they are reported.
    """
    package = subject.package
    if package.revision is not None:
        return
    path = reference_path(package)
    if path is None:
        case = _needing_case(package)
        if case is not None:
            findings.add("L008", Place(REFERENCE_FILE), f"is not there, and the case {case} has no values to expect")
        return
    fault, line = _fault(path)
    if fault:
        findings.add("L007", Place(REFERENCE_FILE, line=line), fault)


def _needing_case(package: Package) -> str | None:
    """Return the name of a case without expected values; what is wrong with a suite is told elsewhere."""
    try:
        cases = suite_of(package).cases
    except KernelError:
        return None
    needing = (
        case.name
        for case in cases
        if case.error is None and case.skip_gpu is None and any(output.data is None for output in case.outputs.values())
    )
    return next(needing, None)


def _fault(path: Path) -> tuple[str, int]:
    """Return what is wrong with the file, and in which line; nothing is the empty text."""
    try:
        content = read_some(path, _MOST_BYTES)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(content if len(content) <= _MOST_BYTES else _RIGHT, filename=path.name)
    except SyntaxError as error:
        return f"does not parse: {error.msg}", error.lineno or 0
    except (OSError, ValueError, RecursionError, MemoryError) as error:
        return f"cannot be read: {reason_of(error) or 'it is nested too deeply'}", 0
    return _fault_of_tree(tree)


def _fault_of_tree(tree: ast.Module) -> tuple[str, int]:
    function = next(
        (each for each in tree.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) and _is_it(each.name)),
        None,
    )
    if function is None:
        # Whatever else may make one, such as an import or an assignment, only running the file would tell.
        return ("" if any(map(_names_it, ast.walk(tree))) else f"has no function {_FUNCTION}", 0)
    if isinstance(function, ast.AsyncFunctionDef):
        return f"the function {_FUNCTION} is a coroutine", function.lineno
    if not _takes_three(function.args):
        return f"the function {_FUNCTION} does not take (inputs, attrs, outputs)", function.lineno
    return "", 0


def _is_it(name: str | None) -> bool:
    return name == _FUNCTION


def _names_it(node: ast.AST) -> bool:
    if isinstance(node, ast.Name):
        return isinstance(node.ctx, ast.Store) and _is_it(node.id)
    if isinstance(node, ast.alias):
        return _is_it(node.asname or node.name) or node.name == "*"
    return isinstance(node, ast.FunctionDef | ast.ClassDef) and _is_it(node.name)


def _takes_three(arguments: ast.arguments) -> bool:
    """Tell whether it can be called with three values in their order."""
    count = len(arguments.posonlyargs) + len(arguments.args)
    needed = count - len(arguments.defaults)
    keywords = sum(default is None for default in arguments.kw_defaults)
    return needed <= _PARAMETERS <= (_PARAMETERS if arguments.vararg else count) and not keywords
