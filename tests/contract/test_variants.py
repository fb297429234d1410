"""Variants: requirements, clauses, ranks, intermediates."""

from __future__ import annotations

from typing import Any

import pytest
from manifest_defects import defects
from sample_manifests import a_pass, scale_manifest, variant

from webgpu_kernels.contract import Requires, SubgroupMatrixConfig, read_manifest


def with_variant(**changes: Any) -> dict[str, Any]:
    return scale_manifest(variants=[variant("a", **changes)])


@pytest.mark.parametrize(
    ("changes", "defect"),
    [
        ({"id": "_x"}, "variants[0].id: is not a variant id: use letters, digits and underscores, no underscore first"),
        (
            {"id": "a-b"},
            "variants[0].id: is not a variant id: use letters, digits and underscores, no underscore first",
        ),
        ({"id": 1}, "variants[0].id: must be a string, not the number 1"),
        ({"description": 1}, "variants[0].description: must be a string, not the number 1"),
        ({"priority": "1"}, 'variants[0].priority: must be a number, not the string "1"'),
        ({"priority": True}, "variants[0].priority: must be a number, not true"),
        ({"when": "true"}, 'variants[0].when: must be a list of clauses, not one string: write ["true"]'),
        ({"when": []}, "variants[0].when: must not be empty: give clauses"),
        ({"when": [True]}, "variants[0].when[0]: must be a string, not true"),
        ({"demoteWhen": []}, "variants[0].demoteWhen: must not be empty: give clauses"),
        ({"demoteWhen": {}}, "variants[0].demoteWhen: must be a list of clauses, not an object"),
        ({"supersededBy": []}, "variants[0].supersededBy: must not be empty: give ids of variants"),
        ({"supersededBy": [1]}, "variants[0].supersededBy[0]: must be a string, not the number 1"),
        ({"passes": []}, "variants[0].passes: must not be empty: give passes"),
        ({"passes": {}}, "variants[0].passes: must be a list of passes, not an object"),
    ],
)
def test_a_variant_is_checked(changes: dict[str, Any], defect: str) -> None:
    """Each key by its own rule."""
    assert defects(scale_manifest(variants=[variant("a") | changes]))[0] == defect


def test_a_variant_without_passes_is_refused() -> None:
    """It would compute nothing."""
    assert defects(scale_manifest(variants=[{"id": "a"}])) == [
        "variants[0].passes: is missing: give what the variant runs"
    ]


def test_ids_default_to_the_position() -> None:
    """Counted from 0, for variants and passes."""
    step = a_pass()
    del step["id"]
    variants = read_manifest(scale_manifest(variants=[variant("a"), {"passes": [step, step]}])).variants
    assert [found.id for found in variants] == ["a", "variant_1"]
    assert [found.id for found in variants[1].passes] == ["pass_0", "pass_1"]


def test_ids_are_unique() -> None:
    """Also against a default."""
    found = defects(scale_manifest(variants=[variant("variant_1"), {"passes": [a_pass()]}]))
    assert found == ["variants[1].id: is taken: another variant is called 'variant_1'"]


def test_the_manifests_clauses_come_first() -> None:
    """They are put before each variant's own."""
    manifest = read_manifest(
        scale_manifest(when=["ranks.x > 0"], variants=[variant("a", when=["ranks.x > 1"]), variant("b")])
    )
    assert [clause.source for clause in manifest.variants[0].when] == ["ranks.x > 0", "ranks.x > 1"]
    assert [clause.source for clause in manifest.variants[1].when] == ["ranks.x > 0"]


def test_a_variant_is_read_whole() -> None:
    """Every key."""
    found = read_manifest(
        with_variant(description="A.", priority=-1.5, demoteWhen=["ranks.x > 1"], derive={"n": "1"})
    ).variants[0]
    assert (found.description, found.priority, [clause.source for clause in found.demote_when]) == (
        "A.",
        -1.5,
        ["ranks.x > 1"],
    )
    assert [derived.name for derived in found.derive] == ["n"]


