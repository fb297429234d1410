"""What a chosen variant works out: values, grids, bindings, uniforms, intermediates, outputs."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import pytest
from sample_manifests import a_pass, scale_manifest, variant

from webgpu_kernels.errors import (
    AttributeValueError,
    DtypeError,
    LimitError,
    PlanError,
    RequestError,
    ShapeError,
    UnknownNameError,
)
from webgpu_kernels.planning.capabilities import Capabilities
from webgpu_kernels.planning.rendering import declarations
from webgpu_kernels.planning.spec import TensorSpec

if TYPE_CHECKING:
    from sample_manifests import Planner


def one_pass(**changes: Any) -> dict[str, Any]:
    return scale_manifest(variants=[{"id": "only", "passes": [a_pass(**changes)]}])


def text(manifest: dict[str, Any], plan: Planner, **options: Any) -> str:
    return declarations(plan(manifest, **options).passes[0].bindings)


@pytest.mark.parametrize(
    ("dispatch", "grid"),
    [
        ({"x": 3}, (3, 1, 1)),
        ({"x": "ceilDiv(numel(shapes.x), 4)", "y": "ranks.x", "z": 5}, (2, 2, 5)),
        ({"x": "8 / 2"}, (4, 1, 1)),
        ({"x": 0}, (0, 1, 1)),
        ({"workgroups": 7}, (7, 1, 1)),
        ({"workgroups": 65535}, (65535, 1, 1)),
        ({"workgroups": 65536}, (65535, 2, 1)),
        ({"workgroups": 65535 * 3}, (65535, 3, 1)),
        ({"workgroups": 0}, (0, 0, 1)),
        ({"threads": 1, "workgroupSize": 64}, (1, 1, 1)),
        ({"threads": 65, "workgroupSize": 64}, (2, 1, 1)),
        ({"threads": 65536 * 64, "workgroupSize": 64}, (65535, 2, 1)),
        ({"threads": 0, "workgroupSize": 64}, (0, 0, 1)),
    ],
)
def test_the_three_dispatch_forms(plan: Planner, dispatch: dict[str, Any], grid: tuple[int, int, int]) -> None:
    """An explicit grid, or a flat count folded into rows of 65,535."""
    assert plan(one_pass(dispatch=dispatch)).passes[0].dispatch == grid


@pytest.mark.parametrize("x", ["-1", "1.5", "none", "'4'", "true", "[1]", "1 + none"])
def test_an_axis_is_a_non_negative_integer(plan: Planner, x: str) -> None:
    """Anything else is an error that names the axis."""
    with pytest.raises(PlanError, match=r"^test.Scale: variant only: pass main: dispatch.x: "):
        plan(one_pass(dispatch={"x": x}))


def test_an_axis_beyond_the_device_is_a_limit_error(plan: Planner) -> None:
    """The limit, what is asked and what there is."""
    with pytest.raises(LimitError) as caught:
        plan(one_pass(dispatch={"x": 1, "y": 65536}))
    assert str(caught.value) == (
        "test.Scale: variant only: pass main: too many workgroups along y: "
        "needs 65536, the device's maxComputeWorkgroupsPerDimension is 65535"
    )
    assert (caught.value.limit, caught.value.asked) == ("maxComputeWorkgroupsPerDimension", 65536)


def test_values_flow_from_manifest_to_variant_to_pass(plan: Planner) -> None:
    """A pass may redefine a name from its earlier value; floats that are whole arrive as integers."""
    manifest = scale_manifest(
        derive={"n": "numel(shapes.x)"},
        variants=[
            variant("a", derive={"half": "n / 2"}, passes=[a_pass(derive={"half": "half + 1", "name": "'p' ~ half"})])
        ],
    )
    values = plan(manifest).passes[0].values
    assert values == {"n": 6, "half": 4, "name": "p4"}
    assert isinstance(values["half"], int)


def test_tunables_are_overlaid(plan: Planner) -> None:
    """Manifest, then variant, then request."""
    manifest = scale_manifest(
        tunables={"A": {"default": 1}, "B": {"default": 1}, "C": {"default": 1}},
        variants=[
            variant(
                "a",
                tunables={"B": {"default": 2}, "C": {"default": 2}},
                derive={"seen": "[tunables.A, tunables.B, tunables.C]"},
            )
        ],
    )
    assert plan(manifest, tunables={"C": 3}).passes[0].values["seen"] == [1, 2, 3]


def test_declarations_follow_the_bindings(plan: Planner) -> None:
    """Structs first, then one line a binding, in binding order."""
    params = {"struct": [{"name": "count", "type": "u32", "value": "numel(shapes.x)"}], "name": "params"}
    manifest = one_pass(
        bindings=["x", {"name": "y", "elementType": "$wide"}, params], derive={"wide": "'vec2<' ~ dtypes.T ~ '>'"}
    )
    assert text(manifest, plan) == (
        "struct Params { count: u32, _pad0: u32, _pad1: u32, _pad2: u32 };\n"
        "@group(0) @binding(0) var<storage, read> x: array<f32>;\n"
        "@group(0) @binding(1) var<storage, read_write> y: array<vec2<f32>>;\n"
        "@group(0) @binding(2) var<uniform> params: Params;"
    )


def test_a_fixed_length_is_declared_and_measured(plan: Planner) -> None:
    """The binding's least size is the array's."""
    manifest = one_pass(bindings=["x", {"name": "y", "length": 6}])
    assert "array<f32, 6u>" in text(manifest, plan)
    assert plan(manifest).passes[0].bindings[1].min_bytes == 24


def test_a_buffer_too_small_for_its_type_is_refused(plan: Planner) -> None:
    """Before WebGPU's validation would."""
    with pytest.raises(PlanError, match=r"the buffer is too small for its type: expected 28 bytes for array<f32, 7u>"):
        plan(one_pass(bindings=["x", {"name": "y", "length": 7}]))


