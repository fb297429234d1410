"""What a shader asks of a workgroup is read from its text."""

from __future__ import annotations

import pytest

from webgpu_kernels.device.shader_check import check_workgroup, workgroup_needs
from webgpu_kernels.errors import LimitError
from webgpu_kernels.planning.capabilities import DEFAULT_LIMITS


def needs(declarations: str, use: str = "a", size: str = "64") -> int:
    return workgroup_needs(f"{declarations}\n@compute @workgroup_size({size}) fn main() {{ {use}; }}").storage_bytes


@pytest.mark.parametrize(
    ("kind", "size"),
    [
        ("f32", 16),
        ("array<f32, 64>", 256),
        ("array<f16, 64>", 128),
        ("array<vec3<f32>, 4>", 64),
        ("array<vec3f, 4u>", 64),
        ("array<vec4h, 0x10>", 128),
        ("array<vec2<f16>, 3>", 16),
        ("atomic<u32>", 16),
        ("array<atomic<u32>, 5>", 32),
        ("mat4x4<f32>", 64),
        ("mat3x3f", 48),
        ("array<array<f32, 4>, 8>", 128),
    ],
)
def test_types_have_wgsl_sizes(kind: str, size: int) -> None:
    """Scalars, vectors, matrices, arrays and atomics, each variable rounded up to 16 bytes."""
    assert needs(f"var<workgroup> a: {kind};") == size


def test_structs_follow_their_alignment() -> None:
    """Members are aligned, and the struct is rounded up to its own alignment."""
    declared = "struct S { first: f32, second: vec3<f32>, third: u32 }\nvar<workgroup> a: array<S, 2>;"
    assert needs(declared) == 64


def test_constants_aliases_and_expressions_are_followed() -> None:
    """Sizes may be written with constants, arithmetic, min and max."""
    declared = """
    const WIDTH = 16u;
    const ROWS: u32 = WIDTH / 2 + max(1, 3) - (1 << 1) % 3;
    alias Row = array<vec4<f32>, WIDTH>;
    var<workgroup> a: array<Row, ROWS>;"""
    assert needs(declared) == (16 // 2 + 3 - 2) * 16 * 16


def test_comments_declare_nothing() -> None:
    """Line comments and nested block comments are skipped."""
    assert needs("// var<workgroup> a: f32;\n/* /* */ var<workgroup> a: f32; */") == 0


def test_variables_that_nothing_uses_cost_nothing() -> None:
    """WebGPU counts what the entry point uses."""
    assert needs("var<workgroup> a: array<f32, 64>; var<workgroup> b: array<f32, 64>;") == 256


def test_what_is_not_understood_costs_nothing() -> None:
    """The reader never refuses by mistake; the compiler comes next."""
    assert needs("var<workgroup> a: array<f32, foo(3)>;") == 0
    assert needs("struct S { @size(32) x: f32 }\nvar<workgroup> a: S;") == 0
    assert needs("const A = B; const B = A; var<workgroup> a: array<f32, A>;") == 0
    assert needs("alias A = B; alias B = A; var<workgroup> a: A;") == 0


@pytest.mark.parametrize(
    ("size", "axes"), [("64", (64, 1, 1)), ("8, 4", (8, 4, 1)), ("W, W * 2, 2,", (16, 32, 2)), ("f()", (1, 1, 1))]
)
def test_the_workgroup_size_is_read(size: str, axes: tuple[int, int, int]) -> None:
    """One to three constant expressions; a trailing comma is allowed."""
    text = f"const W = 16;\n@compute @workgroup_size({size}) fn main() {{}}"
    assert workgroup_needs(text).size == axes


@pytest.mark.parametrize(
    ("text", "limit", "asked"),
    [
        ("var<workgroup> a: array<f32, 4097>;", "maxComputeWorkgroupStorageSize", 16400),
        ("const N = 512;", "maxComputeWorkgroupSizeX", 512),
        ("const N = 16, 32;", "maxComputeInvocationsPerWorkgroup", 512),
    ],
)
def test_too_much_is_refused_with_the_limit(text: str, limit: str, asked: int) -> None:
    """The error names the limit, what was asked and what there is."""
    size = {"maxComputeWorkgroupSizeX": "512", "maxComputeInvocationsPerWorkgroup": "16, 32"}.get(limit, "64")
    with pytest.raises(LimitError) as caught:
        check_workgroup(
            f"{text}\n@compute @workgroup_size({size}) fn main() {{ a; }}", DEFAULT_LIMITS, where="op, pass p"
        )
    assert (caught.value.limit, caught.value.asked) == (limit, asked)
    assert str(caught.value).startswith("op, pass p: the shader takes too many ")
    assert str(caught.value).endswith(f"needs {asked}, the device's {limit} is {DEFAULT_LIMITS[limit]}")
