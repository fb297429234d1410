"""Requests that are made up from a contract, and the devices that they are tried on."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from lint_packages import CLEAN, found, write_package

from webgpu_kernels.contract import bundled_names, read_manifest
from webgpu_kernels.tools.lint.findings import Findings
from webgpu_kernels.tools.lint.formulas import Paths, formulas, tree
from webgpu_kernels.tools.lint.sampling.choices import choices
from webgpu_kernels.tools.lint.sampling.devices import DEFAULTS, EVERYTHING, sampled_devices
from webgpu_kernels.tools.lint.sampling.relations import relations
from webgpu_kernels.tools.lint.sampling.sample import Sample, take_sample
from webgpu_kernels.tools.lint.sampling.search import shared_conditions
from webgpu_kernels.tools.lint.subject import subject_of
from webgpu_kernels.tools.locate import locate

if TYPE_CHECKING:
    from pathlib import Path

    from webgpu_kernels.contract import Manifest


def manifest_with(**changes: object) -> Manifest:
    """Return the small contract with top-level members replaced."""
    return read_manifest({**CLEAN, **changes})


def trees_of(manifest: Manifest) -> list[object]:
    """Return the syntax trees of a contract's formulas."""
    return [tree(formula.source) for formula in formulas(manifest, Paths(manifest, {}))]


def sample_of(name: str, seconds: float = 60.0) -> Sample:
    """Sample a package without the cases of its suites' counting."""
    return take_sample(subject_of(locate(name)), Findings(), time.monotonic() + seconds, lambda _: None)


@pytest.mark.parametrize("name", bundled_names())
def test_a_bundled_contract_gives_requests_for_every_variant(name: str) -> None:
    """Knowing nothing of the operator, the search finds a request that selects each variant."""
    sample = sample_of(name)
    made_up = {judged.chosen for judged in sample.judged if not judged.sampled.origin}
    assert made_up - {None} == {variant.id for variant in locate(name).manifest.variants}
    assert sample.valid >= 100
    assert not sample.late


def test_the_same_package_gives_the_same_requests(tmp_path: Path) -> None:
    """Nothing is left to chance."""
    folder = str(write_package(tmp_path))
    first, second = sample_of(folder), sample_of(folder)
    assert [judged.sampled for judged in first.judged] == [judged.sampled for judged in second.judged]


def test_high_ranks_of_odd_sizes_are_tried(tmp_path: Path) -> None:
    """A general variant that is forgotten for them would be noticed by nobody else."""
    folder = write_package(tmp_path, lambda manifest: manifest["variants"][1].update(when=["ranks.x < 5"]))
    (finding,) = found(folder, "L403")
    assert finding.message.startswith("no variant takes x float32[1, 2, 3, 1, 5, 3, 1], factor=2.5")


def test_sampling_stops_when_the_time_is_over(tmp_path: Path) -> None:
    """What is not done by then is not done, and the sample says so."""
    sample = sample_of(str(write_package(tmp_path)), seconds=0.0)
    assert sample.late
    assert sample.judged == ()


def test_relations_are_read_from_formulas() -> None:
    """Equal shapes, sizes of axes, ranks and numbers of elements, whichever side the input is on."""
    manifest = manifest_with(
        inputs={name: {"dtype": "T"} for name in "xabcd"},
        derive={
            "size": "64",
            "a": "sameShape(shapes.a, [2, dim(shapes.x, 0)])",
            "b": "5 == dim(shapes.b, -1) and ranks.b == 3",
            "c": "numel(shapes.c) == 1",
            "d": "ranks.d >= 2 and sameShape(shapes.d, shapes.y)",
        },
    )
    found = relations(manifest, [each for each in trees_of(manifest) if each is not None])  # type: ignore[misc]
    parts = {name: {relation.part for relation in entries} for name, entries in found.items()}
    assert {name: parts[name] for name in "abcd"} == {
        "a": {"shape"},
        "b": {-1, "rank"},
        "c": {"count"},
        "d": {"rank", "shape"},
    }


def test_attribute_values_come_from_comparisons_and_kinds() -> None:
    """Allowed values, values that formulas compare with, and usual ones of the default's kind."""
    manifest = manifest_with(
        attributes={
            "factor": {"default": 2.5},
            "mode": {"default": "linear"},
            "axis": {"default": -1},
            "axes": {"default": [0]},
            "kind": {},
            "flag": {},
        },
        attributeConstraints={"kind": {"required": True, "values": ["a", "b"]}},
        derive={"size": "64", "m": "attrs.mode == 'cubic' or attrs.mode in ['nearest']", "f": "attrs.flag == 17"},
    )
    found = choices(manifest, trees_of(manifest)).attrs
    assert found["factor"] == (2.5,)
    assert found["mode"] == ("linear", "cubic", "nearest")
    assert found["axis"][0] == -1
    assert found["axes"][:3] == ([0], [1], [-1])
    assert found["kind"] == ("a", "b")
    assert 17 in found["flag"]


def test_what_all_variants_ask_is_the_contract() -> None:
    """Conditions are followed through derived names; what one variant asks alone is its own."""
    manifest = manifest_with(
        when=["good"],
        derive={
            "size": "64",
            "wide": "dim(shapes.x, 1) > 1",
            "good": "ranks.x == 2 and wide",
        },
    )
    assert [condition.source for condition in shared_conditions(manifest)] == [
        "f16Ok(dtypes.T)",
        "ranks.x == 2",
        "dim(shapes.x, 1) > 1",
    ]


def test_devices_are_those_that_come_along_and_what_the_contract_asks_for() -> None:
    """Defaults first; vendors that formulas compare with; last what has everything that variants require."""
    requires = {"features": ["texture-formats-tier1"], "limits": {"maxStorageBuffersPerShaderStage": 40}}
    manifest = manifest_with(requires={**requires, "subgroupMinSize": 128})
    devices = sampled_devices(manifest, ["device.adapterInfo.vendor == 'apple'"])
    names = [device.name for device in devices]
    assert names[0] == DEFAULTS
    assert names[-1] == EVERYTHING
    assert f"{EVERYTHING}, vendor apple" in names
    everything = devices[-1].capabilities
    assert "texture-formats-tier1" in everything.features
    assert everything.limits["maxStorageBuffersPerShaderStage"] == 40
    assert everything.adapter_info["subgroupMinSize"] == 128
    assert devices[0].capabilities.features == frozenset()
