"""What a caller can do: arrays and tensors, prepared and explained calls, batches, packages of one's own."""

from __future__ import annotations

import gc
import json
import threading
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import webgpu_kernels as wk

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.device

Inputs = dict[str, Any]
BIAS = np.linspace(-1, 1, 32, dtype=np.float32)


def test_outputs_come_in_the_contracts_order(kernel: wk.Kernel, inputs: Inputs, attrs: Inputs) -> None:
    """By name, as attributes, and as a mapping; required ones always, optional ones where named."""
    out = kernel(inputs, attrs=attrs, outputs=["S"])
    assert list(out) == ["Y", "S"]
    assert out["S"] is out.S
    assert isinstance(out.Y, np.ndarray)
    assert (out.Y.shape, out.Y.dtype) == ((2, 4, 4, 32), np.float32)
    np.testing.assert_array_equal(out.S, inputs["X"] + inputs["skip"])
    assert list(kernel(inputs, attrs=attrs)) == ["Y"]
    with pytest.raises(AttributeError, match="no output 'S'; this call computed Y"):
        _ = kernel(inputs, attrs=attrs).S
    with pytest.raises(KeyError, match=r"Optional outputs are computed where outputs=\[…\] names them"):
        _ = kernel(inputs, attrs=attrs)["S"]


def test_wanted_outputs_may_come_one_by_one(kernel: wk.Kernel, inputs: Inputs, attrs: Inputs) -> None:
    """A generator is looked through once only."""
    for wanted in ((name for name in ("S",)), iter(["S"]), {"S"}, {"S": None}):
        assert list(kernel(inputs, attrs=attrs, outputs=wanted)) == ["Y", "S"]


def test_inputs_come_as_a_mapping_or_keywords(kernel: wk.Kernel, inputs: Inputs, attrs: Inputs) -> None:
    """Both mean the same."""
    np.testing.assert_array_equal(kernel(**inputs, attrs=attrs).Y, kernel(inputs, attrs=attrs).Y)
    np.testing.assert_array_equal(
        kernel(inputs, bias=BIAS, attrs=attrs).Y, kernel({**inputs, "bias": BIAS}, attrs=attrs).Y
    )


def test_one_tensor_among_the_inputs_keeps_outputs_on_the_gpu(
    kernel: wk.Kernel, device: wk.Device, inputs: Inputs, attrs: Inputs
) -> None:
    """Unless the call says otherwise."""
    expected = kernel(inputs, attrs=attrs).Y
    mixed = {**inputs, "skip": kernel.tensor("skip", inputs["skip"])}
    on_gpu = kernel(mixed, attrs=attrs).Y
    assert isinstance(on_gpu, wk.Tensor)
    assert on_gpu.device is device
    assert (on_gpu.shape, on_gpu.dtype) == ((2, 4, 4, 32), "float32")
    np.testing.assert_array_equal(on_gpu.numpy(), expected)
    np.testing.assert_array_equal(kernel(mixed, attrs=attrs, output="cpu").Y, expected)
    assert isinstance(kernel(inputs, attrs=attrs, output="gpu").Y, wk.Tensor)


def test_out_is_written_and_returned(kernel: wk.Kernel, device: wk.Device, inputs: Inputs, attrs: Inputs) -> None:
    """A preallocated output, of a call or of a prepared one; naming an optional output there asks for it."""
    expected = kernel(inputs, attrs=attrs, outputs=["S"])
    target = device.empty((2, 4, 4, 32), "float32")
    out = kernel(inputs, attrs=attrs, out={"S": target})
    assert out.S is target
    np.testing.assert_array_equal(target.numpy(), expected.S)
    call = kernel.prepare(inputs, attrs=attrs, out={"Y": target})
    assert call(inputs).Y is target
    np.testing.assert_array_equal(target.numpy(), expected.Y)


def test_outputs_feed_the_next_call(kernel: wk.Kernel, inputs: Inputs, attrs: Inputs) -> None:
    """A tensor that a call returned is an input like any other."""
    first = kernel(inputs, attrs=attrs, output="gpu")
    second = kernel({**inputs, "X": first.Y}, attrs=attrs).Y.numpy()
    host = kernel(inputs, attrs=attrs).Y
    np.testing.assert_array_equal(second, kernel({**inputs, "X": host}, attrs=attrs).Y)


