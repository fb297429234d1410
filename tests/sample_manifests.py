"""A small operator to bend, and the types of the fixtures that plan it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from webgpu_kernels.planning.capabilities import Capabilities
    from webgpu_kernels.planning.plan import Plan
    from webgpu_kernels.planning.selection import Selection
    from webgpu_kernels.planning.spec import TensorSpec


def scale_manifest(**changes: Any) -> dict[str, Any]:
    """Return a manifest of one elementwise pass, with top-level keys replaced or, by None, removed."""
    manifest: dict[str, Any] = {
        "domain": "test",
        "name": "Scale",
        "inputs": {"x": {"dtype": "T"}},
        "outputs": {"y": {"dtype": "T", "shape": "shapes.x"}},
        "typeConstraints": {"T": ["float32", "float16", "int32"]},
        "variants": [variant("only")],
    }
    manifest.update(changes)
    return {key: value for key, value in manifest.items() if value is not None}


def variant(name: str, **changes: Any) -> dict[str, Any]:
    """Return a variant of one pass over x and y."""
    return {"id": name, "passes": [a_pass()], **changes}


def a_pass(**changes: Any) -> dict[str, Any]:
    """Return a pass of one workgroup."""
    return {"id": "main", "shader": "main.wgsl.jinja", "bindings": ["x", "y"], "dispatch": {"x": 1}, **changes}


class Select(Protocol):
    """Calls a manifest as far as selection."""

    def __call__(
        self,
        manifest: dict[str, Any],
        inputs: dict[str, TensorSpec] | None = None,
        capabilities: Capabilities | None = None,
        **options: Any,
    ) -> Selection:
        """Return the selection over every candidate."""


class Planner(Protocol):
    """Calls a manifest as far as its plan."""

    def __call__(
        self,
        manifest: dict[str, Any],
        inputs: dict[str, TensorSpec] | None = None,
        capabilities: Capabilities | None = None,
        **options: Any,
    ) -> Plan:
        """Return the plan, or raise what a call would."""
