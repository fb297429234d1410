"""What holds for every object of a manifest: known keys, comments, plain JSON, and the order of defects."""

from __future__ import annotations

from typing import Any

import pytest
from manifest_defects import defects
from sample_manifests import a_pass, scale_manifest, variant

from webgpu_kernels.contract import read_manifest
from webgpu_kernels.contract.cursor import MAX_DEFECTS, describe, join, show
from webgpu_kernels.contract.fields import RENAMED
from webgpu_kernels.contract.words import PROTOTYPE_MEMBERS
from webgpu_kernels.errors import ManifestError


def test_the_sample_is_good() -> None:
    """Every test below changes one thing of it."""
    manifest = read_manifest(scale_manifest())
    assert manifest.op_id == "test.Scale"
    assert [found.id for found in manifest.variants] == ["only"]


@pytest.mark.parametrize("document", [None, [], "text", 3, True])
def test_a_manifest_is_an_object(document: Any) -> None:
    """Anything else is refused before its members are missed."""
    message = defects(document)
    assert len(message) == 1
    assert message[0].startswith("must be an object with the keys $schema, domain, name, ")
    assert message[0].endswith(f", not {describe(document)}")


@pytest.mark.parametrize(
    ("change", "defect"),
    [
        ({"variantz": []}, "variantz: is not a key of a manifest: did you mean 'variants'?"),
        (
            {"__class__": {}},
            (
                "__class__: is not a key of a manifest: the keys of a manifest are $schema, domain, name, "
                "description, conformance, sinceVersion, inputs, outputs, args, attributes, attributeConstraints, "
                "typeConstraints, "
                "tunables, derive, when, requires, bindings, variants, onnx, extensions"
            ),
        ),
        (
            {"attributes": {"a": {"defualt": 1}}},
            "attributes.a.defualt: is not a key of an attribute: did you mean 'default'?",
        ),
        (
            {"variants": [variant("a", priorty=1)]},
            "variants[0].priorty: is not a key of a variant: did you mean 'priority'?",
        ),
        (
            {"variants": [variant("a", passes=[a_pass(shaders="x")])]},
            "variants[0].passes[0].shaders: is not a key of a pass: did you mean 'shader'?",
        ),
        ({"inputs": {"x": {"dtype": "T", "type": 1}}}, "inputs.x.type: is not a key of a port: did you mean 'dtype'?"),
        ({"requires": {"feature": []}}, "requires.feature: is not a key of 'requires': did you mean 'features'?"),
    ],
)
def test_an_unknown_key_is_an_error_with_a_hint(change: dict[str, Any], defect: str) -> None:
    """The closest key, or all of them."""
    assert defects(scale_manifest(**change)) == [defect]


@pytest.mark.parametrize("key", sorted(RENAMED))
def test_a_key_of_older_manifests_says_what_replaced_it(key: str) -> None:
    """Authors who migrate are told the new place."""
    assert defects(scale_manifest(**{key: {}})) == [f"{key}: is not a key of a manifest: {RENAMED[key]}"]


def test_the_renamed_keys_of_the_format_are_covered() -> None:
    """FORMAT section 2 names seven."""
    named = (
        "attributeDescriptions tunableDescriptions attributeNames constants variantFamilies bindingSets bindingEntries"
    )
    assert set(named.split()) <= set(RENAMED)


@pytest.mark.parametrize("member", sorted(PROTOTYPE_MEMBERS))
def test_members_of_object_prototype_are_refused(member: str) -> None:
    """As any key, also where keys are free names."""
    message = "is the name of a member of JavaScript's Object.prototype: choose another"
    manifest = scale_manifest(derive={member: "1"}, attributes={"a": {"default": {member: 1}}})
    assert defects(manifest) == [f"derive.{member}: {message}", f"attributes.a.default.{member}: {message}"]


def test_comments_are_allowed_anywhere_and_stripped() -> None:
    """Also inside literal values."""
    step = a_pass(**{"$comment": "one", "dispatch": {"x": 1, "$comment": "a point"}})
    manifest = scale_manifest(
        **{"$comment": "top", "variants": [variant("a", passes=[step], **{"$comment": "v"})]},
        attributes={"a": {"default": {"$comment": "gone", "k": 1}}},
    )
    assert read_manifest(manifest).attributes["a"].default == {"k": 1}


def test_a_comment_is_a_string() -> None:
    """Nothing hides in it."""
    assert defects(scale_manifest(derive={"$comment": {"x": 1}})) == [
        "derive.$comment: must be a string, not an object"
    ]


def test_a_schema_may_be_named_at_the_top_only() -> None:
    """Editors look for it there."""
    assert read_manifest(scale_manifest(**{"$schema": "manifest.schema.json"})).name == "Scale"
    assert defects(scale_manifest(**{"$schema": 1})) == ["$schema: must be a string, not the number 1"]
    assert defects(scale_manifest(variants=[variant("a", **{"$schema": "x"})]))[0].startswith(
        "variants[0].$schema: is not a key of a variant"
    )


@pytest.mark.parametrize(
    ("value", "defect"),
    [
        ({1: "x"}, "derive: has a key that is no string but the number 1"),
        ({"a": {1, 2}}, "derive.a: is not JSON but a set"),
        ({"a": [float("nan")]}, "derive.a[0]: must be a number that a double holds, not nan"),
        ({"\ud800": 1}, "derive: holds half of a surrogate pair: write the whole character"),
    ],
)
def test_what_is_no_json_is_refused(value: Any, defect: str) -> None:
    """For documents that a program hands over."""
    assert defect in defects(scale_manifest(derive=value))


