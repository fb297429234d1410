"""What a manifest may hold once it declares an extension, and what it is told where it does not."""

from __future__ import annotations

from typing import Any

import pytest
from manifest_defects import defects
from sample_manifests import scale_manifest
from table_package import EXTENSIONS, table_manifest, table_pass

from webgpu_kernels.contract import dtype_of_onnx_code, onnx_code, read_manifest, storage_bytes, stored_bytes


def without(extension: str) -> list[str] | None:
    """Return the extensions without one."""
    return [name for name in EXTENSIONS if name != extension]


def rows(**changes: Any) -> dict[str, Any]:
    """Return the inputs with other keys in the port of the row numbers."""
    inputs = table_manifest()["inputs"]
    return {**inputs, "rows": {**inputs["rows"], **changes}}


def test_a_manifest_that_declares_its_extensions_is_read() -> None:
    """Ranges, int4 and splits are in the model as what they mean."""
    manifest = read_manifest(table_manifest())
    assert manifest.extensions == {"valueRange", "int4", "split"}
    assert manifest.type_constraints["T"] == ("uint8", "int4", "uint4")
    allowed = manifest.inputs["rows"].value_range
    assert allowed is not None
    assert (allowed.least.source, allowed.most.source, allowed.what) == (
        "-rowCount",
        "rowCount - 1",
        "a row of the table",
    )
    step: Any = manifest.variants[0].passes[0]
    assert step.bindings[0].split.source == "parts"
    assert step.bindings[1].split is None


def test_a_manifest_without_extensions_has_none() -> None:
    """Published packages declare nothing."""
    manifest = read_manifest(scale_manifest())
    assert manifest.extensions == frozenset()
    assert manifest.inputs["x"].value_range is None


def test_an_undeclared_range_is_an_unknown_key() -> None:
    """The hint names the extension."""
    hint = "it belongs to the extension 'valueRange', which the manifest has to declare in 'extensions'"
    assert defects(table_manifest(extensions=without("valueRange"))) == [
        f"inputs.rows.range: is not a key of a port: {hint}"
    ]


def test_an_undeclared_split_is_an_unknown_key_and_its_constant_an_unknown_name() -> None:
    """In a handle and in a derive."""
    hint = "it belongs to the extension 'split', which the manifest has to declare in 'extensions'"
    assert defects(table_manifest(extensions=without("split"))) == [
        f"derive.parts: uses the unknown name 'SPLIT_WINDOW_BYTES': {hint}",
        f"bindings.table.split: is not a key of a binding: {hint}",
    ]


def test_an_undeclared_int4_is_an_unknown_dtype() -> None:
    """In type constraints and in ports."""
    hint = "it belongs to the extension 'int4', which the manifest has to declare in 'extensions'"
    assert defects(table_manifest(extensions=without("int4"))) == [
        f"typeConstraints.T[1]: is not a logical dtype: {hint}",
        f"typeConstraints.T[2]: is not a logical dtype: {hint}",
    ]
    assert defects(scale_manifest(inputs={"x": {"dtype": "uint4"}})) == [
        f"inputs.x.dtype: is no type variable and no logical dtype: {hint}"
    ]


@pytest.mark.parametrize(
    ("extensions", "defect"),
    [
        ("split", 'extensions: must be a list of extensions, not the string "split"'),
        ([], "extensions: must not be empty: give extensions"),
        (["splits"], "extensions[0]: is no extension: did you mean 'split'?"),
        (["other"], "extensions[0]: is no extension: the extensions are valueRange, int4, split"),
        (["int4", "int4"], "extensions[1]: stands more than once: keep one of them"),
        ([4], "extensions[0]: must be a string, not the number 4"),
    ],
)
def test_the_list_of_extensions_is_closed(extensions: Any, defect: str) -> None:
    """A name that is not known is a misprint, or belongs to a later version of this library."""
    assert defects(scale_manifest(extensions=extensions)) == [defect]


@pytest.mark.parametrize(
    ("change", "defect"),
    [
        ({"range": 3}, "inputs.rows.range: must be an object with the keys min, max, what, not the number 3"),
        (
            {"range": {"max": 3}},
            "inputs.rows.range.min: is missing: give the least value, an expression or an integer",
        ),
        (
            {"range": {"min": 0, "max": 1.5}},
            "inputs.rows.range.max: must be an expression or an integer, not the number 1.5",
        ),
        (
            {"range": {"min": 0, "max": "rowcount"}},
            "inputs.rows.range.max: uses the unknown name 'rowcount': did you mean 'rowCount'?",
        ),
        (
            {"range": {"min": 0, "max": 3, "step": 1}},
            "inputs.rows.range.step: is not a key of 'range': the keys of 'range' are min, max, what",
        ),
        (
            {"range": {"min": 0, "max": 3}, "dtype": "T", "storage": None, "narrowing": None},
            "inputs.rows.range: is for integers of whole bytes, this port is uint8 or int4 or uint4",
        ),
        (
            {"range": {"min": 0, "max": 3}, "dtype": "float32", "storage": None, "narrowing": None},
            "inputs.rows.range: is for integers of whole bytes, this port is float32",
        ),
    ],
)
def test_a_range_is_two_bounds_of_an_integer_input(change: dict[str, Any], defect: str) -> None:
    """Each mistake at its place."""
    inputs = rows(**change)
    inputs["rows"] = {key: value for key, value in inputs["rows"].items() if value is not None}
    assert defects(table_manifest(inputs=inputs)) == [defect]


