"""What of a call is checked before any expression is evaluated."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sample_manifests import a_pass, scale_manifest, variant

from webgpu_kernels.errors import (
    AttributeValueError,
    DtypeError,
    LayoutError,
    MissingValueError,
    RequestError,
    ShapeError,
    UnknownNameError,
)
from webgpu_kernels.invocation import frozen, merged_inputs, spec_of, wanted_outputs
from webgpu_kernels.planning.spec import TensorSpec, logical_dtype

if TYPE_CHECKING:
    from sample_manifests import Select

X = TensorSpec((2, 3), "float32")


def with_attributes(**constraints: Any) -> dict[str, Any]:
    attributes: dict[str, Any] = {"groups": {}, "mode": {"default": "fast"}, "axes": {"default": [0]}}
    return scale_manifest(attributes=attributes, attributeConstraints=constraints or None)


def test_an_unknown_input_is_named_with_the_closest_one(select: Select) -> None:
    """A typing error is likely."""
    manifest = scale_manifest(inputs={"x": {"dtype": "T"}, "gamma": {"dtype": "T"}})
    with pytest.raises(UnknownNameError) as caught:
        select(manifest, {"x": X, "gama": X})
    assert str(caught.value) == "test.Scale: unknown input 'gama'. Did you mean gamma?"


def test_a_missing_input_is_named_with_what_is_required(select: Select) -> None:
    """Optional ones are left out of the list."""
    manifest = scale_manifest(inputs={"x": {"dtype": "T"}, "b": {"dtype": "T", "optional": True}})
    with pytest.raises(MissingValueError) as caught:
        select(manifest, {"b": X})
    assert str(caught.value) == "test.Scale: missing input 'x'. Required are: x."
    assert isinstance(caught.value, KeyError | ValueError)


def test_a_missing_attribute_is_named(select: Select) -> None:
    """With what it may be."""
    with pytest.raises(MissingValueError) as caught:
        select(with_attributes(groups={"required": True, "values": [1, 2]}))
    assert str(caught.value) == (
        "test.Scale: missing attribute 'groups'. Without a default the call gives them: attrs={'groups': 1 or 2}."
    )


def test_an_unknown_attribute_is_named(select: Select) -> None:
    """With the closest one."""
    with pytest.raises(UnknownNameError, match=r"unknown attribute 'group'. Did you mean groups\?"):
        select(with_attributes(), attrs={"group": 2})


@pytest.mark.parametrize("value", [3, 1.5, "1", True])
def test_an_attribute_outside_its_values_is_refused(select: Select, value: object) -> None:
    """The message lists them."""
    with pytest.raises(AttributeValueError, match=r"attribute 'groups': value not allowed: expected one of \[1, 2\]"):
        select(with_attributes(groups={"values": [1, 2]}), attrs={"groups": value})


def test_values_are_compared_as_float32(select: Select) -> None:
    """A number that a float32 attribute cannot tell apart is the same."""
    manifest = with_attributes(groups={"values": [0.1]})
    select(manifest, attrs={"groups": float(np.float32(0.1))})


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None, object(), {"a": 1}, b"x"])
def test_an_attribute_is_a_finite_plain_value(select: Select, value: object) -> None:
    """Anything else is refused before an expression sees it."""
    with pytest.raises(AttributeValueError, match=r"^test.Scale: attribute 'groups'"):
        select(with_attributes(), attrs={"groups": value})


@pytest.mark.parametrize(("name", "value"), [("mode", 1), ("axes", 0), ("axes", "0")])
def test_an_attribute_is_of_its_defaults_kind(select: Select, name: str, value: object) -> None:
    """A string stays a string, a list a list."""
    with pytest.raises(AttributeValueError, match=r"wrong kind of value: expected a (string|list)"):
        select(with_attributes(), attrs={name: value})


def test_numpy_scalars_and_arrays_are_attributes(select: Select) -> None:
    """They arrive as plain values; a float that is whole as an integer."""
    request = select(with_attributes(), attrs={"groups": np.float64(4.0), "axes": np.array([1, 2])}).request
    assert request.attrs == {"groups": 4, "mode": "fast", "axes": [1, 2]}
    assert isinstance(request.attrs["groups"], int)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("u32", -1),
        ("u32", 2**32),
        ("u32", 1.5),
        ("i32", 2**31),
        ("u32", True),
        ("bool", 1),
        ("string", 1),
        ("f32", "1"),
    ],
)
def test_a_scalar_argument_is_of_its_kind(select: Select, kind: str, value: object) -> None:
    """And in its range."""
    with pytest.raises(AttributeValueError, match=r"^test.Scale: argument 'k': wrong value: expected "):
        select(scale_manifest(args={"k": {"kind": kind}}), args={"k": value})


def test_scalar_arguments_may_be_infinite_floats(select: Select) -> None:
    """Uniform fields of type f32 may."""
    selection = select(scale_manifest(args={"k": {"kind": "f32"}}), args={"k": float("inf")})
    assert selection.request.args == {"k": float("inf")}


def test_a_missing_argument_is_named_and_an_unknown_one_too(select: Select) -> None:
    """Both before anything runs."""
    manifest = scale_manifest(args={"k": {"kind": "u32"}})
    with pytest.raises(MissingValueError, match=r"missing argument 'k'. Give args=\{'k': …\} of kind u32."):
        select(manifest)
    with pytest.raises(UnknownNameError, match="unknown argument 'q'"):
        select(manifest, args={"k": 1, "q": 2})


def test_an_absent_optional_argument_is_undefined(select: Select) -> None:
    """Its default is not in scope: clauses can tell."""
    manifest = scale_manifest(
        args={"k": {"kind": "u32", "required": False}}, derive={"seen": "[args.k is defined, present.k]"}
    )
    assert select(manifest).scope["seen"] == [False, False]
    assert select(manifest, args={"k": 0}).scope["seen"] == [True, True]


def test_a_string_argument_is_one_of_its_words(select: Select) -> None:
    """The message lists them."""
    manifest = scale_manifest(args={"k": {"kind": "string", "oneOf": ["a", "b"]}})
    with pytest.raises(AttributeValueError, match=r"value not allowed: expected one of \['a', 'b'\], got 'c'"):
        select(manifest, args={"k": "c"})


def test_tunables_are_known_and_of_their_kind(select: Select) -> None:
    """Those of variants count too."""
    manifest = scale_manifest(
        tunables={"N": {"default": 4}}, variants=[variant("a", tunables={"MODE": {"default": "x"}})]
    )
    select(manifest, tunables={"N": 8, "MODE": "y"})
    with pytest.raises(UnknownNameError, match=r"unknown tunable 'M'"):
        select(manifest, tunables={"M": 8})
    with pytest.raises(AttributeValueError, match="tunable 'N': wrong kind of value: expected a number"):
        select(manifest, tunables={"N": "8"})


def test_a_dtype_outside_the_constraint_is_refused(select: Select) -> None:
    """The message lists what the variable allows."""
    with pytest.raises(DtypeError) as caught:
        select(scale_manifest(), {"x": TensorSpec((2,), "int8")})
    assert str(caught.value) == "test.Scale: 'x': wrong dtype: expected T, one of float32, float16, int32, got int8"


def test_tensors_of_one_variable_agree(select: Select) -> None:
    """The message says which port bound it and how to convert."""
    manifest = scale_manifest(inputs={"x": {"dtype": "T"}, "k": {"dtype": "T"}})
    with pytest.raises(DtypeError) as caught:
        select(manifest, {"x": X, "k": TensorSpec((2,), "float16")})
    assert str(caught.value) == (
        "test.Scale: 'k': dtypes differ: expected float32 as 'x' has (both are T), got float16. "
        "Convert one of them, for example with k.astype('float32')."
    )


@pytest.mark.parametrize(
    ("dtype", "hint"),
    [
        (np.float64, "Convert with array.astype('float32')."),
        (np.uint64, "Convert with array.astype('int64')."),
        (np.uint16, "Convert with array.astype('uint32'), or view float16 bits with array.view('float16')."),
        (object, "Give a numeric array; object arrays hold Python references."),
        (np.complex64, ""),
        ("U3", ""),
    ],
)
def test_a_dtype_that_no_port_has_is_refused(dtype: Any, hint: str) -> None:
    """With the remedy where there is one."""
    with pytest.raises(DtypeError) as caught:
        spec_of(np.zeros(2, dtype), "op: 'x'")
    assert str(caught.value).startswith("op: 'x': unsupported dtype: expected one of float16, float32,")
    assert str(caught.value).endswith(hint)


@pytest.mark.parametrize(
    ("dtype", "allowed", "hint"),
    [
        (np.float64, ("int64", "int32"), "got float64. Convert with array.astype('int64')."),
        (np.float64, ("float16",), "got float64. Convert with array.astype('float16')."),
        (np.uint64, ("int32", "int64"), "got uint64. Convert with array.astype('int64')."),
        (np.uint16, ("uint8", "int32"), "got uint16. Convert with array.astype('int32')."),
        (np.complex64, ("float32",), "got complex64"),
    ],
)
def test_the_remedy_is_one_that_the_port_takes(dtype: Any, allowed: tuple[str, ...], hint: str) -> None:
    """The nearest of its dtypes."""
    with pytest.raises(DtypeError) as caught:
        logical_dtype(np.dtype(dtype), where="op: 'x'", allowed=allowed)
    assert str(caught.value).endswith(hint)


@pytest.mark.parametrize("value", [[1.0, 2.0], 3.0, "x", None])
def test_what_is_no_array_is_refused(value: object) -> None:
    """A list has no dtype of its own."""
    with pytest.raises(DtypeError, match="not an array: expected a numpy array or a GPU tensor, got "):
        spec_of(value, "op: 'x'")


@pytest.mark.parametrize(
    ("port", "spec", "message"),
    [
        (
            {"dtype": "uint8", "layout": "packed"},
            TensorSpec((4,), "uint8", None, "uint8"),
            "wrong layout: expected packed",
        ),
        ({"dtype": "uint8"}, TensorSpec((4,), "uint8", "packed", "uint8"), "wrong layout: expected none, got packed"),
        (
            {"dtype": "int64", "storage": "int32", "narrowing": "checked"},
            TensorSpec((4,), "int64", None, "int64"),
            "wrong storage: expected int32, got int64",
        ),
    ],
)
def test_a_tensor_stored_otherwise_is_never_converted_in_silence(
    select: Select, port: dict[str, Any], spec: TensorSpec, message: str
) -> None:
    """The remedy is in the message."""
    manifest = scale_manifest(
        inputs={"x": port}, outputs={"y": {"dtype": "float32", "shape": "shapes.x"}}, typeConstraints=None
    )
    with pytest.raises(LayoutError) as caught:
        select(manifest, {"x": spec})
    assert str(caught.value).startswith(f"test.Scale: 'x': {message}")
    assert str(caught.value).endswith("Make the tensor with kernel.tensor('x', array).")


def test_a_projected_port_shows_its_storage(select: Select) -> None:
    """What tensorDtypes names is what shaders see, logicalDtypes what callers speak of."""
    manifest = scale_manifest(
        inputs={"x": {"dtype": "int64", "storage": "int32", "narrowing": "checked"}},
        outputs={"y": {"dtype": "int64", "shape": "shapes.x"}},
        typeConstraints=None,
        derive={"seen": "[tensorDtypes.x, logicalDtypes.int64, dtypes.int64]"},
        variants=[variant("a", passes=[a_pass(bindings=["x"])])],
    )
    assert select(manifest, {"x": TensorSpec((2,), "int64")}).scope["seen"] == ["int32", "int64", "vec2<u32>"]


@pytest.mark.parametrize("shape", [(-1,), (1.5,), "23", 4, (True,)])
def test_a_shape_is_a_sequence_of_dimensions(shape: Any) -> None:
    """Non-negative integers only."""
    with pytest.raises(ShapeError):
        TensorSpec(shape, "float32")


def test_inputs_come_as_a_mapping_or_keywords() -> None:
    """Or both, not twice; None is absent; a list is no mapping."""
    assert merged_inputs({"x": 1}, {"y": 2, "z": None}, "op") == {"x": 1, "y": 2}
    with pytest.raises(RequestError, match="op: input 'x' is given twice"):
        merged_inputs({"x": 1}, {"x": 2}, "op")
    with pytest.raises(RequestError, match="op: inputs are given by name: expected a mapping or keywords, got list"):
        merged_inputs([1], {}, "op")  # type: ignore[arg-type]


def test_outputs_come_as_names_or_specs() -> None:
    """One string would be read letter by letter; tensors go into out."""
    assert wanted_outputs(["Y", "S"], "op") == {"Y": None, "S": None}
    assert wanted_outputs({"Y": X}, "op") == {"Y": X}
    with pytest.raises(RequestError, match=r"outputs is a list of names: got 'Y'. Write \['Y'\]"):
        wanted_outputs("Y", "op")
    with pytest.raises(RequestError, match="Preallocated tensors go into out"):
        wanted_outputs({"Y": np.zeros(1)}, "op")


def test_keys_tell_kinds_apart() -> None:
    """1, 1.0 and True are equal in Python and differ in expressions."""
    keys = {frozen({"a": 1}), frozen({"a": 1.0}), frozen({"a": True}), frozen({"a": [1]}), frozen({"a": [1.0]})}
    assert len(keys) == 5
    assert frozen({"a": np.array([1, 2])}) != frozen({"a": [1, 3]})


def test_a_spec_is_found_again_by_an_equal_one() -> None:
    """Equal specs hash alike, also after a journey to another process; storage and layout count."""
    shape: Any = [2, 3]
    dtype: Any = np.float16
    spec = TensorSpec(shape, dtype)
    assert {spec: 1}[TensorSpec((2, 3), "float16")] == 1
    assert {spec: 1}[pickle.loads(pickle.dumps(spec))] == 1
    stored = {TensorSpec((4,), "uint8"), TensorSpec((4,), "uint8", "packed"), TensorSpec((4,), "uint8", None, "uint8")}
    assert len(stored) == 3
