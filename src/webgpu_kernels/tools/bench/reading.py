"""Reads bench.json; all defects together."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from webgpu_kernels.contract.documents import read_document
from webgpu_kernels.contract.fields import Fields
from webgpu_kernels.errors import LanguageError, SuiteError
from webgpu_kernels.language import compile_value
from webgpu_kernels.tools.bench.model import BenchCase, Traffic
from webgpu_kernels.tools.bench.tables import BENCH, CASE, OUTPUT
from webgpu_kernels.tools.calls import SPEC_KEYS, CallDescription, read_options, read_spec
from webgpu_kernels.tools.suites.data_reading import Fixtures
from webgpu_kernels.tools.suites.model import Suite
from webgpu_kernels.tools.suites.reading import read_cases, read_name, read_tensors, read_tolerance

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webgpu_kernels.contract import Package
    from webgpu_kernels.contract.cursor import Node
    from webgpu_kernels.language import Expression
    from webgpu_kernels.planning.spec import TensorSpec
    from webgpu_kernels.tools.suites.model import Tolerance

BENCH_FILE: Final = "bench.json"


def benches_of(package: Package) -> Suite[BenchCase]:
    """Read a package's bench.json.

    Args:
        package: from anywhere; of the Hub the file is fetched now.

    Returns:
        Its cases.

    Raises:
        PackageError: there is no such file, or it is not what its digest says.
        SuiteError: it breaks the format; all its defects are listed.

    Source: docs/suites.md, "bench.json".
    """
    return read_benches(package.read(BENCH_FILE), where=package.where)


def read_benches(content: str | bytes, *, where: str) -> Suite[BenchCase]:
    """Read bench.json.

    Args:
        content: its text; bytes are UTF-8.
        where: the package, for messages.

    Returns:
        Its cases.

    Raises:
        SuiteError: it breaks the format; all its defects are listed.

    Source: docs/suites.md, "bench.json".
    """
    cases = read_document(content, _read_cases, what=BENCH_FILE, where=where, error=SuiteError)
    return Suite(where=where, cases=cases)


def _read_cases(root: Node) -> tuple[BenchCase, ...]:
    fields = Fields(root, BENCH)
    for key in ("$schema", "description"):
        fields.text(key)
    usual = _read_traffic(fields, Traffic())
    return read_cases(fields, lambda entry: _read_case(entry, usual))


def _read_case(node: Node, usual: Traffic) -> BenchCase:
    fields = Fields(node, CASE)
    specs, held = read_tensors(fields.get("inputs"), Fixtures({}), data_needed=False)
    outputs, tolerances = _read_outputs(fields.get("outputs"))
    return BenchCase(
        name=read_name(fields),
        call=CallDescription(
            inputs=specs,
            attrs=read_options(fields.get("attrs"), "attributes"),
            args=read_options(fields.get("args"), "scalar arguments"),
            outputs=outputs,
            tunables=read_options(fields.get("tunables"), "tunables"),
        ),
        inputs=held,
        tolerances=tolerances,
        traffic=_read_traffic(fields, usual),
        description=fields.text("description") or "",
    )


def _read_outputs(node: Node | None) -> tuple[Mapping[str, TensorSpec | None], Mapping[str, Tolerance]]:
    """Read wanted outputs: names, or an object of names to specs and tolerances."""
    specs: dict[str, TensorSpec | None] = {}
    tolerances: dict[str, Tolerance] = {}
    if node is not None and isinstance(node.value, list):
        names = [entry.string() for entry in node.entries("output names")]
        specs = {name: None for name in names if name is not None}
    elif node is not None:
        for name, member in node.members("outputs, or a list of their names"):
            fields = Fields(member, OUTPUT)
            specs[name] = _read_wanted(fields)
            if (tolerance := fields.get("tolerance")) is not None:
                tolerances[name] = read_tolerance(tolerance)
    return MappingProxyType(specs), MappingProxyType(tolerances)


def _read_wanted(fields: Fields) -> TensorSpec | None:
    return read_spec(fields) if any(key in fields for key in SPEC_KEYS[:2]) else None


def _read_traffic(fields: Fields, usual: Traffic) -> Traffic:
    read, written, operations = (
        _read_formula(fields.get(key)) or before
        for key, before in zip(("bytesRead", "bytesWritten", "operations"), usual, strict=True)
    )
    return Traffic(read, written, operations)


def _read_formula(node: Node | None) -> Expression | None:
    """Compile a formula; whether its names are the contract's shows when it is evaluated."""
    if node is None:
        return None
    value = node.value
    if isinstance(value, bool) or not isinstance(value, str | int) or (isinstance(value, int) and value < 0):
        node.fail_kind("an expression or an integer of at least 0")
        return None
    try:
        return compile_value(value)
    except LanguageError as error:
        node.fail(f"is not an expression: {error.message}".replace("\n", "\n    "))
        return None
