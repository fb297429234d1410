"""Kernels on the default device: each package as it is bundled, and templates beside a published manifest."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from skip_group_norm_cases import PACKAGE, PUBLISHED

import webgpu_kernels as wk

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def skip_group_norm() -> wk.Kernel:
    """The bundled package."""
    return wk.get_kernel("com.microsoft.SkipGroupNorm")


@pytest.fixture(scope="session")
def gather() -> wk.Kernel:
    """The bundled GatherBlockQuantized."""
    return wk.get_kernel("com.microsoft.GatherBlockQuantized")


@pytest.fixture(scope="session")
def published_skip_group_norm(tmp_path_factory: pytest.TempPathFactory) -> wk.Kernel:
    """The published manifest, unmodified, beside the bundled templates."""
    if not PUBLISHED.is_file():
        pytest.skip("the published manifest is not on this machine")
    folder: Path = tmp_path_factory.mktemp("published")
    for template in (PACKAGE / "build" / "webgpu").glob("*.wgsl.jinja"):
        shutil.copy(template, folder)
    shutil.copy(PUBLISHED, folder / "manifest.json")
    return wk.load_kernel(folder)
