"""Published manifests, unmodified, beside templates of ours under the names that they ask for."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import webgpu_kernels as wk

TESTS = Path(__file__).resolve().parent
SHARED = TESTS.parents[1] / "shared"
TEMPLATES = TESTS / "data" / "templates"
FOLDERS = {
    "com.microsoft.GatherBlockQuantized": SHARED / "seeds" / "com.microsoft.GatherBlockQuantized",
    "ai.onnx.Identity": SHARED / "published" / "ai.onnx.Identity",
    "ai.onnx.Add": SHARED / "published" / "ai.onnx.Add",
}


def published_folder(op_id: str, folder: Path) -> Path:
    """Lay a published manifest, its metadata and our templates in one folder; skip where the files are not here."""
    published = FOLDERS[op_id]
    if not published.is_dir():
        pytest.skip(f"the published files of {op_id} are not on this machine")
    for file in ("manifest.json", "metadata.json"):
        if (published / file).is_file():
            shutil.copyfile(published / file, folder / file)
    for template in (TEMPLATES / op_id).iterdir():
        shutil.copyfile(template, folder / template.name)
    return folder


def published_kernel(op_id: str, folder: Path) -> wk.Kernel:
    """Load such a folder."""
    return wk.load_kernel(published_folder(op_id, folder))
