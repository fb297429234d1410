"""Type constraints, tensors and scalar arguments."""

from __future__ import annotations

from typing import Any

import pytest
from manifest_defects import defects
from sample_manifests import scale_manifest

from webgpu_kernels.contract import possible_dtypes, read_manifest

IDENTIFIER = "use letters, digits and underscores, no digit first and no two underscores first"


def with_input(**port: Any) -> dict[str, Any]:
    return scale_manifest(inputs={"x": {"dtype": "T"}, "i": port})


@pytest.mark.parametrize(
    ("constraints", "defect"),
    [
        ({"T": []}, "typeConstraints.T: must not be empty: give logical dtypes"),
        ({"T": "float32"}, 'typeConstraints.T: must be a list of logical dtypes, not the string "float32"'),
        (
            {"T": ["f32"]},
            (
                "typeConstraints.T[0]: is not a logical dtype: the logical dtypes are float16, float32, int8, int16, "
                "int32, int64, uint8, uint32, bool"
            ),
        ),
        ({"T": ["float23"]}, "typeConstraints.T[0]: is not a logical dtype: did you mean 'float32'?"),
        ({"T": [1]}, "typeConstraints.T[0]: must be a string, not the number 1"),
        ({"T": ["float32"], "1": ["bool"]}, f'typeConstraints["1"]: is not a name: {IDENTIFIER}'),
        (
            {"T": ["float32"], "shapes": ["bool"]},
            "typeConstraints.shapes: is a name that expressions reserve: choose another for the type variable",
        ),
        (
            {"T": ["float32"], "bool": ["bool"]},
            "typeConstraints.bool: is the name of a dtype: choose another for the type variable",
        ),
        (
            {},
            (
                "inputs.x.dtype: is no type variable and no logical dtype: the type variables and logical dtypes are "
                "float16, float32, "
                "int8, int16, int32, int64, uint8, uint32, bool"
            ),
        ),
    ],
)
def test_type_constraints(constraints: Any, defect: str) -> None:
    """Variable to a non-empty list of logical dtypes."""
    assert defects(scale_manifest(typeConstraints=constraints))[0] == defect


def test_a_dtype_listed_twice_counts_once() -> None:
    """Order is kept."""
    manifest = read_manifest(scale_manifest(typeConstraints={"T": ["int32", "bool", "int32"]}))
    assert manifest.type_constraints == {"T": ("int32", "bool")}


@pytest.mark.parametrize(
    ("port", "defect"),
    [
        (
            3,
            (
                "inputs.i: must be an object with the keys description, onnx, dtype, rank, optional, layout, shape, "
                "storage, narrowing, not the number 3"
            ),
        ),
        ({"dtype": "float"}, "inputs.i.dtype: is no type variable and no logical dtype: did you mean 'float32'?"),
        ({"dtype": 1}, "inputs.i.dtype: must be a string, not the number 1"),
        ({"description": 1}, "inputs.i.description: must be a string, not the number 1"),
        ({"onnx": []}, "inputs.i.onnx: must be a string, not a list of 0"),
        ({"rank": -1}, "inputs.i.rank: must be an expression or an integer of at least 0, not the number -1"),
        ({"rank": True}, "inputs.i.rank: must be an expression or an integer of at least 0, not true"),
        ({"rank": "rank.x"}, "inputs.i.rank: uses the unknown name 'rank': did you mean 'ranks'?"),
        ({"optional": 1}, "inputs.i.optional: must be true or false, not the number 1"),
        ({"dtype": "uint8", "layout": "dense"}, 'inputs.i.layout: must be "packed", not the string "dense"'),
        ({"dtype": "int8", "layout": "packed"}, "inputs.i.layout: 'packed' is for uint8, this port is int8"),
        (
            {"dtype": "T", "layout": "packed"},
            "inputs.i.layout: 'packed' is for uint8, this port is float32 or float16 or int32",
        ),
        (
            {"shape": "shapes.x"},
            "inputs.i.shape: is for outputs: the call gives an input's shape, check it in 'derive' or 'when'",
        ),
        ({"dtype": "float32", "storage": "float16"}, "inputs.i.storage: must be float32 for float32, not float16"),
        (
            {"dtype": "int64", "storage": "uint8"},
            "inputs.i.storage: must be int64 or int32 or uint32 for int64, not uint8",
        ),
        (
            {"dtype": "int64", "storage": "int33", "narrowing": "checked"},
            (
                'inputs.i.storage: must be "float16" or "float32" or "int8" or "int16" or '
                '"int32" or "int64" or "uint8" or "uint32" or "bool", not the string "int33"'
            ),
        ),
        (
            {"dtype": "int64", "storage": "int32"},
            "inputs.i.narrowing: is missing: say how int64 values become int32, 'checked' or 'saturating'",
        ),
        (
            {"dtype": "int64", "storage": "int32", "narrowing": "wrap"},
            'inputs.i.narrowing: must be "checked" or "saturating", not the string "wrap"',
        ),
        (
            {"dtype": "int64", "narrowing": "checked"},
            "inputs.i.narrowing: is for int64 inputs with 'storage' int32 or uint32: leave it out",
        ),
        (
            {"dtype": "int32", "narrowing": "checked"},
            "inputs.i.narrowing: is for int64 inputs with 'storage' int32 or uint32: leave it out",
        ),
    ],
)
def test_a_port_is_checked(port: Any, defect: str) -> None:
    """Each key by its own rule."""
    assert defects(scale_manifest(inputs={"x": {"dtype": "T"}, "i": port}))[0] == defect


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("1x", f"is not a WGSL identifier: {IDENTIFIER}"),
        ("__x", f"is not a WGSL identifier: {IDENTIFIER}"),
        ("_", f"is not a WGSL identifier: {IDENTIFIER}"),
        ("x-y", f"is not a WGSL identifier: {IDENTIFIER}"),
        ("", f"is not a WGSL identifier: {IDENTIFIER}"),
        ("let", "is a word of WGSL: choose another name"),
        ("target", "is a word of WGSL: choose another name"),
    ],
)
def test_a_tensor_is_named_by_a_wgsl_identifier(name: str, fault: str) -> None:
    """Keywords and reserved words are none."""
    (defect,) = defects(scale_manifest(inputs={"x": {"dtype": "T"}, name: {"dtype": "T"}}))
    assert defect.endswith(f": {fault}")


