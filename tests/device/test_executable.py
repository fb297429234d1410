"""Running programs: binding, order, errors, and what a warm call costs."""

from __future__ import annotations

import dataclasses
import threading
from typing import TYPE_CHECKING

import numpy as np
import pytest

from webgpu_kernels.device import Executable
from webgpu_kernels.device.binding import MAX_BOUND_SETS
from webgpu_kernels.errors import (
    DeviceError,
    ForeignTensor,
    LayoutError,
    LimitError,
    MissingValueError,
    PlanError,
    ShaderError,
    ShapeError,
    TensorDestroyed,
)
from webgpu_kernels.planning.program import Scratch

if TYPE_CHECKING:
    from hand_made_programs import Programs

    from webgpu_kernels.device import Device
    from webgpu_kernels.planning.program import Program

pytestmark = pytest.mark.device

X = np.arange(256, dtype=np.float32)
ADD_TO = """@group(0) @binding(0) var<storage, {source}> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{ y[id.x] = y[id.x] + x[id.x]; }}"""
INCREMENT = """@group(0) @binding(0) var<storage, read_write> x: array<f32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) { x[id.x] = x[id.x] + 1.0; }"""


def accumulate(programs: Programs, *, zero_init: bool = True, submit_after: bool = False) -> Program:
    """Y = x, added up in a cleared intermediate by one pass, and in y by another."""
    first = programs.step(
        ADD_TO.format(source="read"),
        programs.slot("x", "read-only-storage"),
        programs.slot("sum", "storage", "scratch"),
        grid=(4, 1, 1),
        name="first",
    )
    second = programs.step(
        ADD_TO.format(source="read").replace("y[id.x] + x", "x"),
        programs.slot("sum", "read-only-storage", "scratch"),
        programs.slot("y", "storage"),
        grid=(4, 1, 1),
        name="second",
    )
    return programs.program(
        (dataclasses.replace(first, submit_after=submit_after), second),
        (programs.use("x", (256,)),),
        (programs.use("y", (256,), output=True),),
        (Scratch(id="sum", size_bytes=1024, zero_init=zero_init),),
    )


def in_place(programs: Programs) -> Program:
    """X += 1, an input that is also an output."""
    step = programs.step(INCREMENT, programs.slot("x", "storage"), grid=(4, 1, 1))
    use = programs.use("x", (256,))
    return programs.program((step,), (use,), (dataclasses.replace(use, is_output=True),))


def test_a_program_runs(device: Device, programs: Programs) -> None:
    """Tensors in, tensors out; the uniform reaches the shader."""
    executable = Executable.compile(device, programs.scale(factor=3.0))
    (y,) = executable.run([device.tensor(X)])
    np.testing.assert_array_equal(y.numpy(), 3 * X)


def test_results_can_come_back_in_the_same_submission(device: Device, programs: Programs) -> None:
    """run_to_host returns arrays."""
    (y,) = Executable.compile(device, programs.scale()).run_to_host([device.tensor(X)])
    np.testing.assert_array_equal(y, 2 * X)


def test_tensors_may_be_given_by_name(device: Device, programs: Programs) -> None:
    """Mappings serve for inputs and outputs; a missing name is an error."""
    executable = Executable.compile(device, programs.scale())
    target = device.empty((256,), "float32")
    assert executable.run({"x": device.tensor(X)}, {"y": target}) == (target,)
    np.testing.assert_array_equal(target.numpy(), 2 * X)
    with pytest.raises(MissingValueError, match=r"test\.Op: no tensor for x$"):
        executable.run({})
    with pytest.raises(MissingValueError, match=r"wrong number of input tensors: expected 1, got 2$"):
        executable.run([target, target])


def test_preallocated_outputs_are_written(device: Device, programs: Programs) -> None:
    """A given tensor is the result; None in its place makes a new one."""
    executable = Executable.compile(device, programs.scale())
    x, target = device.tensor(X), device.empty((256,), "float32")
    assert executable.run((x,), (target,))[0] is target
    assert executable.run((x,), [None])[0] is not target


@pytest.mark.parametrize("submit_after", [False, True])
def test_intermediates_are_cleared_before_every_run(device: Device, programs: Programs, submit_after: bool) -> None:
    """zero_init holds for recycled memory too, also where a pass is waited for."""
    executable = Executable.compile(device, accumulate(programs, submit_after=submit_after))
    for _ in range(3):
        (y,) = executable.run([device.tensor(X)])
        np.testing.assert_array_equal(y.numpy(), X)


