"""Package folders: finding them, reading their files, staying inside."""

from __future__ import annotations

import json
import os
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest
from sample_manifests import a_pass, scale_manifest, variant

from webgpu_kernels.contract import Package, bundled_names, bundled_package, open_package
from webgpu_kernels.contract import package as package_module
from webgpu_kernels.contract.files import MAX_FILE_BYTES
from webgpu_kernels.errors import LanguageError, ManifestError, PackageError, PackageNotFound

DATA = Path(__file__).resolve().parents[1] / "data" / "packages"


def make(folder: Path, manifest: Any = None, **files: str) -> Path:
    """Write a package whose templates are called as given, with the dots of their names as underscores."""
    root = folder / "build" / "webgpu"
    root.mkdir(parents=True)
    (root / "manifest.json").write_text(json.dumps(manifest or scale_manifest()))
    for name, text in files.items():
        (root / name.replace("__", "/").replace("_", ".")).write_text(text)
    return folder


def asking_for(shader: str) -> dict[str, Any]:
    return scale_manifest(variants=[variant("v", passes=[a_pass(id="p", shader=shader)])])


def test_a_package_has_its_manifest_in_build_webgpu() -> None:
    """As repositories on the Hub have it."""
    package = open_package(DATA / "good")
    assert package.manifest.op_id == "test.Good"
    assert package.root == DATA / "good" / "build" / "webgpu"
    assert package.where == str(DATA / "good")
    assert repr(package) == f"<Package test.Good at {package.root}>"


def test_a_folder_may_be_the_package_itself() -> None:
    """A manifest and templates side by side; a text path will do."""
    assert open_package(str(DATA / "good" / "build" / "webgpu")).manifest.op_id == "test.Good"


def test_templates_are_compiled_once_and_render() -> None:
    """With the files that they include, from their own folder and from the root."""
    package = open_package(DATA / "good")
    template = package.template("main.wgsl.jinja")
    assert template is package.template("main.wgsl.jinja")
    assert template.render({"size": 4}).text == "// head\nconst size = 4;\n// parts/inner\n// tail\nfn main() {}"


def test_threads_share_a_template() -> None:
    """All get the same one."""
    package = open_package(DATA / "good")
    barrier = threading.Barrier(8)
    found: list[int] = []

    def ask() -> None:
        barrier.wait()
        found.append(id(package.template("main.wgsl.jinja")))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1


def test_a_path_that_is_not_there_is_not_found(tmp_path: Path) -> None:
    """A LookupError too, as for any look-up."""
    with pytest.raises(PackageNotFound) as caught:
        open_package(tmp_path / "nowhere")
    assert str(caught.value) == f"{tmp_path}/nowhere: there is no such folder"
    assert isinstance(caught.value, LookupError)


def test_a_file_is_no_package() -> None:
    """Not even its manifest."""
    path = DATA / "good" / "build" / "webgpu" / "manifest.json"
    with pytest.raises(PackageNotFound) as caught:
        open_package(path)
    assert str(caught.value) == f"{path}: is a file, not a package. Give the folder that holds it."


def test_a_folder_without_a_manifest_is_no_package(tmp_path: Path) -> None:
    """The message says where one could be."""
    with pytest.raises(PackageNotFound) as caught:
        open_package(tmp_path)
    assert str(caught.value) == (
        f"{tmp_path}: holds no package: expected build/webgpu/manifest.json, or manifest.json in the folder itself"
    )


def test_a_broken_manifest_is_refused_with_all_its_defects() -> None:
    """And the file's place."""
    with pytest.raises(ManifestError) as caught:
        open_package(DATA / "broken")
    assert (
        str(caught.value)
        == f"{DATA / 'broken'}: manifest.json: " + (DATA / "broken" / "defects.txt").read_text().rstrip()
    )


def test_a_missing_template_names_who_asks_and_what_is_there(tmp_path: Path) -> None:
    """Package, variant and pass."""
    package = open_package(make(tmp_path / "p", asking_for("mian.wgsl"), main_wgsl="", other_wgsl_jinja=""))
    with pytest.raises(PackageError) as caught:
        package.template("mian.wgsl")
    assert str(caught.value) == (
        f"{tmp_path}/p: the template 'mian.wgsl' is missing; variant 'v', pass 'p' asks for it. "
        "Templates that are there: main.wgsl, other.wgsl.jinja."
    )


