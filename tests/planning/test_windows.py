"""Tensors bound as windows: what each covers, what the shader is given, and what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_manifests import a_pass, scale_manifest, variant
from table_package import table_manifest, table_pass

from webgpu_kernels.errors import LimitError, NoVariantError, PlanError, ShapeError
from webgpu_kernels.language import compile_template
from webgpu_kernels.planning.capabilities import Capabilities
from webgpu_kernels.planning.explanation import explain_selection
from webgpu_kernels.planning.rendering import build_program, declarations
from webgpu_kernels.planning.scope import window_bytes
from webgpu_kernels.planning.spec import TensorSpec
from webgpu_kernels.planning.windows import cut

if TYPE_CHECKING:
    from sample_manifests import Planner, Select

    from webgpu_kernels.language import Template
    from webgpu_kernels.planning.plan import Plan

SMALL = Capabilities(limits={"maxStorageBufferBindingSize": 1279})
"""Windows of 1024 bytes."""


class OneTemplate:
    """The same text for every pass."""

    def __init__(self, text: str) -> None:
        self.text = text

    def template(self, name: str) -> Template:
        """Compile it."""
        return compile_template(self.text, name=name)


def table(rows: int, columns: int, dtype: str = "uint8") -> dict[str, TensorSpec]:
    return {"table": TensorSpec((rows, columns), dtype), "rows": TensorSpec((1,), "int64")}


def windows(planned: Plan) -> list[tuple[str, int, int | None]]:
    return [(b.name, b.offset_bytes, b.size_bytes) for b in planned.passes[0].bindings if b.target == "table"]


@given(size_words=st.integers(1, 5000), window_units=st.integers(1, 40))
def test_windows_cover_every_byte_once(size_words: int, window_units: int) -> None:
    """They follow each other without gap or overlap, start where WebGPU binds, and all but the last are full."""
    size, window = 4 * size_words, 256 * window_units
    parts = cut(size, window)
    ends = [offset + length for offset, length in parts]
    assert [offset for offset, _ in parts] == [0, *ends[:-1]]
    assert ends[-1] == size
    assert all(offset % 256 == 0 and length > 0 and length % 4 == 0 for offset, length in parts)
    assert {length for _, length in parts[:-1]} <= {window}
    assert len(parts) == -(-size // window)


@given(binding=st.integers(1, 2**32), buffer=st.integers(1, 2**33))
def test_a_window_is_as_large_as_a_binding_may_be(binding: int, buffer: int) -> None:
    """Rounded down to the alignment that every device takes."""
    limits = {"maxStorageBufferBindingSize": binding, "maxBufferSize": buffer}
    window = window_bytes(Capabilities(limits=limits))
    assert window % 256 == 0
    assert window <= min(binding, buffer) < window + 256


def test_a_table_is_bound_in_windows(plan: Planner) -> None:
    """Rows of 301 bytes straddle the borders; the last window holds the rest, rounded up to a word."""
    planned = plan(table_manifest(), table(9, 301), SMALL)
    assert windows(planned) == [("table0", 0, 1024), ("table1", 1024, 1024), ("table2", 2048, 664)]


def test_a_small_table_is_one_window(plan: Planner) -> None:
    """It is called 0 all the same, so that a template need not tell the cases apart."""
    assert windows(plan(table_manifest(), table(3, 5))) == [("table0", 0, 16)]


@pytest.mark.parametrize(("dtype", "size_bytes"), [("uint8", 2712), ("int4", 1356), ("uint4", 1356)])
def test_windows_cover_what_is_packed(plan: Planner, dtype: str, size_bytes: int) -> None:
    """Four uint8 to a word, eight int4 or uint4; 2709 of them."""
    name, offset, size = windows(plan(table_manifest(), table(9, 301, dtype), SMALL))[-1]
    assert offset + (size or 0) == size_bytes, name


def test_windows_are_declared_in_order_and_move_what_follows(plan: Planner) -> None:
    """Each at its own place."""
    planned = plan(table_manifest(), table(13, 113, "int4"), Capabilities(limits={"maxStorageBufferBindingSize": 512}))
    assert declarations(planned.passes[0].bindings).splitlines()[1:] == [
        "@group(0) @binding(0) var<storage, read> table0: array<u32>;",
        "@group(0) @binding(1) var<storage, read> table1: array<u32>;",
        "@group(0) @binding(2) var<storage, read> rows: array<i32>;",
        "@group(0) @binding(3) var<storage, read_write> y: array<i32>;",
        "@group(0) @binding(4) var<uniform> params: Params;",
    ]


def test_the_program_says_which_bytes_each_slot_binds(plan: Planner) -> None:
    """A whole tensor has no size of its own."""
    program = build_program(OneTemplate("{{ SPLIT_WINDOW_BYTES }}"), plan(table_manifest(), table(5, 301), SMALL))
    slots = [(slot.name, slot.offset_bytes, slot.size_bytes) for slot in program.passes[0].slots]
    assert slots[:3] == [("table", 0, 1024), ("table", 1024, 484), ("rows", 0, None)]
    assert program.passes[0].wgsl == "1024"


def test_an_explanation_shows_the_bytes_of_each_window(select: Select) -> None:
    """In the lines of the bindings."""
    explanation = explain_selection(select(table_manifest(), table(5, 301), SMALL))
    assert str(explanation).splitlines()[-6:] == [
        "  main (take.wgsl.jinja): 5 x 1 x 1 workgroups",
        "    0 read-only-storage table0 = table: array<u32>, bytes 0 to 1023",
        "    1 read-only-storage table1 = table: array<u32>, bytes 1024 to 1507",
        "    2 read-only-storage rows: array<i32>",
        "    3 storage           y: array<i32>",
        "    4 uniform           params: Params",
    ]


@pytest.mark.parametrize(
    ("split", "message"),
    [
        (1, "too few windows: expected 2 for 1508 bytes, 1024 in a window, got 1"),
        ("parts + 1", "too many windows: expected 2 for 1508 bytes, 1024 in a window, got 3"),
        ("10 ** 15", "too many windows: expected 2 for 1508 bytes, 1024 in a window, got 1000000000000000"),
        ("parts / 4", "wrong number of windows: expected a positive integer, got 0.5"),
        ("true", "wrong number of windows: expected a positive integer, got True"),
        ("[2]", "wrong number of windows: expected a positive integer, got [2]"),
        ("none + 1", "'split' fails: none + 1: an operand of '+' is none"),
    ],
)
def test_the_number_of_windows_must_be_right(plan: Planner, split: object, message: str) -> None:
    """Too few would leave bytes out, too many would bind nothing."""
    handles = {**table_manifest()["bindings"], "table": {"split": split}}
    with pytest.raises(PlanError) as caught:
        plan(table_manifest(bindings=handles), table(5, 301), SMALL)
    assert str(caught.value).startswith(f"test.TakeRows: variant only: pass main: binding 'table': {message}")


def test_more_windows_than_the_device_binds(plan: Planner) -> None:
    """Seven windows, the row numbers and the output: nine storage buffers where a device has eight."""
    with pytest.raises(LimitError) as caught:
        plan(table_manifest(), table(22, 301), SMALL)
    assert str(caught.value) == (
        "test.TakeRows: variant only: pass main: too many storage buffers: needs 9, "
        "the device's maxStorageBuffersPerShaderStage is 8"
    )


def test_a_clause_can_guard_the_number_of_windows(plan: Planner) -> None:
    """Then the variant is rejected, and another one may serve."""
    guard = "parts + 2 <= device.limits.maxStorageBuffersPerShaderStage"
    manifest = table_manifest(variants=[{"id": "only", "when": [guard], "passes": [table_pass()]}])
    assert len(windows(plan(manifest, table(20, 301), SMALL))) == 6
    with pytest.raises(NoVariantError):
        plan(manifest, table(22, 301), SMALL)


def test_a_plan_of_a_million_windows_is_not_made(plan: Planner) -> None:
    """A device that binds next to nothing costs neither time nor memory."""
    device = Capabilities(limits={"maxStorageBufferBindingSize": 256, "maxBufferSize": 2**40})
    with pytest.raises(LimitError) as caught:
        plan(table_manifest(), table(2**20, 2**10), device)
    assert str(caught.value) == (
        "test.TakeRows: variant only: pass main: binding 'table': too many windows: needs 4194304, "
        "the device's maxBindingsPerBindGroup is 1000"
    )


def test_a_device_without_a_whole_window(plan: Planner) -> None:
    """Windows start at multiples of 256 bytes."""
    manifest = table_manifest(bindings={**table_manifest()["bindings"], "table": {"split": 1}}, derive=None)
    manifest["derive"] = {**table_manifest()["derive"], "parts": "1"}
    with pytest.raises(LimitError) as caught:
        plan(manifest, table(2, 3), Capabilities(limits={"maxStorageBufferBindingSize": 200}))
    assert str(caught.value) == (
        "test.TakeRows: variant only: pass main: binding 'table': a window is too large: needs 256, "
        "the device's maxStorageBufferBindingSize is 200"
    )


def test_a_last_window_smaller_than_one_element(plan: Planner) -> None:
    """WebGPU refuses a binding that holds not even one element of its array."""
    handles = {**table_manifest()["bindings"], "table": {"split": "parts", "elementType": "vec4<u32>"}}
    with pytest.raises(PlanError) as caught:
        plan(table_manifest(bindings=handles), table(8, 129), SMALL)
    assert str(caught.value) == (
        "test.TakeRows: variant only: pass main: binding 'table': the last window is too small for its type: "
        "expected 16 bytes for array<vec4<u32>>, got 8 bytes"
    )


def test_windows_may_not_take_a_name_that_is_taken(plan: Planner) -> None:
    """How many there are is known only now, and with it what they are called."""
    handles = {**table_manifest()["bindings"], "other": {"arg": "rows", "name": "table1"}}
    passes = [table_pass(bindings=["table", "other", "y", "params"])]
    manifest = table_manifest(bindings=handles, variants=[{"id": "only", "passes": passes}])
    assert len(windows(plan(manifest, table(2, 301), SMALL))) == 1
    with pytest.raises(PlanError) as caught:
        plan(manifest, table(5, 301), SMALL)
    assert str(caught.value) == (
        "test.TakeRows: variant only: pass main: the shader gets two things called 'table1'. "
        "Windows are called by the binding's name and a number: set 'name' of one of them."
    )


def test_a_split_tensor_may_exceed_a_binding_but_not_a_buffer(plan: Planner) -> None:
    """The largest buffer is the last limit."""
    limits = {"maxStorageBufferBindingSize": 1024, "maxBufferSize": 4096}
    assert len(windows(plan(table_manifest(), table(16, 256), Capabilities(limits=limits)))) == 4
    with pytest.raises(LimitError) as caught:
        plan(table_manifest(), table(17, 241), Capabilities(limits=limits))
    assert (
        str(caught.value)
        == "test.TakeRows: 'table': the buffer is too large: needs 4100, the device's maxBufferSize is 4096"
    )


def test_a_tensor_that_is_not_split_is_bound_whole(plan: Planner) -> None:
    """The limit of a binding counts for the row numbers as before."""
    inputs = {**table(1, 1), "rows": TensorSpec((330,), "int64")}
    with pytest.raises(LimitError) as caught:
        plan(table_manifest(), inputs, SMALL)
    assert str(caught.value) == (
        "test.TakeRows: 'rows': the storage binding is too large: needs 1320, "
        "the device's maxStorageBufferBindingSize is 1279"
    )


def test_a_variant_that_splits_nothing_is_refused_by_its_binding(plan: Planner) -> None:
    """What counts is what the chosen variant binds."""
    handles = {**table_manifest()["bindings"], "whole": {"arg": "table"}}
    variants: list[dict[str, Any]] = [
        {"id": "whole", "passes": [table_pass(bindings=["whole", "rows", "y", "params"])]},
        {"id": "windows", "passes": [table_pass()]},
    ]
    manifest = table_manifest(bindings=handles, variants=variants)
    assert len(windows(plan(manifest, table(5, 301), SMALL, variant="windows"))) == 2
    with pytest.raises(LimitError, match="'table': the storage binding is too large: needs 1508, the device's max"):
        plan(manifest, table(5, 301), SMALL)


def test_too_large_for_one_buffer_is_said_before_any_clause(plan: Planner) -> None:
    """Where no variant takes the request, a split tensor beyond a binding is no reason, beyond a buffer it is."""
    manifest = table_manifest(variants=[{"id": "only", "when": ["columns < 4"], "passes": [table_pass()]}])
    with pytest.raises(ShapeError, match="`columns < 4` is false"):
        plan(manifest, table(5, 301), SMALL)
    with pytest.raises(LimitError, match="'table': the buffer is too large"):
        plan(manifest, table(5, 301), Capabilities(limits={"maxBufferSize": 1024}))


def test_windows_of_int64_are_copied_whole(plan: Planner) -> None:
    """The text check knows the windows by their names."""
    manifest = scale_manifest(
        extensions=["split"],
        inputs={"x": {"dtype": "int64"}},
        outputs={"y": {"dtype": "int64", "shape": [1]}},
        typeConstraints=None,
        variants=[variant("only", passes=[a_pass(bindings=[{"name": "x", "split": 2}, "y"])])],
    )
    planned = plan(manifest, {"x": TensorSpec((200,), "int64")}, SMALL)
    assert build_program(OneTemplate("y[0] = x1[3];"), planned).passes[0].wgsl == "y[0] = x1[3];"
    with pytest.raises(PlanError) as caught:
        build_program(OneTemplate("y[0] = x1[3] + x0[0];"), planned)
    assert "computes with an element of the int64 buffer 'x1'" in str(caught.value)
