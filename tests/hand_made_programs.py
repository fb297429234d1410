"""Small programs written by hand, for tests of execution that need no package."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from webgpu_kernels.planning.program import Program, ProgramPass, Scratch, Slot, TensorUse

if TYPE_CHECKING:
    from webgpu_kernels.planning.program import Access, Source

HEADER = "@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {"
SCALE = f"""struct Params {{ count: u32, factor: f32, _pad0: u32, _pad1: u32 }};
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<uniform> params: Params;
{HEADER}
  if (id.x < params.count) {{ y[id.x] = x[id.x] * params.factor; }}
}}"""
SPIN = f"""@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
{HEADER}
  var sum = x[id.x % 64];
  for (var i = 0u; i < 60000u; i++) {{ for (var j = 0u; j < 20u; j++) {{ sum = sum * 1.0001 + 0.5; }} }}
  y[id.x % 64] = sum;
}}"""

COUNT = """@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<storage, read_write> board: array<u32>;
@group(0) @binding(3) var<storage, read_write> cleared: array<u32>;
@compute @workgroup_size(1) fn main() {
    y[0] = x[0] + f32(board[0]);
    y[1] = f32(cleared[0]);
    board[0] += 1u;
    cleared[0] += 1u;
}"""


class Programs:
    """Builds small programs."""

    @staticmethod
    def use(name: str, shape: tuple[int, ...], dtype: str = "float32", *, output: bool = False) -> TensorUse:
        """Describe an input or output that is stored as what it is."""
        count = 1
        for dimension in shape:
            count *= dimension
        itemsize = 2 if dtype == "float16" else 4
        return TensorUse(
            name=name,
            shape=shape,
            dtype=dtype,
            storage=dtype,
            layout=None,
            narrowing=None,
            size_bytes=max(4, (count * itemsize + 3) & ~3),
            is_output=output,
        )

    @staticmethod
    def slot(name: str, access: Access, source: Source = "tensor", *, contents: bytes | None = None) -> Slot:
        """Describe a binding."""
        return Slot(access=access, source=source, name=name, min_bytes=len(contents or b""), contents=contents)

    @staticmethod
    def step(wgsl: str, *slots: Slot, grid: tuple[int, int, int] = (1, 1, 1), name: str = "only") -> ProgramPass:
        """Describe a pass whose WGSL came from line 11 on of a template."""
        lines = tuple(("kernel.wgsl.jinja", number) for number in range(11, 11 + wgsl.count("\n") + 1))
        return ProgramPass(id=name, label=name, wgsl=wgsl, lines=lines, slots=slots, grid=grid)

    @staticmethod
    def program(
        steps: tuple[ProgramPass, ...],
        inputs: tuple[TensorUse, ...],
        outputs: tuple[TensorUse, ...],
        scratch: tuple[Scratch, ...] = (),
    ) -> Program:
        """Put passes together."""
        return Program(where="test.Op", passes=steps, scratch=scratch, inputs=inputs, outputs=outputs)

    def scale(self, count: int = 256, factor: float = 2.0) -> Program:
        """Y = factor · x."""
        params = struct.pack("<IfII", count, factor, 0, 0)
        step = self.step(
            SCALE,
            self.slot("x", "read-only-storage"),
            self.slot("y", "storage"),
            self.slot("params", "uniform", "uniform", contents=params),
            grid=((count + 63) // 64, 1, 1),
        )
        return self.program((step,), (self.use("x", (count,)),), (self.use("y", (count,), output=True),))

    def counting(self, *, kept: bool = True) -> Program:
        """Y[0] = x[0] + what the runs before left of an intermediate that may be kept, y[1] = of one that is not."""
        slots = (
            self.slot("x", "read-only-storage"),
            self.slot("y", "storage"),
            self.slot("board", "storage", "scratch"),
            self.slot("cleared", "storage", "scratch"),
        )
        scratch = (
            Scratch(id="board", size_bytes=4, zero_init=True, kept=kept),
            Scratch(id="cleared", size_bytes=4, zero_init=True),
        )
        outputs = (self.use("y", (2,), output=True),)
        return self.program((self.step(COUNT, *slots),), (self.use("x", (1,)),), outputs, scratch)

    def spin(self, groups: int) -> Program:
        """Keep the GPU busy for a while that grows with the number of workgroups."""
        slots = (self.slot("x", "read-only-storage"), self.slot("y", "storage"))
        step = self.step(SPIN, *slots, grid=(groups, 1, 1))
        return self.program((step,), (self.use("x", (64,)),), (self.use("y", (64,), output=True),))