def test_an_input_that_is_an_output_is_updated_in_place(device: Device, programs: Programs) -> None:
    """The result is the input's own tensor; another tensor for it is an error."""
    executable = Executable.compile(device, in_place(programs))
    x = device.tensor(X)
    assert executable.run([x])[0] is x
    np.testing.assert_array_equal(x.numpy(), X + 1)
    with pytest.raises(PlanError, match=r"^test\.Op: x is updated in place: give the same tensor$"):
        executable.run([x], [device.tensor(X)])


def test_an_empty_grid_runs_nothing(device: Device, programs: Programs) -> None:
    """A pass with a zero axis is skipped, and a program without passes returns its outputs."""
    whole = programs.scale()
    skipped = dataclasses.replace(whole, passes=(dataclasses.replace(whole.passes[0], grid=(1, 0, 1)),))
    for program in (skipped, dataclasses.replace(whole, passes=())):
        (y,) = Executable.compile(device, program).run([device.tensor(X)])
        assert y.shape == (256,)
        assert Executable.compile(device, program).run_to_host([device.tensor(X)])[0].shape == (256,)


def test_reading_and_writing_the_same_memory_is_refused(device: Device, programs: Programs) -> None:
    """Before anything is submitted, naming the pass and both bindings."""
    executable = Executable.compile(device, programs.scale())
    x = device.tensor(X)
    with pytest.raises(PlanError) as caught:
        executable.run([x], [x])
    assert str(caught.value) == (
        "test.Op, pass only: x and y share memory that the pass writes. Give tensors of their own memory"
    )
    np.testing.assert_array_equal(x.numpy(), X)


def test_writing_apart_in_one_buffer_is_allowed(own_device: Device, programs: Programs) -> None:
    """Two writable ranges of one buffer may be bound where they do not overlap; a reader of it may not."""
    buffer = own_device.empty((1024,), "float32").buffer
    writes = programs.step(
        ADD_TO.format(source="read_write"), programs.slot("x", "storage"), programs.slot("y", "storage"), grid=(4, 1, 1)
    )
    uses = (programs.use("x", (256,)),), (programs.use("y", (256,), output=True),)
    executable = Executable.compile(own_device, programs.program((writes,), *uses))
    low, middle = (own_device.wrap(buffer, (256,), "float32", offset=offset) for offset in (0, 512))
    high = own_device.wrap(buffer, (256,), "float32", offset=1024)
    executable.run([low], [high])
    with pytest.raises(PlanError):
        executable.run([low], [middle])
    with pytest.raises(PlanError):
        Executable.compile(own_device, programs.scale()).run([low], [high])


def test_a_view_of_itself_is_skipped(device: Device, programs: Programs) -> None:
    """A pass that would copy memory onto itself does not run; onto other memory it does."""
    whole = programs.scale()
    step = dataclasses.replace(whole.passes[0], view_aliases=(("x", "y"),))
    executable = Executable.compile(device, dataclasses.replace(whole, passes=(step,)))
    x = device.tensor(X)
    executable.run([x], [x])
    np.testing.assert_array_equal(x.numpy(), X)
    np.testing.assert_array_equal(executable.run([x])[0].numpy(), 2 * X)


def test_other_tensors_than_planned_are_refused(device: Device, own_device: Device, programs: Programs) -> None:
    """Shape, dtype, layout, device and life of each tensor are checked."""
    executable = Executable.compile(device, programs.scale())
    with pytest.raises(ShapeError, match=r"^test\.Op, x: .*: expected float32\[256\], got float32\[255\]$"):
        executable.run([device.tensor(X[1:])])
    with pytest.raises(ShapeError, match=r"got int32\[256\]$"):
        executable.run([device.tensor(X.astype(np.int32))])
    with pytest.raises(
        ForeignTensor, match=r"^test\.Op, x: the tensor is on another device, <Device .*>; the call runs on <Device "
    ):
        executable.run([own_device.tensor(X)])
    gone = device.tensor(X)
    executable.run([gone])
    gone.destroy()
    with pytest.raises(TensorDestroyed):
        executable.run([gone])
    np.testing.assert_array_equal(executable.run([device.tensor(X)])[0].numpy(), 2 * X)


def test_a_tensor_stored_otherwise_is_refused(device: Device, programs: Programs) -> None:
    """A packed tensor does not serve where words are read."""
    use = dataclasses.replace(programs.use("x", (256,), "uint8"), storage="uint8")
    program = dataclasses.replace(programs.scale(), inputs=(use,))
    with pytest.raises(LayoutError, match=r"stored otherwise: expected uint8\[256\], got uint8\[256\] packed$"):
        Executable.compile(device, program).run([device.tensor(X.astype(np.uint8), layout="packed")])


