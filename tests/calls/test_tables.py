"""A kernel of extensions from call to result: tables of any size, half bytes, row numbers in a range."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest
from table_package import table_manifest, table_pass, write_table_package

import webgpu_kernels as wk
from webgpu_kernels.device.seam import enumerate_adapters

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = pytest.mark.device

BINDING_BYTES = 16_500
"""What the small device binds at most: windows of 16,384 bytes."""
OP = "test.TakeRows"


@pytest.fixture(scope="module")
def small() -> Iterator[wk.Device]:
    """A device whose storage bindings are small: what takes gigabytes elsewhere takes kilobytes here."""
    limits = {"max-storage-buffer-binding-size": BINDING_BYTES, "max-storage-buffers-per-shader-stage": 8}
    wgpu_device = enumerate_adapters()[0].request_device_sync(required_limits=limits)
    with wk.Device.from_wgpu(wgpu_device) as opened:
        yield opened
    wgpu_device.destroy()


@pytest.fixture
def load(tmp_path: Path, small: wk.Device) -> Callable[..., wk.Kernel]:
    """Load the package, its manifest changed."""

    def run(**changes: Any) -> wk.Kernel:
        return wk.load_kernel(write_table_package(tmp_path, **changes), device=small)

    return run


@pytest.fixture
def kernel(load: Callable[..., wk.Kernel]) -> wk.Kernel:
    """The package as it is."""
    return load()


def table(dtype: str, rows: int, columns: int) -> Any:
    """Return a table of random values."""
    bits = np.random.default_rng(11).integers(0, 256, (rows, columns), dtype=np.uint8)
    if dtype == "uint8":
        return bits
    return (bits.astype(np.int8) >> 4 if dtype == "int4" else bits >> 4).astype(getattr(ml_dtypes, dtype))


def border_rows(values: Any) -> Any:
    """Return the rows that straddle the borders of windows, and the first and last ones, some counted from the end."""
    row_bytes = values.shape[1] if values.dtype == np.uint8 else values.shape[1] / 2
    borders = np.arange(16_384, int(values.shape[0] * row_bytes), 16_384)
    rows = np.concatenate([[0, len(values) - 1, -1, -len(values)], (borders / row_bytes).astype(np.int64)])
    return rows.astype(np.int64)


@pytest.mark.parametrize("columns", [97, 256, 603, 1201])
@pytest.mark.parametrize("dtype", ["uint8", "int4", "uint4"])
def test_rows_are_read_across_the_borders_of_windows(kernel: wk.Kernel, dtype: str, columns: int) -> None:
    """Whatever a row's length in bits, and wherever a border falls in it."""
    values = table(dtype, 90_000 // columns, columns)
    rows = border_rows(values)
    prepared = kernel.prepare(table=values, rows=wk.TensorSpec((1,), "int64"))
    assert len(prepared.program.passes[0].slots) > 3 + 1
    held = kernel.tensor("table", values)
    for row in rows:
        np.testing.assert_array_equal(prepared(table=held, rows=np.array([row]), output="cpu").y[0], values[row])


def test_one_window_is_enough_for_a_small_table(kernel: wk.Kernel) -> None:
    """The same template serves."""
    values = table("int4", 5, 7)
    np.testing.assert_array_equal(kernel(table=values, rows=np.array([4, -5])).y, values[[4, 0]])


def test_a_table_is_uploaded_once_and_serves_many_calls(kernel: wk.Kernel, small: wk.Device) -> None:
    """Its windows are bound once; a repeated call allocates nothing."""
    values = table("uint8", 60, 1201)
    held, rows, out = kernel.tensor("table", values), np.array([17]), small.empty((1, 1201), "int32")
    kernel(table=held, rows=rows, out={"y": out})
    created = small.pool.created
    for row in range(5):
        kernel(table=held, rows=small.tensor(np.array([row]), storage="int32"), out={"y": out})
        np.testing.assert_array_equal(out.numpy()[0], values[row])
    assert small.pool.created <= created + 1


def test_a_wrapped_buffer_may_be_larger_than_a_binding(kernel: wk.Kernel, small: wk.Device) -> None:
    """It is bound in windows like any other table, from its offset on."""
    values = table("uint8", 40, 1000)
    whole = small.tensor(np.concatenate([np.zeros(512, np.uint8), values.reshape(-1)]), layout="packed")
    held = small.wrap(whole.buffer, values.shape, "uint8", layout="packed", offset=512)
    np.testing.assert_array_equal(kernel(table=held, rows=np.array([33]), output="cpu").y[0], values[33])


@pytest.mark.parametrize("width", [8, pytest.param(4, marks=pytest.mark.slow)])
def test_a_table_beyond_the_devices_own_binding_limit(tmp_path: Path, device: wk.Device, width: int) -> None:
    """160 MB where software Vulkan binds 128 MiB; rows of 1001 values."""
    kernel = wk.load_kernel(write_table_package(tmp_path), device=device)
    rows = 160_000_000 * 8 // width // 1001
    values = np.arange(rows * 1001, dtype=np.uint32).astype(np.uint8).reshape(rows, 1001)
    if width == 4:
        values = (values & 15).view(ml_dtypes.uint4)
    held = kernel.tensor("table", values)
    assert held.nbytes > 159_000_000
    border = (128 << 20) * 8 // width // 1001
    wanted = np.array([0, border, border + 1, rows - 1])
    np.testing.assert_array_equal(kernel(table=held, rows=wanted, output="cpu").y, values[wanted].astype(np.int32))


def refused(kind: type[wk.errors.KernelError], call: Callable[[], object]) -> str:
    with pytest.raises(kind) as caught:
        call()
    assert type(caught.value) is kind
    return str(caught.value)


def test_a_row_out_of_range_is_named_before_anything_is_uploaded(kernel: wk.Kernel, small: wk.Device) -> None:
    """The first one, with its position and the range; the device has not been asked for memory."""
    values, rows = table("uint8", 6, 5), np.array([[0, 5], [6, -7]])
    kernel.prepare(table=values, rows=rows)
    created, freed = small.pool.created, small.pool.free_bytes
    assert refused(wk.errors.ValueRangeError, lambda: kernel(table=values, rows=rows)) == (
        f"{OP}: 'rows': value out of range at [1, 0]: expected -6 to 5 (a row of the table), got 6"
    )
    assert (small.pool.created, small.pool.free_bytes) == (created, freed)


def test_a_row_beyond_32_bits_is_out_of_range_not_too_wide(kernel: wk.Kernel) -> None:
    """The range is checked before int64 is narrowed."""
    values, rows = table("uint8", 6, 5), np.array([2**32 + 1])
    assert refused(wk.errors.ValueRangeError, lambda: kernel(table=values, rows=rows)) == (
        f"{OP}: 'rows': value out of range at [0]: expected -6 to 5 (a row of the table), got 4294967297"
    )


def test_a_prepared_call_checks_every_time(kernel: wk.Kernel) -> None:
    """Timing too; what is of another shape is told first."""
    values = table("uint8", 6, 5)
    prepared = kernel.prepare(table=values, rows=wk.TensorSpec((1,), "int64"))
    message = f"{OP}: 'rows': value out of range at [0]: expected -6 to 5 (a row of the table), got 9"
    assert refused(wk.errors.ValueRangeError, lambda: prepared(table=values, rows=np.array([9]))) == message
    assert refused(wk.errors.ValueRangeError, lambda: prepared.time(table=values, rows=np.array([9]))) == message
    assert refused(wk.errors.ShapeError, lambda: prepared(table=values, rows=np.array([9, 9]))) == (
        f"{OP}: 'rows': wrong shape for the prepared call: expected [1], got [2]"
    )


def test_rows_on_the_gpu_are_not_looked_at(kernel: wk.Kernel) -> None:
    """Reading them back would cost more than the call; the shader reads nothing outside of its windows."""
    rows = kernel.tensor("rows", np.array([3, 99]))
    got = kernel(table=table("uint8", 6, 5), rows=rows, output="cpu").y
    np.testing.assert_array_equal(got[0], table("uint8", 6, 5)[3])


def test_an_array_of_half_bytes_where_the_contract_has_none(load: Callable[..., wk.Kernel]) -> None:
    """A call, and an upload."""
    kernel = load(typeConstraints={"T": ["uint8"]})
    values, message = table("int4", 6, 5), f"{OP}: 'table': wrong dtype: expected T, one of uint8, got int4"
    assert refused(wk.errors.DtypeError, lambda: kernel(table=values, rows=np.array([0]))) == message
    assert refused(wk.errors.DtypeError, lambda: kernel.tensor("table", values)) == message


def test_bytes_that_are_not_packed(kernel: wk.Kernel, small: wk.Device) -> None:
    """A tensor made without the port's layout is not converted in silence."""
    held = small.tensor(table("uint8", 6, 5))
    assert refused(wk.errors.LayoutError, lambda: kernel(table=held, rows=np.array([0]))) == (
        f"{OP}: 'table': wrong layout: expected packed, got none. Make the tensor with kernel.tensor('table', array)."
    )


def test_a_packed_tensor_where_words_are_needed(load: Callable[..., wk.Kernel], small: wk.Device) -> None:
    """The other way round."""
    inputs = table_manifest()["inputs"]
    del inputs["table"]["layout"]
    kernel = load(inputs=inputs)
    held = small.tensor(table("uint8", 6, 5), layout="packed")
    assert refused(wk.errors.LayoutError, lambda: kernel(table=held, rows=np.array([0]))) == (
        f"{OP}: 'table': wrong layout: expected none, got packed. Make the tensor with kernel.tensor('table', array)."
    )


def test_half_bytes_made_by_the_device_fit(kernel: wk.Kernel, small: wk.Device) -> None:
    """They have one layout, so that of the port makes no difference."""
    values = table("uint4", 6, 5)
    for layout in (None, "packed"):
        held = small.tensor(values, layout=layout)
        np.testing.assert_array_equal(kernel(table=held, rows=np.array([2]), output="cpu").y[0], values[2])


def test_more_windows_than_the_device_binds(kernel: wk.Kernel) -> None:
    """Nothing is uploaded."""
    message = refused(wk.errors.LimitError, lambda: kernel.prepare(table=table("uint8", 120, 1000), rows=np.array([0])))
    assert message == (
        f"{OP}: variant only: pass main: too many storage buffers: needs 10, "
        "the device's maxStorageBuffersPerShaderStage is 8"
    )


@pytest.mark.parametrize(("split", "word"), [("parts - 1", "few"), ("parts + 1", "many")])
def test_a_wrong_number_of_windows(load: Callable[..., wk.Kernel], split: str, word: str) -> None:
    """The manifest's fault, found before anything runs."""
    kernel = load(bindings={**table_manifest()["bindings"], "table": {"split": split}})
    wrong = {"few": 2, "many": 4}[word]
    message = refused(wk.errors.PlanError, lambda: kernel(table=table("uint8", 40, 1001), rows=np.array([0])))
    assert message == (
        f"{OP}: variant only: pass main: binding 'table': too {word} windows: "
        f"expected 3 for 40040 bytes, 16384 in a window, got {wrong}"
    )


def test_a_table_beyond_the_largest_buffer(tmp_path: Path, device: wk.Device) -> None:
    """By spec, as nobody has the memory to try."""
    kernel = wk.load_kernel(write_table_package(tmp_path), device=device)
    limit = device.capabilities.limits["maxBufferSize"]
    rows = limit // 1000 + 1
    described = wk.TensorSpec((rows, 1000), "uint8")
    size = -(-rows * 1000 // 4) * 4
    assert refused(wk.errors.LimitError, lambda: kernel.prepare(table=described, rows=np.array([0]))) == (
        f"{OP}: 'table': the buffer is too large: needs {size}, the device's maxBufferSize is {limit}"
    )


def test_half_bytes_can_be_described_without_an_array(kernel: wk.Kernel) -> None:
    """A shape and a dtype are all that explain and render need."""
    request = {"table": wk.TensorSpec((4, 8), "int4"), "rows": wk.TensorSpec((2,), "int64")}
    assert "0 read-only-storage table0 = table: array<u32>, bytes 0 to 15" in str(kernel.explain(request))
    assert "case 0u: { return table0[at]; }" in kernel.render(request)["main"]


def test_a_kernel_can_compute_half_bytes(load: Callable[..., wk.Kernel], tmp_path: Path) -> None:
    """An int4 output is written as words and comes back as ml_dtypes' array."""
    kernel = load(
        inputs={"x": {"dtype": "int4"}},
        outputs={"y": {"dtype": "int4", "shape": "shapes.x"}},
        typeConstraints=None,
        derive=None,
        bindings=None,
        variants=[{"id": "only", "passes": [table_pass(bindings=["x", "y"], dispatch={"x": 1})]}],
    )
    (tmp_path / "take.wgsl.jinja").write_text(
        "{{ env.wgsl.resourceDeclarations }}\n"
        "@compute @workgroup_size(1) fn main() { for (var i = 0u; i < arrayLength(&y); i++) { y[i] = ~x[i]; } }\n"
    )
    x = table("int4", 3, 5)
    got = kernel(x=x).y
    assert got.dtype == ml_dtypes.int4
    np.testing.assert_array_equal(got, (-1 - x.astype(np.int8)).astype(ml_dtypes.int4))
