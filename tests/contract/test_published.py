"""The published manifests load as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from published_packages import SHARED, published_folder

from webgpu_kernels.contract import Manifest, Pass, ViewAlias, open_package, verify

ADD = SHARED / "published" / "ai.onnx.Add"
IDENTITY = SHARED / "published" / "ai.onnx.Identity"
GATHER_BLOCK_QUANTIZED = SHARED / "seeds" / "com.microsoft.GatherBlockQuantized"
SKIP_GROUP_NORM = SHARED / "seeds" / "com.microsoft.SkipGroupNorm"

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason="the published manifests are not beside the repository")


def load(folder: Path) -> Manifest:
    return open_package(folder).manifest


def passes(manifest: Manifest, variant: int) -> list[Pass]:
    steps = manifest.variants[variant].passes
    assert all(isinstance(step, Pass) for step in steps)
    return [step for step in steps if isinstance(step, Pass)]


def test_add_loads() -> None:
    """Five variants; ties in priority keep their order."""
    manifest = load(ADD)
    assert (manifest.op_id, manifest.since_version) == ("ai.onnx.Add", 14)
    assert [(variant.id, variant.priority) for variant in manifest.variants] == [
        ("same_shape_vec4", 20),
        ("scalar_b_vec4", 18),
        ("scalar_a_vec4", 18),
        ("broadcast_vec4", 10),
        ("broadcast", 0),
    ]
    assert manifest.inputs["a"].onnx == "A"
    assert [(b.name, b.target, b.element_type) for b in passes(manifest, 3)[0].bindings] == [
        ("a", "a", "$aElement"),
        ("b", "b", "$bElement"),
        ("c", "c", "$vec4Scalar"),
        ("params", "params", None),
    ]


def test_skip_group_norm_loads() -> None:
    """Eight variants, each with the manifest's clause first."""
    manifest = load(SKIP_GROUP_NORM)
    assert manifest.op_id == "com.microsoft.SkipGroupNorm"
    assert len(manifest.variants) == 8
    assert {variant.when[0].source for variant in manifest.variants} == {"contractOk"}
    assert manifest.attributes["activation"].required
    assert manifest.attributes["activation"].values == (0, 1)
    assert manifest.attributes["channels_last"].default == 1
    assert manifest.outputs["S"].optional


def test_skip_group_norm_binds_what_its_handles_say() -> None:
    """Tensors under the shader's names, intermediates written and then read."""
    first, second, third = passes(load(SKIP_GROUP_NORM), 0)
    assert [(b.name, b.resource, b.target, b.access) for b in first.bindings] == [
        ("X", "tensor", "X", "read-only-storage"),
        ("skip", "tensor", "skip", "read-only-storage"),
        ("bias", "tensor", "bias", "read-only-storage"),
        ("sum_dst", "tensor", "S", "storage"),
        ("partials", "scratch", "partials", "storage"),
    ]
    assert [(b.name, b.target, b.access) for b in second.bindings] == [
        ("src", "S", "read-only-storage"),
        ("partials", "partials", "read-only-storage"),
        ("stats", "stats", "storage"),
    ]
    assert [b.name for b in third.bindings] == ["src", "gamma", "beta", "stats", "Y"]


def test_identity_loads() -> None:
    """The older dialect: its metadata says so, and calls name its arguments."""
    manifest = load(IDENTITY)
    assert (manifest.op_id, manifest.since_version) == ("ai.onnx.Identity", 16)
    assert [(port.name, port.semantic) for port in manifest.inputs.values()] == [("x", "input")]
    assert [(port.name, port.semantic) for port in manifest.outputs.values()] == [("y", "output")]
    assert [(variant.id, variant.priority) for variant in manifest.variants] == [("copy_vec4", 20), ("copy", 0)]
    assert manifest.tunables["WORKGROUP_SIZE"].default == 256
    (vectors,) = passes(manifest, 0)
    assert [(b.name, b.target, b.access, b.length) for b in vectors.bindings] == [
        ("src", "x", "read-only-storage", "$COPY_VEC4_LEN"),
        ("dst", "y", "storage", "$COPY_VEC4_LEN"),
    ]
    assert vectors.view_aliases == (ViewAlias(input="x", output="y"),)


def test_gather_block_quantized_loads() -> None:
    """The older dialect, told by its shape: six variants, each with the set of bindings that it names."""
    manifest = load(GATHER_BLOCK_QUANTIZED)
    assert list(manifest.inputs) == ["dataT", "indicesT", "scalesT", "zeroPointsT"]
    assert manifest.inputs["zeroPointsT"].optional
    assert (manifest.inputs["indicesT"].storage, manifest.inputs["indicesT"].narrowing) == ("uint32", "checked")
    assert manifest.attributes["bits"].values == (4, 8)
    assert str(manifest.attributes["bits"].description).startswith("Bits per quantized value.")
    assert {
        variant.id: [b.name for b in passes(manifest, i)[0].bindings] for i, variant in enumerate(manifest.variants)
    } == {
        "q8_no_zero_vec4": ["data", "indices", "scales", "output", "params"],
        "q4_no_zero_pair": ["data", "indices", "scales", "output", "params"],
        "q4_zero_pair": ["data", "indices", "scales", "zero_points", "output", "params"],
        "q8_zero_vec4": ["data", "indices", "scales", "zero_points", "output", "params"],
        "q8_no_zero_tail4": ["data", "indices", "scales", "output", "params"],
        "q8_zero_tail4": ["data", "indices", "scales", "zero_points", "output", "params"],
    }


def test_the_digest_of_identitys_manifest_verifies() -> None:
    """Byte for byte as it was published; the id follows from the table of digests, and the rest is not here."""
    report = verify(open_package(IDENTITY))
    assert report.names("ok") == ("manifest.json",)
    assert report.names("absent") == (
        "bench.json",
        "datamove-elementwise-copy.wgsl.jinja",
        "datamove-flat-copy.wgsl.jinja",
        "test.json",
    )
    assert report.stated_id == report.computed_id == "_ai_onnx_identity_webgpu_ead6cd9"
    assert report.id_ok
    assert not report.ok


def test_templates_of_ours_beside_identitys_manifest_differ(tmp_path: Path) -> None:
    """They bear the published names and not the published bytes."""
    report = verify(open_package(published_folder("ai.onnx.Identity", tmp_path)))
    assert report.names("ok") == ("manifest.json",)
    assert report.names("absent") == ("bench.json", "test.json")
    assert report.names("differs") == ("datamove-elementwise-copy.wgsl.jinja", "datamove-flat-copy.wgsl.jinja")
    assert report.names("unlisted") == ()
