"""A small package that doubles its input, with as many variants as a test wants, each right or wrong in its own way."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import webgpu_kernels as wk

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

RIGHT = "y[i] = x[i] + x[i];"
REFERENCE = '''"""Twice the input."""


def reference(inputs, attrs, outputs):
    return {"y": inputs["x"] + inputs["x"]}
'''
_SHADER = """{{ env.wgsl.resourceDeclarations }}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    if (i >= params.count) { return; }
    BODY
}
"""
EIGHT = {"dtype": "float32", "shape": [8], "data": {"kind": "range", "start": 1}}
CASE = {"name": "eight", "inputs": {"x": EIGHT}, "outputs": {"y": {}}}


def doubling_manifest(variants: Sequence[str], **changes: Any) -> dict[str, Any]:
    """Return the manifest; the first variant ranks highest."""
    bindings = ["x", "y", "params"]
    return {
        "domain": "test",
        "name": "Double",
        "inputs": {"x": {"dtype": "T"}},
        "outputs": {"y": {"dtype": "T", "shape": "shapes.x"}},
        "typeConstraints": {"T": ["float32", "float16", "int32", "int8", "bool"]},
        "when": ["f16Ok(dtypes.T)"],
        "bindings": {"params": {"struct": [{"name": "count", "type": "u32", "value": "numel(shapes.x)"}]}},
        "variants": [
            {
                "id": name,
                "priority": -index,
                "passes": [
                    {
                        "id": "double",
                        "shader": f"{name}.wgsl.jinja",
                        "bindings": bindings,
                        "dispatch": {"threads": "numel(shapes.x)", "workgroupSize": 64},
                    }
                ],
            }
            for index, name in enumerate(variants)
        ],
        **changes,
    }


def write_doubling(
    root: Path,
    bodies: Mapping[str, str] | None = None,
    cases: Sequence[Mapping[str, Any]] = (CASE,),
    *,
    reference: str | None = REFERENCE,
    manifest: Mapping[str, Any] | None = None,
) -> Path:
    """Write the package and return its folder.

    Args:
        root: where; it is made.
        bodies: variant to what a lane does; by default one right variant.
        cases: of test.json.
        reference: text of reference.py, or None for none.
        manifest: keys of the manifest to replace.
    """
    bodies = bodies if bodies is not None else {"plain": RIGHT}
    build = root / "build" / "webgpu"
    build.mkdir(parents=True)
    (build / "manifest.json").write_text(json.dumps({**doubling_manifest(tuple(bodies)), **(manifest or {})}))
    (build / "test.json").write_text(json.dumps({"cases": list(cases)}))
    for name, body in bodies.items():
        (build / f"{name}.wgsl.jinja").write_text(_SHADER.replace("BODY", body))
    if reference is not None:
        (root / "reference.py").write_text(reference)
    return root


def doubling_kernel(root: Path, *given: Any, **named: Any) -> wk.Kernel:
    """Write the package and load it."""
    return wk.load_kernel(write_doubling(root, *given, **named))
