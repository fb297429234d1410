"""How a manifest tells its dialect."""

from __future__ import annotations

from typing import Any

import pytest
from older_manifests import older_defects, older_manifest
from sample_manifests import scale_manifest

from webgpu_kernels.contract import read_manifest
from webgpu_kernels.contract.older import dialect_of_spec, is_older
from webgpu_kernels.errors import ManifestError


def test_lists_of_ports_with_roles_are_the_older_dialect() -> None:
    """The name in calls is the argument's."""
    assert is_older(older_manifest())
    assert list(read_manifest(older_manifest()).inputs) == ["x"]


@pytest.mark.parametrize(
    "document",
    [
        scale_manifest(),
        scale_manifest(bindingSets={}),
        scale_manifest(args={"x": {"kind": "tensor"}}),
        scale_manifest(inputs=[{"role": "x"}]),
        {"inputs": [], "outputs": []},
        {"inputs": [{}], "outputs": [3]},
        [],
        None,
    ],
)
def test_everything_else_is_spec_2_1(document: Any) -> None:
    """So that a word of the older dialect in a manifest of 2.1 is reported with what replaced it."""
    assert not is_older(document)


def test_a_stated_dialect_outweighs_the_shape() -> None:
    """What metadata.json says is what the author meant."""
    assert older_defects(scale_manifest())[0] == (
        "inputs: must be a list of ports, each with a role, as spec 1.0 has it, not an object"
    )
    with pytest.raises(ManifestError, match=r"inputs: must be an object of name to port; a list of ports is the older"):
        read_manifest(older_manifest(), dialect="2.1")


@pytest.mark.parametrize(
    ("spec", "dialect"), [("1.0", "1.0"), ("2.0", "2.1"), ("2.1", "2.1"), ("2.2", None), ("1", None), ("", None)]
)
def test_specs_have_dialects(spec: str, dialect: str | None) -> None:
    """The draft 2.0 is read as 2.1; others are not guessed at."""
    assert dialect_of_spec(spec) == dialect
