"""A call is described without its values: read from JSON and written back, asked for its variants, planned."""

from __future__ import annotations

import json

import pytest

import webgpu_kernels as wk
from webgpu_kernels import Capabilities, TensorSpec
from webgpu_kernels.contract import DTYPES
from webgpu_kernels.errors import NoVariantError, RequestError
from webgpu_kernels.tools.calls import CallDescription, call_json, parse_call

TEXT = """{"inputs": {"a": {"dtype": "float32", "shape": [8, 8]}, "b": {"dtype": "float32", "shape": [8]}},
"outputs": ["c"], "variant": "elements", "tunables": {"WORKGROUP_SIZE": 64},
"attrs": {"k": [1, "x"]}, "args": {"n": 2}}"""


def test_a_call_is_read() -> None:
    """With everything that a call can have."""
    call = parse_call(TEXT, where="here")
    assert call.inputs == {"a": TensorSpec((8, 8), "float32"), "b": TensorSpec((8,), "float32")}
    assert call.options() == {
        "attrs": {"k": [1, "x"]},
        "args": {"n": 2},
        "outputs": {"c": None},
        "variant": "elements",
        "tunables": {"WORKGROUP_SIZE": 64},
    }


def test_what_is_written_is_read_again() -> None:
    """Without what is absent."""
    call = parse_call(TEXT, where="here")
    assert parse_call(json.dumps(call_json(call)), where="there") == call
    packed = CallDescription(inputs={"x": TensorSpec((2,), "uint8", "packed")}, outputs={"y": TensorSpec((), "bool")})
    assert call_json(packed) == {
        "inputs": {"x": {"dtype": "uint8", "shape": [2], "layout": "packed"}},
        "outputs": {"y": {"dtype": "bool", "shape": []}},
    }


def test_all_defects_are_listed() -> None:
    """Each with its place and what would be right."""
    text = """{"inputs": {"a": {"dtype": "int8", "shape": [8, -8], "layout": "packed"}, "b": {"shape": 8}},
    "outputs": {"c": {"dtype": "bool"}}, "attr": 1}"""
    with pytest.raises(RequestError) as caught:
        parse_call(text, where="here")
    assert str(caught.value).splitlines() == [
        "here: the call has 6 defects",
        "  inputs.a.shape[1]: must be an integer of at least 0, not the number -8",
        "  inputs.a.layout: is for uint8 only: int8 has one layout",
        "  inputs.b.shape: must be a list of dimensions, not the number 8",
        f"  inputs.b.dtype: is missing: give one of {', '.join(DTYPES)}",
        "  outputs.c.shape: is missing: give a list of dimensions",
        "  attr: is not a key of a call: did you mean 'attrs'?",
    ]


def test_every_variant_that_can_run_a_call_is_named() -> None:
    """Or the forced one alone, if it can."""
    kernel, device = wk.get_kernel("ai.onnx.Add"), Capabilities()
    inputs = {"a": TensorSpec((8, 8), "float32"), "b": TensorSpec((8,), "float32")}
    assert CallDescription(inputs=inputs).accepted_variants(kernel, device) == ("rows_vec4", "elements")
    assert CallDescription(inputs=inputs, variant="elements").accepted_variants(kernel, device) == ("elements",)
    assert CallDescription(inputs=inputs, variant="flat_vec4").accepted_variants(kernel, device) == ()


def test_a_call_is_planned_on_any_of_them() -> None:
    """By default on the chosen one."""
    kernel, device = wk.get_kernel("ai.onnx.Add"), Capabilities()
    call = CallDescription(inputs={"a": TensorSpec((8, 8), "float32"), "b": TensorSpec((8,), "float32")})
    assert call.program(kernel, device).where == "ai.onnx.Add: variant rows_vec4"
    assert call.program(kernel, device, "elements").where == "ai.onnx.Add: variant elements"
    with pytest.raises(NoVariantError, match="variant 'flat_vec4' does not take this request"):
        call.program(kernel, device, "flat_vec4")
