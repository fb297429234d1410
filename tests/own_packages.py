"""Packages as an author has them: copies of bundled ones in other folders, and repositories of git around them."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

from webgpu_kernels.contract.package import BUNDLED

if TYPE_CHECKING:
    from pathlib import Path

_AUTHOR = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgSign=false")


def copy_of(op_id: str, folder: Path, *, packed: bool = False) -> Path:
    """Copy a bundled package, without metadata.json unless it is asked for, and return its root."""
    target = folder / op_id
    shutil.copytree(BUNDLED / op_id, target, ignore=shutil.ignore_patterns("__pycache__"))
    if not packed:
        (inner(target) / "metadata.json").unlink(missing_ok=True)
    return target


def inner(package: Path) -> Path:
    """Return the folder of a package's manifest."""
    return package / "build" / "webgpu"


def git(folder: Path, *arguments: str) -> str:
    """Run git and return what it prints."""
    command = ["git", *_AUTHOR, *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def commit_all(folder: Path) -> str:
    """Commit every file, in a repository that is begun if need be, and return the commit."""
    if not (folder / ".git").exists():
        git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "Change")
    return git(folder, "rev-parse", "HEAD")