def test_an_output_has_no_range() -> None:
    """What a kernel computes is not checked by the host."""
    outputs = {"y": {"dtype": "int32", "shape": "shapes.x", "range": {"min": 0, "max": 1}}}
    assert defects(scale_manifest(extensions=["valueRange"], outputs=outputs)) == [
        "outputs.y.range: is for inputs: leave it out"
    ]


@pytest.mark.parametrize(
    ("use", "defect"),
    [
        (
            {"name": "y", "split": 2},
            "is for what a pass only reads: a buffer that it writes is bound whole",
        ),
        (
            {"name": "table", "buffer": "storage", "split": 2},
            "is for what a pass only reads: a buffer that it writes is bound whole",
        ),
        (
            {"name": "held", "split": 2},
            "is for tensors: an intermediate is bound whole",
        ),
        (
            {"scratch": "held", "split": 2},
            "is for tensors: an intermediate is bound whole",
        ),
        (
            {"name": "table", "length": 4, "split": 2},
            "stands beside 'length': windows are arrays without a fixed length",
        ),
        (
            {"name": "p", "struct": [{"name": "n", "type": "u32", "value": 1}], "split": 2},
            "stands beside 'struct': a uniform has no tensor, element type or length",
        ),
        (
            {"name": "table", "split": 0},
            "must be an expression or an integer of at least 1, not the number 0",
        ),
        (
            {"name": "table", "split": "part"},
            "uses the unknown name 'part': did you mean 'parts'?",
        ),
    ],
)
def test_only_tensors_that_are_read_are_split(use: dict[str, Any], defect: str) -> None:
    """A window of what is written, or of scratch memory, has no meaning."""
    intermediates = [{"id": "held", "dtype": "float32", "shape": [4]}]
    passes = [table_pass(bindings=[use])]
    variants = [{"id": "only", "intermediates": intermediates, "passes": passes}]
    assert defects(table_manifest(variants=variants)) == [f"variants[0].passes[0].bindings[0].split: {defect}"]


def test_the_constant_cannot_be_derived() -> None:
    """Where the extension is declared its name is taken, elsewhere it is free."""
    derive = {"SPLIT_WINDOW_BYTES": "4"}
    assert defects(scale_manifest(extensions=["split"], derive=derive)) == [
        "derive.SPLIT_WINDOW_BYTES: is a name that expressions reserve: choose another"
    ]
    assert read_manifest(scale_manifest(derive=derive)).derive[0].name == "SPLIT_WINDOW_BYTES"


def test_a_misprint_of_the_constant_is_recognised() -> None:
    """Like that of any other name."""
    assert defects(scale_manifest(extensions=["split"], derive={"parts": "SPLIT_WINDOW_BYTE // 4"})) == [
        "derive.parts: uses the unknown name 'SPLIT_WINDOW_BYTE': did you mean 'SPLIT_WINDOW_BYTES'?"
    ]


def test_a_type_variable_may_be_called_int4_where_that_is_no_dtype() -> None:
    """Published packages read as before."""
    constraints = {"int4": ["float32"]}
    ports = {"inputs": {"x": {"dtype": "int4"}}, "outputs": {"y": {"dtype": "int4", "shape": "shapes.x"}}}
    assert read_manifest(scale_manifest(typeConstraints=constraints, **ports)).inputs["x"].dtype == "int4"
    assert defects(scale_manifest(typeConstraints=constraints, **ports, extensions=["int4"])) == [
        "typeConstraints.int4: is the name of a dtype: choose another for the type variable"
    ]


def test_packed_is_for_bytes_and_half_bytes() -> None:
    """A type variable of other dtypes cannot be packed."""
    manifest = table_manifest(typeConstraints={"T": ["uint8", "int4", "int8"]})
    assert defects(manifest) == ["inputs.table.layout: 'packed' is for uint8, this port is uint8 or int4 or int8"]


@pytest.mark.parametrize(("dtype", "code"), [("int4", 22), ("uint4", 21)])
def test_half_bytes_have_onnx_numbers(dtype: str, code: int) -> None:
    """They have no size in whole bytes; tensors of them have."""
    assert (onnx_code(dtype), dtype_of_onnx_code(code)) == (code, dtype)
    assert [stored_bytes(count, dtype) for count in (0, 1, 8, 9)] == [4, 4, 4, 8]
    with pytest.raises(KeyError, match=dtype):
        storage_bytes(dtype)
