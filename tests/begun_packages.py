"""Packages as ``init`` begins them and an author would go on: committed, packed, changed."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from own_packages import commit_all, inner

from webgpu_kernels.contract import open_package
from webgpu_kernels.tools.card import card_text
from webgpu_kernels.tools.own import own_package
from webgpu_kernels.tools.pack import metadata_text, packed
from webgpu_kernels.tools.scaffold import operator_name, start_package

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

OPERATOR = "com.example.LeakyRelu"
SHADER = "leaky-relu.wgsl.jinja"


@pytest.fixture(scope="session")
def pattern(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package that is begun, committed and packed."""
    folder = tmp_path_factory.mktemp("begun") / OPERATOR
    start_package(operator_name(OPERATOR), folder)
    commit_all(folder)
    bring_up_to_date(folder)
    return folder


@pytest.fixture
def begun(pattern: Path, tmp_path: Path) -> Path:
    """A copy of it that a test may change."""
    return shutil.copytree(pattern, tmp_path / OPERATOR)


def bring_up_to_date(package: Path, version: int | None = None) -> None:
    """Commit a package's files, then pack it and write its card, and commit these."""
    if (package / ".git").exists():
        (package / "when").write_text("a commit needs a change")
        commit_all(package)
        (package / "when").unlink()
    (inner(package) / "metadata.json").write_text(metadata_text(packed(own_package(str(package)), version=version)))
    (package / "README.md").write_text(card_text(open_package(package), owner="somebody"), "utf-8")
    commit_all(package)


def change_json(package: Path, name: str, change: Callable[[Any], None]) -> None:
    """Change a JSON file of a package."""
    path = inner(package) / name
    document = json.loads(path.read_text("utf-8"))
    change(document)
    path.write_text(json.dumps(document, indent=2), "utf-8")
