"""Repositories of the Hub, and copies of them in the cache, that are not what they say.

Each function gets a site and spoils it; before the attack the site can be loaded from, so that the cache is warm.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import hostile_damage
from loopback_hub import FOLDER, REPOSITORY, LoopbackHub, answer, metadata, package_files
from sample_manifests import a_pass, scale_manifest, variant

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

GOOD = package_files()
HUNDRED_MB = 100 * 2**20


@dataclass
class Site:
    """A Hub, a cache, and what is asked of them.

    Attributes:
        server: the Hub.
        folder: where the cache lies, and what is asked.
        load: asks once more, and returns how it ended.
        job: what is asked.
        bad: what must not be in the cache afterwards.
        kept: files that must be there afterwards, as they are.
        undo: mends what only its owner can mend.
    """

    server: LoopbackHub
    folder: Path
    load: Callable[[], dict[str, Any]]
    job: dict[str, Any] = field(default_factory=dict)
    bad: list[bytes] = field(default_factory=list)
    kept: list[Path] = field(default_factory=list)
    undo: Callable[[], object] = lambda: None

    @property
    def cache(self) -> Path:
        """The cache of huggingface_hub."""
        return self.folder / "cache"

    @property
    def commit(self) -> str:
        """Where the branch is."""
        return self.server.repositories[REPOSITORY].branches["v1"]

    @property
    def snapshot(self) -> Path:
        """Where the cache has the package."""
        return self.cache / f"kernels--{REPOSITORY.replace('/', '--')}" / "snapshots" / self.commit / FOLDER

    def write(self) -> Path:
        """Write down what is asked, and return where."""
        (self.folder / "hub.json").write_text(
            json.dumps({"endpoint": self.server.endpoint, "cache": str(self.cache), **self.job})
        )
        return self.folder

    def publish(self, **files: Any) -> None:
        """Publish the good package with some files replaced or, by None, left out."""
        named = {name.replace("__", "."): content for name, content in files.items()}
        self.server.publish({name: content for name, content in (GOOD | named).items() if content is not None})

    def change(self, files: Mapping[str, bytes]) -> None:
        """Publish a package of these very files."""
        self.server.publish(files)

    def warm(self) -> None:
        """Publish the good package, and load it into the cache."""
        self.publish()
        assert self.load()["error"] is None

    def mend(self) -> None:
        """Make all good again, with network; what the cache has stays.

        Where digests lied it is the same commit, and where a package was whole, and bad, it is another.
        """
        self.undo()
        if self.bad:
            files = {f"{FOLDER}/{name}": content for name, content in GOOD.items()}
            self.server.repositories[REPOSITORY].commits[self.commit] = files
        else:
            self.publish()
        self.server.faults.clear()
        self.job.clear()


def digest_lies_manifest(site: Site) -> None:
    """The manifest is not what its digest says."""
    site.bad = [GOOD["manifest.json"] + b" "]
    site.publish(manifest__json=site.bad[0])


def digest_lies_template(site: Site) -> None:
    """A template is not."""
    site.bad = [b"fn evil() {}"]
    site.change(GOOD | {"main.wgsl.jinja": site.bad[0]})


def digest_lies_suite(site: Site) -> None:
    """test.json, which is fetched when it is read, is not."""
    site.bad = [b'{"cases": [1]}']
    site.publish(test__json=site.bad[0])
    site.job["read"] = ["test.json"]


def _rot(site: Site, name: str) -> None:
    site.warm()
    site.bad = [b" " + GOOD[name]]
    (site.snapshot / name).resolve().write_bytes(site.bad[0])


def digest_lies_in_the_cache(site: Site) -> None:
    """A cached blob is changed."""
    _rot(site, "main.wgsl.jinja")


def digest_lies_in_the_cache_offline(site: Site) -> None:
    """So it is, and there is no network."""
    _rot(site, "manifest.json")
    site.job["offline"] = True


def digest_lies_without_a_link(site: Site) -> None:
    """The cache holds the file itself, as where there are no links."""
    site.warm()
    site.bad = [b"fn evil() {}"]
    path = site.snapshot / "main.wgsl.jinja"
    path.unlink()
    path.write_bytes(site.bad[0])


def metadata_lies_in_the_cache(site: Site) -> None:
    """The cached metadata.json has digests of other files: its id is not theirs."""
    site.warm()
    document = json.loads(GOOD["metadata.json"])
    document["digest"]["files"]["manifest.json"] = hostile_damage.DIGEST
    site.bad = [json.dumps(document).encode()]
    (site.snapshot / "metadata.json").resolve().write_bytes(site.bad[0])


def blob_of_100_mb_in_the_cache(site: Site) -> None:
    """A cached blob is 100 MB of nothing."""
    site.warm()
    with (site.snapshot / "main.wgsl.jinja").resolve().open("wb") as file:
        file.truncate(HUNDRED_MB)


def _link(site: Site, name: str, content: bytes) -> None:
    site.warm()
    outside = site.folder / "outside"
    outside.write_bytes(content)
    site.kept = [outside]
    path = site.snapshot / name
    path.unlink()
    path.symlink_to(outside)


def link_out_of_the_blobs(site: Site) -> None:
    """A file of the cache is a link to a file beside it."""
    _link(site, "main.wgsl.jinja", b"fn evil() {}")


def link_out_of_the_blobs_metadata(site: Site) -> None:
    """So is metadata.json, which no digest covers."""
    _link(site, "metadata.json", GOOD["metadata.json"])


def link_to_another_repository(site: Site) -> None:
    """A file of the cache is a link to a blob of another repository."""
    site.warm()
    blobs = site.cache / "kernels--stranger--test.Scale" / "blobs"
    blobs.mkdir(parents=True)
    (blobs / "a").write_bytes(GOOD["metadata.json"])
    site.kept = [blobs / "a"]
    (site.snapshot / "metadata.json").unlink()
    (site.snapshot / "metadata.json").symlink_to(blobs / "a")


def link_to_itself(site: Site) -> None:
    """A file of the cache is a link to itself."""
    site.warm()
    (site.snapshot / "manifest.json").unlink()
    (site.snapshot / "manifest.json").symlink_to("manifest.json")


def blobs_elsewhere(site: Site) -> None:
    """The folder of blobs is a link."""
    site.warm()
    blobs, elsewhere = site.snapshot.parents[3] / "blobs", site.folder / "blobs"
    blobs.rename(elsewhere)
    blobs.symlink_to(elsewhere)
    site.kept = list(elsewhere.iterdir())

    def undo() -> None:
        blobs.unlink()
        elsewhere.rename(blobs)

    site.undo = undo


def note_of_100_mb(site: Site) -> None:
    """The note of where the branch was is 100 MB long, and there is no network."""
    site.warm()
    with (site.snapshot.parents[3] / "refs" / "v1").open("wb") as file:
        file.truncate(HUNDRED_MB)
    site.job["offline"] = True


def listed_missing(site: Site) -> None:
    """A listed file is not there."""
    files = package_files(extra={"gone.wgsl": b""})
    del files["gone.wgsl"]
    site.change(files)


def unlisted_present(site: Site) -> None:
    """A file is there that is not listed, and its name clears the screen."""
    site.change(GOOD | {"\x1b[2J\u202eevil.wgsl": b""})


def unlisted_900(site: Site) -> None:
    """As many as the Hub lists at once, with long names."""
    site.change(GOOD | {f"{'x' * 200}{number}.wgsl": b"" for number in range(900)})


def files_of_many_bytes(site: Site) -> None:
    """Twenty files, each as large as one may be: more than a package may have."""
    zeros = bytes(4 * 2**20)
    site.change(GOOD | {f"f{number}.wgsl": zeros for number in range(20)})


def manifest_of_100_mb(site: Site) -> None:
    """The manifest is too large, and the Hub says so before."""
    site.publish(manifest__json=bytes(HUNDRED_MB))


def metadata_of_100_mb(site: Site) -> None:
    """So is metadata.json."""
    site.publish(metadata__json=bytes(HUNDRED_MB))


def size_that_lies(site: Site) -> None:
    """The Hub lists a small manifest, and sends a large one."""
    site.publish(manifest__json=b" " * (8 * 2**20))
    entries = [{"type": "file", "path": f"{FOLDER}/{name}", "size": 9} for name in GOOD]
    site.server.fail("GET", "/tree/", answer(json.dumps(entries).encode()), times=9)


def other_operator(site: Site) -> None:
    """metadata.json is of another operator than the repository."""
    site.change(package_files(name="test.Other"))


def other_operator_in_the_manifest(site: Site) -> None:
    """The manifest is."""
    site.change(package_files(manifest=scale_manifest(name="Other")))


def other_version(site: Site) -> None:
    """metadata.json is of another version than the branch."""
    site.change(package_files(version=2))


def other_spec(site: Site) -> None:
    """The manifest is said to be of a spec that nobody reads."""
    site.change(package_files(webgpu={"manifestSpec": "\x1b[2J9.9"}))


def other_id(site: Site) -> None:
    """The id is not the one that the digests give."""
    site.change(package_files(id="_test_scale_webgpu_0000000"))


def other_templates(site: Site) -> None:
    """The manifest uses a template that is not listed."""
    site.change(package_files(manifest=scale_manifest(variants=[variant("only", passes=[a_pass(shader="gone.wgsl")])])))


def algorithm_unknown(site: Site) -> None:
    """The digests are of an algorithm that nobody reads."""
    table = json.loads(GOOD["metadata.json"])["digest"]
    site.change(package_files(digest=table | {"algorithm": "md5"}))


def algorithm_none(site: Site) -> None:
    """There are no digests at all."""
    site.change(package_files(digest=None))


def listed_outside(site: Site) -> None:
    """A listed name leads out of the package."""
    site.publish(metadata__json=metadata({"../../README.md": b"# card", "manifest.json": GOOD["manifest.json"]}))


def include_outside(site: Site) -> None:
    """A template includes what lies beside the package."""
    site.change(package_files(extra={"main.wgsl.jinja": b'{% include "../../README.md" %}\n'}))


def include_unlisted(site: Site) -> None:
    """A template includes what is not listed."""
    site.change(package_files(extra={"main.wgsl.jinja": b'{% include "other.wgsl" %}\n'}))


def loop_of_10_9(site: Site) -> None:
    """A template loops without end."""
    site.change(package_files(extra={"main.wgsl.jinja": b"{% for i in range(1000000000) %}x{% endfor %}"}))


def strings_that_double(site: Site) -> None:
    """A manifest's strings double."""
    derive = {"d0": "'xxxxxxxx'"} | {f"d{number}": f"d{number - 1} ~ d{number - 1}" for number in range(1, 60)}
    site.change(package_files(manifest=scale_manifest(derive=derive)))


