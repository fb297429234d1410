"""Packages that are not what they say: each is one clear error, and what was fetched wrongly does not stay."""

from __future__ import annotations

import gzip
import json
import time
import tracemalloc
from typing import TYPE_CHECKING, Any

import pytest
from huggingface_hub.utils import disable_progress_bars, enable_progress_bars  # type: ignore[attr-defined]
from loopback_hub import FOLDER, REPOSITORY, Handler, LoopbackHub, answer, digest, endless, metadata, package_files
from sample_manifests import a_pass, scale_manifest, variant

import webgpu_kernels as wk
from webgpu_kernels.contract import answers
from webgpu_kernels.contract.answers import MAX_ANSWER_BYTES
from webgpu_kernels.contract.files import MAX_FILE_BYTES
from webgpu_kernels.contract.source import source_of
from webgpu_kernels.errors import DigestError, HubError, HubUnavailable, ManifestError, PackageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from webgpu_kernels.contract.remote import Hub

WHERE = f"{REPOSITORY}@v1"
NAME_FAULT = "must be a file's name inside the package: no '..', no leading slash, no backslash, no control characters"


def load() -> wk.Kernel:
    return wk.get_kernel(REPOSITORY, version=1)


def refused(kind: type[PackageError] = PackageError) -> str:
    """Return the message of the one error that loading ends in."""
    with pytest.raises(kind) as caught:
        load()
    assert type(caught.value) is kind
    return str(caught.value)


@pytest.mark.usefixtures("hub")
@pytest.mark.parametrize("name", ["manifest.json", "main.wgsl.jinja"])
def test_a_digest_that_lies_is_an_error(server: LoopbackHub, hub: Hub, name: str) -> None:
    """The copy is gone, and the next load fetches the file anew."""
    files = package_files()
    good = files[name]
    commit = server.publish({**files, name: good + b" "})
    assert refused(DigestError) == (
        f"{WHERE}: {name!r} is not what its digest says: expected {digest(good)}, got {digest(good + b' ')}. "
        "The copy was deleted: loading again fetches it anew."
    )
    assert not (hub.snapshot(REPOSITORY, commit) / name).exists()
    assert good + b" " not in [blob.read_bytes() for blob in hub.cache.glob("*/blobs/*")]
    server.repositories[REPOSITORY].commits[commit] = {f"{FOLDER}/{file}": text for file, text in files.items()}
    assert load().revision == commit


@pytest.mark.parametrize("name", ["metadata.json", "manifest.json", "main.wgsl.jinja", "test.json"])
def test_a_file_that_rots_in_the_cache_is_fetched_anew(server: LoopbackHub, hub: Hub, name: str) -> None:
    """After one error that says so."""
    commit = server.publish(package_files())
    kernel = load()
    kernel.package.read("test.json")
    blob = (hub.snapshot(REPOSITORY, commit) / name).resolve()
    content = blob.read_bytes()
    blob.write_bytes(content[:-1])
    with pytest.raises(PackageError):
        load().package.read("test.json")
    assert load().package.read("test.json")
    assert (hub.snapshot(REPOSITORY, commit) / name).read_bytes() == content


def test_a_template_that_changes_after_loading_is_not_rendered(server: LoopbackHub, hub: Hub) -> None:
    """What was checked is what is used."""
    commit = server.publish(package_files())
    package = load().package
    (hub.snapshot(REPOSITORY, commit) / "main.wgsl.jinja").resolve().write_bytes(b"fn evil() {}")
    with pytest.raises(DigestError, match=r"'main\.wgsl\.jinja' is not what its digest says"):
        package.template("main.wgsl.jinja")


@pytest.mark.usefixtures("hub")
def test_a_suite_that_lies_is_found_when_it_is_read(server: LoopbackHub) -> None:
    """It is not fetched before."""
    server.publish({**package_files(), "test.json": b"{}"})
    package = load().package
    with pytest.raises(DigestError, match=r"'test\.json' is not what its digest says"):
        package.read("test.json")


@pytest.mark.usefixtures("hub")
def test_only_listed_files_are_read(server: LoopbackHub) -> None:
    """Neither the card nor what lies beside the package."""
    server.publish(package_files())
    with pytest.raises(DigestError) as caught:
        load().package.read("../../README.md")
    assert str(caught.value) == f"{WHERE}: '../../README.md' has no digest in metadata.json"


@pytest.mark.usefixtures("hub")
def test_listed_files_are_there_and_no_others(server: LoopbackHub) -> None:
    """One message names all of them."""
    files = package_files(extra={"gone.wgsl": b"", "bench.json": b"{}"})
    server.publish({name: text for name, text in files.items() if name != "gone.wgsl"} | {"new.wgsl": b""})
    assert refused(DigestError) == (
        f"{WHERE}: the files are not those that metadata.json lists: 'gone.wgsl' is not there, 'new.wgsl' has no digest"
    )


