"""A small operator in the older dialect, spec 1.0, to bend, and what the reader says of it."""

from __future__ import annotations

from typing import Any

import pytest
from manifest_schemas import check_seen

from webgpu_kernels.contract import Manifest, Pass, read_manifest
from webgpu_kernels.errors import ManifestError


def older_manifest(**changes: Any) -> dict[str, Any]:
    """Return a manifest of one elementwise pass, with top-level keys replaced or, by None, removed."""
    manifest: dict[str, Any] = {
        "domain": "test",
        "name": "Scale",
        "inputs": [{"role": "input", "dtype": "T"}],
        "outputs": [{"role": "output", "dtype": "T", "shape": "shapes.input"}],
        "args": {
            "x": {"kind": "tensor", "semantic": "input", "role": "input"},
            "y": {"kind": "tensor", "semantic": "output", "role": "output"},
        },
        "typeConstraints": {"T": ["float32", "float16", "int32"]},
        "variants": [older_variant()],
    }
    manifest.update(changes)
    return {key: value for key, value in manifest.items() if value is not None}


def older_variant(**changes: Any) -> dict[str, Any]:
    """Return a variant of one pass, with keys replaced or, by None, removed."""
    variant = {"id": "only", "passes": [older_pass()], **changes}
    return {key: value for key, value in variant.items() if value is not None}


def older_pass(**changes: Any) -> dict[str, Any]:
    """Return a pass of one workgroup, with keys replaced or, by None, removed."""
    step: dict[str, Any] = {
        "id": "main",
        "shader": "main.wgsl.jinja",
        "bindings": [tensor("x", "input"), tensor("y", "output", access="storage")],
        "dispatch": {"x": 1},
    }
    step.update(changes)
    return {key: value for key, value in step.items() if value is not None}


def tensor(arg: str, semantic: str, access: str = "read-only-storage", **changes: Any) -> dict[str, Any]:
    """Return a binding as the dialect writes it."""
    return {"name": arg, "arg": arg, "semantic": semantic, "buffer": {"type": access}, **changes}


def of_pass(**changes: Any) -> dict[str, Any]:
    """Return a manifest whose only pass is changed."""
    return older_manifest(variants=[older_variant(passes=[older_pass(**changes)])])


def of_variant(**changes: Any) -> dict[str, Any]:
    """Return a manifest whose only variant is changed."""
    return older_manifest(variants=[older_variant(**changes)])


def first_pass(manifest: Manifest) -> Pass:
    """Return the first pass of the first variant."""
    step = manifest.variants[0].passes[0]
    assert isinstance(step, Pass)
    return step


def says(found: str, expected: str) -> bool:
    """Compare a defect with what is expected; an ellipsis stands for the rest of a long hint."""
    return found.startswith(expected[:-1]) if expected.endswith("…") else found == expected


def older_defects(manifest: Any) -> list[str]:
    """Return every defect of a manifest that the reader refuses, as ``path: message``."""
    with pytest.raises(ManifestError) as caught:
        read_manifest(manifest, dialect="1.0")
    found = [str(defect) for defect in caught.value.defects]
    check_seen("manifest-1.0", manifest, found)
    return found
