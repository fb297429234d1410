"""The adapter of this machine, opened once for the tests of a module."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from webgpu_kernels.tools.engines.native import open_native

if TYPE_CHECKING:
    from collections.abc import Iterator

    from webgpu_kernels.tools.engines.native import NativeEngine


@pytest.fixture(scope="module")
def engine() -> Iterator[NativeEngine]:
    """The adapter of this machine."""
    opened = open_native()
    yield opened
    opened.close()