def test_a_prepared_call_repeats(kernel: wk.Kernel, device: wk.Device, inputs: Inputs, attrs: Inputs) -> None:
    """With other arrays or tensors of the same shapes; its plan can be looked at."""
    call = kernel.prepare(inputs, attrs=attrs, outputs=["S"])
    assert call.variant == "fused_sum"
    assert "fused_sum" in repr(call)
    other = {name: array * 2 for name, array in inputs.items()}
    np.testing.assert_array_equal(call(other).Y, kernel(other, attrs=attrs).Y)
    tensors: Inputs = {name: device.tensor(array) for name, array in other.items()}
    np.testing.assert_array_equal(call(tensors).Y.numpy(), call(other).Y)
    np.testing.assert_array_equal(call(tensors, output="cpu").S, call(other).S)


def test_a_call_is_prepared_from_specs(kernel: wk.Kernel, inputs: Inputs, attrs: Inputs) -> None:
    """Only shapes and dtypes count."""
    specs = {name: wk.TensorSpec(array.shape, array.dtype) for name, array in inputs.items()}
    np.testing.assert_array_equal(kernel.prepare(specs, attrs=attrs)(inputs).Y, kernel(inputs, attrs=attrs).Y)


def test_the_time_of_each_pass_is_measured(kernel: wk.Kernel, inputs: Inputs, attrs: Inputs) -> None:
    """In nanoseconds, by pass id, with or without inputs."""
    call = kernel.prepare(inputs, attrs=attrs, variant="split_plain")
    for times in (call.time(), call.time(inputs, repeat=2)):
        assert list(times) == ["stats", "combine", "apply"]
        assert all(time > 0 for time in times.values())


def test_a_request_that_was_seen_is_looked_up(kernel: wk.Kernel, inputs: Inputs, attrs: Inputs) -> None:
    """The same shapes, dtypes, attributes and outputs give the same plan; any difference another."""
    plan = kernel.prepare(inputs, attrs=attrs).plan
    assert kernel.prepare({name: array + 1 for name, array in inputs.items()}, attrs=attrs).plan is plan
    assert kernel.prepare(inputs, attrs={**attrs, "epsilon": 1e-4}).plan is not plan
    specs = {name: wk.TensorSpec(array.shape, array.dtype) for name, array in inputs.items()}
    again = {name: wk.TensorSpec(array.shape, array.dtype) for name, array in inputs.items()}
    assert kernel.prepare(specs, attrs=attrs).plan is kernel.prepare(again, attrs=attrs).plan
    assert kernel.prepare(inputs, attrs=attrs, outputs=["S"]).plan is not plan
    assert kernel.prepare(inputs, attrs=attrs, tunables={"WORKGROUP_SIZE": 64}).plan is not plan
    assert kernel.prepare(inputs, attrs={**attrs, "activation": np.array(1)}).plan is not plan
    with pytest.raises(wk.errors.AttributeValueError):
        kernel.prepare(inputs, attrs={**attrs, "activation": np.array(True)})


def test_an_explanation_needs_no_device(kernel: wk.Kernel, attrs: Inputs) -> None:
    """Specs and described capabilities are enough, and every candidate gets its verdict."""
    image, channel = wk.TensorSpec((2, 64, 64, 320), "float16"), wk.TensorSpec((320,), "float32")
    explanation = kernel.explain(
        X=image,
        skip=image,
        gamma=channel,
        beta=channel,
        attrs=attrs,
        capabilities=wk.Capabilities(features={"shader-f16"}, limits={"maxBufferSize": 2**31 - 1}),
    )
    assert explanation.variant == "pair_plain"
    verdicts = {candidate.id: candidate for candidate in explanation.candidates}
    assert verdicts.keys() == {variant.id for variant in kernel.manifest.variants}
    assert verdicts["fused_plain"].accepted
    assert not verdicts["split_sum"].accepted
    assert verdicts["split_sum"].reason == "`present.S` is false (present.S = false)"
    assert [step.id for step in explanation.passes] == ["stats", "apply"]
    assert all(axis > 0 for step in explanation.passes for axis in step.dispatch)
    assert "X" in [binding.name for binding in explanation.passes[0].bindings]
    assert max(map(len, str(explanation).splitlines())) <= 80