@pytest.mark.parametrize("name", ["x1", "_x", "X", "größe"])
def test_other_identifiers_may_name_a_tensor(name: str) -> None:
    """WGSL's identifiers are Unicode's."""
    assert name in read_manifest(scale_manifest(inputs={"x": {"dtype": "T"}, name: {"dtype": "T"}})).inputs


def test_a_port_is_read_whole() -> None:
    """Every key."""
    port = read_manifest(
        with_input(
            dtype="int64",
            storage="uint32",
            narrowing="saturating",
            rank=2,
            optional=True,
            onnx="I",
            description="Index.",
        )
    ).inputs["i"]
    assert (port.name, port.dtype, port.storage, port.narrowing) == ("i", "int64", "uint32", "saturating")
    assert (port.optional, port.onnx, port.description, port.layout) == (True, "I", "Index.", None)
    assert port.rank is not None
    assert port.rank.evaluate({}) == 2


def test_a_packed_input_may_have_a_type_variable_that_is_always_uint8() -> None:
    """What counts is the logical dtype."""
    manifest = scale_manifest(
        typeConstraints={"T": ["float32"], "Q": ["uint8"]},
        inputs={"x": {"dtype": "T"}, "q": {"dtype": "Q", "layout": "packed"}},
    )
    assert read_manifest(manifest).inputs["q"].layout == "packed"


def test_storage_of_a_type_variable_must_fit_each_dtype() -> None:
    """int32 holds int32 as it is and int64 by narrowing."""
    types = {"T": ["float32"], "I": ["int32", "int64"]}
    port = {"dtype": "I", "storage": "int32", "narrowing": "checked"}
    manifest = scale_manifest(typeConstraints=types, inputs={"x": {"dtype": "T"}, "i": port})
    assert possible_dtypes(read_manifest(manifest).inputs["i"], types_of(manifest)) == ("int32", "int64")
    port["storage"] = "uint32"
    assert defects(manifest) == ["inputs.i.storage: must be int32 for int32, not uint32"]


def types_of(manifest: dict[str, Any]) -> Any:
    return read_manifest(manifest).type_constraints


def test_a_port_without_dtype_is_float32() -> None:
    """FORMAT section 9."""
    assert possible_dtypes(read_manifest(with_input()).inputs["i"], {}) == ("float32",)


@pytest.mark.parametrize(
    ("port", "defect"),
    [
        (
            {"dtype": "T", "shape": 3},
            "outputs.y.shape: must be a list of expressions, one a dimension, not the number 3",
        ),
        (
            {"dtype": "T", "shape": ["ranks.x", -1]},
            "outputs.y.shape[1]: must be an expression or an integer of at least 0, not the number -1",
        ),
        (
            {"dtype": "T", "shape": ["ranks.x", "nope"]},
            (
                "outputs.y.shape[1]: uses the unknown name 'nope': there are derived names, repeat, tunables, "
                "derive, DISPATCH_FOLD_WIDTH, dtypes, logicalDtypes, tensorDtypes, ranks, shapes, present, args, "
                "attrs, device and functions"
            ),
        ),
        ({"dtype": "uint8", "layout": "packed"}, "outputs.y.layout: is for inputs: leave it out"),
    ],
)
def test_an_output_is_checked(port: Any, defect: str) -> None:
    """What only outputs have."""
    assert defects(scale_manifest(outputs={"y": port})) == [defect]


