"""Calls of SkipGroupNorm, drawn reproducibly, and what their results may differ from the float64 reference."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from webgpu_kernels import TensorSpec

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

    from webgpu_kernels import Kernel

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "webgpu_kernels" / "kernels" / "com.microsoft.SkipGroupNorm"
SHARED = ROOT.parent / "shared"
PUBLISHED = SHARED / "seeds" / "com.microsoft.SkipGroupNorm" / "manifest.json"

Array = np.ndarray[Any, np.dtype[Any]]
Float = Literal["float32", "float16"]
Skip = Literal["exact", "(N, C)", "(N, 1, 1, C)"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One call: sizes, layout, dtypes, and which options are taken."""

    n: int = 2
    h: int = 6
    w: int = 4
    c: int = 32
    groups: int = 4
    channels_last: int = 1
    t: Float = "float32"
    m: Float = "float32"
    skip: Skip = "exact"
    bias: bool = True
    keeps_sum: bool = True
    activation: int = 1

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """X's shape in its layout."""
        return (self.n, self.h, self.w, self.c) if self.channels_last else (self.n, self.c, self.h, self.w)

    @property
    def attrs(self) -> dict[str, Any]:
        """The call's attributes."""
        return {"groups": self.groups, "activation": self.activation, "channels_last": self.channels_last}

    @property
    def outputs(self) -> list[str]:
        """The outputs asked for."""
        return ["Y", "S"] if self.keeps_sum else ["Y"]

    @property
    def variants(self) -> tuple[str, str]:
        """The two published variants for what the call has and wants."""
        return self.variant("split"), self.variant("fused")

    @property
    def described(self) -> dict[str, TensorSpec]:
        """Its inputs' shapes and dtypes."""
        return {name: TensorSpec(array.shape, str(array.dtype)) for name, array in self.inputs().items()}

    def variant(self, way: str) -> str:
        """Return the variant of this way for what the call has and wants."""
        return f"{way}{'_bias' if self.bias else ''}{'_sum' if self.keeps_sum else '_plain'}"

    def inputs(self, x: Array | None = None) -> dict[str, Array]:
        """Draw the inputs, the same each time; ``x`` replaces X and makes skip and bias small beside it."""
        draw = np.random.default_rng([self.n, self.h, self.w, self.c])
        spread = 1.0 if x is None else 0.01
        skip_shape = {"exact": self.shape, "(N, C)": (self.n, self.c), "(N, 1, 1, C)": (self.n, 1, 1, self.c)}[
            self.skip
        ]
        inputs = {
            "X": (draw.standard_normal(self.shape) if x is None else x).astype(self.t),
            "gamma": (1 + 0.3 * draw.standard_normal(self.c)).astype(self.m),
            "beta": (0.3 * draw.standard_normal(self.c)).astype(self.m),
            "skip": (spread * draw.standard_normal(skip_shape)).astype(self.t),
        }
        if self.bias:
            inputs["bias"] = (spread * draw.standard_normal(self.c)).astype(self.t)
        return inputs


@cache
def reference_module() -> ModuleType:
    """Import the package's ``reference.py``: its folder's name is no Python name."""
    spec = importlib.util.spec_from_file_location("skip_group_norm_reference", PACKAGE / "reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def expected(case: Case, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """Return the reference's Y and S."""
    results: dict[str, Array] = reference_module().reference(inputs, case.attrs)
    return results


def tolerances(case: Case, inputs: Mapping[str, Array], s: Array, y: Array, *, single_mean: bool) -> dict[str, Array]:
    """Return what each element may differ.

    Y: 3e-5 + 1e-5 |y| in float32, 1e-4 + |y| / 512 in float16, and with a bias two units in the last place of S as they
    reach Y.
    S: nothing, with a bias one unit in the last place. A manifest that keeps a mean as one float32 loses some of it.
    """
    axes = (1, 2, 4) if case.channels_last else (2, 3, 4)
    n, c, per_group = case.n, case.groups, case.c // case.groups
    split = (n, case.h, case.w, c, per_group) if case.channels_last else (n, c, per_group, case.h, case.w)
    grouped = s.reshape(split)
    deviation = np.sqrt(grouped.var(axis=axes, keepdims=True) + 1e-5)
    gamma = np.abs(inputs["gamma"].astype(np.float64))
    scale = np.broadcast_to(1 / deviation, split).reshape(s.shape)
    scale = scale * (gamma if case.channels_last else gamma[:, None, None])
    mean = np.broadcast_to(np.abs(grouped.mean(axis=axes, keepdims=True)), split).reshape(s.shape)
    ulp = np.spacing(np.abs(s).astype(case.t)).astype(np.float64) if case.bias else np.zeros_like(s)
    base, relative = (3e-5, 1e-5) if case.t == "float32" else (1e-4, 2.0**-9)
    allowed = base + relative * np.abs(y) + 2 * ulp * scale
    if single_mean:
        allowed += 2.0**-22 * mean * scale
    return {"Y": allowed, "S": ulp}


def accepted(kernel: Kernel, case: Case, **options: Any) -> tuple[str, ...]:
    """Return the variants that take a call: the published two, and those that share a group where they can."""
    explanation = kernel.explain(case.described, attrs=case.attrs, outputs=case.outputs, **options)
    return tuple(candidate.id for candidate in explanation.candidates if candidate.accepted)


def check(
    kernel: Kernel,
    case: Case,
    variant: str | None = None,
    *,
    x: Array | None = None,
    single_mean: bool = False,
    **options: Any,
) -> None:
    """Run a call and compare each output, element by element, with the reference."""
    inputs = case.inputs(x)
    results = kernel(inputs, attrs=case.attrs, outputs=case.outputs, variant=variant, **options)
    wanted = expected(case, inputs)
    allowed = tolerances(case, inputs, wanted["S"], wanted["Y"], single_mean=single_mean)
    for name in case.outputs:
        error = np.abs(results[name].astype(np.float64) - wanted[name])
        ratio = float(
            np.max(np.divide(error, allowed[name], out=np.where(error > 0, np.inf, 0.0), where=allowed[name] > 0))
        )
        assert ratio <= 1, f"{variant} {case}: {name} is off by {ratio:.3g} times what it may be"