@pytest.mark.usefixtures("hub")
@pytest.mark.parametrize("stated", ["_test_scale_webgpu_0000000", None])
def test_an_id_that_is_not_the_tables_is_an_error(server: LoopbackHub, stated: str | None) -> None:
    """It is made of the digests."""
    right = json.loads(package_files()["metadata.json"])["id"]
    server.publish(package_files(id=stated))
    assert refused(DigestError) == (
        f"{WHERE}: the id in metadata.json is not the one that its digests give: "
        f"expected {right}, got {stated or 'none'}"
    )


@pytest.mark.usefixtures("hub")
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "test.Other"}, "metadata.json is of another operator than the repository: expected test.Scale, got"),
        ({"version": 2}, "metadata.json is of another version than the branch: expected 1, got 2"),
        ({"manifest": scale_manifest(name="Other")}, "metadata.json and manifest.json are of two packages: expected"),
        (
            {"webgpu": {"manifestSpec": "3.0"}},
            "the manifest is written for another spec: expected one of 1.0, 2.0, 2.1, got 3.0",
        ),
        (
            {"webgpu": {"manifestSpec": "2.1", "variants": {"only": ["other.wgsl"]}}},
            (
                "metadata.json and manifest.json do not agree on the templates of variant 'only': "
                "expected 'main.wgsl.jinja', got 'other.wgsl'"
            ),
        ),
        (
            {"webgpu": {"manifestSpec": "2.1", "variants": {}}},
            (
                "metadata.json and manifest.json do not agree on the templates of variant 'only': "
                "expected 'main.wgsl.jinja', got no such variant"
            ),
        ),
        (
            {"webgpu": {"manifestSpec": "2.1", "variants": {"only": ["main.wgsl.jinja"], "two": []}}},
            (
                "metadata.json and manifest.json do not agree on the templates of variant 'two': "
                "expected no such variant, got none"
            ),
        ),
        (
            {"manifest": scale_manifest(variants=[variant("only", passes=[a_pass(shader="gone.wgsl")])])},
            "the manifest uses templates that have no digest: 'gone.wgsl'",
        ),
    ],
)
def test_parts_that_do_not_agree_are_an_error(server: LoopbackHub, changes: dict[str, Any], message: str) -> None:
    """Repository, branch, metadata.json and manifest.json are of one package."""
    server.publish(package_files(**changes))
    assert refused().startswith(f"{WHERE}: {message}")


@pytest.mark.usefixtures("hub")
def test_metadata_without_a_version_or_variants_will_do(server: LoopbackHub) -> None:
    """As published ones of spec 1.0 have none of the latter."""
    server.publish(package_files(version=None, webgpu={"manifestSpec": "2.1"}))
    assert load().op_id == "test.Scale"


@pytest.mark.usefixtures("hub")
@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"\xff", "  is not UTF-8: invalid start byte at byte 0. Save it as UTF-8"),
        (b"{", "  is not JSON: Expecting property name enclosed in double quotes at line 1, column 2"),
        (b'{"name": "a", "name": "b"}', "  name: stands more than once: keep one of them"),
        (b'{"name": NaN}', "  name: must be a number that a double holds, not NaN"),
        (b"[" * 10_000, "  is nested too deep: 100 levels are the most"),
        (
            metadata({}, digest={"algorithm": "md5", "files": {"manifest.json": ""}}),
            '  digest.algorithm: must be "sha256", not the string "md5"',
        ),
        (metadata({"../x": b""}), f'  digest.files["../x"]: {NAME_FAULT}'),
        (metadata({"/etc/passwd": b""}), f'  digest.files["/etc/passwd"]: {NAME_FAULT}'),
        (metadata({"a\\b": b""}), f'  digest.files["a\\\\b"]: {NAME_FAULT}'),
        (metadata({"a\0": b""}), f'  digest.files["a\\u0000"]: {NAME_FAULT}'),
    ],
)
def test_metadata_that_is_broken_is_an_error(server: LoopbackHub, content: bytes, line: str) -> None:
    """And once it is mended, the next load is good."""
    commit = server.publish({**package_files(), "metadata.json": content})
    begun = time.monotonic()
    said = refused().splitlines()
    assert said[0].startswith(f"{WHERE}: metadata.json has ")
    assert line in said
    assert time.monotonic() - begun < 5
    server.repositories[REPOSITORY].commits[commit] = {f"{FOLDER}/{name}": b for name, b in package_files().items()}
    assert load().revision == commit


@pytest.mark.usefixtures("hub")
def test_a_manifest_that_breaks_the_format_is_a_manifest_error(server: LoopbackHub) -> None:
    """With every defect, as from a folder."""
    server.publish(package_files(manifest={**scale_manifest(), "surprise": 1}))
    with pytest.raises(ManifestError, match="surprise"):
        load()


