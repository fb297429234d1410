"""Digests of files, ids made of them, and a package's verification."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import pytest
from sample_manifests import scale_manifest

import webgpu_kernels as wk
from webgpu_kernels.contract import FileCheck, file_digest, open_package, package_id, verify
from webgpu_kernels.errors import DigestError, PackageError

if TYPE_CHECKING:
    from pathlib import Path

FILES = {"manifest.json": json.dumps(scale_manifest()), "main.wgsl.jinja": "fn main() {}", "parts/a.wgsl": "// a"}


def make(folder: Path, **changes: Any) -> Path:
    """Write a package with a right digest table."""
    digests = {}
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
        digests[name] = file_digest(text.encode())
    metadata: dict[str, Any] = {
        "name": "test.Scale",
        "id": package_id("test.Scale", digests),
        "backend": {"type": "webgpu"},
        "digest": {"algorithm": "sha256", "files": digests},
        "webgpu": {"manifestSpec": "2.1"},
        **changes,
    }
    (folder / "metadata.json").write_text(json.dumps(metadata))
    return folder


def test_a_digest_is_a_sha256_in_base64() -> None:
    """Of the bytes as they are."""
    assert file_digest(b"") == "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="


def test_an_id_is_made_of_the_name_and_the_table() -> None:
    """Lower case, dots as underscores, and a hash over names and digests in the order of names."""
    digests = {"b": "B", "a": "A"}
    assert package_id("ai.onnx.MatMul", digests) == "_ai_onnx_matmul_webgpu_e1e65ad"
    assert package_id("ai.onnx.MatMul", dict(reversed(digests.items()))) == package_id("ai.onnx.MatMul", digests)
    assert package_id("ai.onnx.MatMul", {"a": "A", "b": "C"}) != package_id("ai.onnx.MatMul", digests)


def test_names_are_sorted_by_utf_16_units() -> None:
    """As JavaScript sorts them: an astral character comes before U+FFFD."""
    one, other = "\ufffd", "\U00010000"
    assert sorted([one, other]) == [one, other]
    by_hand = hashlib.sha256(f"{other}\0B\0{one}\0A\0".encode()).hexdigest()[:7]
    assert package_id("x.Y", {one: "A", other: "B"}) == f"_x_y_webgpu_{by_hand}"


def test_an_untouched_package_verifies(tmp_path: Path) -> None:
    """Every file and the id."""
    report = verify(open_package(make(tmp_path)))
    assert report.names("ok") == ("main.wgsl.jinja", "manifest.json", "parts/a.wgsl")
    assert report.id_ok
    assert report.ok


def test_what_became_of_each_file_is_a_value(tmp_path: Path) -> None:
    """Changed, taken away, added."""
    make(tmp_path)
    (tmp_path / "main.wgsl.jinja").write_text("fn other() {}")
    (tmp_path / "parts" / "a.wgsl").unlink()
    (tmp_path / "notes.txt").write_text("new")
    report = verify(open_package(tmp_path))
    assert [(file.name, file.status) for file in report.files] == [
        ("main.wgsl.jinja", "differs"),
        ("manifest.json", "ok"),
        ("notes.txt", "unlisted"),
        ("parts/a.wgsl", "absent"),
    ]
    assert report.files[0].stated == file_digest(b"fn main() {}")
    assert report.files[0].computed == file_digest(b"fn other() {}")
    assert report.files[2] == FileCheck(name="notes.txt", status="unlisted", stated=None, computed=file_digest(b"new"))
    assert report.files[3].computed is None
    assert report.id_ok
    assert not report.ok


def test_an_id_that_is_not_the_tables_is_reported(tmp_path: Path) -> None:
    """Whatever the files are."""
    report = verify(open_package(make(tmp_path, id="_test_scale_webgpu_0000000")))
    assert (report.stated_id, report.id_ok, report.ok) == ("_test_scale_webgpu_0000000", False, False)
    assert set(report.names("ok")) == set(FILES)


def test_without_metadata_there_is_nothing_to_verify_by(tmp_path: Path) -> None:
    """That is an error: the caller asked for a verdict."""
    (make(tmp_path) / "metadata.json").unlink()
    with pytest.raises(PackageError) as caught:
        verify(open_package(tmp_path))
    assert str(caught.value) == f"{tmp_path}: has no metadata.json, so there is nothing to verify by"


def test_a_listed_link_that_leads_out_is_refused(tmp_path: Path) -> None:
    """Its target is none of the package's business."""
    root = tmp_path / "package"
    root.mkdir()
    make(root)
    (tmp_path / "secret").write_text("hidden")
    (root / "parts" / "a.wgsl").unlink()
    (root / "parts" / "a.wgsl").symlink_to(tmp_path / "secret")
    with pytest.raises(PackageError, match=r"'parts/a\.wgsl' is a link that leads out of the package"):
        verify(open_package(root))


