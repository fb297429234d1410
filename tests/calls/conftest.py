"""SkipGroupNorm on a small request, and the device it runs on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import webgpu_kernels as wk

if TYPE_CHECKING:
    from collections.abc import Iterator

N, H, W, C = 2, 4, 4, 32


@pytest.fixture(scope="session")
def device() -> Iterator[wk.Device]:
    """One device for every test that does not break it."""
    with wk.Device() as opened:
        yield opened


@pytest.fixture
def kernel(device: wk.Device) -> wk.Kernel:
    """The bundled kernel on that device."""
    return wk.get_kernel("com.microsoft.SkipGroupNorm", device=device)


@pytest.fixture
def inputs() -> dict[str, Any]:
    """Arrays of a channels-last request, (N, H, W, C) and (C,), float32, without bias."""
    rng = np.random.default_rng(7)
    return {
        "X": rng.standard_normal((N, H, W, C), dtype=np.float32),
        "gamma": rng.standard_normal(C, dtype=np.float32),
        "beta": rng.standard_normal(C, dtype=np.float32),
        "skip": rng.standard_normal((N, H, W, C), dtype=np.float32),
    }


@pytest.fixture
def attrs() -> dict[str, Any]:
    """The attributes that have no default."""
    return {"groups": 8, "activation": 1}