@pytest.mark.usefixtures("hub")
@pytest.mark.parametrize("name", ["metadata.json", "manifest.json"])
def test_a_huge_file_is_not_fetched(server: LoopbackHub, name: str) -> None:
    """Its size is known before."""
    server.publish(package_files() | {name: b" " * (MAX_FILE_BYTES + 1)})
    assert refused() == (
        f"{WHERE}: {name!r} is larger than a package's file may be, so it is not fetched: "
        f"expected at most {MAX_FILE_BYTES:,} bytes, got {MAX_FILE_BYTES + 1:,}"
    )
    assert server.asked(name) == 0


@pytest.mark.usefixtures("hub")
def test_a_file_of_another_commit_is_an_error(server: LoopbackHub, hub: Hub) -> None:
    """The answer says which commit it is of."""
    files = package_files()
    commit = server.publish(files)
    facts = {"ETag": '"tag"', "X-Repo-Commit": "b" * 40}
    server.fail("HEAD", "manifest.json", answer(files["manifest.json"], facts))
    assert refused(HubError) == f"{WHERE}: the Hub gave 'manifest.json' of another commit: expected {commit}"
    assert not list(hub.cache.glob(f"*/snapshots/{'b' * 40}/**/*.json"))


@pytest.mark.usefixtures("hub")
def test_metadata_that_another_tool_fetched_is_held_against_the_files(server: LoopbackHub, hub: Hub) -> None:
    """As soon as one of them must be fetched."""
    commit = server.publish(package_files() | {"new.wgsl": b""})
    hub.fetch(source_of(REPOSITORY, 1, None), commit, "metadata.json")
    assert refused(DigestError) == (
        f"{WHERE}: the files are not those that metadata.json lists: 'new.wgsl' has no digest"
    )


@pytest.mark.usefixtures("hub")
def test_endless_lists_of_files_are_not_followed(server: LoopbackHub) -> None:
    """The Hub gives a thousand at once; no package has as many."""
    server.publish(package_files())
    link = {"Link": f'<{server.endpoint}/more>; rel="next"'}
    server.fail("GET", "/tree/", answer(b"[]", link))
    assert refused() == f"{WHERE}: has more files than the Hub lists at once, so it is no package"


@pytest.mark.usefixtures("hub")
@pytest.mark.parametrize("part", ["/refs", "/tree/"])
@pytest.mark.parametrize(
    "act",
    [
        endless(b" " * 2**16),
        answer(gzip.compress(bytes(2 * MAX_ANSWER_BYTES)), {"Content-Encoding": "gzip"}),
        endless(b" ", 0.01),
    ],
    ids=["endless", "packed", "slow"],
)
def test_an_answer_without_end_is_not_read(
    server: LoopbackHub, monkeypatch: pytest.MonkeyPatch, act: Callable[[Handler], bool], part: str
) -> None:
    """A few megabytes and a minute are enough for any; what waits in memory meanwhile is not more."""
    monkeypatch.setattr(answers, "LONGEST_ANSWER_S", 5)
    server.publish(package_files())
    server.fail("GET", part, act)
    tracemalloc.start()
    message = refused(HubUnavailable)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    where = REPOSITORY if part == "/refs" else WHERE
    assert message.startswith(f"{where}: {server.endpoint} answers something else than the Hub would.")
    assert most < 4 * MAX_ANSWER_BYTES


@pytest.mark.usefixtures("hub")
@pytest.mark.parametrize("shown", [True, False])
def test_a_file_without_end_is_not_fetched(server: LoopbackHub, hub: Hub, shown: bool) -> None:
    """Whatever was said of its size, and whether its progress is shown or not; nothing of it stays."""
    server.publish(package_files())
    server.fail("GET", "main.wgsl.jinja", endless(b"//" * 2**16))
    (enable_progress_bars if shown else disable_progress_bars)()
    message = refused()
    enable_progress_bars()
    assert message == (
        f"{WHERE}: main.wgsl.jinja: comes larger than a package's file may be, so the rest of it is not fetched: "
        f"expected at most {MAX_FILE_BYTES:,} bytes"
    )
    assert all(path.stat().st_size <= MAX_FILE_BYTES for path in hub.cache.rglob("*"))


@pytest.mark.usefixtures("hub")
@pytest.mark.filterwarnings("ignore:Not enough free disk space")
def test_a_file_that_no_disk_could_hold_is_one_error(server: LoopbackHub) -> None:
    """The Hub lists it as a small one, and then says otherwise."""
    commit = server.publish(package_files())
    facts = {"ETag": '"tag"', "X-Repo-Commit": commit, "X-Linked-Size": str(2**50)}
    server.fail("HEAD", "main.wgsl.jinja", answer(b"", facts))
    assert refused(HubError).startswith(f"{WHERE}: main.wgsl.jinja: cannot be brought into the cache: got The file is")


def test_only_the_cache_is_cleaned(hub: Hub, tmp_path: Path) -> None:
    """A link out of the cache is cut; what it leads to is somebody else's."""
    outside = tmp_path / "precious"
    outside.write_text("mine")
    link = hub.cache / "link"
    link.parent.mkdir()
    link.symlink_to(outside)
    hub.forget(link)
    assert not link.is_symlink()
    assert outside.read_text() == "mine"