def test_superseders_rank_higher() -> None:
    """By priority, then by position."""
    manifest = scale_manifest(variants=[variant("a"), variant("b", priority=5), variant("c", supersededBy=["a", "b"])])
    assert read_manifest(manifest).variants[2].superseded_by == ("a", "b")


@pytest.mark.parametrize(
    ("name", "defect"),
    [
        ("b", "variants[0].supersededBy[0]: ranks lower than 'a': give it a higher priority, or put it first"),
        ("a", "variants[0].supersededBy[0]: is the variant itself: leave it out"),
        ("c", "variants[0].supersededBy[0]: is no variant: the variants are a, b"),
    ],
)
def test_a_superseder_must_be_another_variant_that_ranks_higher(name: str, defect: str) -> None:
    """Else it could never take the place."""
    assert defects(scale_manifest(variants=[variant("a", supersededBy=[name]), variant("b")])) == [defect]


@pytest.mark.parametrize(
    ("requires", "defect"),
    [
        (
            [],
            (
                "requires: must be an object with the keys features, limits, subgroupMinSize, subgroupMatrixConfigs, "
                "not a list of 0"
            ),
        ),
        ({"features": "shader-f16"}, 'requires.features: must be a list of features, not the string "shader-f16"'),
        ({"features": [1]}, "requires.features[0]: must be a string, not the number 1"),
        ({"limits": []}, "requires.limits: must be an object of limits, name to number, not a list of 0"),
        (
            {"limits": {"maxBufferSize": "1"}},
            'requires.limits.maxBufferSize: must be a non-negative integer, not the string "1"',
        ),
        (
            {"limits": {"maxBufferSize": 1.5}},
            "requires.limits.maxBufferSize: must be a non-negative integer, not the number 1.5",
        ),
        ({"subgroupMinSize": 0}, "requires.subgroupMinSize: must be an integer of at least 1, not the number 0"),
        (
            {"subgroupMatrixConfigs": []},
            "requires.subgroupMatrixConfigs: must not be empty: give subgroup matrix configs",
        ),
        (
            {"subgroupMatrixConfigs": [{"M": 8, "N": 8, "K": 8}]},
            "requires.subgroupMatrixConfigs[0].componentType: is missing: give f32, f16, u32, i32, u8, i8",
        ),
        (
            {"subgroupMatrixConfigs": [{"componentType": "f64", "M": 8, "N": 8, "K": 8}]},
            (
                'requires.subgroupMatrixConfigs[0].componentType: must be "f32" or "f16" or "u32" or "i32" or "u8" or '
                '"i8", not the string "f64"'
            ),
        ),
        (
            {"subgroupMatrixConfigs": [{"componentType": "f16", "M": 0, "N": 8, "K": 8}]},
            "requires.subgroupMatrixConfigs[0].M: must be an integer of at least 1, not the number 0",
        ),
        (
            {"subgroupMatrixConfigs": [{"componentType": "f16", "M": 8, "N": 8}]},
            "requires.subgroupMatrixConfigs[0].K: is missing: give a number of elements",
        ),
    ],
)
def test_requirements_are_checked(requires: Any, defect: str) -> None:
    """In the manifest and in a variant alike."""
    assert defects(scale_manifest(requires=requires)) == [defect]
    assert defects(with_variant(requires=requires)) == [f"variants[0].{defect}"]


def test_requirements_are_merged() -> None:
    """Union of features, maximum of limits and subgroup size."""
    general = {"features": ["subgroups"], "limits": {"maxBufferSize": 10, "maxBindGroups": 4}, "subgroupMinSize": 8}
    own = {
        "features": ["shader-f16"],
        "limits": {"maxBufferSize": 5, "maxComputeWorkgroupSizeX": 9},
        "subgroupMinSize": 4,
    }
    merged = read_manifest(scale_manifest(requires=general, variants=[variant("a", requires=own)])).variants[0].requires
    assert merged == Requires(
        features=frozenset({"subgroups", "shader-f16"}),
        limits={"maxBufferSize": 10, "maxBindGroups": 4, "maxComputeWorkgroupSizeX": 9},
        subgroup_min_size=8,
    )


