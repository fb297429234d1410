"""Tensors and scalar arguments of the older dialect."""

from __future__ import annotations

from typing import Any

import pytest
from older_manifests import of_pass, older_defects, older_manifest, says

from webgpu_kernels.contract import read_manifest

X = {"kind": "tensor", "semantic": "input", "role": "input"}
Y = {"kind": "tensor", "semantic": "output", "role": "output"}
INDICES = {"role": "indices", "dtype": "int64"}


def test_calls_and_shapes_have_names_of_their_own() -> None:
    """A port is called by its argument, and its shape by its role."""
    manifest = read_manifest(older_manifest())
    assert [(port.name, port.semantic) for port in manifest.inputs.values()] == [("x", "input")]
    assert [(port.name, port.semantic) for port in manifest.outputs.values()] == [("y", "output")]


def test_a_port_without_an_argument_is_called_by_its_role() -> None:
    """In calls too."""
    step = {"bindings": [{"semantic": "input"}, {"semantic": "output"}]}
    manifest = read_manifest(of_pass(**step) | {"args": {}})
    assert (list(manifest.inputs), list(manifest.outputs)) == (["input"], ["output"])


def test_an_argument_may_leave_out_its_semantic_and_role() -> None:
    """It is then the port of its name, on the side that has it."""
    manifest = read_manifest(
        older_manifest(
            inputs=[{"role": "x", "dtype": "T"}],
            outputs=[{"role": "output", "dtype": "T", "shape": "shapes.x"}],
            args={"x": {"kind": "tensor"}, "y": {"kind": "tensor", "semantic": "output"}},
            variants=of_pass(bindings=[{"arg": "x"}, {"arg": "y"}])["variants"],
        )
    )
    assert (list(manifest.inputs), list(manifest.outputs)) == (["x"], ["y"])


@pytest.mark.parametrize(
    ("port", "argument", "optional"),
    [
        ({}, {}, False),
        ({"optional": True}, {}, True),
        ({}, {"required": False}, True),
        ({"optional": True}, {"required": False}, True),
        ({"optional": True}, {"required": True}, False),
    ],
)
def test_an_argument_says_whether_the_kernel_needs_it(port: Any, argument: Any, optional: bool) -> None:
    """The operator may leave open what this kernel needs."""
    manifest = older_manifest(inputs=[{"role": "input", "dtype": "T", **port}], args={"x": {**X, **argument}, "y": Y})
    assert read_manifest(manifest).inputs["x"].optional is optional


def test_an_arguments_dtype_is_how_the_tensor_is_stored() -> None:
    """With the narrowing that this needs; the port's own dtype or variable says nothing new."""
    manifest = read_manifest(
        older_manifest(
            inputs=[{"role": "input", "dtype": "T"}, INDICES, {"role": "mask", "dtype": "uint8", "layout": "packed"}],
            args={
                "x": {**X, "dtype": "T"},
                "i": {"kind": "tensor", "semantic": "indices", "dtype": "uint32", "narrowing": "checked"},
                "m": {"kind": "tensor", "semantic": "mask", "dtype": "uint8", "description": "Which."},
                "y": Y,
            },
        )
    )
    assert [(port.storage, port.narrowing, port.layout) for port in manifest.inputs.values()] == [
        (None, None, None),
        ("uint32", "checked", None),
        ("uint8", None, "packed"),
    ]


def test_scalars_stand_among_the_arguments() -> None:
    """With a role and a semantic that say nothing."""
    manifest = read_manifest(
        older_manifest(
            args={
                "x": X,
                "y": Y,
                "alpha": {"kind": "f32", "semantic": "alpha", "role": "input", "required": False},
                "mode": {"kind": "string", "oneOf": ["a", "b"]},
            }
        )
    )
    assert [(arg.name, arg.kind, arg.required, arg.one_of) for arg in manifest.args.values()] == [
        ("alpha", "f32", False, None),
        ("mode", "string", True, ("a", "b")),
    ]