def test_uniform_words_are_little_endian_and_padded(plan: Planner) -> None:
    """32-bit words, a multiple of four fields."""
    fields = [
        {"name": "a", "type": "u32", "value": "4294967295"},
        {"name": "b", "type": "i32", "value": "-2"},
        {"name": "c", "type": "f32", "value": "0.5"},
        {"name": "d", "type": "f32", "value": "1"},
        {"name": "e", "type": "u32", "value": "true"},
    ]
    binding = plan(one_pass(bindings=["x", "y", {"name": "p", "struct": fields}])).passes[0].bindings[2]
    assert binding.struct is not None
    assert binding.struct.contents == struct.pack("<IiffI", 4294967295, -2, 0.5, 1.0, 1) + bytes(12)
    assert binding.min_bytes == 32


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("u32", "-1"),
        ("u32", "4294967296"),
        ("u32", "1.5"),
        ("i32", "2147483648"),
        ("f32", "2.0 ** 200"),
        ("u32", "none"),
    ],
)
def test_a_field_out_of_range_is_refused(plan: Planner, kind: str, value: str) -> None:
    """The message names the field."""
    binding = {"name": "p", "struct": [{"name": "a", "type": kind, "value": value}]}
    with pytest.raises(PlanError, match=r"pass main: binding 'p': field 'a': "):
        plan(one_pass(bindings=["x", "y", binding]))


def test_a_field_that_is_no_number_shows_its_formula(plan: Planner) -> None:
    """A misspelt attribute is undefined, and only the formula tells which one that was."""
    binding = {"name": "p", "struct": [{"name": "a", "type": "f32", "value": "attrs.missing"}]}
    with pytest.raises(PlanError) as caught:
        plan(one_pass(bindings=["x", "y", binding]))
    assert str(caught.value).endswith(
        "pass main: binding 'p': field 'a': `attrs.missing`: wrong field value: expected an f32 number, got UNDEFINED"
    )


