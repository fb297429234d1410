"""test.json is read whole or not at all: every defect is listed with its place and a way out."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from published_packages import FOLDERS

import webgpu_kernels as wk
from webgpu_kernels import TensorSpec
from webgpu_kernels.errors import SuiteError
from webgpu_kernels.tools.suites.model import Case, Fill, Random, Range, Tolerance, Values
from webgpu_kernels.tools.suites.reading import read_suite, suite_of

X = {"dtype": "float32", "shape": [2], "data": {"kind": "fill", "value": 1}}


def read(**changes: Any) -> Case:
    """Read a file of one case."""
    case = {"name": "one", "inputs": {"x": X}, "outputs": {"y": {}}, **changes}
    (found,) = read_suite(json.dumps({"cases": [case]}), where="p").cases
    return found


def defects(*cases: Any, **members: Any) -> list[str]:
    """Return the defects of a file."""
    with pytest.raises(SuiteError) as caught:
        read_suite(json.dumps({"cases": list(cases), **members}), where="p")
    return [line.strip() for line in str(caught.value).splitlines()[1:]]


def defects_of_data(dtype: str, data: Any, *, size: int = 2) -> list[str]:
    """Return the defects of one input's data, their paths cut off."""
    x = {"dtype": dtype, "shape": [size], "data": data}
    return [text.removeprefix("cases[0].inputs.x.data") for text in defects({**CASE, "inputs": {"x": x}})]


CASE = {"name": "one", "inputs": {"x": X}, "outputs": {"y": {}}}


def test_everything_that_a_case_can_say_is_read() -> None:
    """Published keys and ours."""
    case = read(
        description="why",
        inputs={"x": {**X, "dtype": "uint8", "layout": "packed", "data": {"kind": "range", "start": 1, "modulo": 2}}},
        attrs={"k": 1.5},
        args={"n": 2},
        tunables={"W": 64},
        outputs={"y": {"dtype": "float16", "shape": [], "tolerance": {"atol": 1}, "allowNaN": True}},
        variant="a",
        force=["a", "b"],
        error={"kind": "ShapeError", "message": "odd"},
        skipGpu={"category": "todo", "reason": "later"},
        provenance={"source": "s", "notes": "n"},
    )
    assert case.call.inputs == {"x": TensorSpec((2,), "uint8", "packed")}
    assert (case.call.attrs, case.call.args, case.call.tunables) == ({"k": 1.5}, {"n": 2}, {"W": 64})
    assert case.call.outputs == {"y": TensorSpec((), "float16")}
    assert case.call.variant is None  # the case's is what must be chosen, not what is forced
    assert (case.variant, case.force) == ("a", ("a", "b"))
    assert case.inputs == {"x": Range(1, 1, 2)}
    assert (case.outputs["y"].tolerance, case.outputs["y"].allow_nan) == (Tolerance(1.0, 0.0), True)
    assert case.error is not None
    assert (case.error.kind, case.error.message) == ("ShapeError", "odd")
    assert case.skip_gpu is not None
    assert (case.skip_gpu.category, case.skip_gpu.reason) == ("todo", "later")
    assert (case.description, case.provenance) == ("why", {"source": "s", "notes": "n"})


def test_a_tolerance_is_a_number_for_both() -> None:
    """And nothing means exact."""
    assert read(outputs={"y": {"tolerance": 0.5}}).outputs["y"].tolerance == Tolerance(0.5, 0.5)
    assert read().outputs["y"].tolerance == Tolerance(0.0, 0.0)


def test_numbers_that_json_lacks_are_strings() -> None:
    """Also integers that no double holds."""
    data: dict[str, Any] = {"kind": "values", "values": ["NaN", "Infinity", "-Infinity", "-0"]}
    values = read(inputs={"x": {**X, "shape": [4], "data": data}}).inputs["x"]
    assert isinstance(values, Values)
    assert repr(values.values) == repr((math.nan, math.inf, -math.inf, -0.0))
    data = {"kind": "values", "values": ["9223372036854775807", -5]}
    assert read(inputs={"x": {**X, "dtype": "int64", "data": data}}).inputs["x"] == Values((2**63 - 1, -5))
    data = {"kind": "values", "values": [True, 0]}
    assert read(inputs={"x": {**X, "dtype": "bool", "data": data}}).inputs["x"] == Values((True, 0))


def test_values_may_refer_to_an_array_of_the_file() -> None:
    """Which is read as the dtype of whoever refers to it."""
    data = {"kind": "values", "values": {"$ref": "#/fixtureArrays/two"}}
    text = json.dumps({"fixtureArrays": {"two": [1, 2]}, "cases": [{**CASE, "inputs": {"x": {**X, "data": data}}}]})
    assert read_suite(text, where="p").cases[0].inputs["x"] == Values((1.0, 2.0))


def test_random_data_are_read() -> None:
    """With what their distribution needs."""
    data = {"kind": "random", "seed": 3, "mean": 1, "std": 2, "outliers": {"every": 9, "scale": 100}}
    assert read(inputs={"x": {**X, "data": data}}).inputs["x"] == Random(
        seed=3, mean=1.0, std=2.0, outlier_every=9, outlier_scale=100.0
    )