def test_tuples_count_as_lists() -> None:
    """Programs write them."""
    assert read_manifest(scale_manifest(when=("true",))).variants[0].when[0].source == "true"


def test_defects_stand_in_document_order() -> None:
    """Whatever order they are found in; what is missing comes after what is there."""
    manifest = {
        "variants": [{"passes": [{"dispatch": {"x": -1}, "shader": "a.txt", "extra": 1}], "id": "-"}],
        "inputs": {"x": {"dtype": "float"}},
        "name": "A b",
        "domain": "X",
    }
    assert [defect.split(":")[0] for defect in defects(manifest)] == [
        "variants[0].passes[0].dispatch.x",
        "variants[0].passes[0].shader",
        "variants[0].passes[0].extra",
        "variants[0].passes[0].bindings",
        "variants[0].id",
        "inputs.x.dtype",
        "name",
        "domain",
        "outputs",
    ]


def test_all_defects_make_one_message() -> None:
    """One line each under the place."""
    with pytest.raises(ManifestError) as caught:
        read_manifest(scale_manifest(name="A b", domain="X"), where="pkg/manifest.json")
    assert str(caught.value) == (
        "pkg/manifest.json: the manifest has 2 defects\n"
        "  domain: is not a domain: write words joined by dots, such as com.microsoft, the first in lower case\n"
        "  name: is not a name: use letters, digits and underscores, no digit first and no two underscores first"
    )


def test_the_list_of_defects_is_bounded() -> None:
    """A hostile manifest cannot make a message of a million lines."""
    found = defects(scale_manifest(derive={f"d{number}": "nope" for number in range(50_000)}))
    assert len(found) == MAX_DEFECTS + 1
    assert found[-1] == f"reading stopped after {MAX_DEFECTS} defects"


@pytest.mark.parametrize(
    ("path", "key", "joined"),
    [
        ("", "a", "a"),
        ("a", "b", "a.b"),
        ("a", 3, "a[3]"),
        ("a", "b c", 'a["b c"]'),
        ("", "$comment", "$comment"),
        ("", "é", '["é"]'),
    ],
)
def test_paths_read_like_javascript(path: str, key: str | int, joined: str) -> None:
    """Keys that are no plain words are quoted."""
    assert join(path, key) == joined


def test_values_are_shown_short() -> None:
    """A message does not repeat a megabyte."""
    assert show("x" * 1000) == '"' + "x" * 55 + '…"'
    assert describe("a") == 'the string "a"'
    assert describe([1, 2]) == "a list of 2"


@pytest.mark.parametrize(
    ("change", "defect"),
    [
        (
            {"domain": "Com.x"},
            "domain: is not a domain: write words joined by dots, such as com.microsoft, the first in lower case",
        ),
        (
            {"domain": "com..x"},
            "domain: is not a domain: write words joined by dots, such as com.microsoft, the first in lower case",
        ),
        ({"domain": 1}, "domain: must be a string, not the number 1"),
        ({"name": None}, "name: is missing: name the operator"),
        (
            {"name": "../x"},
            "name: is not a name: use letters, digits and underscores, no digit first and no two underscores first",
        ),
        ({"description": 1}, "description: must be a string, not the number 1"),
        (
            {"conformance": "best"},
            'conformance: must be "internal-lowering" or "legacy-default-domain", not the string "best"',
        ),
        ({"sinceVersion": 0}, "sinceVersion: must be an integer of at least 1, not the number 0"),
        ({"sinceVersion": True}, "sinceVersion: must be an integer of at least 1, not true"),
        ({"sinceVersion": 1.5}, "sinceVersion: must be an integer of at least 1, not the number 1.5"),
        ({"outputs": None}, "outputs: is missing: declare what the kernel computes"),
        ({"variants": None}, "variants: is missing: give at least one implementation"),
        ({"variants": []}, "variants: must not be empty: give variants"),
        ({"variants": {}}, "variants: must be a list of variants, not an object"),
        ({"bindings": []}, "bindings: must be an object of handles, name to entry, not a list of 0"),
    ],
)
def test_the_top_level_is_checked(change: dict[str, Any], defect: str) -> None:
    """Each key by its own rule."""
    manifest = scale_manifest() | change
    assert defect in defects({key: value for key, value in manifest.items() if value is not None})


def test_the_domain_defaults_to_onnx() -> None:
    """FORMAT section 2."""
    assert read_manifest(scale_manifest(domain=None)).op_id == "ai.onnx.Scale"


def test_the_top_level_is_kept() -> None:
    """Prose, version, conformance, and the tensors that are read and written."""
    manifest = read_manifest(
        scale_manifest(
            description="Scales.",
            conformance="internal-lowering",
            sinceVersion=7,
            outputs={"y": {"dtype": "T", "shape": "shapes.x"}, "x": {"dtype": "T"}},
        )
    )
    assert (manifest.description, manifest.conformance, manifest.since_version) == ("Scales.", "internal-lowering", 7)
    assert manifest.in_out == {"x"}
    assert list(manifest.outputs) == ["y", "x"]
