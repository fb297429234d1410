"""metadata.json: what is read of it, what is refused, and what it means for the package."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from older_manifests import older_manifest
from sample_manifests import scale_manifest

from webgpu_kernels.contract import file_digest, open_package, read_metadata
from webgpu_kernels.contract.files import path_fault
from webgpu_kernels.errors import ManifestError, PackageError

if TYPE_CHECKING:
    from pathlib import Path

DIGEST = file_digest(b"anything")


def metadata(**changes: Any) -> dict[str, Any]:
    """Return metadata with the least that it must hold, with top-level keys replaced or, by None, removed."""
    whole: dict[str, Any] = {
        "name": "test.Scale",
        "backend": {"type": "webgpu"},
        "digest": {"algorithm": "sha256", "files": {"manifest.json": DIGEST}},
        "webgpu": {"manifestSpec": "2.1"},
        **changes,
    }
    return {key: value for key, value in whole.items() if value is not None}


def read(data: Any) -> Any:
    return read_metadata(json.dumps(data), where="here")


def make(folder: Path, manifest: Any, data: Any) -> Path:
    (folder / "manifest.json").write_text(json.dumps(manifest))
    (folder / "metadata.json").write_text(json.dumps(data))
    return folder


def test_the_least_is_enough() -> None:
    """What is not there is None."""
    found = read(metadata())
    assert (found.name, found.spec, dict(found.digests)) == ("test.Scale", "2.1", {"manifest.json": DIGEST})
    assert (found.id, found.version, found.license, found.commit, found.dirty) == (None, None, None, None, None)
    assert (found.specialized, found.op_path, found.variants) == (None, None, None)


def test_everything_is_read() -> None:
    """Keys that are not known are let be."""
    found = read(
        metadata(
            id="_test_scale_webgpu_0000000",
            version=1,
            license="Apache-2.0",
            provenance={"kernel": {"sha": "ab", "dirty": False}, "builder": {}},
            webgpu={"manifestSpec": "2.1", "specialized": True, "opPath": "ops/x", "variants": {"v": ["a.wgsl"]}},
            future={"any": 1},
        )
    )
    assert (found.id, found.version, found.license) == ("_test_scale_webgpu_0000000", 1, "Apache-2.0")
    assert (found.commit, found.dirty) == ("ab", False)
    assert (found.specialized, found.op_path, dict(found.variants)) == (True, "ops/x", {"v": ("a.wgsl",)})


def test_the_source_commit_has_two_names() -> None:
    """Newer tools write ``commit``, older ones ``sha``."""
    assert read(metadata(provenance={"kernel": {"commit": "new", "sha": "old"}})).commit == "new"
    assert read(metadata(provenance={"kernel": {}})).commit is None
    assert read(metadata(provenance={})).commit is None


@pytest.mark.parametrize(
    ("change", "defect"),
    [
        ({"name": None}, "name: is missing: name the operator with its domain"),
        ({"name": 1}, "name: must be a string, not the number 1"),
        ({"version": "1"}, 'version: must be an integer of at least 0, not the string "1"'),
        ({"backend": None}, 'backend: is missing: give {"type": "webgpu"}'),
        ({"backend": {}}, 'backend.type: is missing: give "webgpu"'),
        ({"backend": {"type": "cuda"}}, 'backend.type: must be "webgpu", not the string "cuda"'),
        ({"webgpu": None}, "webgpu: is missing: give {manifestSpec}"),
        ({"webgpu": {}}, "webgpu.manifestSpec: is missing: say how the manifest is written, such as 2.1"),
        ({"webgpu": {"manifestSpec": 2.1}}, "webgpu.manifestSpec: must be a string, not the number 2.1"),
        (
            {"webgpu": {"manifestSpec": "2.1", "variants": {"v": "a.wgsl"}}},
            'webgpu.variants.v: must be a list of template files, not the string "a.wgsl"',
        ),
        ({"digest": None}, "digest: is missing: give {algorithm, files}"),
        ({"digest": 3}, "digest: must be an object with the keys algorithm, files, not the number 3"),
        (
            {"digest": {"algorithm": "md5", "files": {"manifest.json": DIGEST}}},
            'digest.algorithm: must be "sha256", not the string "md5"',
        ),
        ({"digest": {"algorithm": "sha256"}}, "digest.files: is missing: give the digest of each file"),
        (
            {"digest": {"algorithm": "sha256", "files": {}}},
            'digest.files["manifest.json"]: is missing: the manifest has a digest too',
        ),
        (
            {"digest": {"algorithm": "sha256", "files": {"manifest.json": DIGEST, "../x": DIGEST}}},
            f'digest.files["../x"]: {path_fault("../x")}',
        ),
        (
            {"digest": {"algorithm": "sha256", "files": {"manifest.json": DIGEST, "metadata.json": DIGEST}}},
            'digest.files["metadata.json"]: cannot hold its own digest: leave it out',
        ),
        (
            {"digest": {"algorithm": "sha256", "files": {"manifest.json": "abc"}}},
            'digest.files["manifest.json"]: must be the Base64 text of a SHA-256, 44 characters',
        ),
        ({"provenance": {"kernel": {"dirty": 1}}}, "provenance.kernel.dirty: must be true or false, not the number 1"),
    ],
)
def test_metadata_is_checked(change: dict[str, Any], defect: str) -> None:
    """Each fault has its path."""
    with pytest.raises(PackageError) as caught:
        read(metadata(**change))
    assert str(caught.value) == f"here: metadata.json has 1 defect\n  {defect}"


def test_all_defects_are_reported_together() -> None:
    """In the document's order; a text that is no JSON says where."""
    with pytest.raises(PackageError) as caught:
        read({"webgpu": {}, "name": 1})
    assert [line.split(":")[0].strip() for line in str(caught.value).splitlines()[1:]] == [
        "webgpu.manifestSpec",
        "name",
        "backend",
        "digest",
    ]
    with pytest.raises(PackageError) as caught:
        read_metadata(b"{", where="here")
    assert str(caught.value) == (
        "here: metadata.json has 1 defect\n"
        "  is not JSON: Expecting property name enclosed in double quotes at line 1, column 2"
    )
    with pytest.raises(PackageError, match="holds more than 100,000 values"):
        read([0] * 100_001)


