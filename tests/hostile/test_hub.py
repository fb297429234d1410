"""Every attack by way of the Hub ends in one clear error as well, and leaves nothing bad in the cache."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hostile_corpus import expectations
from hostile_hub import GOOD, SPOILT, Site
from hostile_prober import Prober, check
from loopback_hub import LoopbackHub

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytest.importorskip("huggingface_hub", reason="the extra hub is not installed")

EXPECTED = {name: end for name, end in expectations().items() if name.startswith("hub/")}


@pytest.fixture
def server() -> Iterator[LoopbackHub]:
    """A Hub."""
    with LoopbackHub() as running:
        yield running


@pytest.fixture(scope="module")
def hub_prober(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prober]:
    """The probe, everything imported, and a good package loaded once."""
    prober = Prober()
    with LoopbackHub() as running:
        site = Site(running, tmp_path_factory.mktemp("good"), dict)
        site.publish()
        found = prober.ask("hub", site.write(), warm=True)
        assert found["error"] is None, found["message"]
    yield prober
    prober.close()


@pytest.mark.parametrize("spoil", SPOILT, ids=lambda spoil: spoil.__name__)
def test_it_ends_in_one_clear_error(
    spoil: Callable[[Site], None], server: LoopbackHub, hub_prober: Prober, tmp_path: Path
) -> None:
    """What was bad has left the cache, what lies elsewhere is there; and once all is mended, the next load is good."""
    site = Site(server, tmp_path, lambda: hub_prober.ask("hub", site.write()))
    spoil(site)
    kept = {path: path.read_bytes() for path in site.kept}
    check(site.load(), EXPECTED[f"hub/{spoil.__name__}"], server.endpoint, str(tmp_path))
    assert not [path for path in site.cache.rglob("*") if path.is_file() and path.read_bytes() in site.bad]
    assert {path: path.read_bytes() for path in site.kept} == kept
    site.mend()
    found = site.load()
    assert found["error"] is None, found["message"]
    assert all((site.snapshot / name).read_bytes() == GOOD[name] for name in GOOD if name != "test.json")


def test_the_corpus_is_whole() -> None:
    """Each attack has an expectation, and no expectation is left over."""
    assert {f"hub/{spoil.__name__}" for spoil in SPOILT} == set(EXPECTED)
