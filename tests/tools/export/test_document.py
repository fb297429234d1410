"""program.json says everything that a host needs, as its schema has it, and the same each time."""

from __future__ import annotations

import base64
import json
import struct
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import jsonschema
import numpy as np
import pytest
from hand_made_programs import Programs

import webgpu_kernels as wk
from webgpu_kernels.errors import NoVariantError
from webgpu_kernels.planning.program import Scratch, Slot, ValueRange
from webgpu_kernels.tools.calls import CallDescription
from webgpu_kernels.tools.capabilities import load_capabilities
from webgpu_kernels.tools.export import exporting
from webgpu_kernels.tools.export.describe import describe_program, shader_files
from webgpu_kernels.tools.export.exporting import export_call, portable_capabilities
from webgpu_kernels.tools.export.fields import as_json, camel_case
from webgpu_kernels.tools.export.page import compose_page
from webgpu_kernels.tools.schema import make_schema
from webgpu_kernels.tools.suites.reading import suite_of

if TYPE_CHECKING:
    from webgpu_kernels.tools.export.exporting import Export

IMAGE, CHANNELS = wk.TensorSpec((1, 64, 64, 320), "float32"), wk.TensorSpec((320,), "float32")
NORM = CallDescription(
    inputs={"X": IMAGE, "gamma": CHANNELS, "beta": CHANNELS, "skip": IMAGE},
    attrs={"groups": 32, "activation": 1},
    variant="split_plain",
)
ADD = CallDescription(inputs={"a": wk.TensorSpec((8, 3), "float32"), "b": wk.TensorSpec((3,), "float32")})


def exported(op: str, call: CallDescription, **options: Any) -> Export:
    """Export for the least device."""
    return export_call(wk.get_kernel(op), call, portable_capabilities(call), **options)


def document_of(made: Export) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(made.texts["program.json"])
    return document


@pytest.mark.parametrize("op", ["com.microsoft.SkipGroupNorm", "com.microsoft.GatherBlockQuantized", "ai.onnx.Add"])
def test_every_document_is_as_the_schema_says(op: str) -> None:
    """Every tenth case of a suite, on a device that has what it needs."""
    kernel, h200 = wk.get_kernel(op), load_capabilities("h200")
    validator = jsonschema.Draft202012Validator(make_schema("program"))
    ran = 0
    for case in suite_of(kernel.package).cases[::10]:
        if case.error is not None or any(case.call.inputs[name].size > 10**5 for name in case.call.inputs):
            continue
        made = export_call(kernel, case.call, h200, case=case)
        assert [error.message for error in validator.iter_errors(document_of(made))] == []
        ran += 1
    assert ran


def test_a_document_names_call_variant_and_passes() -> None:
    """For readers, in the manifest's own words."""
    document = document_of(exported("com.microsoft.SkipGroupNorm", NORM, with_data=False))
    assert document["format"] == "webgpu-kernels-program"
    assert document["version"] == 1
    assert (document["operator"], document["variant"]) == ("com.microsoft.SkipGroupNorm", "split_plain")
    assert document["request"].startswith("X float32[1, 64, 64, 320], gamma float32[320]")
    assert [step["id"] for step in document["passes"]] == ["stats", "combine", "apply"]
    assert [step["entryPoint"] for step in document["passes"]] == ["main"] * 3
    assert "example" not in document


def test_buffers_have_sizes_and_roles() -> None:
    """Tensors are the caller's, scratch is the host's."""
    document = document_of(exported("com.microsoft.SkipGroupNorm", NORM, with_data=False))
    tensors = {tensor["name"]: tensor for tensor in document["tensors"]}
    assert tensors["X"] == {
        "name": "X",
        "role": "input",
        "dtype": "float32",
        "shape": [1, 64, 64, 320],
        "storage": "float32",
        "storedAs": "f32",
        "sizeBytes": 5242880,
    }
    assert tensors["Y"]["role"] == "output"
    assert {entry["id"] for entry in document["scratch"]} == {"partials", "stats"}


def test_what_a_program_keeps_is_cleared_by_other_hosts() -> None:
    """They are told only that it has to hold zeros."""
    assert as_json(describe_program(Programs().counting()))["scratch"] == [
        {"id": "board", "sizeBytes": 4, "zeroInit": True},
        {"id": "cleared", "sizeBytes": 4, "zeroInit": True},
    ]
    joint = replace(NORM, variant="joint_plain")
    (board,) = document_of(exported("com.microsoft.SkipGroupNorm", joint, with_data=False))["scratch"]
    assert (board["id"], board["zeroInit"], set(board)) == ("board", True, {"id", "sizeBytes", "zeroInit"})


