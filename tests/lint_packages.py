"""A small package that lint finds nothing in, and changes that spoil it."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

from webgpu_kernels.errors import KernelError
from webgpu_kernels.tools.card import card_text
from webgpu_kernels.tools.lint import lint_package
from webgpu_kernels.tools.locate import locate

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from webgpu_kernels.device import Device
    from webgpu_kernels.tools.lint import Finding, LintReport

Manifest = dict[str, Any]

TEMPLATE = """{{ env.wgsl.resourceDeclarations }}

@compute @workgroup_size({{ size }})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let i = (group.y * {{ DISPATCH_FOLD_WIDTH }}u + group.x) * {{ size }}u + lane;
    if (i < params.count) {
        y[i] = x[i] * {{ T }}(params.factor);
    }
}
"""
LOOPING = """{{ env.wgsl.resourceDeclarations }}

@compute @workgroup_size({{ size }})
fn main(@builtin(local_invocation_index) lane: u32) {
    for (var i = lane; i < params.count; i += {{ size }}u) {
        y[i] = x[i] * {{ T }}(params.factor);
    }
}
"""


def variant(name: str, width: int, *when: str) -> Manifest:
    """Return one of the package's variants."""
    return {
        "id": name,
        "description": f"{width} at a time.",
        "priority": width,
        "when": [*when, "f16Ok(dtypes.T)"],
        "derive": {
            "items": f"numel(shapes.x) / {width}",
            "element": '"vec4<" ~ dtypes.T ~ ">"' if width == 4 else "dtypes.T",
        },
        "passes": [
            {
                "id": "main",
                "shader": "scale.wgsl.jinja",
                "bindings": ["x", "y", "params"],
                "dispatch": {"threads": "items", "workgroupSize": "size"},
            }
        ],
    }


CLEAN: Manifest = {
    "domain": "test",
    "name": "Scale",
    "description": "x times a factor.",
    "inputs": {"x": {"dtype": "T", "description": "Anything."}},
    "outputs": {"y": {"dtype": "T", "shape": "shapes.x", "description": "Of the shape of `x`."}},
    "typeConstraints": {"T": ["float32", "float16"]},
    "attributes": {"factor": {"default": 2.5, "description": "What it is multiplied by."}},
    "tunables": {"SIZE": {"default": 64, "description": "Lanes of a workgroup."}},
    "derive": {"size": "min(tunables.SIZE, device.limits.maxComputeInvocationsPerWorkgroup)"},
    "bindings": {
        "x": {"elementType": "$element"},
        "y": {"elementType": "$element"},
        "params": {
            "struct": [
                {"name": "count", "type": "u32", "value": "items"},
                {"name": "factor", "type": "f32", "value": "attrs.factor"},
            ]
        },
    },
    "variants": [variant("vectors", 4, "numel(shapes.x) % 4 == 0", "numel(shapes.x) > 0"), variant("elements", 1)],
}
CASES: list[Manifest] = [
    {"name": f"of_{size}", "inputs": {"x": {"dtype": "float32", "shape": [size], "data": {"kind": "fill", "value": 1}}}}
    for size in (8, 7)
]
TESTS = {
    "cases": [
        {
            **case,
            "outputs": {
                "y": {"data": {"kind": "fill", "value": 2.5}, "dtype": "float32", "shape": case["inputs"]["x"]["shape"]}
            },
            "attrs": {"factor": 2.5},
        }
        for case in CASES
    ]
}


def write_package(
    folder: Path,
    change: Callable[[Manifest], object] = lambda _: None,
    *,
    template: str = TEMPLATE,
    files: dict[str, str | None] | None = None,
) -> Path:
    """Write the package.

    Args:
        folder: where.
        change: changes the manifest in place.
        template: its template.
        files: further files by name, or None for one that is not there: ``../../README.md``, ``test.json``, …

    Returns:
        The folder.
    """
    manifest = copy.deepcopy(CLEAN)
    change(manifest)
    root = folder / "build" / "webgpu"
    texts: dict[str, str | None] = {
        "manifest.json": json.dumps(manifest, indent=1),
        "scale.wgsl.jinja": template,
        "test.json": json.dumps(TESTS),
        **(files or {}),
    }
    for name, text in texts.items():
        if text is not None:
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    if "../../README.md" not in texts:
        (folder / "README.md").write_text(card_of(folder), encoding="utf-8")
    return folder


def card_of(folder: Path) -> str:
    """Return the package's card; of one that cannot be loaded an empty one."""
    try:
        return card_text(locate(str(folder)).package)
    except KernelError:
        return ""


def linted(folder: Path, *, device: Device | None = None, **options: Any) -> LintReport:
    """Lint a folder."""
    return lint_package(str(folder), lambda: locate(str(folder)), device=device, **options)


def found(folder: Path, code: str, *, device: Device | None = None) -> list[Finding]:
    """Return the findings of one code."""
    return [finding for finding in linted(folder, device=device).findings if finding.code == code]