def test_there_must_be_an_output() -> None:
    """A kernel computes something."""
    assert defects(scale_manifest(outputs={}))[0] == "outputs: must not be empty: a kernel computes something"


def test_output_shapes_see_all_derived_names() -> None:
    """In whatever order: only those that they reach are computed."""
    manifest = scale_manifest(derive={"n": "numel(shapes.x)"}, outputs={"y": {"dtype": "T", "shape": ["n", 2]}})
    shape = read_manifest(manifest).outputs["y"].shape
    assert shape is not None
    assert shape.evaluate({"n": 5}) == [5, 2]


@pytest.mark.parametrize(
    ("source", "target", "defect"),
    [
        (
            {"dtype": "T"},
            {"dtype": "float32"},
            "outputs.y.dtype: must be T, as in 'inputs': 'y' is one tensor, read and written",
        ),
        ({}, {"dtype": "T"}, "outputs.y.dtype: must be absent, as in 'inputs': 'y' is one tensor, read and written"),
        (
            {"dtype": "int64", "storage": "int32", "narrowing": "checked"},
            {"dtype": "int64"},
            "outputs.y.storage: must be int32, as in 'inputs': 'y' is one tensor, read and written",
        ),
        (
            {"dtype": "uint8", "layout": "packed"},
            {"dtype": "uint8"},
            "outputs.y: is packed in 'inputs': a tensor that is written, such as 'y', cannot be",
        ),
    ],
)
def test_a_tensor_that_is_read_and_written_is_the_same_in_both(source: Any, target: Any, defect: str) -> None:
    """Dtype and storage agree."""
    manifest = scale_manifest(inputs={"x": {"dtype": "T"}, "y": source}, outputs={"y": target})
    assert defects(manifest)[0] == defect


def test_ports_in_a_list_are_the_older_dialect() -> None:
    """Said so, once."""
    assert defects(scale_manifest(inputs=[{"role": "x"}]))[0] == (
        "inputs: must be an object of name to port; a list of ports is the older dialect, spec 1.0"
    )


@pytest.mark.parametrize(
    ("argument", "defect"),
    [
        ({}, "args.k.kind: is missing: give u32, i32, f32, bool, string"),
        ({"kind": "f16"}, 'args.k.kind: must be "u32" or "i32" or "f32" or "bool" or "string", not the string "f16"'),
        (
            {"kind": "tensor"},
            "args.k.kind: 'tensor' is the older dialect, spec 1.0: declare tensors in 'inputs' and 'outputs'",
        ),
        ({"kind": "u32", "required": "yes"}, 'args.k.required: must be true or false, not the string "yes"'),
        ({"kind": "u32", "oneOf": ["a"]}, "args.k.oneOf: is for arguments of kind 'string': leave it out"),
        ({"kind": "string", "oneOf": []}, "args.k.oneOf: must not be empty: give strings"),
        ({"kind": "string", "oneOf": [1]}, "args.k.oneOf[0]: must be a string, not the number 1"),
        (
            {"kind": "u32", "default": 1},
            (
                "args.k.default: is not a key of a scalar argument: the keys of a scalar argument are kind, "
                "description, onnx, required, oneOf"
            ),
        ),
    ],
)
def test_a_scalar_argument_is_checked(argument: Any, defect: str) -> None:
    """Kinds, and what belongs to which."""
    assert defects(scale_manifest(args={"k": argument})) == [defect]


def test_a_scalar_argument_cannot_have_a_tensors_name() -> None:
    """``present`` and calls know both by name."""
    assert defects(scale_manifest(args={"x": {"kind": "u32"}})) == [
        "args.x: is the name of a tensor too: a call could not tell them apart"
    ]


def test_scalar_arguments_are_read_whole() -> None:
    """Required unless it says otherwise."""
    args = read_manifest(
        scale_manifest(
            args={"k": {"kind": "u32"}, "mode": {"kind": "string", "oneOf": ["a", "b"], "required": False, "onnx": "m"}}
        )
    ).args
    assert (args["k"].kind, args["k"].required, args["k"].one_of) == ("u32", True, None)
    assert (args["mode"].kind, args["mode"].required, args["mode"].one_of, args["mode"].onnx) == (
        "string",
        False,
        ("a", "b"),
        "m",
    )