def manifest_nested_10000(site: Site) -> None:
    """The manifest has a digest that is right, and 10,000 levels."""
    site.change(package_files(extra={"manifest.json": b"[" * 10_000 + b"]" * 10_000}))


def list_nested(site: Site) -> None:
    """The Hub's own list of files has 100,000 levels."""
    site.publish()
    site.server.fail("GET", "/tree/", answer(b"[" * 100_000 + b"]" * 100_000), times=9)


def list_of_infinite_sizes(site: Site) -> None:
    """The Hub's own list of files has a size that no number holds."""
    site.publish()
    entry = f'[{{"type": "file", "path": "{FOLDER}/manifest.json", "size": 1e999}}]'
    site.server.fail("GET", "/tree/", answer(entry.encode()), times=9)


def list_of_huge_numbers(site: Site) -> None:
    """The Hub's own list of files has a size of 5,000 digits."""
    site.publish()
    entry = f'[{{"type": "file", "path": "a", "size": {"9" * 5000}}}]'
    site.server.fail("GET", "/tree/", answer(entry.encode()), times=9)


def branches_of_huge_numbers(site: Site) -> None:
    """The repository has a branch whose version has 5,000 digits; it is nobody's business."""
    site.publish()
    site.server.repositories[REPOSITORY].branches["v" + "9" * 5000] = "0" * 40


