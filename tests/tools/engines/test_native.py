"""The engine of this process: arrays in, arrays out, poison where nobody wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from doubling_package import RIGHT, doubling_kernel, doubling_manifest
from hand_made_programs import Programs
from table_package import write_table_package

import webgpu_kernels as wk
from webgpu_kernels import TensorSpec
from webgpu_kernels.errors import DeviceClosed, NoAdapterError, RequestError, ValueRangeError
from webgpu_kernels.tools.calls import CallDescription
from webgpu_kernels.tools.engines import Engine, open_engine
from webgpu_kernels.tools.engines.words import POISON, decode_output, encode_input, poisoned_words

if TYPE_CHECKING:
    from pathlib import Path

    from webgpu_kernels.planning.program import TensorUse

pytestmark = pytest.mark.device


def use_of(dtype: str, size: int) -> TensorUse:
    """Return a planned output of a copy."""
    kernel = wk.get_kernel("ai.onnx.Identity")
    call = CallDescription(inputs={"x": TensorSpec((size,), dtype)})
    return call.program(kernel, wk.Capabilities()).outputs[0]


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "uint32", "int16", "int8", "uint8", "bool"])
def test_words_are_the_arrays_again(dtype: str) -> None:
    """Whatever the dtype, also where elements do not fill the last word."""
    use = use_of(dtype, 5)
    array = np.array([0, 1, 1, 0, 1]).astype(dtype)
    words = encode_input(use, array, where="here")
    assert (words.dtype.name, words.nbytes) == ("uint32", use.size_bytes)
    decoded = decode_output(use, words)
    assert decoded.elements.dtype == array.dtype
    assert decoded.elements.tolist() == array.tolist()
    assert decoded.unwritten.tolist() == []


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "uint32", "int16", "int8", "uint8", "bool"])
def test_poison_is_found_element_by_element(dtype: str) -> None:
    """Where a word holds one element, and where it holds two."""
    use = use_of(dtype, 5)
    words = encode_input(use, np.ones(5, dtype), where="here")
    size = words.nbytes // 5 if dtype != "float16" else 2
    words.view(np.uint8)[3 * size : 4 * size] = poisoned_words(4).view(np.uint8)[:size]
    assert decode_output(use, words).unwritten.tolist() == [3]


def test_poison_is_no_number() -> None:
    """As float32, and as two float16."""
    word = np.array([POISON], np.uint32)
    assert np.isnan(word.view(np.float32)).all()
    assert np.isnan(word.view(np.float16)).all()


def test_a_program_runs(engine: Engine, tmp_path: Path) -> None:
    """Once; times are given where they are asked for and can be had."""
    kernel = doubling_kernel(tmp_path / "p", {"plain": RIGHT})
    program = CallDescription(inputs={"x": TensorSpec((3,), "float32")}).program(kernel, engine.capabilities)
    inputs = {"x": np.array([1, 2, 3], np.float32)}
    outcome = engine.run(program, inputs)
    assert outcome.outputs["y"].tolist() == [2.0, 4.0, 6.0]
    assert (outcome.times_ns, dict(outcome.unwritten)) == ((), {})
    times = engine.run(program, inputs, repeat=3).times_ns
    assert len(times) == (3 if "timestamp-query" in engine.capabilities.features else 0)


def test_what_nobody_writes_is_told(engine: Engine, tmp_path: Path) -> None:
    """By its place."""
    kernel = doubling_kernel(tmp_path / "p", {"plain": "if (i == 1u) { y[i] = x[i]; }"})
    program = CallDescription(inputs={"x": TensorSpec((3,), "float32")}).program(kernel, engine.capabilities)
    outcome = engine.run(program, {"x": np.zeros(3, np.float32)})
    assert outcome.unwritten["y"].tolist() == [0, 2]


def test_a_tensor_updated_in_place_is_not_poisoned(engine: Engine, tmp_path: Path) -> None:
    """It is an input, too."""
    (variant,) = doubling_manifest(("plain",))["variants"]
    variant["passes"][0]["bindings"] = ["y", "params"]
    changes = {
        "inputs": {"y": {"dtype": "T"}},
        "outputs": {"y": {"dtype": "T", "shape": "shapes.y"}},
        "bindings": {"params": {"struct": [{"name": "count", "type": "u32", "value": "numel(shapes.y)"}]}},
        "variants": [variant],
    }
    variant["passes"][0]["dispatch"]["threads"] = "numel(shapes.y)"
    kernel = doubling_kernel(tmp_path / "p", {"plain": "if (i > 0u) { y[i] = y[i] + y[i]; }"}, manifest=changes)
    program = CallDescription(inputs={"y": TensorSpec((3,), "float32")}).program(kernel, engine.capabilities)
    outcome = engine.run(program, {"y": np.array([1, 2, 3], np.float32)})
    assert outcome.outputs["y"].tolist() == [1.0, 4.0, 6.0]
    assert dict(outcome.unwritten) == {}


def test_what_a_program_keeps_is_not_poisoned(engine: Engine) -> None:
    """It begins with zeros in every run of an engine; timed runs go on from there."""
    program, inputs = Programs().counting(), {"x": np.zeros(1, np.float32)}
    for repeat in (0, 2, 0):
        outcome = engine.run(program, inputs, repeat=repeat)
        assert outcome.outputs["y"].tolist() == [0, 0]
        assert dict(outcome.unwritten) == {}


def test_packed_inputs_and_projected_integers_are_stored_as_the_contract_says(engine: Engine, tmp_path: Path) -> None:
    """Four bytes a word, an int64 as an int32; and a value out of range is refused as a call refuses it."""
    kernel = wk.load_kernel(write_table_package(tmp_path))
    inputs = {"table": TensorSpec((3, 5), "uint8", "packed"), "rows": TensorSpec((2,), "int64")}
    program = CallDescription(inputs=inputs).program(kernel, engine.capabilities)
    table = np.arange(15, dtype=np.uint8).reshape(3, 5)
    outcome = engine.run(program, {"table": table, "rows": np.array([2, -3])})
    assert outcome.outputs["y"].tolist() == [[10, 11, 12, 13, 14], [0, 1, 2, 3, 4]]
    with pytest.raises(ValueRangeError, match="value out of range"):
        engine.run(program, {"table": table, "rows": np.array([0, 3])})


def test_the_device_is_described() -> None:
    """In plain words; and it is closed with the engine."""
    engine = open_engine("native", 0)
    census = engine.census
    assert (census.engine, census.backend) == ("native", wk.adapters()[0].backend)
    assert census.kind in {"discrete", "integrated", "virtual", "cpu", "unknown"}
    assert census.software is (census.kind == "cpu")
    assert census.version.startswith("wgpu 0.")
    engine.close()
    engine.close()
    kernel = wk.get_kernel("ai.onnx.Identity")
    program = CallDescription(inputs={"x": TensorSpec((3,), "float32")}).program(kernel, engine.capabilities)
    with pytest.raises(DeviceClosed):
        engine.run(program, {"x": np.zeros(3, np.float32)})


def test_an_engine_or_adapter_that_is_not_there_is_one_clear_error() -> None:
    """With what there is."""
    with pytest.raises(RequestError, match=r"no such engine: expected one of native, chromium, got 'natve'\. Did you"):
        open_engine("natve")
    with pytest.raises(NoAdapterError, match="no such adapter"):
        open_engine("native", "voodoo")


def test_the_environment_names_the_adapter(monkeypatch: pytest.MonkeyPatch) -> None:
    """As for the default device."""
    monkeypatch.setenv("WEBGPU_KERNELS_ADAPTER", "voodoo")
    with pytest.raises(NoAdapterError, match="no such adapter"):
        open_engine()
