"""One headless Chromium for all tests of a worker, and programs to run in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from chromium_here import open_or_skip
from hand_made_programs import Programs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from webgpu_kernels.tools.engines.chromium import ChromiumEngine


@pytest.fixture(scope="session")
def browser_engine() -> Iterator[ChromiumEngine]:
    """Chromium with SwiftShader."""
    engine = open_or_skip()
    yield engine
    engine.close()


@pytest.fixture
def make() -> Programs:
    """The maker of small programs."""
    return Programs()
