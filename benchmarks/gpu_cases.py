"""Calls of SkipGroupNorm on a GPU: their shapes, their data, and how far their results are from the reference."""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

import webgpu_kernels as wk

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

Array = np.ndarray[Any, np.dtype[Any]]


class HasArray(Protocol):
    """A tensor, of this library or another."""

    def numpy(self) -> Array:
        """Return its values."""
        ...


GROUPS = 32
COLD_BYTES = 2**28
"""What the sets of a case hold together: more than a GPU's cache, so that no run finds its data there."""
MAX_SETS = 12
DRAWN_VALUES = 2**24
CHECKED_VALUES = 2**21
"""Larger results are checked in two groups, the first and the last."""


class Case(NamedTuple):
    """One call: X is (N, H, W, C), channels first (N, C, H, W)."""

    n: int
    h: int
    w: int
    c: int
    dtype: str
    channels_last: int = 1
    bias: bool = True
    keeps_sum: bool = True

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """X's shape in its layout."""
        return (self.n, self.h, self.w, self.c) if self.channels_last else (self.n, self.c, self.h, self.w)

    @property
    def bytes(self) -> int:
        """Bytes of one tensor."""
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize

    @property
    def moved_bytes(self) -> int:
        """X and skip read once, Y and S written once."""
        return self.bytes * (4 if self.keeps_sum else 3)

    @property
    def sets(self) -> int:
        """How many sets of its tensors leave no data in a cache."""
        return max(1, min(MAX_SETS, -(-COLD_BYTES // self.moved_bytes)))

    @property
    def attrs(self) -> dict[str, Any]:
        """The call's attributes."""
        return {"groups": GROUPS, "activation": 1, "channels_last": self.channels_last}

    @property
    def outputs(self) -> list[str]:
        """The outputs asked for."""
        return ["Y", "S"] if self.keeps_sum else ["Y"]

    @property
    def specs(self) -> dict[str, wk.TensorSpec]:
        """What the call's inputs look like."""
        channels = wk.TensorSpec((self.c,), "float32")
        x = wk.TensorSpec(self.shape, self.dtype)
        inputs = {"X": x, "gamma": channels, "beta": channels, "skip": x}
        return inputs | ({"bias": wk.TensorSpec((self.c,), self.dtype)} if self.bias else {})

    def __str__(self) -> str:
        """Return the shape in words."""
        layout = "NHWC" if self.channels_last else "NCHW"
        return f"{','.join(map(str, self.shape))} {layout} {'f16' if self.dtype == 'float16' else 'f32'}"


SHAPES = (
    (2, 64, 64, 320, 1),
    (2, 32, 32, 640, 1),
    (2, 16, 16, 1280, 1),
    (2, 128, 128, 320, 1),
    (1, 512, 512, 128, 1),
    (1, 1024, 1024, 128, 1),
    (1, 512, 512, 128, 0),
    (2, 64, 64, 320, 0),
)
"""The rows of the prototype's two tables."""

DIFFUSION = (
    *((2, 64, 64, c) for c in (640, 960)),
    *((2, 32, 32, c) for c in (320, 960, 1280, 1920)),
    *((2, 16, 16, c) for c in (640, 1920, 2560)),
    *((2, 8, 8, c) for c in (1280, 2560)),
    (1, 64, 64, 512),
    (1, 128, 128, 512),
    (1, 256, 256, 512),
    (1, 256, 256, 256),
    (1, 512, 512, 256),
    (2, 128, 128, 640),
    (2, 64, 64, 1280),
    (8, 64, 64, 320),
    (1, 64, 64, 320),
)
"""Residual blocks of Stable Diffusion 1.5, XL and the decoder of their autoencoder."""


def rows(*, bias: bool = True, keeps_sum: bool = True) -> list[Case]:
    """Return the 16 rows."""
    return [
        Case(n, h, w, c, dtype, layout, bias, keeps_sum)
        for n, h, w, c, layout in SHAPES
        for dtype in ("float16", "float32")
    ]


def further() -> list[Case]:
    """Return 40 further shapes with bias and S, each layout in either dtype."""
    return [
        Case(*shape, dtype, layout)
        for index, shape in enumerate(DIFFUSION)
        for dtype, layout in (("float16", index % 2), ("float32", 1 - index % 2))
    ]


def draw(case: Case) -> dict[str, Array]:
    """Draw a case's inputs; large ones repeat themselves, since drawing takes longer than all else.

    Where X is float16, gamma and beta are such numbers, too: PyTorch has no other.
    """
    source = np.random.default_rng(0)
    inputs = {}
    for name, spec in case.specs.items():
        size = math.prod(spec.shape)
        drawn = source.standard_normal(min(size, DRAWN_VALUES), np.float32) + (name == "gamma")
        inputs[name] = np.resize(drawn.astype(case.dtype).astype(spec.dtype), size).reshape(spec.shape)
    return inputs


class Tensors(NamedTuple):
    """Sets of inputs and outputs on a device, which runs take in turns."""

    inputs: list[dict[str, wk.Tensor]]
    outputs: list[dict[str, wk.Tensor]]

    def poison(self, case: Case, device: wk.Device) -> None:
        """Put NaN into the first outputs, so that what is not written shows."""
        for name in case.outputs:
            self.outputs[0].pop(name).destroy()
            self.outputs[0][name] = device.tensor(np.full(case.shape, np.nan, case.dtype))

    def destroy(self) -> None:
        """Give the memory back now."""
        for tensors in (*self.inputs, *self.outputs):
            for tensor in tensors.values():
                tensor.destroy()


def upload(case: Case, arrays: Mapping[str, Array], device: wk.Device) -> Tensors:
    """Put a case's inputs on a device as often as it takes to leave no data in a cache."""
    return Tensors(
        [{name: device.tensor(array) for name, array in arrays.items()} for _ in range(case.sets)],
        [{name: device.zeros(case.shape, case.dtype) for name in case.outputs} for _ in range(case.sets)],
    )


class Expected(NamedTuple):
    """What a case's results should be, and how far off they may be."""

    wanted: dict[str, Array]
    allowed: dict[str, Array]


def expected(case: Case, arrays: Mapping[str, Array], reference: ModuleType) -> Expected:
    """Return what the float64 reference gives, for a large case in its first and its last group."""
    inputs = {name: _checked(case, array) for name, array in arrays.items()}
    c = inputs["gamma"].size
    groups = c * GROUPS // case.c
    wanted = reference.reference(inputs, case.attrs | {"groups": groups})
    s = wanted["S"]
    ulp = np.spacing(np.abs(s).astype(case.dtype)).astype(np.float64)
    split = (case.n, case.h, case.w, groups, c // groups)
    if not case.channels_last:
        split = (case.n, groups, c // groups, case.h, case.w)
    axes = (1, 2, 4) if case.channels_last else (2, 3, 4)
    scale = 1 / np.sqrt(s.reshape(split).var(axis=axes, keepdims=True) + 1e-5)
    gamma = np.abs(inputs["gamma"].astype(np.float64))
    scaled = np.broadcast_to(scale, split).reshape(s.shape) * (gamma if case.channels_last else gamma[:, None, None])
    base, relative = (3e-5, 1e-5) if case.dtype == "float32" else (1e-4, 2.0**-9)
    return Expected(wanted, {"Y": base + relative * np.abs(wanted["Y"]) + 2 * ulp * scaled, "S": ulp})


def error(case: Case, sought: Expected, results: Mapping[str, HasArray]) -> float:
    """Return by how many times what is allowed results are off: at most 1 is right, as the operator's tests have it."""
    worst = 0.0
    for name in case.outputs:
        found = _checked(case, results[name].numpy()).astype(np.float64)
        ratio = np.abs(found - sought.wanted[name]) / sought.allowed[name]
        worst = max(worst, float(np.nan_to_num(ratio, nan=np.inf).max()))
    return worst


def _checked(case: Case, array: Array) -> Array:
    """Return the part of a tensor that is checked."""
    size = case.c // GROUPS
    if math.prod(case.shape) <= CHECKED_VALUES:
        return array
    channels = np.r_[0:size, case.c - size : case.c]
    if array.ndim == 1:
        return array[channels]
    return np.ascontiguousarray(array[..., channels] if case.channels_last else array[:, channels])


def load_reference() -> ModuleType:
    """Import the package's ``reference.py``: its folder's name is no Python name."""
    path = Path(wk.__file__).parent / "kernels" / "com.microsoft.SkipGroupNorm" / "reference.py"
    spec = importlib.util.spec_from_file_location("skip_group_norm_reference", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
