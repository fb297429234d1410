"""The calls that a package's suites make, without their values: to explain one, to render one, to compare packages."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from webgpu_kernels.contract import closest
from webgpu_kernels.contract.documents import read_document
from webgpu_kernels.errors import PackageError, RequestError
from webgpu_kernels.tools.calls import CALL_KEYS, SPEC_KEYS, CallDescription, parse_call

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from webgpu_kernels.contract import Package
    from webgpu_kernels.contract.cursor import Node

SUITES: Final = ("test.json", "bench.json")


def case_call(package: Package, name: str) -> CallDescription:
    """Return the call of a case of test.json or bench.json.

    Args:
        package: from anywhere; of the Hub the suites are fetched now.
        name: the case's.

    Returns:
        The call.

    Raises:
        RequestError: no suite has such a case, or it describes no call.
        PackageError: a suite is not to be read.

    Source: docs/suites.md.
    """
    known: list[str] = []
    for suite in SUITES:
        cases = _cases(package, suite)
        if name in cases:
            where = f"{package.where}: {suite}: {name}"
            return parse_call(json.dumps(_call_in(cases[name], package)), where=where)
        known += cases
    near = closest(name, known)
    some = ", ".join(known[:8]) + (", …" if len(known) > 8 else "")
    hint = f"Did you mean {near!r}?" if near else f"There are {some}." if known else "It has no cases."
    raise RequestError(f"no case is called {name!r}", where=package.where, hint=hint)


def good_calls(package: Package) -> Iterator[tuple[str, CallDescription]]:
    """Yield the calls of all cases that expect results; what describes no call is left out.

    Args:
        package: from anywhere; of the Hub the suites are fetched now.

    Yields:
        The suite with the case's name, such as ``test.json: rank_0``, and its call.

    Raises:
        PackageError: a suite is not to be read.
    """
    for suite in SUITES:
        for name, case in _cases(package, suite).items():
            if "error" in case:
                continue
            try:
                call = parse_call(json.dumps(_call_in(case, package)), where=name)
            except RequestError:
                continue
            yield f"{suite}: {name}", call


def has_file(package: Package, name: str) -> bool:
    """Tell whether a package has a file, without fetching it."""
    if package.revision is not None and package.metadata is not None:
        return name in package.metadata.digests
    return (package.root / name).is_file()


def _cases(package: Package, suite: str) -> dict[str, dict[str, Any]]:
    """Return the cases of a suite by name; what is not a case is left to the command that runs them."""
    if not has_file(package, suite):
        return {}

    def read(root: Node) -> dict[str, dict[str, Any]]:
        document = root.value if isinstance(root.value, dict) else {}
        cases = document.get("cases", [])
        listed = cases if isinstance(cases, list) else []
        return {str(case["name"]): case for case in listed if isinstance(case, dict) and "name" in case}

    return read_document(package.read(suite), read, what=suite, where=package.where, error=PackageError)


def _call_in(case: Mapping[str, Any], package: Package) -> dict[str, Any]:
    """Return what a case says of its call: values and tolerances do not belong to it, nor does a variant it expects."""
    call = {key: case[key] for key in CALL_KEYS if key in case and key != "variant"}
    if isinstance(call.get("inputs"), dict):
        call["inputs"] = {name: _spec_in(value) for name, value in call["inputs"].items()}
    if isinstance(call.get("outputs"), dict):
        ports = package.manifest.outputs
        inferred = {name for name, port in ports.items() if port.shape is not None}
        call["outputs"] = {name: {} if name in inferred else _spec_in(v) for name, v in call["outputs"].items()}
    return call


def _spec_in(tensor: Any) -> Any:
    return {key: tensor[key] for key in SPEC_KEYS if key in tensor} if isinstance(tensor, dict) else tensor