def test_a_field_falls_back_to_its_argument_and_default(plan: Planner) -> None:
    """Value, then the scalar argument of its name, then the default."""
    fields = [{"name": "k", "type": "u32"}, {"name": "m", "type": "u32", "default": 9, "required": False}]
    manifest = one_pass(bindings=["x", "y", {"name": "p", "struct": fields}]) | {
        "args": {"k": {"kind": "u32"}, "m": {"kind": "u32", "required": False}}
    }
    binding = plan(manifest, args={"k": 7}).passes[0].bindings[2]
    assert binding.struct is not None
    assert binding.struct.values == (7, 9)


def test_intermediates_are_sized(plan: Planner) -> None:
    """Bytes are elements times storage size, a multiple of 4."""
    scratch = [
        {"id": "s", "dtype": "float16", "shape": "[3, ranks.x - 1]"},
        {"id": "t", "dtype": "int8", "shape": [5], "zeroInit": True},
    ]
    planned = plan(scale_manifest(variants=[variant("a", intermediates=scratch)]))
    assert [(s.id, s.shape, s.size_bytes, s.zero_init) for s in planned.intermediates] == [
        ("s", (3, 1), 8, False),
        ("t", (5,), 20, True),
    ]


def test_repeat_groups_expand(plan: Planner) -> None:
    """Ids carry the index; repeat.* is visible; inner groups see the outer ones."""
    inner = {
        "id": "in",
        "repeat": {"count": 2, "index": "k"},
        "passes": [a_pass(derive={"at": "[repeat.i, repeat.k, repeat.index, repeat.count, repeat.i_count]"})],
    }
    outer = {"id": "out", "repeat": {"count": "ranks.x + 1", "index": "i"}, "passes": [inner]}
    passes = plan(scale_manifest(variants=[{"id": "a", "passes": [outer]}])).passes
    assert [step.id for step in passes[:3]] == ["out[0].in[0].main", "out[0].in[1].main", "out[1].in[0].main"]
    assert len(passes) == 6
    assert passes[3].values["at"] == [1, 1, 1, 2, 3]


@pytest.mark.parametrize("count", ["-1", "65536", "1.5", "none"])
def test_a_repeat_count_is_bounded(plan: Planner, count: str) -> None:
    """An integer from 0 to 65,535."""
    group = {"id": "g", "repeat": {"count": count, "index": "i"}, "passes": [a_pass()]}
    with pytest.raises(PlanError, match="repeat group g: wrong repeat count: expected an integer from 0 to 65535"):
        plan(scale_manifest(variants=[{"id": "a", "passes": [group]}]))


def test_nested_repeats_are_bounded_in_all(plan: Planner) -> None:
    """Counts multiply."""
    inner = {"id": "in", "repeat": {"count": "65534 + ranks.x - 1", "index": "k"}, "passes": [a_pass(bindings=[])]}
    outer = {"id": "out", "repeat": {"count": "65534 + ranks.x - 1", "index": "i"}, "passes": [inner]}
    with pytest.raises(PlanError) as caught:
        plan(scale_manifest(variants=[{"id": "a", "passes": [outer]}]))
    assert str(caught.value) == (
        "test.Scale: variant a: too many rounds of repeat groups: expected at most 8,192 in one call"
    )


def test_nothing_of_a_variant_is_evaluated_for_empty_outputs(plan: Planner) -> None:
    """Even a dispatch that would fail."""
    planned = plan(one_pass(dispatch={"x": "1 + none"}), {"x": TensorSpec((0, 3), "float32")})
    assert planned.passes == ()


def test_a_tensor_beyond_the_largest_buffer_is_a_limit_error(plan: Planner) -> None:
    """Before any memory is asked for."""
    with pytest.raises(LimitError) as caught:
        plan(scale_manifest(), {"x": TensorSpec((2**20, 2**10), "float32")})
    assert str(caught.value) == (
        "test.Scale: 'x': the buffer is too large: needs 4294967296, the device's maxBufferSize is 268435456"
    )


def test_a_binding_beyond_the_device_is_a_limit_error(plan: Planner) -> None:
    """A tensor may fit a buffer and not a binding."""
    device = Capabilities(limits={"maxStorageBufferBindingSize": 1024})
    with pytest.raises(LimitError, match="'x': the storage binding is too large: needs 4096, the device's max"):
        plan(scale_manifest(), {"x": TensorSpec((1024,), "float32")}, device)