def test_a_package_knows_its_metadata(tmp_path: Path) -> None:
    """It has none where the file is not there."""
    package = open_package(make(tmp_path, scale_manifest(), metadata(version=3)))
    assert package.metadata is not None
    assert package.metadata.version == 3
    (tmp_path / "metadata.json").unlink()
    assert open_package(tmp_path).metadata is None


def test_metadata_says_how_the_manifest_is_written(tmp_path: Path) -> None:
    """Its word counts, whatever the manifest looks like."""
    older = metadata(webgpu={"manifestSpec": "1.0"})
    assert list(open_package(make(tmp_path, older_manifest(), older)).manifest.inputs) == ["x"]
    with pytest.raises(ManifestError, match=r"inputs: must be a list of ports, each with a role, as spec 1\.0 has it"):
        open_package(make(tmp_path, scale_manifest(), older))


def test_an_unknown_spec_is_refused(tmp_path: Path) -> None:
    """Rather than guessed at."""
    folder = make(tmp_path, scale_manifest(), metadata(webgpu={"manifestSpec": "3.0"}))
    with pytest.raises(PackageError) as caught:
        open_package(folder)
    assert str(caught.value) == (
        f"{folder}: the manifest is written for another spec: expected one of 1.0, 2.0, 2.1, got 3.0"
    )


def test_metadata_of_another_operator_is_refused(tmp_path: Path) -> None:
    """The two files do not belong together."""
    folder = make(tmp_path, scale_manifest(), metadata(name="test.Other"))
    with pytest.raises(PackageError) as caught:
        open_package(folder)
    assert str(caught.value) == (
        f"{folder}: metadata.json and manifest.json are of two packages: expected test.Scale, got test.Other"
    )