def test_matrix_configs_stand_at_one_level() -> None:
    """The manifest's or the variant's."""
    requires = {
        "subgroupMatrixConfigs": [{"componentType": "f16", "resultComponentType": "f32", "M": 8, "N": 16, "K": 32}]
    }
    config = SubgroupMatrixConfig(component_type="f16", result_component_type="f32", m=8, n=16, k=32)
    assert read_manifest(with_variant(requires=requires)).variants[0].requires.subgroup_matrix_configs == (config,)
    assert defects(scale_manifest(requires=requires, variants=[variant("a", requires=requires)])) == [
        "variants[0].requires.subgroupMatrixConfigs: stands in the manifest's 'requires' too: keep one of them"
    ]


@pytest.mark.parametrize(
    ("intermediate", "defect"),
    [
        ({"dtype": "float32", "shape": "[1]"}, "variants[0].intermediates[0].id: is missing: name the intermediate"),
        (
            {"id": "s", "shape": "[1]"},
            (
                "variants[0].intermediates[0].dtype: is missing: give float16, float32, int8, int16, int32, uint8, "
                "uint32, bool"
            ),
        ),
        ({"id": "s", "dtype": "float32"}, "variants[0].intermediates[0].shape: is missing: give its dimensions"),
        (
            {"id": "var", "dtype": "float32", "shape": "[1]"},
            "variants[0].intermediates[0].id: is a word of WGSL: choose another name",
        ),
        (
            {"id": "s", "dtype": "int64", "shape": "[1]"},
            "variants[0].intermediates[0].dtype: must not be int64: shaders cannot compute with it",
        ),
        (
            {"id": "s", "dtype": "f32", "shape": "[1]"},
            (
                "variants[0].intermediates[0].dtype: is no storage dtype: the storage dtypes are float16, float32, "
                "int8, int16, int32, uint8, uint32, bool"
            ),
        ),
        (
            {"id": "s", "dtype": "float32", "shape": 4},
            "variants[0].intermediates[0].shape: must be a list of expressions, one a dimension, not the number 4",
        ),
        (
            {"id": "s", "dtype": "float32", "shape": "[1]", "zeroInit": 1},
            "variants[0].intermediates[0].zeroInit: must be true or false, not the number 1",
        ),
        (
            {"id": "s", "dtype": "float32", "shape": "[1]", "size": 1},
            (
                "variants[0].intermediates[0].size: is not a key of an intermediate: the keys of an "
                "intermediate are id, dtype, shape, zeroInit"
            ),
        ),
    ],
)
def test_an_intermediate_is_checked(intermediate: Any, defect: str) -> None:
    """Each key by its own rule."""
    assert defects(with_variant(intermediates=[intermediate])) == [defect]


def test_intermediates_have_different_ids() -> None:
    """Bindings name them."""
    scratch = {"id": "s", "dtype": "float32", "shape": [1]}
    assert defects(with_variant(intermediates=[scratch, scratch])) == [
        "variants[0].intermediates[1].id: is taken: another intermediate is called 's'"
    ]


def test_intermediates_see_the_variants_derived_names() -> None:
    """Their shape is part of the variant."""
    scratch = {"id": "s", "dtype": "float16", "shape": ["n", 2], "zeroInit": True}
    found = read_manifest(with_variant(derive={"n": "3"}, intermediates=[scratch])).variants[0].intermediates[0]
    assert (found.id, found.dtype, found.zero_init) == ("s", "float16", True)
    assert found.shape.evaluate({"n": 3}) == [3, 2]