def test_an_output_dtype_follows_its_variable(plan: Planner) -> None:
    """A type variable bound by an input decides."""
    planned = plan(scale_manifest(), {"x": TensorSpec((4,), "int32")})
    assert planned.request.outputs["y"].dtype == "int32"


@pytest.mark.parametrize(
    ("port", "constraint", "dtype"),
    [
        ({}, ["float16"], "float32"),
        ({"dtype": "int64"}, ["float16"], "int64"),
        ({"dtype": "U"}, ["float16"], "float16"),
        ({"dtype": "U"}, ["uint8", "float32", "int32"], "float32"),
    ],
)
def test_an_output_dtype_is_inferred_in_the_stated_order(
    plan: Planner, port: dict[str, Any], constraint: list[str], dtype: str
) -> None:
    """No dtype: float32; concrete; single entry; first input whose dtype is allowed."""
    manifest = scale_manifest(
        outputs={"y": {"shape": "shapes.x", **port}}, typeConstraints={"T": ["float32"], "U": constraint}
    )
    assert plan(manifest).request.outputs["y"].dtype == dtype


def test_the_attribute_to_names_a_casts_output(plan: Planner) -> None:
    """An ai.onnx operator that requires ``to`` reads it as an ONNX dtype code."""
    manifest = scale_manifest(
        domain="ai.onnx",
        outputs={"y": {"dtype": "U", "shape": "shapes.x"}},
        typeConstraints={"T": ["float32"], "U": ["int32", "float16"]},
        attributes={"to": {}},
        attributeConstraints={"to": {"required": True}},
    )
    assert plan(manifest, attrs={"to": 10}).request.outputs["y"].dtype == "float16"
    with pytest.raises(
        DtypeError, match="attribute 'to' names another dtype: expected the ONNX code of int32, float16"
    ):
        plan(manifest, attrs={"to": 1})


def test_an_output_dtype_that_cannot_be_inferred_is_asked_for(plan: Planner) -> None:
    """The remedy is in the message."""
    manifest = scale_manifest(
        outputs={"y": {"dtype": "U", "shape": "shapes.x"}},
        typeConstraints={"T": ["float32"], "U": ["int32", "float16"]},
    )
    with pytest.raises(DtypeError, match=r"Give outputs=\{'y': TensorSpec\(shape, dtype\)\}"):
        plan(manifest)
    assert plan(manifest, outputs={"y": TensorSpec((2, 3), "int32")}).request.outputs["y"].dtype == "int32"


@pytest.mark.parametrize("value", [-1, 1.5, True])
def test_a_tunable_of_whole_numbers_takes_no_other(plan: Planner, value: object) -> None:
    """A size that is negative or a fraction would reach the shader's text."""
    with pytest.raises(AttributeValueError) as caught:
        plan(scale_manifest(tunables={"N": {"default": 64}}), tunables={"N": value})
    assert str(caught.value) == (
        f"test.Scale: tunable 'N': wrong kind of value: expected a whole number that is not negative, got {value!r}"
    )


def test_a_tunable_may_be_negative_where_its_default_is(plan: Planner) -> None:
    """And a fraction where that is one."""
    manifest = scale_manifest(tunables={"N": {"default": -1}, "F": {"default": 0.5}})
    assert plan(manifest, tunables={"N": -2, "F": -0.25}).request.tunables == {"N": -2, "F": -0.25}


def test_a_plan_that_fails_by_tunables_of_the_call_says_so(plan: Planner) -> None:
    """The manifest's formula is not at fault."""
    one = variant("a", passes=[a_pass(dispatch={"workgroups": "ceilDiv(numel(shapes.x), tunables.N)"})])
    with pytest.raises(PlanError) as caught:
        plan(scale_manifest(tunables={"N": {"default": 64}}, variants=[one]), tunables={"N": 0})
    assert str(caught.value) == (
        "test.Scale: variant a: pass main: dispatch.workgroups: `ceilDiv(numel(shapes.x), tunables.N)`: expected a "
        "non-negative integer, got inf. The call sets tunables: N=0."
    )