@pytest.mark.parametrize(
    ("change", "defect"),
    [
        ({"inputs": [{"dtype": "T"}]}, "inputs[0].role: is missing: name the tensor"),
        ({"inputs": [{"role": 3}]}, "inputs[0].role: must be a string, not the number 3"),
        ({"inputs": [{"role": "fn"}, {"role": "input"}]}, "inputs[0].role: is a word of WGSL: choose another name"),
        ({"inputs": [{"role": "input", "roles": 1}]}, "inputs[0].roles: is not a key of a port: did you mean 'role'?"),
        ({"inputs": [{"role": "input", "dtype": "F"}]}, "inputs[0].dtype: is no type variable and no logical dtype: …"),
        (
            {"inputs": [{"role": "input", "shape": "[1]"}]},
            "inputs[0].shape: is for outputs: the call gives an input's…",
        ),
        (
            {"inputs": [{"role": "input"}, {"role": "input"}]},
            "inputs[1].role: is taken: another port has the role 'input', and expressions could not tell their shapes…",
        ),
        (
            {"outputs": [{"role": "output"}, {"role": "input"}]},
            "outputs[1].role: is taken: another port has the role 'input', and expressions could not tell their…",
        ),
        (
            {"outputs": [{"role": "output", "layout": "packed", "dtype": "uint8"}]},
            "outputs[0].layout: is for inputs: …",
        ),
        (
            {"inputs": [{"role": "input", "layout": "packed"}]},
            "inputs[0].layout: 'packed' is for uint8, this port is …",
        ),
        ({"args": {"x": {**X, "role": "in"}, "y": Y}}, 'args.x.role: must be "input" or "output", not the string "in"'),
        ({"args": {"x": {**X, "kinds": 1}, "y": Y}}, "args.x.kinds: is not a key of a tensor argument: did you mean…"),
        (
            {"args": {"x": X, "y": Y, "z": {"kind": "tensor", "semantic": "inpu"}}},
            "args.z.semantic: 'inpu' is the role of no port: did you mean 'input'?",
        ),
        (
            {"args": {"x": X, "y": Y, "z": {"kind": "tensor", "semantic": "input", "role": "output"}}},
            "args.z.semantic: 'input' is the role of no output: the roles of outputs are output",
        ),
        (
            {"args": {"x": X, "y": Y, "z": X}},
            "args.z.semantic: 'input' has an argument already, 'x': keep one of them",
        ),
        (
            {"args": {"x": X, "y": Y, "k": {"kind": "i64"}}},
            'args.k.kind: must be "u32" or "i32" or "f32" or "bool" or…',
        ),
        ({"args": {"x": X, "y": Y, "a-b": {"kind": "u32"}}}, "args.a-b: is not a name: use letters, digits and…"),
        (
            {"args": {"x": X, "y": Y, "k": {"kind": "u32", "role": "output"}}},
            "args.k.role: 'output' is for tensors: a kernel returns no scalars",
        ),
        ({"args": {"x": {**X, "dtype": "f32"}, "y": Y}}, "args.x.dtype: is no dtype: the dtypes are float16, float32…"),
        (
            {"inputs": [{"role": "input", "dtype": "float32"}], "args": {"x": {**X, "dtype": "int32"}, "y": Y}},
            "args.x.dtype: must be float32 for float32, not int32",
        ),
        (
            {"inputs": [{"role": "input", "dtype": "int64"}], "args": {"x": {**X, "dtype": "int32"}, "y": Y}},
            "args.x.narrowing: is missing: say how int64 values become int32, 'checked' or 'saturating'",
        ),
        (
            {"args": {"x": {**X, "narrowing": "checked"}, "y": Y}},
            "args.x.narrowing: is for int64 inputs with 'dtype' int32 or uint32: leave it out",
        ),
        (
            {"inputs": [{"role": "input"}, {"role": "y"}]},
            "inputs[1]: is called 'y' in calls, as another argument is: give it one of its own in 'args'",
        ),
    ],
)
def test_ports_and_arguments_are_checked(change: dict[str, Any], defect: str) -> None:
    """Each fault has its path."""
    found = older_defects(older_manifest(**change))
    assert any(says(entry, defect) for entry in found), found


def test_something_must_be_computed() -> None:
    """As in spec 2.1."""
    found = older_defects(older_manifest(outputs=[], args={"x": X}))
    assert "outputs: must not be empty: a kernel computes something" in found
