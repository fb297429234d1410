"""Which commit of the author's repository a package's files are of, asked of git."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING, Final, NamedTuple

from webgpu_kernels.contract.metadata import METADATA

if TYPE_CHECKING:
    from pathlib import Path

_TIMEOUT_S: Final = 60
# A folder may come from anybody, and git runs what a repository's own settings tell it to watch files with.
_GIT: Final = ("--no-pager", "--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "log.showSignature=false")
# Who runs inside a hook of git's inherits that repository; the folder's own counts.
_INHERITED: Final = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_PREFIX",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
)
_OTHERS: Final = ("--", ".", f":(exclude){METADATA}")


class Provenance(NamedTuple):
    """Where files come from: the last commit that changed them, and whether they were changed since."""

    commit: str
    dirty: bool


def provenance_of(root: Path) -> Provenance | None:
    """Return the last commit that changed a package's files other than metadata.json.

    Args:
        root: the folder that holds manifest.json.

    Returns:
        The commit, and whether a file has changes that are in no commit; None where git is not installed, the folder is
        in no repository of its, no commit has any of the files, or a shallow clone does not reach back to the commit.
    """
    shown = _git(root, "log", "-1", "--format=%H %P", *_OTHERS)
    if not shown:
        return None
    commit, _, parents = shown.partition(" ")
    # The first commit of a shallow clone seems to have added every file that it has.
    if not parents.strip() and _git(root, "rev-parse", "--is-shallow-repository") != "false":
        return None
    changes = _git(root, "status", "--porcelain", "--untracked-files=all", "--ignored", *_OTHERS)
    return None if changes is None else Provenance(commit, bool(changes))


def _git(root: Path, *arguments: str) -> str | None:
    """Return what git prints, None where it does not know."""
    program = shutil.which("git")
    if program is None:
        return None
    try:
        done = subprocess.run(  # noqa: S603 - a list of arguments, none of which is a package's
            [program, *_GIT, *arguments],
            cwd=root,
            env={name: value for name, value in os.environ.items() if name not in _INHERITED},
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            check=False,
            timeout=_TIMEOUT_S,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
