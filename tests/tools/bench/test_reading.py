"""bench.json is read whole, and all that is wrong with it is said at once."""

from __future__ import annotations

import json
from typing import Any

import pytest

import webgpu_kernels as wk
from webgpu_kernels.contract import bundled_names
from webgpu_kernels.errors import SuiteError
from webgpu_kernels.tools.bench.reading import benches_of, read_benches
from webgpu_kernels.tools.cases import case_call
from webgpu_kernels.tools.suites.model import Random, Tolerance


def read(document: Any) -> Any:
    return read_benches(json.dumps(document), where="p")


def test_a_case_says_what_is_called_and_what_moves() -> None:
    """A number or a formula of the contract's names; what the file says counts for cases that say nothing."""
    first, second = read(
        {
            "operations": "numel(shapes.y)",
            "bytesRead": 8,
            "cases": [
                {
                    "name": "one",
                    "description": "a model",
                    "inputs": {"x": {"dtype": "int32", "shape": [2, 3], "data": {"kind": "random", "seed": 4}}},
                    "attrs": {"axis": 1},
                    "outputs": {"y": {"tolerance": 0.5}, "z": {"dtype": "int8", "shape": [1]}},
                },
                {"name": "two", "inputs": {}, "outputs": ["y"], "bytesRead": "2 * 8"},
            ],
        }
    ).cases
    assert (first.name, first.description, dict(first.call.attrs)) == ("one", "a model", {"axis": 1})
    assert first.call.inputs["x"] == wk.TensorSpec((2, 3), "int32")
    assert first.inputs["x"] == Random(seed=4)
    assert dict(first.call.outputs) == {"y": None, "z": wk.TensorSpec((1,), "int8")}
    assert dict(first.tolerances) == {"y": Tolerance(0.5, 0.5)}
    assert [part.source if part else None for part in first.traffic] == ["8", None, "numel(shapes.y)"]
    assert [part.source if part else None for part in second.traffic] == ["2 * 8", None, "numel(shapes.y)"]
    assert dict(second.call.outputs) == {"y": None}


def test_all_defects_are_told_together() -> None:
    """Each with its path."""
    with pytest.raises(SuiteError) as caught:
        read(
            {
                "bytesWritten": -1,
                "cases": [
                    {"name": "a", "inputs": {"x": {"dtype": "float32"}}},
                    {"name": "a", "inputs": {}, "operations": "1 +", "bytesread": 1},
                    {"inputs": {}, "outputs": {"y": {"data": 1}}},
                ],
            }
        )
    lines = str(caught.value).splitlines()
    assert lines[0] == "p: bench.json has 7 defects"
    assert [line.split(":")[0].strip() for line in lines if line.startswith("  ") and not line.startswith("    ")] == [
        "bytesWritten",
        "cases[0].inputs.x.shape",
        "cases[1].name",
        "cases[1].operations",
        "cases[1].bytesread",
        "cases[2].outputs.y.data",
        "cases[2].name",
    ]
    assert "  cases[1].bytesread: is not a key of a case: did you mean 'bytesRead'?" in lines


def test_cases_are_found_by_patterns() -> None:
    """One of several must match; without any all are meant."""
    suite = read({"cases": [{"name": name, "inputs": {}} for name in ("ab", "ac", "bc")]})
    assert [case.name for case in suite.matching(["a*", "?c"])] == ["ab", "ac", "bc"]
    assert [case.name for case in suite.matching(["a*"])] == ["ab", "ac"]
    assert len(suite.matching([])) == 3


@pytest.mark.parametrize("name", bundled_names())
def test_bundled_cases_are_calls_of_their_packages(name: str) -> None:
    """Each is taken by a variant of a GPU with room enough, and says which model it is of."""
    kernel = wk.get_kernel(name)
    plenty = dict.fromkeys(("maxBufferSize", "maxStorageBufferBindingSize"), 2**31 - 4)
    device = wk.Capabilities(features={"shader-f16"}, limits=plenty)
    suite = benches_of(kernel.package)
    assert len(suite.cases) >= 10
    for case in suite.cases:
        assert case.call.accepted_variants(kernel, device), case.name
        assert case.description, case.name
        assert case_call(kernel.package, case.name).inputs == case.call.inputs