def test_the_wgsl_is_what_a_call_renders() -> None:
    """Each pass names its file; nothing is rendered differently for an export."""
    made = exported("com.microsoft.SkipGroupNorm", NORM, with_data=False)
    kernel = wk.get_kernel("com.microsoft.SkipGroupNorm")
    rendering = kernel.render(NORM.inputs, **NORM.options(), capabilities=portable_capabilities(NORM))
    assert {step.id: made.texts[step.shader] for step in made.document.passes} == dict(rendering)


def test_the_same_call_gives_the_same_bytes() -> None:
    """No clock and no path is in it."""
    first, second = (exported("ai.onnx.Add", ADD) for _ in range(2))
    assert first.texts == second.texts
    assert first.data == second.data


def test_a_uniform_has_bytes_and_their_meaning() -> None:
    """The bytes are the fields' words, little-endian; padding has no value."""
    document = document_of(exported("ai.onnx.Add", ADD))
    (uniform,) = [entry for step in document["passes"] for entry in step["bindings"] if entry["source"] == "uniform"]
    contents = base64.b64decode(uniform["contents"])
    assert uniform["size"] == len(contents) == uniform["minBindingSize"]
    assert uniform["struct"]["name"] == uniform["wgslType"] == "Params"
    for field in uniform["struct"]["fields"]:
        (word,) = struct.unpack_from({"u32": "<I", "i32": "<i", "f32": "<f"}[field["type"]], contents, field["offset"])
        assert word == field.get("value", 0)


def test_what_a_device_needs_is_counted() -> None:
    """From the shaders and the sizes: the greatest of each pass."""
    make = Programs()
    wgsl = (
        "enable f16, subgroups; // enable nothing\n"
        "var<workgroup> tile: array<vec4<f32>, 96>;\n"
        "@compute @workgroup_size(16, 8) fn main() { tile[0] = vec4<f32>(); }"
    )
    step = make.step(wgsl, make.slot("x", "read-only-storage"), make.slot("s", "storage", "scratch"), grid=(3, 700, 1))
    program = make.program((step,), (make.use("x", (1000,)),), (), (Scratch("s", 8192),))
    needs = describe_program(program).requires
    assert needs.features == ("shader-f16", "subgroups")
    assert dict(needs.limits) == {
        "maxBufferSize": 8192,
        "maxComputeInvocationsPerWorkgroup": 128,
        "maxComputeWorkgroupSizeX": 16,
        "maxComputeWorkgroupSizeY": 8,
        "maxComputeWorkgroupSizeZ": 1,
        "maxComputeWorkgroupStorageSize": 1536,
        "maxComputeWorkgroupsPerDimension": 700,
        "maxStorageBufferBindingSize": 8192,
        "maxStorageBuffersPerShaderStage": 2,
    }


def test_what_the_variant_asks_for_is_required_too() -> None:
    """Beside what its shaders show."""
    kernel = wk.get_kernel("com.microsoft.SkipGroupNorm")
    requires = kernel.manifest.variants[0].requires
    program = Programs().scale()
    described = describe_program(program, (), requires).requires
    assert set(requires.features) <= set(described.features)
    assert described.subgroup_min_size == (requires.subgroup_min_size or None)


def test_a_window_is_bound_where_it_lies() -> None:
    """Offset and size are the binding's, not the tensor's."""
    make = Programs()
    slot = Slot("read-only-storage", "tensor", "x", 16, 256, 512)
    program = make.program((make.step("@compute @workgroup_size(1) fn main() {}", slot),), (make.use("x", (999,)),), ())
    (binding,) = describe_program(program).passes[0].bindings
    assert (binding.offset, binding.size, binding.min_binding_size) == (256, 512, 16)


def test_a_tensor_updated_in_place_stands_once() -> None:
    """With the role inout."""
    make = Programs()
    program = make.program((), (make.use("x", (4,)),), (make.use("x", (4,), output=True),))
    assert [(tensor.name, tensor.role) for tensor in describe_program(program).tensors] == [("x", "inout")]


def test_equal_shaders_share_a_file() -> None:
    """And passes of one name with different texts have files of their own."""
    make = Programs()
    steps = (
        make.step("a", name="Loop[0].main"),
        make.step("a", name="Loop[1].main"),
        make.step("b", name="loop-0-main"),
    )
    files = shader_files(make.program(steps, (), ()))
    assert files == {"a": "loop-0-main.wgsl", "b": "loop-0-main-2.wgsl"}