def test_a_pass_inside_a_repeat_group_asks_by_its_name(tmp_path: Path) -> None:
    """Groups are searched."""
    group = {"id": "g", "repeat": {"count": 1}, "passes": [a_pass(id="p", shader="no.wgsl")]}
    package = open_package(make(tmp_path / "p", scale_manifest(variants=[variant("v", passes=[group])])))
    with pytest.raises(PackageError, match=r"variant 'v', pass 'p' asks for it. Templates that are there: none."):
        package.template("no.wgsl")


def test_a_missing_include_names_the_template_that_asks_for_it(tmp_path: Path) -> None:
    """The error is raised when the template is compiled."""
    package = open_package(make(tmp_path / "p", asking_for("a.wgsl"), a_wgsl='{% include "b.wgsl" %}'))
    with pytest.raises(PackageError) as caught:
        package.template("a.wgsl")
    assert str(caught.value) == (
        f"{tmp_path}/p: the template 'b.wgsl' is missing; variant 'v', pass 'p', by way of 'a.wgsl', asks for it. "
        "Templates that are there: a.wgsl."
    )


def test_only_templates_are_included(tmp_path: Path) -> None:
    """By their suffix."""
    package = open_package(make(tmp_path / "p", asking_for("a.wgsl"), a_wgsl='{% include "manifest.json" %}'))
    with pytest.raises(PackageError) as caught:
        package.template("a.wgsl")
    assert str(caught.value) == (
        f"{tmp_path}/p: the template 'manifest.json' must end in .wgsl or .wgsl.jinja; variant 'v', pass 'p', by way "
        "of 'a.wgsl', asks for it"
    )


def test_a_circle_of_includes_is_refused(tmp_path: Path) -> None:
    """By the language, which names the way round."""
    files = {"a_wgsl": '{% include "b.wgsl" %}', "b_wgsl": '{% include "./a.wgsl" %}'}
    package = open_package(make(tmp_path / "p", asking_for("a.wgsl"), **files))
    with pytest.raises(LanguageError, match=r"a\.wgsl → b\.wgsl → a\.wgsl"):
        package.template("a.wgsl")


def test_a_template_must_be_utf8(tmp_path: Path) -> None:
    """As everything in a package."""
    package = open_package(make(tmp_path / "p", asking_for("a.wgsl")))
    (package.root / "a.wgsl").write_bytes(b"// \xff")
    with pytest.raises(PackageError) as caught:
        package.template("a.wgsl")
    assert str(caught.value) == f"{tmp_path}/p: 'a.wgsl' is not UTF-8: invalid start byte at byte 3"


def test_a_template_that_was_broken_may_be_mended(tmp_path: Path) -> None:
    """A failure is not remembered."""
    package = open_package(make(tmp_path / "p", asking_for("a.wgsl")))
    with pytest.raises(PackageError):
        package.template("a.wgsl")
    (package.root / "a.wgsl").write_text("// here")
    assert package.template("a.wgsl").render({}).text == "// here"


@pytest.mark.parametrize(
    "name", ["../secret.wgsl", "/etc/passwd", "a/../../secret.wgsl", "a\\b.wgsl", "a\0.wgsl", "C:x.wgsl", ""]
)
def test_names_that_lead_out_are_refused(tmp_path: Path, name: str) -> None:
    """Before the file system is asked."""
    (tmp_path / "secret.wgsl").write_text("secret")
    package = open_package(make(tmp_path / "p"))
    with pytest.raises(PackageError) as caught:
        package.template(name)
    assert str(caught.value) == (
        f"{tmp_path}/p: the template {name!r} must be a file's name inside the package: no '..', no leading slash, no "
        "backslash, no control characters; the caller asks for it"
    )