def test_a_shader_error_names_template_and_lines(device: Device, programs: Programs) -> None:
    """The compiler's line is traced to the template; the device works on."""
    whole = programs.scale()
    broken = dataclasses.replace(whole.passes[0], wgsl=whole.passes[0].wgsl.replace("params.factor", "nonsense"))
    with pytest.raises(ShaderError) as caught:
        Executable.compile(device, dataclasses.replace(whole, passes=(broken,)))
    assert (caught.value.template, caught.value.template_line, caught.value.wgsl_line) == ("kernel.wgsl.jinja", 16, 6)
    assert str(caught.value) == (
        "test.Op, pass only: the shader does not compile (line 6 of the WGSL, kernel.wgsl.jinja:16): "
        "no definition in scope for identifier: `nonsense`"
    )
    Executable.compile(device, whole).run([device.tensor(X)])


def test_a_binding_that_the_layout_lacks_is_a_shader_error(device: Device, programs: Programs) -> None:
    """Errors of the pipeline, not of the text, are shader errors too."""
    whole = programs.scale()
    step = dataclasses.replace(whole.passes[0], slots=whole.passes[0].slots[:2])
    with pytest.raises(ShaderError, match=r"binding: 2 } is not available in the pipeline layout"):
        Executable.compile(device, dataclasses.replace(whole, passes=(step,)))


def test_workgroup_memory_is_checked_before_compiling(device: Device, programs: Programs) -> None:
    """The GPU might hang where wgpu does not check."""
    whole = programs.scale()
    available = device.capabilities.limits["maxComputeWorkgroupStorageSize"]
    greedy = (
        whole.passes[0]
        .wgsl.replace("fn main", "fn use_it() { a[0] = 1.0; } fn main")
        .replace("@compute", f"var<workgroup> a: array<f32, {available // 4 + 1}>; @compute")
    )
    step = dataclasses.replace(whole.passes[0], wgsl=greedy)
    with pytest.raises(LimitError) as caught:
        Executable.compile(device, dataclasses.replace(whole, passes=(step,)))
    assert (caught.value.limit, caught.value.available) == ("maxComputeWorkgroupStorageSize", available)


def test_subgroup_directives_are_taken(device: Device, programs: Programs) -> None:
    """Packages carry ``enable subgroups;`` for browsers; wgpu compiles them all the same."""
    whole = programs.scale()
    wgsl = "enable subgroups;\n" + whole.passes[0].wgsl.replace("params.factor;", "params.factor * subgroupMax(1.0);")
    step = dataclasses.replace(whole.passes[0], wgsl=wgsl)
    executable = Executable.compile(device, dataclasses.replace(whole, passes=(step,)))
    np.testing.assert_array_equal(executable.run([device.tensor(X)])[0].numpy(), 2 * X)