@pytest.mark.parametrize(
    ("dtype", "data", "expected"),
    [
        (
            "int8",
            {"kind": "values", "values": [1, 200]},
            ".values[1]: must be an integer from -128 to 127, not the number 200",
        ),
        ("int8", {"kind": "fill", "value": 1.5}, ".value: must be an integer from -128 to 127, not the number 1.5"),
        ("bool", {"kind": "fill", "value": 2}, ".value: must be true, false, 0 or 1, not the number 2"),
        ("float16", {"kind": "fill", "value": 70000}, '.value: is beyond float16: write "Infinity" if that is meant'),
        (
            "float32",
            {"kind": "fill", "value": "nan"},
            ".value: must be a number or one of 'NaN', 'Infinity', '-Infinity', '-0', not the string \"nan\"",
        ),
        ("float32", {"kind": "values", "values": [1]}, ".values: has 1 elements, the shape needs 2"),
        (
            "float32",
            {"kind": "values", "values": {"$ref": "#/fixtureArrays/x"}},
            ".values.$ref: names no array of fixtureArrays: there are no arrays",
        ),
        ("float32", {"kind": "randm"}, ".kind: is no kind of data: did you mean 'random'?"),
        ("float32", {}, ".kind: is missing: give one of values, fill, range, random, fillFloat32"),
        ("float32", 3, ": must be an object with a kind, not the number 3"),
        ("float32", {"kind": "random"}, ".seed: is missing: give an integer, so that the data are the same everywhere"),
        ("int8", {"kind": "random", "seed": 1, "distribution": "normal"}, '.distribution: must be "integers" for int8'),
        ("float32", {"kind": "random", "seed": 1, "low": 0}, ".low: means nothing for the distribution 'normal'"),
        (
            "float32",
            {"kind": "random", "seed": 1, "distribution": "integers"},
            ": must have low and high for integers of float32",
        ),
        ("int8", {"kind": "random", "seed": 1, "low": 5, "high": 4}, ".low: is greater than high, the number 4"),
        ("int8", {"kind": "range", "step": 0.5}, ": must have an integer start and step for int8"),
        (
            "int8",
            {"kind": "fillFloat32", "sinStep": 1, "cosStep": 1},
            ": of the kind 'fillFloat32' is for floats, not for int8",
        ),
        (
            "float32",
            {"kind": "fill", "value": 1, "seed": 2},
            ".seed: is not a key of data of the kind 'fill': the keys of data of the kind 'fill' are kind, value",
        ),
    ],
)
def test_wrong_data_are_refused(dtype: str, data: Any, expected: str) -> None:
    """At their place, with what would be right."""
    assert defects_of_data(dtype, data) == [expected]


def test_a_tensor_beyond_all_measure_is_refused() -> None:
    """Before memory is asked for."""
    expected = ": belongs to a tensor of 1,000,000,000,000 elements: 268,435,456 are the most"
    assert defects_of_data("float32", {"kind": "fill", "value": 1}, size=10**12) == [expected]


def test_all_defects_are_listed_together() -> None:
    """In the file's order."""
    cases = [
        {"name": "one", "inputs": {"x": {"dtype": "float32", "shape": [2]}}, "outputs": {}},
        {"name": "one", "inputs": {}, "outputs": {"y": {"data": {"kind": "fill", "value": 0}}}, "varient": "a"},
        {"name": "", "outputs": {"y": {"tolerance": -1}}, "error": {"kind": "ShapeEror"}, "force": []},
    ]
    assert defects(*cases) == [
        "cases[0].inputs.x.data: is missing: say what it holds",
        "cases[0].outputs: must not be empty: name what is compared",
        "cases[1].name: stands more than once: 'one'",
        "cases[1].outputs.y.data: needs the output's dtype and shape beside it",
        "cases[1].varient: is not a key of a case: did you mean 'variant'?",
        "cases[2].name: must have letters, and none that cannot be seen",
        "cases[2].outputs.y.tolerance: must be a number that is not negative, not the number -1",
        "cases[2].error.kind: is no class of errors: did you mean 'ShapeError'?",
        "cases[2].force: must not be empty: give variants",
        "cases[2].inputs: is missing: give {name: {dtype, shape, data}}",
    ]


def test_a_file_without_cases_tests_nothing() -> None:
    """And says so."""
    assert defects() == ["cases: must not be empty: give cases"]


def test_what_is_no_json_is_one_clear_error() -> None:
    """With line and column."""
    with pytest.raises(
        SuiteError, match=r"p: test\.json has 1 defect\n  is not JSON: Expecting value at line 1, column 1"
    ):
        read_suite("cases", where="p")


def test_the_published_file_is_read_unmodified() -> None:
    """All of it."""
    path = FOLDERS["ai.onnx.Add"] / "test.json"
    if not path.is_file():
        pytest.skip("the published test.json is not on this machine")
    cases = read_suite(path.read_bytes(), where="published").cases
    assert len(cases) == 51
    assert [case.skip_gpu.category for case in cases if case.skip_gpu] == ["permanent", "permanent", "todo"]
    assert cases[0].outputs["c"].tolerance == Tolerance(1e-6, 1e-6)
    assert cases[0].provenance == {} or "source" in cases[0].provenance


@pytest.mark.parametrize("name", ["ai.onnx.Add", "ai.onnx.Identity"])
def test_bundled_suites_are_read(name: str) -> None:
    """And are worth running."""
    assert len(suite_of(wk.get_kernel(name).package).cases) > 60


def test_a_fill_is_read_as_its_dtype() -> None:
    """So an integer stays one."""
    assert read(inputs={"x": {**X, "dtype": "int32"}}).inputs["x"] == Fill(1)