@pytest.mark.parametrize("name", ["../secret.wgsl", "/etc/passwd", "./../../../secret.wgsl", "..\\secret.wgsl"])
def test_includes_that_lead_out_are_refused(tmp_path: Path, name: str) -> None:
    """Whoever resolves them."""
    (tmp_path / "secret.wgsl").write_text("secret")
    package = open_package(make(tmp_path / "p", asking_for("a.wgsl"), a_wgsl=f'{{% include "{name}" %}}'))
    with pytest.raises((PackageError, LanguageError)):
        package.template("a.wgsl")


def test_links_that_lead_out_are_refused(tmp_path: Path) -> None:
    """Of a template, and of the manifest."""
    (tmp_path / "secret.wgsl").write_text("secret")
    package = open_package(make(tmp_path / "p", asking_for("a.wgsl")))
    (package.root / "a.wgsl").symlink_to(tmp_path / "secret.wgsl")
    with pytest.raises(PackageError) as caught:
        package.template("a.wgsl")
    assert (
        str(caught.value)
        == f"{tmp_path}/p: 'a.wgsl' is a link that leads out of the package, to {tmp_path}/secret.wgsl"
    )
    shutil.move(package.root / "manifest.json", tmp_path / "manifest.json")
    (package.root / "manifest.json").symlink_to(tmp_path / "manifest.json")
    with pytest.raises(PackageError, match=r"'manifest\.json' is a link that leads out of the package"):
        open_package(tmp_path / "p")


def test_a_linked_folder_that_leads_out_is_refused(tmp_path: Path) -> None:
    """build/webgpu must lie in the package."""
    make(tmp_path / "other")
    (tmp_path / "p" / "build").mkdir(parents=True)
    (tmp_path / "p" / "build" / "webgpu").symlink_to(tmp_path / "other" / "build" / "webgpu")
    with pytest.raises(PackageError, match="'build/webgpu' is a link that leads out of the package, to "):
        open_package(tmp_path / "p")


def test_links_inside_the_package_are_followed(tmp_path: Path) -> None:
    """And a link to the package is the caller's own."""
    package = open_package(make(tmp_path / "p", asking_for("a.wgsl"), b_wgsl="// b"))
    (package.root / "a.wgsl").symlink_to("b.wgsl")
    (tmp_path / "link").symlink_to(tmp_path / "p")
    assert open_package(tmp_path / "link").template("a.wgsl").render({}).text == "// b"


def cached(tmp_path: Path) -> Path:
    """Lay a package out as the Hub's cache does, every file a link to a blob."""
    repository = tmp_path / "kernels--webgpu-kernels--test.Scale"
    root = repository / "snapshots" / ("0" * 40) / "build" / "webgpu"
    (repository / "blobs").mkdir(parents=True)
    root.mkdir(parents=True)
    for name, text in {"manifest.json": json.dumps(asking_for("a.wgsl")), "a.wgsl": "// a"}.items():
        (repository / "blobs" / f"{name}-hash").write_text(text)
        (root / name).symlink_to(f"../../../../blobs/{name}-hash")
    return root.parents[1]


def test_links_into_the_hub_caches_blobs_are_followed(tmp_path: Path) -> None:
    """That is how the cache works."""
    assert open_package(cached(tmp_path)).template("a.wgsl").render({}).text == "// a"


def test_links_past_the_blobs_are_refused(tmp_path: Path) -> None:
    """Neither to another folder nor through a blobs folder that is itself a link."""
    snapshot = cached(tmp_path)
    (tmp_path / "secret.wgsl").write_text("secret")
    template = snapshot / "build" / "webgpu" / "a.wgsl"
    template.unlink()
    template.symlink_to(tmp_path / "secret.wgsl")
    with pytest.raises(PackageError, match="is a link that leads out"):
        open_package(snapshot).template("a.wgsl")
    blobs = snapshot.parents[1] / "blobs"
    blobs.rename(tmp_path / "elsewhere")
    blobs.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(PackageError, match="is a link that leads out"):
        open_package(snapshot)


