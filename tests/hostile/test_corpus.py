"""Every attack of the hostile corpus ends in one clear error, within a second and 200 MB."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hostile_corpus
import pytest
from hostile_corpus import DATA, OBEYED, Hostile, corpus, expectations
from hostile_folders import TEMPLATE, write_package

if TYPE_CHECKING:
    from collections.abc import Iterator

PROBE = Path(hostile_corpus.__file__).with_name("hostile_probe.py")
MOST_SECONDS = 1.0
MOST_MEGABYTES = 200.0
MOST_CHARACTERS = 45_000
CORPUS = corpus()
EXPECTED = expectations()


class Prober:
    """Asks the probe, which works in a process of its own."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(PROBE)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, action: str, path: Path, *, warm: bool = False) -> dict[str, Any]:
        """Have a job done, and return how it ended; one that warms up is done in the probe itself."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"action": action, "path": str(path), "warm": warm}) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def close(self) -> None:
        """End the process."""
        self._process.communicate(timeout=30)


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
    found = prober.ask(attack.action, path)
    message = found["message"].replace(str(path), "").replace(str(tmp_path / "attack"), "")
    kind, _, part = EXPECTED[attack.id].partition(": ")
    assert (found["error"] or "", part in message) == (kind, True), message[:2000]
    assert found["seconds"] < MOST_SECONDS
    assert found["megabytes"] < MOST_MEGABYTES
    assert len(message) < MOST_CHARACTERS
    assert OBEYED.search(message) is None


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
