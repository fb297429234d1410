"""A folder of profiles of its own for each test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from webgpu_kernels.tuning.places import forget_profiles

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def profiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder that profiles are in."""
    folder = tmp_path / "profiles"
    monkeypatch.setenv("WEBGPU_KERNELS_TUNING", str(folder))
    forget_profiles()
    yield folder
    forget_profiles()
