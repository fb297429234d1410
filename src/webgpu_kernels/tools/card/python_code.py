"""The example in Python: a program that runs as it stands."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from webgpu_kernels.contract import NIBBLE_DTYPES
from webgpu_kernels.tools.card.example import MAX_LISTED
from webgpu_kernels.tools.suites.data_reading import INTEGER_RANGES
from webgpu_kernels.tools.suites.model import Fill, Random, Range, Values

if TYPE_CHECKING:
    from webgpu_kernels.contract import Manifest
    from webgpu_kernels.planning.spec import TensorSpec
    from webgpu_kernels.tools.card.example import Example
    from webgpu_kernels.tools.suites.model import Data

_WIDTH: Final = 100


def python_code(manifest: Manifest, loading: str, example: Example | None) -> str:
    """Write the example.

    Args:
        manifest: the contract.
        loading: the expression that loads the kernel.
        example: the call, or None to stop at loading.

    Returns:
        A program.
    """
    if example is None:
        return f"import webgpu_kernels as wk\n\nkernel = {loading}"
    call = example.call
    arrays = {name: _array(spec, example.data.get(name)) for name, spec in call.inputs.items()}
    wanted = _wanted(manifest, call.outputs)
    options = [f"{key}={_literal(values)}" for key, values in (("attrs", call.attrs), ("args", call.args)) if values]
    lines = [*_imports(arrays, wanted), "", f"kernel = {loading}"]
    if any("draw." in array for array in arrays.values()):
        lines.append("draw = np.random.default_rng(0)")
    if arrays:
        lines += ["inputs = {", *(f"    {json.dumps(name)}: {array}," for name, array in arrays.items()), "}"]
    passed = ["inputs"] if arrays else []
    lines += [_call([*passed, *options, *wanted])]
    for name, spec in example.results.items():
        got = f"out[{json.dumps(name)}]"
        lines.append(f"print({got}.shape, {got}.dtype)  # {spec.shape} {spec.dtype}")
    return "\n".join(lines)


def needs_nibbles(example: Example | None) -> bool:
    """Tell whether the example needs ml_dtypes, which numpy's int4 and uint4 come from."""
    return example is not None and any(spec.dtype in NIBBLE_DTYPES for spec in example.call.inputs.values())


def _imports(arrays: Mapping[str, str], wanted: list[str]) -> list[str]:
    texts = [*arrays.values(), *wanted]
    names = [f"import {name}" for name in ("ml_dtypes",) if any(f"{name}." in text for text in texts)]
    numpy = ["import numpy as np"] if any("np." in text for text in texts) or arrays else []
    return [*names, *numpy, "import webgpu_kernels as wk"]


def _call(arguments: list[str]) -> str:
    line = f"out = kernel({', '.join(arguments)})"
    if len(line) <= _WIDTH:
        return line
    return "\n".join(["out = kernel(", *(f"    {argument}," for argument in arguments), ")"])


def _literal(value: object) -> str:
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{json.dumps(name)}: {_literal(member)}' for name, member in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_literal, value))}]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def _wanted(manifest: Manifest, outputs: Mapping[str, TensorSpec | None]) -> list[str]:
    """Return the argument that names what is not computed of itself."""
    told = {name: spec for name, spec in outputs.items() if spec is not None or manifest.outputs[name].optional}
    if not told:
        return []
    if not any(told.values()):
        return [f"outputs={json.dumps(list(told))}"]
    members = (f"{json.dumps(name)}: {_spec(spec)}" for name, spec in told.items())
    return [f"outputs={{{', '.join(members)}}}"]


def _spec(spec: TensorSpec | None) -> str:
    return "None" if spec is None else f'wk.TensorSpec({spec.shape}, "{spec.dtype}")'


def _array(spec: TensorSpec, data: Data | None) -> str:
    dtype, size = _dtype(spec.dtype), math.prod(spec.shape)
    if isinstance(data, Values) and size <= MAX_LISTED:
        return f"np.array({list(data.values)}, {dtype}).reshape({spec.shape})"
    if isinstance(data, Fill):
        return f"np.full({spec.shape}, {data.value!r}, {dtype})"
    if isinstance(data, Range):
        index = f"np.arange({size})" if data.modulo is None else f"(np.arange({size}) % {data.modulo})"
        scaled = index if data.step == 1 else f"{data.step} * {index}"
        moved = scaled if data.start == 0 else f"{data.start} + {scaled}"
        return f"({moved}).astype({dtype}).reshape({spec.shape})"
    return _drawn(spec, data if isinstance(data, Random) else None)


def _drawn(spec: TensorSpec, data: Random | None) -> str:
    dtype, shape = _dtype(spec.dtype), spec.shape
    if spec.dtype == "bool":
        return f"draw.integers(0, 2, {shape}).astype(bool)"
    whole = spec.dtype in INTEGER_RANGES
    if whole and data is None:
        # Nothing says which numbers make sense; an index of 0 always does.
        return f"np.zeros({shape}, {dtype})"
    data = data or Random(seed=0)
    if whole or data.distribution == "integers":
        return _integers(spec, data)
    if data.distribution == "uniform":
        bounds = f"{_or(data.low, -1)}, {_or(data.high, 1)}"
        return f"draw.uniform({bounds}, {shape}).astype({dtype})"
    if (data.mean, data.std) == (0, 1):
        drawn = f"draw.standard_normal({shape}, np.float32)"
        return drawn if spec.dtype == "float32" else f"{drawn}.astype({dtype})"
    return f"draw.normal({data.mean:g}, {data.std:g}, {shape}).astype({dtype})"


def _integers(spec: TensorSpec, data: Random) -> str:
    least, most = INTEGER_RANGES.get(spec.dtype, (-(2**53), 2**53))
    bounds = f"{_or(data.low, least)}, {_or(data.high, most)}, {spec.shape}"
    if spec.dtype in NIBBLE_DTYPES or spec.dtype.startswith("float"):
        return f"draw.integers({bounds}, endpoint=True).astype({_dtype(spec.dtype)})"
    return f"draw.integers({bounds}, {_dtype(spec.dtype)}, endpoint=True)"


def _or(value: float | None, default: int) -> Any:
    return default if value is None else value


def _dtype(dtype: str) -> str:
    if dtype == "bool":
        return "bool"
    return f"ml_dtypes.{dtype}" if dtype in NIBBLE_DTYPES else f"np.{dtype}"
