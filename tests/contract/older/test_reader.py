"""The older dialect's top level: what is read, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from older_manifests import older_defects, older_manifest, older_variant, says

from webgpu_kernels.contract import UNSET, read_manifest


def test_the_whole_contract_is_read() -> None:
    """Into the model that spec 2.1 has."""
    manifest = read_manifest(
        older_manifest(
            **{"$schema": "older.json", "$comment": "gone"},
            description="Doubles.",
            sinceVersion=3,
            conformance="internal-lowering",
            when="ranks.input >= 0",
            onnx={"any": 1},
        )
    )
    assert (manifest.op_id, manifest.description, manifest.since_version) == ("test.Scale", "Doubles.", 3)
    assert (manifest.conformance, manifest.onnx) == ("internal-lowering", {"any": 1})
    assert [clause.source for clause in manifest.variants[0].when] == ["ranks.input >= 0"]


def test_attributes_are_bare_defaults_with_descriptions_beside_them() -> None:
    """An attribute may also be only named, described or constrained; null is a default."""
    attributes = read_manifest(
        older_manifest(
            attributes={"axis": -1, "axes": None},
            attributeNames=["mode"],
            attributeDescriptions={"axis": "Which.", "scale": "How much."},
            attributeConstraints={"axis": {"values": [-1, 0]}, "to": {"required": True}},
        )
    ).attributes
    assert list(attributes) == ["axis", "axes", "mode", "scale", "to"]
    assert (attributes["axis"].default, attributes["axis"].values) == (-1, (-1, 0))
    assert attributes["axis"].description == "Which."
    assert attributes["axes"].default is None
    assert attributes["scale"].default is UNSET
    assert attributes["scale"].description == "How much."
    assert attributes["to"].required


def test_tunables_are_bare_defaults_with_descriptions_beside_them() -> None:
    """Of the manifest and of a variant."""
    manifest = read_manifest(
        older_manifest(
            tunables={"WG": 64},
            tunableDescriptions={"WG": "Lanes."},
            variants=[older_variant(tunables={"WG": 32, "FAST": True}, tunableDescriptions={"FAST": "Less exact."})],
        )
    )
    assert (manifest.tunables["WG"].default, manifest.tunables["WG"].description) == (64, "Lanes.")
    own = manifest.variants[0].tunables
    assert [(knob.name, knob.default, knob.description) for knob in own.values()] == [
        ("WG", 32, None),
        ("FAST", True, "Less exact."),
    ]


def test_requirements_come_in_one_object_or_under_their_former_keys() -> None:
    """All of them count, a variant's with the manifest's."""
    manifest = read_manifest(
        older_manifest(
            requires={"features": ["subgroups"], "limits": {"maxBufferSize": 10}},
            requiredLimits={"maxBufferSize": 20},
            variants=[older_variant(requiredFeatures=["shader-f16"], requiredSubgroupMinSize=8)],
        )
    )
    requires = manifest.variants[0].requires
    assert requires.features == {"subgroups", "shader-f16"}
    assert requires.limits == {"maxBufferSize": 20}
    assert requires.subgroup_min_size == 8


def test_families_stand_among_the_variants_or_apart() -> None:
    """Both are expanded."""
    family = {"cases": [{"n": "one"}, {"n": "two"}], "variants": [older_variant(id="{n}")]}
    manifest = read_manifest(older_manifest(variants=[older_variant(), family]))
    assert [variant.id for variant in manifest.variants] == ["only", "one", "two"]
    apart = read_manifest(older_manifest(variants=None, variantFamilies=[family]))
    assert [variant.id for variant in apart.variants] == ["one", "two"]


@pytest.mark.parametrize(
    ("change", "defect"),
    [
        ({"variants": None}, "variants: is missing: give at least one implementation"),
        ({"name": None}, "name: is missing: name the operator"),
        ({"domain": "X"}, "domain: is not a domain: write words joined by dots, such as com.microsoft, the first in…"),
        ({"sinceVersion": 0}, "sinceVersion: must be an integer of at least 1, not the number 0"),
        ({"variantz": []}, "variantz: is not a key of a manifest of spec 1.0: did you mean 'variants'?"),
        ({"bindings": {}}, "bindings: is not a key of a manifest of spec 1.0: did you mean 'bindingSets'?"),
        ({"attributes": {"a": {"default": 1}}}, "attributes.a: must be the bare default, as spec 1.0 has it, not an…"),
        ({"attributeNames": [1]}, "attributeNames[0]: must be a string, not the number 1"),
        ({"attributeDescriptions": {"a": 1}}, "attributeDescriptions.a: must be a string, not the number 1"),
        ({"attributeConstraints": {"a": {}}}, "attributeConstraints.a: constrains nothing: give 'required' or…"),
        ({"tunables": {"W": {"default": 1}}}, "tunables.W: must be a number, a string, true or false, not an object"),
        ({"requiredFeatures": "shader-f16"}, 'requiredFeatures: must be a list of features, not the string "shader-…'),
        ({"requiredLimits": {"m": -1}}, "requiredLimits.m: must be a non-negative integer, not the number -1"),
        ({"variants": [older_variant(), older_variant()]}, "variants[1].id: is taken: another variant is called…"),
    ],
)
def test_the_top_level_is_checked(change: dict[str, Any], defect: str) -> None:
    """Each fault has its path."""
    found = older_defects(older_manifest(**change))
    assert len(found) == 1
    assert says(found[0], defect), found


def test_all_defects_are_reported_together_in_the_documents_order() -> None:
    """As spec 2.1's are."""
    manifest = older_manifest(
        name=3,
        args={"x": {"kind": "tensor", "semantic": "inputs"}},
        constants={"n": "missing"},
        variants=[older_variant(when="also_missing", passes=[])],
    )
    assert [defect.split(": ")[0] for defect in older_defects(manifest)] == [
        "name",
        "args.x.semantic",
        "variants[0].passes",
        "variants[0].when",
        "constants.n",
    ]
