"""Every attack of the hostile corpus ends in one clear error, within a second and 200 MB."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hostile_corpus import DATA, Hostile, corpus, expectations
from hostile_folders import TEMPLATE, write_package
from hostile_prober import Prober, check

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CORPUS = corpus()
EXPECTED = {name: end for name, end in expectations().items() if not name.startswith("hub/")}


@pytest.fixture(scope="module")
def prober(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prober]:
    """The probe, everything imported and done once."""
    folder = tmp_path_factory.mktemp("good")
    prober = Prober()
    for action, path in (
        ("manifest", write_package(folder / "package")),
        ("wgsl", folder / "package" / "main.wgsl.jinja"),
    ):
        assert prober.ask(action, path, warm=True)["error"] is None
    yield prober
    prober.close()


@pytest.mark.parametrize("attack", CORPUS, ids=lambda attack: attack.id)
def test_it_ends_in_one_clear_error(attack: Hostile, prober: Prober, tmp_path: Path) -> None:
    """Or, where it only looks like an attack, as quickly and in nothing."""
    path = attack.write(tmp_path / "attack")
    check(prober.ask_again(attack.action, path), EXPECTED[attack.id], str(path), str(tmp_path / "attack"))


def test_the_corpus_is_whole() -> None:
    """Each attack has an expectation, and no expectation is left over; none stands twice."""
    ids = [attack.id for attack in CORPUS]
    assert len(set(ids)) == len(ids)
    assert set(EXPECTED) == set(ids)
    assert len(ids) > 500


def test_files_of_the_corpus_are_small() -> None:
    """What is large is made when it is needed."""
    assert [path.name for path in DATA.glob("*/*") if path.stat().st_size > 4096] == []


def test_a_good_package_is_no_attack(prober: Prober, tmp_path: Path) -> None:
    """What is spoiled here is good before."""
    found = prober.ask("package", write_package(tmp_path / "package"))
    assert (found["error"], found["message"]) == (None, "")


def test_the_hubs_own_links_are_followed(prober: Prober, tmp_path: Path) -> None:
    """Its cache keeps a repository's files as links into its blobs."""
    blobs, snapshot = tmp_path / "blobs", tmp_path / "snapshots" / ("0" * 40) / "build" / "webgpu"
    write_package(blobs)
    snapshot.mkdir(parents=True)
    for name in ("manifest.json", "main.wgsl.jinja"):
        (snapshot / name).symlink_to(blobs / name)
    found = prober.ask("package", snapshot)
    assert (found["error"], found["message"]) == (None, "")
    assert TEMPLATE in (snapshot / "main.wgsl.jinja").read_text()
