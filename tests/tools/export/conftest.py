"""Exports for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import webgpu_kernels as wk
from webgpu_kernels.tools.calls import CallDescription
from webgpu_kernels.tools.export.exporting import Export, export_call, portable_capabilities
from webgpu_kernels.tools.suites.reading import suite_of
from webgpu_kernels.tools.writing import write_files

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture(scope="session")
def norm_case() -> Export:
    """A case of SkipGroupNorm, whose tolerance is known."""
    kernel = wk.get_kernel("com.microsoft.SkipGroupNorm")
    case = next(case for case in suite_of(kernel.package).cases if "float16" not in str(case.call.inputs))
    return export_call(kernel, case.call, portable_capabilities(case.call), case=case)


@pytest.fixture(scope="session")
def split_norm() -> Export:
    """A call of SkipGroupNorm in three passes."""
    return export_norm("split_plain")


@pytest.fixture(scope="session")
def joint_norm() -> Export:
    """The same call in one pass, which also takes a board as its last run left it."""
    return export_norm("joint_plain")


def export_norm(variant: str) -> Export:
    """Export a call of SkipGroupNorm."""
    image, channels = wk.TensorSpec((1, 32, 32, 64), "float32"), wk.TensorSpec((64,), "float32")
    call = CallDescription(
        inputs={"X": image, "gamma": channels, "beta": channels, "skip": image},
        attrs={"groups": 8, "activation": 1},
        variant=variant,
    )
    kernel = wk.get_kernel("com.microsoft.SkipGroupNorm")
    return export_call(kernel, call, portable_capabilities(call))


@pytest.fixture
def written(tmp_path: Path) -> Callable[[Export], Path]:
    """Write an export and return its folder."""

    def write(made: Export) -> Path:
        write_files(tmp_path, {**made.texts, **made.data})
        return tmp_path

    return write