def test_data_of_a_case_come_with_its_tolerance() -> None:
    """Inputs and expected outputs as buffers hold them."""
    kernel = wk.get_kernel("com.microsoft.SkipGroupNorm")
    case = suite_of(kernel.package).cases[0]
    made = export_call(kernel, case.call, load_capabilities("h200"), case=case)
    example = made.document.example
    assert example is not None
    assert example.description == f"the case {case.name}"
    assert example.source == "reference.py"
    assert example.tolerance is not None
    assert example.tolerance["Y"].atol == case.outputs["Y"].tolerance.atol
    assert example.expected is not None
    sizes = {tensor.name: tensor.size_bytes for tensor in made.document.tensors}
    for files in (example.inputs, example.expected):
        assert all(len(made.data[file]) == sizes[name] for name, file in files.items())


def test_drawn_data_are_those_of_their_seed() -> None:
    """And what they give comes from the package's reference."""
    first, again, other = (exported("ai.onnx.Add", ADD, seed=seed).data for seed in (1, 1, 2))
    assert first == again
    assert first["data/a.bin"] != other["data/a.bin"]
    a, b, c = (np.frombuffer(first[f"data/{name}.bin"], np.float32) for name in ("a", "b", "c.expected"))
    assert np.array_equal(a.reshape(8, 3) + b, c.reshape(8, 3))


def test_drawn_indices_keep_their_bounds() -> None:
    """An index beyond the table would be read by no shader that checks."""
    spec = wk.TensorSpec
    call = CallDescription(
        inputs={
            "data": spec((7, 64), "uint8"),
            "indices": spec((500,), "int64"),
            "scales": spec((7, 4), "float32"),
        },
        attrs={"bits": 8, "block_size": 16},
    )
    made = exported("com.microsoft.GatherBlockQuantized", call)
    indices = np.frombuffer(made.data["data/indices.bin"], np.int32)
    (tensor,) = [tensor for tensor in made.document.tensors if tensor.name == "indices"]
    assert tensor.values is not None
    assert (tensor.values.least, tensor.values.most) == (-7, 6) == (indices.min(), indices.max())
    assert (tensor.stored_as, tensor.narrowing) == ("i32", "checked")


def test_large_data_stay_out_of_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are files all the same."""
    whole = exported("ai.onnx.Add", ADD)
    monkeypatch.setattr(exporting, "INLINED_BYTES_MAX", 100)
    bare = exported("ai.onnx.Add", ADD)
    assert whole.inlined
    assert not bare.inlined
    assert bare.data == whole.data
    assert len(bare.texts["index.html"]) < len(whole.texts["index.html"])


def test_float16_is_planned_with_its_feature() -> None:
    """The least device lacks it; without it no variant could take the call."""
    half = wk.TensorSpec((8,), "float16")
    call = CallDescription(inputs={"a": half, "b": half})
    assert portable_capabilities(call).features == {"shader-f16"}
    assert portable_capabilities(ADD).features == frozenset()
    assert exported("ai.onnx.Add", call).document.requires.features == ("shader-f16",)


def test_a_call_that_no_variant_takes_is_refused() -> None:
    """With the reasons, as a call would be."""
    call = CallDescription(inputs=NORM.inputs, attrs={"groups": 32, "activation": 1}, variant="fused_bias_sum")
    with pytest.raises(NoVariantError):
        exported("com.microsoft.SkipGroupNorm", call, with_data=False)


def test_the_device_it_was_planned_for_is_told() -> None:
    """Limits only where they are not WebGPU's defaults."""
    made = export_call(wk.get_kernel("ai.onnx.Add"), ADD, load_capabilities("h200"), with_data=False)
    planned = made.document.planned
    assert planned is not None
    assert planned.limits["maxComputeInvocationsPerWorkgroup"] == 1024
    assert "maxBindGroups" not in planned.limits or planned.limits["maxBindGroups"] != 4
    assert "shader-f16" in planned.features


def test_a_page_cannot_be_ended_by_its_data() -> None:
    """No text of a package closes the element that it stands in."""
    make = Programs()
    step = make.step(
        "// </script><script>alert(1)</script>\n@compute @workgroup_size(1) fn main() {}", name="</script>"
    )
    program = make.program((step,), (), ())
    page = compose_page(describe_program(program), {text: name for name, text in shader_files(program).items()}, {})
    assert page.count("</script>") == 3
    assert "alert(1)" in page


def test_members_that_say_nothing_are_left_out() -> None:
    """And names are in camel case."""
    make = Programs()
    use = make.use("x", (4,))
    entry = as_json(describe_program(make.program((), (use,), ())).tensors[0])
    assert set(entry) == {"name", "role", "dtype", "shape", "storage", "storedAs", "sizeBytes"}
    assert camel_case("min_binding_size") == "minBindingSize"


def test_value_ranges_are_told() -> None:
    """As bounds, both included."""
    make = Programs()
    use = replace(make.use("x", (4,), "int32"), value_range=ValueRange(-3, 2, "rows"))
    assert as_json(describe_program(make.program((), (use,), ())).tensors[0])["values"] == {"least": -3, "most": 2}
