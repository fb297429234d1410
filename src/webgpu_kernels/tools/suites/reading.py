"""Reads test.json: what is published, and what this project adds; all defects together."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from webgpu_kernels.contract.documents import read_document
from webgpu_kernels.contract.fields import Fields
from webgpu_kernels.contract.words import alternatives
from webgpu_kernels.errors import SuiteError
from webgpu_kernels.planning.spec import TensorSpec
from webgpu_kernels.tools.calls import CallDescription, read_dtype, read_options, read_shape, read_spec
from webgpu_kernels.tools.suites.data_reading import Fixtures, read_data
from webgpu_kernels.tools.suites.model import (
    SKIP_CATEGORIES,
    Case,
    CaseOutput,
    ExpectedError,
    NamedCase,
    SkipGpu,
    Suite,
    Tolerance,
)
from webgpu_kernels.tools.suites.tables import (
    CASE,
    ERROR,
    ERROR_KINDS,
    INPUT,
    MAX_NAME,
    OUTPUT,
    PROVENANCE,
    SKIP,
    SUITE,
    TOLERANCE,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from webgpu_kernels.contract import Package
    from webgpu_kernels.contract.cursor import Node
    from webgpu_kernels.tools.suites.model import Data

TEST_FILE = "test.json"


def suite_of(package: Package) -> Suite[Case]:
    """Read a package's test.json.

    Args:
        package: from anywhere; of the Hub the file is fetched now.

    Returns:
        Its cases.

    Raises:
        PackageError: there is no such file, or it is not what its digest says.
        SuiteError: it breaks the format; all its defects are listed.

    Source: docs/suites.md.
    """
    return read_suite(package.read(TEST_FILE), where=package.where)


def read_suite(content: str | bytes, *, where: str) -> Suite[Case]:
    """Read test.json.

    Args:
        content: its text; bytes are UTF-8.
        where: the package, for messages.

    Returns:
        Its cases.

    Raises:
        SuiteError: it breaks the format; all its defects are listed.

    Source: docs/suites.md.
    """
    cases = read_document(content, _read_cases, what=TEST_FILE, where=where, error=SuiteError)
    return Suite(where=where, cases=cases)


def read_fixtures(node: Node | None) -> Fixtures:
    """Read ``fixtureArrays``: name to a list, whose elements are read where they are used."""
    arrays = dict(node.members("arrays, name to elements")) if node else {}
    for array in arrays.values():
        array.entries("elements")
    return Fixtures(arrays)


def read_tensors(
    node: Node | None, fixtures: Fixtures, *, data_needed: bool
) -> tuple[Mapping[str, TensorSpec], Mapping[str, Data]]:
    """Read the inputs of a case.

    Args:
        node: an object of names to ``{dtype, shape, layout?, data}``.
        fixtures: the arrays that data may refer to.
        data_needed: whether each must say what it holds.

    Returns:
        Name to spec, and name to what it holds.

    Source: docs/suites.md.
    """
    specs: dict[str, TensorSpec] = {}
    held: dict[str, Data] = {}
    for name, member in node.members("inputs") if node else ():
        fields = Fields(member, INPUT)
        spec = read_spec(fields)
        data = fields.need("data", "say what it holds") if data_needed else fields.get("data")
        if spec is None:
            continue
        specs[name] = spec
        found = read_data(data, spec.dtype, spec.shape, fixtures) if data else None
        if found is not None:
            held[name] = found
    return MappingProxyType(specs), MappingProxyType(held)


def read_tolerance(node: Node | None) -> Tolerance:
    """Read ``tolerance``: a number for both, or ``{atol, rtol}``; nothing means exact.

    Source: docs/suites.md.
    """
    if node is None:
        return Tolerance()
    if isinstance(node.value, dict):
        fields = Fields(node, TOLERANCE)
        parts = [fields.get(key) for key in TOLERANCE.keys]
        return Tolerance(*[_not_negative(part) if part else 0.0 for part in parts])
    both = _not_negative(node)
    return Tolerance(both, both)


def _read_cases(root: Node) -> tuple[Case, ...]:
    fields = Fields(root, SUITE)
    fields.text("$schema")
    fixtures = read_fixtures(fields.get("fixtureArrays"))
    return read_cases(fields, lambda entry: _read_case(entry, fixtures))


def read_cases(fields: Fields, read: Callable[[Node], NamedCase]) -> tuple[NamedCase, ...]:
    """Read ``cases`` of test.json or bench.json, no two of one name.

    Args:
        fields: the file's members.
        read: reads one case.

    Returns:
        The cases, in the file's order.

    Source: docs/suites.md.
    """
    node = fields.get("cases")
    seen: set[str] = set()
    cases = []
    for entry in node.entries("cases", least=1) if node else ():
        case = read(entry)
        if case.name and case.name in seen:
            entry.at("name", case.name).fail(f"stands more than once: {case.name!r}")
        seen.add(case.name)
        cases.append(case)
    return tuple(cases)


def _read_case(node: Node, fixtures: Fixtures) -> Case:
    fields = Fields(node, CASE)
    error = _read_error(fields.get("error"))
    specs, held = read_tensors(fields.get("inputs"), fixtures, data_needed=error is None)
    outputs = _read_outputs(fields, fixtures, error)
    return Case(
        name=read_name(fields),
        call=CallDescription(
            inputs=specs,
            attrs=read_options(fields.get("attrs"), "attributes"),
            args=read_options(fields.get("args"), "scalar arguments"),
            outputs=MappingProxyType({name: _spec(output) for name, output in outputs.items()}),
            tunables=read_options(fields.get("tunables"), "tunables"),
        ),
        inputs=held,
        outputs=outputs,
        variant=fields.text("variant"),
        force=_read_force(fields),
        error=error,
        skip_gpu=_read_skip(fields.get("skipGpu")),
        description=fields.text("description") or "",
        provenance=_read_provenance(fields.get("provenance")),
    )


def read_name(fields: Fields) -> str:
    """Read ``name`` of a case, of test.json or bench.json.

    Source: docs/suites.md.
    """
    node = fields.get("name")
    name = node.string() if node else None
    if node is not None and name is not None and (not name or not name.isprintable()):
        node.fail("must have letters, and none that cannot be seen")
    elif node is not None and name is not None and len(name) > MAX_NAME:
        node.fail(f"has {len(name):,} characters: {MAX_NAME} are the most")
    return name or ""


def _read_outputs(fields: Fields, fixtures: Fixtures, error: ExpectedError | None) -> Mapping[str, CaseOutput]:
    node = fields.get("outputs")
    members = node.members("outputs") if node else []
    if node is not None and not members and error is None and isinstance(node.value, dict):
        node.fail("must not be empty: name what is compared")
    return MappingProxyType({name: _read_output(member, fixtures) for name, member in members})


def _read_output(node: Node, fixtures: Fixtures) -> CaseOutput:
    fields = Fields(node, OUTPUT)
    dtype, shape, data = read_dtype(fields), read_shape(fields), fields.get("data")
    found = None
    if data is not None and dtype is not None and shape is not None:
        found = read_data(data, dtype, shape, fixtures)
    elif data is not None and not ("dtype" in fields and "shape" in fields):
        data.fail("needs the output's dtype and shape beside it")
    return CaseOutput(
        dtype=dtype,
        shape=shape,
        data=found,
        tolerance=read_tolerance(fields.get("tolerance")),
        allow_nan=fields.flag("allowNaN"),
    )


def _spec(output: CaseOutput) -> TensorSpec | None:
    return TensorSpec(output.shape, output.dtype) if output.shape is not None and output.dtype is not None else None


def _not_negative(node: Node) -> float:
    value: Any = node.value
    if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
        return float(value)
    node.fail_kind("a number that is not negative")
    return 0.0


def _read_force(fields: Fields) -> tuple[str, ...]:
    node = fields.get("force")
    names = [entry.string() for entry in node.entries("variants", least=1)] if node else []
    return tuple(name for name in names if name is not None)


def _read_error(node: Node | None) -> ExpectedError | None:
    if node is None:
        return None
    fields = Fields(node, ERROR)
    kind = fields.get("kind")
    name = kind.string() if kind else None
    if kind is not None and name is not None and name not in ERROR_KINDS:
        kind.fail(f"is no class of errors: {alternatives(name, ERROR_KINDS, what='classes')}")
    return ExpectedError(name or "KernelError", fields.text("message") or "")


def _read_skip(node: Node | None) -> SkipGpu | None:
    if node is None:
        return None
    fields = Fields(node, SKIP)
    return SkipGpu(
        fields.choice("category", SKIP_CATEGORIES) or "todo",
        fields.text("reason") or "",
    )


def _read_provenance(node: Node | None) -> Mapping[str, Any]:
    if node is None:
        return MappingProxyType({})
    fields = Fields(node, PROVENANCE)
    return MappingProxyType({key: fields.text(key) for key in PROVENANCE.keys if key in fields})
