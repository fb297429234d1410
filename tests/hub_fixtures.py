"""Fixtures: a loopback Hub and an empty cache for each test; a conftest.py that imports them has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import huggingface_hub
import pytest
from huggingface_hub import constants, file_download
from loopback_hub import LoopbackHub

from webgpu_kernels.contract.hub import forget_versions
from webgpu_kernels.contract.remote import Hub

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TIMEOUT_S = 0.3


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Keep the user's tokens, caches, proxies and Hub out of it."""
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "WEBGPU_KERNELS_LOCAL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "token"))
    monkeypatch.setattr(constants, "HF_STORED_TOKENS_PATH", str(tmp_path / "stored_tokens"))
    monkeypatch.setattr(constants, "AGENT_HARNESSES_PATH", str(tmp_path / "agents.json"))
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_TELEMETRY", True)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    huggingface_hub.close_session()
    forget_versions()
    yield
    huggingface_hub.close_session()
    forget_versions()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take a server that is slow for one that does not answer, sooner than anybody would."""
    for name in ("HF_HUB_ETAG_TIMEOUT", "HF_HUB_DOWNLOAD_TIMEOUT"):
        monkeypatch.setattr(constants, name, TIMEOUT_S)
    monkeypatch.setattr(file_download, "_ETAG_RETRY_TIMEOUT", TIMEOUT_S)


@pytest.fixture
def naps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Sleep no second between tries; note for how long it would have been."""
    slept: list[float] = []
    monkeypatch.setattr("time.sleep", slept.append)
    return slept


@pytest.fixture
def server() -> Iterator[LoopbackHub]:
    with LoopbackHub() as running:
        yield running


@pytest.fixture
def hub(server: LoopbackHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hub:
    """Return the loopback Hub as the library sees it, which is also the one that ``get_kernel`` finds."""
    found = Hub(endpoint=server.endpoint, cache=tmp_path / "cache")
    template = f"{server.endpoint}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
    monkeypatch.setattr(constants, "ENDPOINT", server.endpoint)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(found.cache))
    return found
