"""The published manifests load as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from webgpu_kernels.contract import Manifest, Pass, open_package
from webgpu_kernels.errors import ManifestError

SHARED = Path(__file__).resolve().parents[3] / "shared"
ADD = SHARED / "published" / "ai.onnx.Add"
SKIP_GROUP_NORM = SHARED / "seeds" / "com.microsoft.SkipGroupNorm"

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


@pytest.mark.parametrize("name", ["published/ai.onnx.Identity", "seeds/com.microsoft.GatherBlockQuantized"])
def test_the_older_dialect_is_told_apart(name: str) -> None:
    """Its manifests are refused with what replaced each key."""
    with pytest.raises(ManifestError, match=r"a list of ports is the older dialect, spec 1\.0"):
        load(SHARED / name)
