"""A damaged manifest is read or refused, never a crash: published documents come from anybody."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest
from older_manifests import older_manifest, older_pass, older_variant, tensor

from webgpu_kernels.contract import read_manifest
from webgpu_kernels.errors import ManifestError

if TYPE_CHECKING:
    from collections.abc import Iterator

Path = tuple[str | int, ...]


def everything() -> dict[str, Any]:
    """Return a manifest that uses every word of the dialect."""
    uniform = {
        "semantic": "kernel.params",
        "struct": {"name": "P", "fields": [{"name": "n", "type": "u32", "value": 1}]},
    }
    source = {"shader": "a.wgsl", "inputs": {"count": "n"}}
    stride = {"gridStride": "numel(shapes.output)", "workgroupSize": 64}
    group = {"id": "rounds", "repeat": {"count": 2, "index": "r"}, "passes": [older_pass(bindings="io")]}
    passes = [
        older_pass(id="first", bindings=None, shader=None, source=source, dispatch=stride, constants={"k": "n"}),
        older_pass(id="second", viewAlias=[{"input": "x", "output": "y"}]),
        group,
    ]
    rich = older_variant(
        priority=-1,
        when="true",
        demoteWhen=["false"],
        selectAbove="numel(shapes.input) > 4",
        supersededBy=["only"],
        requiredFeatures=["shader-f16"],
        tunables={"FAST": True},
        tunableDescriptions={"FAST": "Less exact."},
        constants={"m": "constants.n + 1"},
        intermediates=[{"id": "sums", "dtype": "float32", "shape": "[4]"}],
        bindings=[tensor("x", "input", length="$n"), {"semantic": "sums"}, uniform],
        passes=passes,
    ) | {"id": "rich"}
    return older_manifest(
        constants={"n": 1},
        derive={"d": "n"},
        attributes={"axis": -1},
        attributeNames=["mode"],
        attributeDescriptions={"axis": "Which."},
        attributeConstraints={"axis": {"values": [-1]}},
        tunables={"WG": 64},
        requires={"features": [], "limits": {}},
        requiredLimits={"maxBufferSize": 1},
        requiredSubgroupMinSize=4,
        bindingSets={"io": [tensor("x", "input"), tensor("y", "output", "storage")]},
        variants=[older_variant(), rich],
        variantFamilies=[{"cases": [{"c": "one"}], "variants": [older_variant(id="{c}")]}],
    )


def places(value: Any, path: Path = ()) -> Iterator[Path]:
    """Walk over every value of a document but the whole."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in members:
        yield (*path, key)
        yield from places(member, (*path, key))


def changed(document: Any, path: Path, value: Any) -> Any:
    """Return a copy with another value at one place; with ``...`` the place is gone."""
    whole = copy.deepcopy(document)
    parent = whole
    for key in path[:-1]:
        parent = parent[key]
    if value is ...:
        del parent[path[-1]]
    else:
        parent[path[-1]] = value
    return whole


def test_every_word_of_the_dialect_reads() -> None:
    """So that damage starts from something whole."""
    assert [variant.id for variant in read_manifest(everything()).variants] == ["only", "rich", "one"]


@pytest.mark.parametrize("value", [..., None, True, -1, 3.5, "", "$", "1 +", [], [1], {}, {"kind": "tensor"}], ids=repr)
def test_any_value_anywhere_is_read_or_refused(value: Any) -> None:
    """With defects that have paths; most places take none of these values."""
    whole = everything()
    refused = 0
    for path in places(whole):
        try:
            read_manifest(changed(whole, path, value), dialect="1.0")
        except ManifestError as error:
            refused += bool(error.defects)
    assert refused > 20