def test_a_folder_is_verified_on_request(tmp_path: Path) -> None:
    """Otherwise a template that was changed on purpose runs."""
    make(tmp_path)
    assert open_package(tmp_path, verify=True).read("parts/a.wgsl") == b"// a"
    (tmp_path / "main.wgsl.jinja").write_text("fn other() {}")
    assert open_package(tmp_path).template("main.wgsl.jinja").render({}).text == "fn other() {}"
    with pytest.raises(DigestError):
        open_package(tmp_path, verify=True)


def test_a_kernel_of_a_folder_is_verified_on_request(tmp_path: Path) -> None:
    """It is of no commit of the Hub."""
    assert wk.load_kernel(make(tmp_path), verify=True).revision is None
    (tmp_path / "main.wgsl.jinja").write_text("fn other() {}")
    assert wk.load_kernel(tmp_path).op_id == "test.Scale"
    with pytest.raises(DigestError):
        wk.load_kernel(tmp_path, verify=True)


def test_one_error_names_every_file_at_fault(tmp_path: Path) -> None:
    """Changed, taken away, added."""
    make(tmp_path)
    (tmp_path / "main.wgsl.jinja").write_text("fn other() {}")
    (tmp_path / "parts" / "a.wgsl").unlink()
    (tmp_path / "notes.txt").write_text("new")
    with pytest.raises(DigestError) as caught:
        open_package(tmp_path, verify=True)
    assert isinstance(caught.value, ValueError)
    assert str(caught.value) == (
        f"{tmp_path}: the files are not those that metadata.json lists: 'main.wgsl.jinja' is not what its digest says, "
        "'notes.txt' has no digest, 'parts/a.wgsl' is not there"
    )


def test_a_verified_folder_has_the_id_of_its_table(tmp_path: Path) -> None:
    """Which is computed anew."""
    digests = {name: file_digest(text.encode()) for name, text in FILES.items()}
    with pytest.raises(DigestError) as caught:
        open_package(make(tmp_path, id="_test_scale_webgpu_0000000"), verify=True)
    assert str(caught.value) == (
        f"{tmp_path}: the id in metadata.json is not the one that its digests give: "
        f"expected {package_id('test.Scale', digests)}, got _test_scale_webgpu_0000000"
    )


def test_a_verified_folder_needs_metadata(tmp_path: Path) -> None:
    """There is nothing else to verify by."""
    (make(tmp_path) / "metadata.json").unlink()
    with pytest.raises(PackageError, match=r"has no metadata\.json, so there is nothing to verify by$"):
        open_package(tmp_path, verify=True)


def test_a_verified_folder_lists_the_templates_of_its_variants(tmp_path: Path) -> None:
    """Those that the manifest's passes name."""
    webgpu = {"manifestSpec": "2.1", "variants": {"only": ["parts/a.wgsl"]}}
    with pytest.raises(PackageError) as caught:
        open_package(make(tmp_path, webgpu=webgpu), verify=True)
    assert str(caught.value) == (
        f"{tmp_path}: metadata.json and manifest.json do not agree on the templates of variant 'only': "
        "expected 'main.wgsl.jinja', got 'parts/a.wgsl'"
    )


def test_a_verified_folder_is_verified_whenever_it_is_read(tmp_path: Path) -> None:
    """What changes after opening is found when it is used."""
    package = open_package(make(tmp_path), verify=True)
    (tmp_path / "main.wgsl.jinja").write_text("fn other() {}")
    with pytest.raises(DigestError) as caught:
        package.template("main.wgsl.jinja")
    stated, computed = file_digest(b"fn main() {}"), file_digest(b"fn other() {}")
    assert str(caught.value) == (
        f"{tmp_path}: 'main.wgsl.jinja' is not what its digest says: expected {stated}, got {computed}"
    )


def test_any_file_of_a_folder_can_be_read(tmp_path: Path) -> None:
    """If it is there."""
    package = open_package(make(tmp_path))
    assert package.revision is None
    assert package.read("parts/a.wgsl") == b"// a"
    with pytest.raises(PackageError) as caught:
        package.read("test.json")
    assert str(caught.value) == f"{tmp_path}: there is no file 'test.json'"
