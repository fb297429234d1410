"""What the published SkipGroupNorm manifest chooses on described devices, against values computed elsewhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from webgpu_kernels.contract import Manifest, open_package
from webgpu_kernels.planning.attributes import bind_attributes
from webgpu_kernels.planning.capabilities import Capabilities
from webgpu_kernels.planning.explanation import Explanation, explain_selection
from webgpu_kernels.planning.outputs import infer_outputs
from webgpu_kernels.planning.request import bind_request
from webgpu_kernels.planning.selection import Selection, select_variant
from webgpu_kernels.planning.spec import TensorSpec

SHARED = Path(__file__).parents[3] / "shared"
VECTORS = SHARED / "vectors" / "selection.json"
SEED = SHARED / "seeds" / "com.microsoft.SkipGroupNorm"
VARIABLES = {"X": "T", "skip": "T", "bias": "T", "gamma": "M", "beta": "M"}

if not VECTORS.is_file():
    pytest.skip("the shared vectors are not beside the repository", allow_module_level=True)

DOCUMENT = json.loads(VECTORS.read_text())


@pytest.fixture(scope="module")
def manifest() -> Manifest:
    """The published contract, unmodified."""
    return open_package(SEED).manifest


def select(manifest: Manifest, case: dict[str, Any], *, exhaustive: bool) -> Selection:
    described = DOCUMENT["devices"][case["device"]]
    request = case["request"]
    bound = bind_request(
        manifest,
        {name: TensorSpec(shape, request["types"][VARIABLES[name]]) for name, shape in request["shapes"].items()},
        attrs=request["attrs"],
        args={},
        tunables=request["tunables"],
        capabilities=Capabilities(features={"shader-f16"} if described["f16"] else set(), limits=described["limits"]),
    )
    return select_variant(infer_outputs(bound, dict.fromkeys(request["outputs"])), exhaustive=exhaustive)


def explain(manifest: Manifest, case: dict[str, Any]) -> Explanation:
    return explain_selection(select(manifest, case, exhaustive=True))


@pytest.mark.parametrize("index", range(len(DOCUMENT["cases"])))
def test_the_published_manifest_chooses_as_computed(manifest: Manifest, index: int) -> None:
    """Variant, eligible candidates, intermediates, grids, derived values and element types agree."""
    case = DOCUMENT["cases"][index]
    expected = case["expected"]
    explanation = explain(manifest, case)
    assert explanation.variant == expected["variant"]
    assert [candidate.id for candidate in explanation.candidates if candidate.accepted] == expected["eligible"]
    assert [{"id": i.id, "shape": list(i.shape)} for i in explanation.intermediates] == expected.get(
        "intermediates", []
    )
    assert len(explanation.passes) == len(expected.get("passes", []))
    for step, wanted in zip(explanation.passes, expected.get("passes", []), strict=True):
        assert step.id == wanted["id"]
        assert list(step.dispatch) == wanted["dispatch"]
        assert [binding.element_type for binding in step.bindings] == wanted["elementTypes"]
        assert {name: step.values[name] for name in wanted["values"]} == wanted["values"]
        assert [(n, type(step.values[n])) for n in wanted["values"]] == [
            (n, type(v)) for n, v in wanted["values"].items()
        ]


@pytest.mark.parametrize("index", range(len(DOCUMENT["cases"])))
def test_a_call_chooses_what_an_explanation_says(manifest: Manifest, index: int) -> None:
    """Stopping at the winner gives the same variant as judging every candidate."""
    case = DOCUMENT["cases"][index]
    chosen = select(manifest, case, exhaustive=False).variant
    assert (chosen.id if chosen is not None else None) == explain(manifest, case).variant


def test_defaults_fill_in_what_a_call_leaves_out(manifest: Manifest) -> None:
    """channels_last and epsilon have defaults, groups and activation do not."""
    assert bind_attributes(manifest, {"groups": 2, "activation": 0}) == {
        "activation": 0,
        "groups": 2,
        "channels_last": 1,
        "epsilon": 0.00001,
    }