def test_too_large_an_output_is_refused_at_compilation(device: Device, programs: Programs) -> None:
    """Before memory is asked for, with the limit."""
    limit = device.capabilities.limits["maxStorageBufferBindingSize"]
    program = dataclasses.replace(programs.scale(), outputs=(programs.use("y", (limit // 4 + 1,), output=True),))
    with pytest.raises(LimitError, match=r"^test\.Op: y is too large: needs"):
        Executable.compile(device, program)


def test_a_grid_beyond_the_limit_is_refused_at_compilation(device: Device, programs: Programs) -> None:
    """Each axis has a limit."""
    whole = programs.scale()
    program = dataclasses.replace(whole, passes=(dataclasses.replace(whole.passes[0], grid=(1, 65536, 1)),))
    with pytest.raises(LimitError, match=r"^test\.Op, pass only: the grid is too large: needs 65536, the device's max"):
        Executable.compile(device, program)


def test_a_tensor_smaller_than_one_element_of_the_shader_is_refused(device: Device, programs: Programs) -> None:
    """Four bytes bound as vec4: wgpu finds it before anything is submitted, and the next call works."""
    whole = programs.scale(count=1)
    step = dataclasses.replace(whole.passes[0], wgsl=whole.passes[0].wgsl.replace("array<f32>", "array<vec4<f32>>"))
    executable = Executable.compile(device, dataclasses.replace(whole, passes=(step,)))
    with pytest.raises(DeviceError, match="is bound with size 4 where the shader expects 16"):
        executable.run([device.tensor(X[:1])])
    assert Executable.compile(device, whole).run_to_host([device.tensor(X[1:2])])[0] == [2.0]


def test_a_warm_call_creates_no_buffer(own_device: Device, programs: Programs) -> None:
    """Dropped outputs come back, and with them their bind groups."""
    executable = Executable.compile(own_device, programs.scale())
    x = own_device.tensor(X)
    (y,) = executable.run((x,))
    (y,) = executable.run((x,))
    created, bound = own_device.pool.created, len(executable._cache.sets)
    for _ in range(20):
        (y,) = executable.run((x,))
    np.testing.assert_array_equal(y.numpy(), 2 * X)
    assert (own_device.pool.created, len(executable._cache.sets)) == (created, bound)


def test_bind_groups_are_bounded_and_leave_with_their_memory(own_device: Device, programs: Programs) -> None:
    """Many tensors make many sets, the oldest leave; destroyed memory takes its sets along."""
    executable = Executable.compile(own_device, programs.scale())
    tensors = [own_device.tensor(X) for _ in range(MAX_BOUND_SETS + 10)]
    target = own_device.empty((256,), "float32")
    for tensor in tensors:
        executable.run((tensor,), (target,))
    assert len(executable._cache.sets) == MAX_BOUND_SETS
    assert len(target.allocation.bound) == MAX_BOUND_SETS
    del tensors, tensor
    own_device.trim()
    assert len(executable._cache.sets) == 0
    assert not target.allocation.bound


def test_pipelines_are_shared(own_device: Device, programs: Programs) -> None:
    """The same text and layout compile once, whatever the uniforms hold."""
    first, second = programs.scale(factor=2.0), programs.scale(factor=5.0)
    executables = [Executable.compile(own_device, program) for program in (first, second)]
    assert len(own_device.pipelines) == 1
    x = own_device.tensor(X)
    results = [executable.run([x])[0].numpy() for executable in executables]
    np.testing.assert_array_equal(results, [2 * X, 5 * X])


def test_trimming_between_calls_is_harmless(own_device: Device, programs: Programs) -> None:
    """Intermediates and staging buffers are made again."""
    executable = Executable.compile(own_device, accumulate(programs))
    for _ in range(2):
        np.testing.assert_array_equal(executable.run_to_host([own_device.tensor(X)])[0], X)
        own_device.trim()
    assert own_device.pool.free_bytes == 0


@pytest.mark.parametrize("submit_after", [False, True])
def test_eight_threads_share_a_device(device: Device, programs: Programs, submit_after: bool) -> None:
    """The same and different programs, shared intermediates, right results and no deadlock."""
    shared = Executable.compile(device, accumulate(programs, submit_after=submit_after))
    wrong: list[object] = []

    def work(number: int) -> None:
        own = Executable.compile(device, programs.scale(factor=float(number)))
        for turn in range(20):
            x = np.full(256, turn + number / 8, np.float32)
            tensor = device.tensor(x)
            (copy,) = shared.run((tensor,))
            (scaled,) = own.run((copy,))
            if not (scaled.numpy() == x * np.float32(number)).all():
                wrong.append((number, turn))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    assert wrong == []


def test_passes_are_timed(device: Device, programs: Programs) -> None:
    """Each pass that runs has a positive time in nanoseconds."""
    if "timestamp-query" not in device.capabilities.features:
        pytest.skip("the device has no timestamp queries")
    executable = Executable.compile(device, accumulate(programs))
    times = executable.time([device.tensor(X)], repeat=3)
    assert list(times) == ["first", "second"]
    assert all(0 < nanoseconds < 1e9 for nanoseconds in times.values())
    assert all(len(runs) == 4 for runs in executable.time_runs([device.tensor(X)], repeat=4).values())


def test_whole_calls_are_timed(device: Device, programs: Programs) -> None:
    """Each call has one positive time, and calls take sets of tensors in turns."""
    if "timestamp-query" not in device.capabilities.features:
        pytest.skip("the device has no timestamp queries")
    executable = Executable.compile(device, accumulate(programs))
    outputs = [executable.run([device.tensor(X)]) for _ in range(2)]
    times = executable.time_calls([([device.tensor(X)], out) for out in outputs], repeat=3)
    assert len(times) == 3
    assert all(0 < nanoseconds < 1e9 for nanoseconds in times)


def test_timing_needs_timestamp_queries(programs: Programs) -> None:
    """A device without them says so and what to do instead."""
    from webgpu_kernels.device import Device  # noqa: PLC0415 - only here
    from webgpu_kernels.device.seam import enumerate_adapters  # noqa: PLC0415 - only here

    plain = next(adapter for adapter in enumerate_adapters() if adapter.info["backend_type"] == "Vulkan")
    device = Device.from_wgpu(plain.request_device_sync())
    executable = Executable.compile(device, programs.scale())
    with pytest.raises(DeviceError, match=r"has no timestamp queries: expected the feature timestamp-query\. Time"):
        executable.time([device.tensor(X)])


def test_an_executable_describes_itself(device: Device, programs: Programs) -> None:
    """Operator, passes, device."""
    assert repr(Executable.compile(device, programs.scale())) == f"<Executable of test.Op with 1 pass on {device.name}>"
