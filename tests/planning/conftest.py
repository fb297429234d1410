"""The stages a call goes through."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from webgpu_kernels.contract import read_manifest
from webgpu_kernels.invocation import Invocation
from webgpu_kernels.planning.capabilities import Capabilities
from webgpu_kernels.planning.spec import TensorSpec

if TYPE_CHECKING:
    from sample_manifests import Planner, Select

    from webgpu_kernels.planning.plan import Plan
    from webgpu_kernels.planning.selection import Selection


def _invocation(inputs: dict[str, TensorSpec] | None, options: dict[str, Any]) -> Invocation:
    given = {"x": TensorSpec((2, 3), "float32")} if inputs is None else inputs
    fields = {"attrs": {}, "args": {}, "outputs": {}, "out": {}, "variant": None, "tunables": {}, **options}
    return Invocation(inputs=given, **fields)


@pytest.fixture
def select() -> Select:
    """Select exhaustively."""

    def run(
        manifest: dict[str, Any],
        inputs: dict[str, TensorSpec] | None = None,
        capabilities: Capabilities | None = None,
        **options: Any,
    ) -> Selection:
        asked = _invocation(inputs, options)
        return asked.select(read_manifest(manifest), capabilities or Capabilities(), exhaustive=True)

    return run


@pytest.fixture
def plan() -> Planner:
    """Plan, raising what a call would raise."""

    def run(
        manifest: dict[str, Any],
        inputs: dict[str, TensorSpec] | None = None,
        capabilities: Capabilities | None = None,
        **options: Any,
    ) -> Plan:
        return _invocation(inputs, options).plan(read_manifest(manifest), capabilities or Capabilities())

    return run
