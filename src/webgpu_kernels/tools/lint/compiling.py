"""Compiles rendered shaders on a device that is here."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final, NamedTuple

from webgpu_kernels.errors import LimitError, ShaderError
from webgpu_kernels.planning.wgsl import enabled_features
from webgpu_kernels.tools.lint.run_rules import MAX_SHADER_CHARS, shader_place

if TYPE_CHECKING:
    from webgpu_kernels.device import Device
    from webgpu_kernels.planning.program import ProgramPass
    from webgpu_kernels.tools.lint.findings import Findings

MAX_SHADERS: Final = 240


class Compiled(NamedTuple):
    """What was compiled.

    Attributes:
        adapter: where.
        shaders: different shaders that were compiled.
        beyond: shaders that the device cannot have: a feature or a limit is lacking.
        skipped: shaders that were left out, as there were too many or the time was over.
    """

    adapter: str
    shaders: int
    beyond: int
    skipped: int


class Compilation:
    """Compiles each shader text once.

    Args:
        device: where.
        findings: where errors are reported.
        deadline: when to stop, on ``time.monotonic``'s clock.
    """

    def __init__(self, device: Device, findings: Findings, deadline: float) -> None:
        self._device = device
        self._findings = findings
        self._deadline = deadline
        self._seen: set[tuple[str, int]] = set()
        self._shaders = self._beyond = self._skipped = 0

    def take(self, step: ProgramPass, path: str, where: str) -> None:
        """Compile a pass's shader, unless its like was.

        Args:
            step: the pass.
            path: its JSON path.
            where: request and device that it was rendered for.
        """
        key = (step.wgsl, hash(tuple((slot.access, slot.min_bytes) for slot in step.slots)))
        if key in self._seen:
            return
        self._seen.add(key)
        if len(step.wgsl) > MAX_SHADER_CHARS or self._shaders >= MAX_SHADERS or time.monotonic() > self._deadline:
            self._skipped += 1
        elif enabled_features(step.wgsl) - frozenset(self._device.capabilities.features):
            self._beyond += 1
        else:
            self._compile(step, path, where)

    def _compile(self, step: ProgramPass, path: str, where: str) -> None:
        try:
            with self._device.lock:
                self._device.pipelines.get(step, where="")
            self._shaders += 1
        except LimitError:
            self._beyond += 1
        except ShaderError as error:
            self._shaders += 1
            place = shader_place(error, path)
            if not self._findings.has("L205", place):
                self._findings.add("L205", place, f"{error.message} {where}")

    def result(self) -> Compiled:
        """Return what was compiled."""
        name = str(self._device.capabilities.adapter_info.get("device") or "this machine's device")
        return Compiled(name, self._shaders, self._beyond, self._skipped)
