"""Attributes with their constraints, and tunables."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from manifest_defects import defects
from sample_manifests import scale_manifest, variant

from webgpu_kernels.contract import UNSET, read_manifest, same_value
from webgpu_kernels.contract.attributes import float32


def read(attributes: Any = None, constraints: Any = None) -> Any:
    return read_manifest(scale_manifest(attributes=attributes, attributeConstraints=constraints)).attributes


def test_a_default_may_be_any_json_value() -> None:
    """Null is a value, too; no default is none of them."""
    attributes = read({"a": {"default": None}, "b": {"default": [1, 0.5, "x"]}, "c": {"description": "C."}})
    assert attributes["a"].default is None
    assert attributes["b"].default == [1, 0.5, "x"]
    assert attributes["c"].default is UNSET
    assert attributes["c"].description == "C."


def test_constraints_are_merged_into_their_attribute() -> None:
    """Both objects describe one thing."""
    attribute = read({"a": {"default": 1, "description": "A."}}, {"a": {"values": [0, 1]}})["a"]
    assert (attribute.default, attribute.values, attribute.required, attribute.description) == (1, (0, 1), False, "A.")


def test_a_constraint_declares_its_attribute() -> None:
    """The format does not ask for both; those that are only constrained come last."""
    attributes = read({"b": {}}, {"a": {"required": True}})
    assert list(attributes) == ["b", "a"]
    assert attributes["a"].required
    assert attributes["a"].default is UNSET


@pytest.mark.parametrize(
    ("attributes", "constraints", "defect"),
    [
        ({"a": -1}, None, 'attributes.a: must be an object: write {"default": -1}'),
        ([], None, "attributes: must be an object of attributes, not a list of 0"),
        (
            {"a b": {}},
            None,
            (
                'attributes["a b"]: is not a name: use letters, digits and underscores, no digit first and no two '
                "underscores first"
            ),
        ),
        (
            {"__class__": {}},
            None,
            (
                "attributes.__class__: is not a name: use letters, digits and underscores, no digit first and no two "
                "underscores first"
            ),
        ),
        ({"a": {"description": 1}}, None, "attributes.a.description: must be a string, not the number 1"),
        ({"a": {}}, {"a": {}}, "attributeConstraints.a: constrains nothing: give 'required' or 'values'"),
        ({"a": {}}, {"a": {"required": 1}}, "attributeConstraints.a.required: must be true or false, not the number 1"),
        ({"a": {}}, {"a": {"values": []}}, "attributeConstraints.a.values: must not be empty: give allowed values"),
        (
            {"a": {}},
            {"a": {"values": 1}},
            "attributeConstraints.a.values: must be a list of allowed values, not the number 1",
        ),
        (
            {"a": {"default": 1}},
            {"a": {"required": True}},
            "attributeConstraints.a.required: stands beside a default: drop one of them",
        ),
        (
            {"a": {"default": 2}},
            {"a": {"values": [0, 1]}},
            "attributeConstraints.a.values: must hold the default 2; it holds 0, 1",
        ),
        (
            {"a": {"default": "x"}},
            {"a": {"values": ["y"]}},
            'attributeConstraints.a.values: must hold the default "x"; it holds "y"',
        ),
        (
            {"a": {}},
            {"a": {"value": [1]}},
            "attributeConstraints.a.value: is not a key of an attribute constraint: did you mean 'values'?",
        ),
        (
            {"a": {}},
            {"a": 1},
            "attributeConstraints.a: must be an object with the keys required, values, not the number 1",
        ),
    ],
)
def test_attributes_are_checked(attributes: Any, constraints: Any, defect: str) -> None:
    """Each rule of FORMAT section 2."""
    assert defect in defects(scale_manifest(attributes=attributes, attributeConstraints=constraints))


def test_defaults_are_compared_as_float32() -> None:
    """0.1 and its float32 neighbour are one value on the GPU."""
    assert read({"a": {"default": 0.1}}, {"a": {"values": [0.10000000149011612]}})["a"].values == (0.10000000149011612,)


@pytest.mark.parametrize(
    ("value", "allowed", "same"),
    [
        (1, 1.0, True),
        (16777217, 16777216, True),
        (1e39, 2e39, True),
        (1e39, -1e39, False),
        (True, 1, False),
        (True, True, True),
        ("1", 1, False),
        ([1, 0.1], [1, 0.10000000149011612], True),
        ([1], [1, 2], False),
        (None, 0, False),
    ],
)
def test_values_are_the_same_as_the_gpu_sees_them(value: object, allowed: object, same: bool) -> None:
    """Numbers after rounding to float32, lists entry by entry, the rest as they are."""
    assert same_value(value, allowed) is same


@given(st.floats(width=32, allow_nan=False))
def test_a_float32_rounds_to_itself(value: float) -> None:
    """Infinities too."""
    assert float32(value) == value


@pytest.mark.parametrize(
    ("tunables", "defect"),
    [
        ({"W": 64}, 'tunables.W: must be an object: write {"default": 64}'),
        ({"W": {}}, "tunables.W.default: is missing: give a number, a string, true or false"),
        ({"W": {"default": None}}, "tunables.W.default: must be a number, a string, true or false, not null"),
        ({"W": {"default": [1]}}, "tunables.W.default: must be a number, a string, true or false, not a list of 1"),
        (
            {"W": {"default": 1, "min": 0}},
            "tunables.W.min: is not a key of a tunable: the keys of a tunable are default, description",
        ),
        (
            {"9": {"default": 1}},
            (
                'tunables["9"]: is not a name: use letters, digits and underscores, no digit first and no two '
                "underscores first"
            ),
        ),
    ],
)
def test_tunables_are_checked(tunables: Any, defect: str) -> None:
    """In the manifest and in a variant alike."""
    assert defects(scale_manifest(tunables=tunables)) == [defect]
    assert defects(scale_manifest(variants=[variant("a", tunables=tunables)])) == [f"variants[0].{defect}"]


def test_tunables_are_read() -> None:
    """Numbers, strings and booleans; a variant may redefine and add."""
    manifest = read_manifest(
        scale_manifest(
            tunables={"W": {"default": 64, "description": "Width."}, "M": {"default": "fast"}, "B": {"default": True}},
            variants=[variant("a", tunables={"W": {"default": 0.5}, "N": {"default": 1}})],
        )
    )
    assert {name: tunable.default for name, tunable in manifest.tunables.items()} == {"W": 64, "M": "fast", "B": True}
    assert manifest.tunables["W"].description == "Width."
    assert {name: tunable.default for name, tunable in manifest.variants[0].tunables.items()} == {"W": 0.5, "N": 1}