def test_a_shape_without_expression_is_asked_for(plan: Planner) -> None:
    """And taken from the call."""
    manifest = scale_manifest(outputs={"y": {"dtype": "T"}})
    with pytest.raises(ShapeError, match="the contract does not infer the shape"):
        plan(manifest)
    assert plan(manifest, outputs={"y": TensorSpec((9,), "float32")}).request.outputs["y"].shape == (9,)


def test_a_fixed_shape_must_be_the_inferred_one(plan: Planner) -> None:
    """A preallocated output of another shape is refused."""
    with pytest.raises(ShapeError, match=r"output 'y': wrong shape: expected \[2, 3\], got \[3, 2\]"):
        plan(scale_manifest(), outputs={"y": TensorSpec((3, 2), "float32")})


@pytest.mark.parametrize("shape", ["[-1]", "[1.5]", "'x'", "[none]", "4"])
def test_an_inferred_shape_is_a_list_of_dimensions(plan: Planner, shape: str) -> None:
    """Non-negative integers, in a list."""
    with pytest.raises(ShapeError, match="the shape is not a list of non-negative integers"):
        plan(scale_manifest(outputs={"y": {"dtype": "T", "shape": shape}}))


def test_shapes_reach_only_the_derives_they_name(plan: Planner) -> None:
    """Another derive that fails without a device does not matter to them, but fails the call later."""
    manifest = scale_manifest(
        derive={"rows": "dim(shapes.x, 0)", "twice": "rows * 2"},
        outputs={"y": {"dtype": "T", "shape": ["twice", 1]}},
    )
    assert plan(manifest).request.outputs["y"].shape == (4, 1)


def test_inputs_whose_shapes_give_no_output_are_to_blame(plan: Planner) -> None:
    """Their names and shapes are told, and what was wanted of them, also where a derived name fails first."""
    manifest = scale_manifest(
        inputs={"x": {"dtype": "T"}, "b": {"dtype": "T"}},
        derive={"both": "broadcastShape(shapes.x, shapes.b)", "again": "both"},
        outputs={"y": {"dtype": "T", "shape": "again"}},
    )
    inputs = {"x": TensorSpec((8, 3), "float32"), "b": TensorSpec((4,), "float32")}
    with pytest.raises(ShapeError) as caught:
        plan(manifest, inputs)
    assert str(caught.value) == (
        "test.Scale: inputs 'x', 'b': no shape follows for the output 'y': expected equal sizes, or 1, along each axis "
        "from the last, got x [8, 3], b [4]. The contract computes it by again."
    )


def test_a_shape_that_an_attribute_spoils_is_not_the_inputs_fault(plan: Planner) -> None:
    """Whose fault it is cannot be known then, so nothing but the output is named."""
    manifest = scale_manifest(
        attributes={"perm": {"default": [0, 0]}},
        outputs={"y": {"dtype": "T", "shape": "permuteShape(shapes.x, attrs.perm)"}},
    )
    with pytest.raises(RequestError, match=r"^test.Scale: output 'y': the shape cannot be evaluated for this call: "):
        plan(manifest)


def test_an_optional_output_is_computed_only_if_named(plan: Planner) -> None:
    """Required ones always are."""
    outputs = {"y": {"dtype": "T", "shape": "shapes.x"}, "z": {"dtype": "T", "shape": "shapes.x", "optional": True}}
    manifest = scale_manifest(outputs=outputs, derive={"both": "present.z"})
    assert list(plan(manifest).request.outputs) == ["y"]
    planned = plan(manifest, outputs={"z": None})
    assert list(planned.request.outputs) == ["y", "z"]
    assert planned.passes[0].values["both"] is True


def test_an_unknown_output_is_named(plan: Planner) -> None:
    """With those there are."""
    with pytest.raises(UnknownNameError, match=r"^test.Scale: unknown output 'q'. The contract has outputs: y\.$"):
        plan(scale_manifest(), outputs={"q": None})
