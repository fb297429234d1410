"""As much of PyTorch as the peer uses, made of numpy: the real one is too large to install for a test."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pytest


class FakeTensor:
    """A numpy array that is called a tensor."""

    def __init__(self, array: Any) -> None:
        self.array = np.asarray(array)

    def to(self, place: str) -> FakeTensor:
        """Move nowhere."""
        return self

    def cpu(self) -> FakeTensor:
        """Move nowhere."""
        return self

    def numpy(self) -> Any:
        """Return the array."""
        return self.array

    def clone(self) -> FakeTensor:
        """Copy it."""
        return FakeTensor(self.array.copy())

    def __add__(self, other: FakeTensor) -> FakeTensor:
        """Add another one."""
        return FakeTensor(self.array + other.array)


class FakeEvent:
    """A moment: each lies a thousandth of a second after the one before."""

    moments = 0

    def __init__(self, *, enable_timing: bool) -> None:
        self.at = 0

    def record(self) -> None:
        """Happen now."""
        FakeEvent.moments += 1
        self.at = FakeEvent.moments

    def elapsed_time(self, end: FakeEvent) -> float:
        """Return the milliseconds to another moment."""
        return float(end.at - self.at)


def install_fake_torch(monkeypatch: pytest.MonkeyPatch, *, cuda: bool = False, compiles: bool = True) -> None:
    """Let ``import torch`` find it.

    Args:
        monkeypatch: of the test.
        cuda: whether it claims to have a GPU.
        compiles: whether its compiler works.
    """

    def compiled(call: Any, *, dynamic: bool) -> Any:
        if not compiles:
            raise RuntimeError("no compiler")
        return call

    torch: Any = ModuleType("torch")
    torch.__version__ = "0.0.fake"
    torch.from_numpy = FakeTensor
    torch.no_grad = nullcontext
    torch.compile = compiled
    torch.cuda = SimpleNamespace(
        is_available=lambda: cuda,
        get_device_name=lambda: "Fake GPU",
        Event=FakeEvent,
        _sleep=lambda cycles: None,
        synchronize=lambda: None,
    )
    monkeypatch.setitem(sys.modules, "torch", torch)