def test_a_file_is_read_within_bounds(tmp_path: Path) -> None:
    """A manifest of 100 MB is not read to its end."""
    root = make(tmp_path / "p") / "build" / "webgpu"
    with (root / "manifest.json").open("wb") as file:
        file.truncate(100 * 2**20)
    with pytest.raises(PackageError) as caught:
        open_package(tmp_path / "p")
    assert str(caught.value) == (
        f"{tmp_path}/p: 'manifest.json' is larger than {MAX_FILE_BYTES:,} bytes, the most a package's file may have"
    )


def test_only_plain_files_are_read(tmp_path: Path) -> None:
    """A pipe would block for ever."""
    package = open_package(make(tmp_path / "p", asking_for("a.wgsl")))
    os.mkfifo(package.root / "a.wgsl")
    (package.root / "b.wgsl").mkdir()
    for name in ("a.wgsl", "b.wgsl"):
        with pytest.raises(PackageError, match=f"'{name}' is not a file"):
            package.template(name)


@pytest.mark.parametrize("into", ["link", "pipe"])
def test_a_file_that_is_swapped_after_the_check_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, into: str
) -> None:
    """Neither followed out of the package, nor waited for."""
    package = open_package(make(tmp_path / "p", asking_for("a.wgsl"), a_wgsl=""))
    path, outside = package.root / "a.wgsl", tmp_path / "secret"
    outside.write_text("secret")
    is_file = Path.is_file

    def swapped(asked: Path) -> bool:
        there = is_file(asked)
        if asked == path.resolve():
            path.unlink()
            path.symlink_to(outside) if into == "link" else os.mkfifo(path)
        return there

    monkeypatch.setattr(Path, "is_file", swapped)
    with pytest.raises(PackageError, match=r"'a\.wgsl'(: Too many levels of symbolic links| is not a file)$"):
        package.template("a.wgsl")


def test_a_circle_of_links_is_refused(tmp_path: Path) -> None:
    """With an error of this library."""
    package = open_package(make(tmp_path / "p", asking_for("a.wgsl")))
    (package.root / "a.wgsl").symlink_to("a.wgsl")
    with pytest.raises(PackageError, match=r"cannot read 'a\.wgsl': "):
        package.template("a.wgsl")


@pytest.fixture
def bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Bundle two packages, and a folder that is none."""
    make(tmp_path / "test.Scale")
    make(tmp_path / "com.x.Other")
    (tmp_path / "__pycache__").mkdir()
    monkeypatch.setattr(package_module, "BUNDLED", tmp_path)
    return tmp_path


def test_bundled_packages_are_listed(bundle: Path) -> None:
    """By their folders that hold a manifest."""
    assert bundled_names() == ("com.x.Other", "test.Scale")


def test_a_bundled_package_is_opened_by_its_operator(bundle: Path) -> None:
    """Messages call it by that name."""
    package = bundled_package("test.Scale")
    assert isinstance(package, Package)
    assert package.where == "test.Scale"


def test_metadata_of_a_bundled_package_is_read_when_it_is_asked_for(bundle: Path) -> None:
    """Loading does without it, so that it is quick."""
    (bundle / "test.Scale" / "build" / "webgpu" / "metadata.json").write_text("{", encoding="utf-8")
    package = bundled_package("test.Scale")
    with pytest.raises(PackageError, match=r"metadata\.json has \d+ defect"):
        _ = package.metadata


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("test.Sclae", "Did you mean 'test.Scale'?"),
        ("zzz", "The bundled kernels are com.x.Other, test.Scale."),
        ("../test.Scale", "Did you mean 'test.Scale'?"),
    ],
)
def test_an_unknown_bundled_package_is_not_found(bundle: Path, name: str, hint: str) -> None:
    """The closest one, or all of them."""
    with pytest.raises(PackageNotFound) as caught:
        bundled_package(name)
    assert str(caught.value) == f"no kernel {name!r} is bundled. {hint} With version= it is looked for on the Hub."


@pytest.mark.parametrize("path", [None, 3, ["a"], "a" * 5000, "a\0b"])
def test_what_is_no_path(path: Any) -> None:
    """Neither a path nor one that any file could have."""
    with pytest.raises(PackageNotFound, match=r"is no path \(|there is no such folder"):
        open_package(path)