def test_an_explanation_of_what_nothing_takes(kernel: wk.Kernel, inputs: Inputs, attrs: Inputs) -> None:
    """The variant is None and every candidate says why."""
    inputs["gamma"] = inputs["gamma"][:5]
    explanation = kernel.explain(inputs, attrs=attrs)
    assert explanation.variant is None
    assert explanation.passes == ()
    assert all(candidate.reason and not candidate.accepted for candidate in explanation.candidates)


def test_wgsl_is_rendered_for_a_described_device(kernel: wk.Kernel, inputs: Inputs, attrs: Inputs) -> None:
    """One text a pass, in order."""
    wgsl = kernel.render(inputs, attrs=attrs, variant="split_plain", capabilities=wk.Capabilities())
    assert list(wgsl) == ["stats", "combine", "apply"]
    assert "@compute" in wgsl.combine
    assert "// pass combine\n" in str(wgsl)
    assert repr(wgsl).startswith("Rendering(stats: ")


def test_a_batch_is_one_submission(
    kernel: wk.Kernel, device: wk.Device, inputs: Inputs, attrs: Inputs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Outputs of numpy inputs are tensors there, a chain of calls is in order."""
    expected = kernel({**inputs, "X": kernel(inputs, attrs=attrs).Y}, attrs=attrs).Y
    submissions: list[int] = []
    submit = device.commands.submit

    def counted(stages: Any) -> None:
        submissions.append(len(stages))
        submit(stages)

    monkeypatch.setattr(device.commands, "submit", counted)
    with device.batch():
        first = kernel(inputs, attrs=attrs)
        second = kernel({**inputs, "X": first.Y}, attrs=attrs)
        assert submissions == []
    assert len(submissions) == 1
    monkeypatch.undo()
    np.testing.assert_array_equal(second.Y.numpy(), expected)


def test_an_exception_in_a_batch_submits_nothing(
    kernel: wk.Kernel, device: wk.Device, inputs: Inputs, attrs: Inputs
) -> None:
    """What the calls would have written stays as it was."""
    target = device.tensor(np.full((2, 4, 4, 32), 7, np.float32))

    def interrupted() -> None:
        with device.batch():
            kernel(inputs, attrs=attrs, out={"Y": target})
            raise InterruptedError

    with pytest.raises(InterruptedError):
        interrupted()
    assert (target.numpy() == 7).all()


def test_cpu_results_are_refused_in_a_batch(
    kernel: wk.Kernel, device: wk.Device, inputs: Inputs, attrs: Inputs
) -> None:
    """They would need the submission that has not happened."""
    with device.batch(), pytest.raises(wk.errors.DeviceError, match="batch"):
        kernel(inputs, attrs=attrs, output="cpu")


def test_a_device_of_someone_elses_is_used_and_left_alone(inputs: Inputs, attrs: Inputs) -> None:
    """Closing ours does not destroy theirs."""
    with wk.Device() as owner:
        guest = wk.Device.from_wgpu(owner.wgpu_device)
        kernel = wk.get_kernel("com.microsoft.SkipGroupNorm")
        result = kernel(inputs, attrs=attrs, device=guest).Y
        guest.close()
        np.testing.assert_array_equal(kernel(inputs, attrs=attrs, device=owner).Y, result)


def test_a_lost_default_device_is_replaced(inputs: Inputs, attrs: Inputs) -> None:
    """The call that meets the loss says so; the next one opens a new device."""
    kernel = wk.get_kernel("com.microsoft.SkipGroupNorm")
    lost = wk.default_device()
    result = kernel(inputs, attrs=attrs).Y
    tensor = lost.tensor(inputs["X"])
    lost.wgpu_device.destroy()
    with pytest.raises(wk.errors.DeviceLost):
        kernel({**inputs, "X": tensor}, attrs=attrs)
    np.testing.assert_array_equal(kernel(inputs, attrs=attrs).Y, result)
    assert wk.default_device() is not lost


def test_eight_threads_share_a_device(device: wk.Device, inputs: Inputs, attrs: Inputs) -> None:
    """The same kernel and another, the same request and others: every result is right."""
    kernels = [wk.get_kernel("com.microsoft.SkipGroupNorm", device=device) for _ in range(2)]
    shapes = [(2, 4, 4, 32), (1, 8, 8, 64), (3, 5, 7, 24)]
    requests = []
    for shape in shapes:
        rng = np.random.default_rng(sum(shape))
        arrays = {name: rng.standard_normal(shape, dtype=np.float32) for name in ("X", "skip")}
        arrays |= {name: rng.standard_normal(shape[3], dtype=np.float32) for name in ("gamma", "beta")}
        requests.append((arrays, kernels[0](arrays, attrs=attrs).Y))
    failures: list[str] = []

    def work(index: int) -> None:
        try:
            for turn in range(12):
                arrays, expected = requests[(index + turn) % len(requests)]
                got = kernels[index % 2](arrays, attrs=attrs).Y
                if not np.array_equal(got, expected):
                    failures.append(f"thread {index}, turn {turn}")
        except Exception as error:  # noqa: BLE001 - reported by the assertion below
            failures.append(repr(error))

    threads = [threading.Thread(target=work, args=(index,)) for index in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    assert failures == []


def test_a_kernel_keeps_no_device_alive(inputs: Inputs, attrs: Inputs) -> None:
    """Nor does a device keep a kernel: planned calls go with either."""
    kernel = wk.get_kernel("com.microsoft.SkipGroupNorm")
    device = wk.Device()
    kernel(inputs, attrs=attrs, device=device)
    alive = weakref.ref(device)
    del device
    gc.collect()
    assert alive() is None
    with wk.Device() as other:
        kernel(inputs, attrs=attrs, device=other)
        assert len(other.planned) == 1
        del kernel
        gc.collect()
        assert other.planned == {}


MANIFEST: dict[str, Any] = {
    "domain": "test",
    "name": "Twice",
    "inputs": {"x": {"dtype": "T"}},
    "outputs": {"y": {"dtype": "T", "shape": "shapes.x"}},
    "typeConstraints": {"T": ["float32", "int8", "uint8", "bool", "int16", "int32", "uint32"]},
    "variants": [
        {
            "id": "only",
            "passes": [
                {
                    "id": "main",
                    "shader": "twice.wgsl.jinja",
                    "bindings": ["x", "y"],
                    "dispatch": {"threads": "numel(shapes.x)", "workgroupSize": 64},
                }
            ],
        }
    ],
}
TEMPLATE = """{{ env.wgsl.resourceDeclarations }}
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x + id.y * {{ DISPATCH_FOLD_WIDTH }}u * 64u;
    if (i < {{ numel(shapes.x) }}u) {
        y[i] = x[i] + x[i];
    }
}
"""


def write_package(folder: Path, template: str = TEMPLATE, **changes: Any) -> Path:
    inner = folder / "build" / "webgpu"
    inner.mkdir(parents=True)
    (inner / "manifest.json").write_text(json.dumps({**MANIFEST, **changes}))
    (inner / "twice.wgsl.jinja").write_text(template)
    return folder


@pytest.mark.parametrize("inner", [False, True])
def test_a_package_is_loaded_from_a_folder(tmp_path: Path, device: wk.Device, inner: bool) -> None:
    """Manifest and templates are enough; the folder of the manifest itself will do."""
    folder = write_package(tmp_path)
    kernel = wk.load_kernel(folder / "build" / "webgpu" if inner else folder, device=device)
    assert kernel.op_id == "test.Twice"
    np.testing.assert_array_equal(kernel(x=np.array([1, 2, 3], np.float32)).y, np.array([2, 4, 6], np.float32))


@pytest.mark.parametrize(
    ("dtype", "values", "doubled"),
    [
        ("int8", [100, -100, 5], [-56, 56, 10]),
        ("uint8", [200, 3, 0], [144, 6, 0]),
        ("int16", [20000, -3, 0], [-25536, -6, 0]),
        ("int32", [2**30, -3, 0], [-(2**31), -6, 0]),
        ("uint32", [2**31 + 1, 3, 0], [2, 6, 0]),
        ("bool", [True, False, True], [True, False, True]),
    ],
)
def test_narrow_integers_wrap_around(
    tmp_path: Path, device: wk.Device, dtype: str, values: list[int], doubled: list[int]
) -> None:
    """Stored widened, cut modulo 2**n when they come back."""
    kernel = wk.load_kernel(write_package(tmp_path), device=device)
    out = kernel(x=np.array(values, dtype)).y
    assert out.dtype == dtype
    assert out.tolist() == doubled


@pytest.mark.parametrize("shape", [(), (1,), (0,), (2, 0, 3), (1, 2, 1, 3, 1, 2, 1)])
def test_any_rank_and_empty_tensors_work(tmp_path: Path, device: wk.Device, shape: tuple[int, ...]) -> None:
    """Rank 0, empty dimensions, many dimensions."""
    kernel = wk.load_kernel(write_package(tmp_path), device=device)
    x = np.full(shape, 3, np.float32)
    out = kernel(x=x).y
    assert out.shape == shape
    np.testing.assert_array_equal(out, x * 2)


def test_a_flat_grid_is_folded(tmp_path: Path, device: wk.Device) -> None:
    """More than 65,535 workgroups."""
    kernel = wk.load_kernel(write_package(tmp_path), device=device)
    x = np.arange(65536 * 64 + 3, dtype=np.float32)
    np.testing.assert_array_equal(kernel(x=x).y, x * 2)


def test_a_shader_that_does_not_compile_says_where(tmp_path: Path, device: wk.Device) -> None:
    """Template and its line, line in the WGSL, and what the compiler says."""
    kernel = wk.load_kernel(write_package(tmp_path, TEMPLATE.replace("x[i] + x[i]", "x[i] + nope")), device=device)
    with pytest.raises(wk.errors.ShaderError) as caught:
        kernel(x=np.array([1], np.float32))
    error = caught.value
    assert (error.template, error.template_line) == ("twice.wgsl.jinja", 6)
    assert error.wgsl_line is not None
    assert "nope" in error.wgsl.splitlines()[error.wgsl_line - 1]
    assert "twice.wgsl.jinja" in str(error)
    assert "nope" in str(error)


def test_a_template_that_fails_says_where(tmp_path: Path, device: wk.Device) -> None:
    """Template and line."""
    broken = TEMPLATE.replace("{{ DISPATCH_FOLD_WIDTH }}", "{{ 1 + none }}")
    kernel = wk.load_kernel(write_package(tmp_path, broken), device=device)
    with pytest.raises(wk.errors.EvaluationError, match=r"^twice\.wgsl\.jinja:4: "):
        kernel(x=np.array([1], np.float32))


def test_a_manifest_with_defects_lists_them_all(tmp_path: Path) -> None:
    """Each with its JSON path."""
    folder = write_package(tmp_path, atributes={}, tunables={"N": {}})
    with pytest.raises(wk.errors.ManifestError) as caught:
        wk.load_kernel(folder)
    assert {defect.path for defect in caught.value.defects} == {"tunables.N.default", "atributes"}
    assert "attributes" in str(caught.value)


def test_workgroup_storage_is_checked_before_a_shader_compiles(tmp_path: Path, device: wk.Device) -> None:
    """The backend does not, and some drivers hang."""
    limit = device.capabilities.limits["maxComputeWorkgroupStorageSize"]
    greedy = TEMPLATE.replace("@compute", f"var<workgroup> much: array<f32, {limit // 4 + 1}>;\n@compute").replace(
        "y[i] = ", "much[0] = 1.0;\n y[i] = "
    )
    kernel = wk.load_kernel(write_package(tmp_path, greedy), device=device)
    with pytest.raises(wk.errors.LimitError) as caught:
        kernel(x=np.array([1], np.float32))
    assert (caught.value.limit, caught.value.available) == ("maxComputeWorkgroupStorageSize", limit)
    assert caught.value.asked > limit