def branches_nested(site: Site) -> None:
    """The Hub's own list of branches has 100,000 levels."""
    site.publish()
    site.server.fail("GET", "/refs", answer(b'{"branches": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"), times=9)


def branch_that_is_a_path(site: Site) -> None:
    """A commit of the Hub's is a path out of the cache."""
    site.publish()
    branches = {"branches": [{"name": "v1", "targetCommit": "../../../outside"}]}
    site.server.fail("GET", "/refs", answer(json.dumps(branches).encode()), times=9)


def branch_that_clears_the_screen(site: Site) -> None:
    """The version is not there, and those that are there are called what a terminal would obey."""
    site.server.publish(GOOD, branch="\x1b[2Jv7")


def _damaged(name: str, content: bytes) -> Callable[[Site], None]:
    def spoil(site: Site) -> None:
        site.bad = [content]
        site.publish(metadata__json=content)

    spoil.__name__ = f"metadata_{name}"
    return spoil


SPOILT: tuple[Callable[[Site], None], ...] = (
    digest_lies_manifest,
    digest_lies_template,
    digest_lies_suite,
    digest_lies_in_the_cache,
    digest_lies_in_the_cache_offline,
    digest_lies_without_a_link,
    metadata_lies_in_the_cache,
    blob_of_100_mb_in_the_cache,
    link_out_of_the_blobs,
    link_out_of_the_blobs_metadata,
    link_to_another_repository,
    link_to_itself,
    blobs_elsewhere,
    note_of_100_mb,
    listed_missing,
    unlisted_present,
    unlisted_900,
    files_of_many_bytes,
    manifest_of_100_mb,
    metadata_of_100_mb,
    size_that_lies,
    other_operator,
    other_operator_in_the_manifest,
    other_version,
    other_spec,
    other_id,
    other_templates,
    algorithm_unknown,
    algorithm_none,
    listed_outside,
    include_outside,
    include_unlisted,
    loop_of_10_9,
    strings_that_double,
    manifest_nested_10000,
    list_nested,
    list_of_infinite_sizes,
    list_of_huge_numbers,
    branches_of_huge_numbers,
    branches_nested,
    branch_that_is_a_path,
    branch_that_clears_the_screen,
    *(_damaged(name, content) for name, content in hostile_damage.damaged("metadata").items() if content),
)
"""Every attack by way of the Hub."""
