"""Write which commits a project's kernels are now.

The project says in its pyproject.toml which versions it wants:

  [tool.webgpu-kernels.kernels]
  "webgpu-kernels/com.microsoft.SkipGroupNorm" = 1

and webgpu-kernels.lock beside it holds the commit and the digests of each.
With --check nothing is asked of the Hub or written: exits with 1 where the lock
file does not hold what the project wants.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from webgpu_kernels.cli.exits import Exit
from webgpu_kernels.cli.packages import add_trust, trust_in_options, trust_of
from webgpu_kernels.contract.lock import LOCK_NAME, Lock, Pin, lock_kernels, read_lock, wanted_kernels, write_lock
from webgpu_kernels.errors import LockError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from webgpu_kernels.cli.screen import Screen

_PYPROJECT = "pyproject.toml"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--project", metavar="DIR", help=f"where {_PYPROJECT} is; default: the nearest, here or above")
    parser.add_argument("--check", action="store_true", help="only compare the lock file with what the project wants")
    add_trust(parser)


def run(arguments: argparse.Namespace, screen: Screen) -> Exit:
    """Lock a project's kernels, or check that they are locked."""
    pyproject = _project(arguments.project)
    wanted = wanted_kernels(pyproject)
    path = pyproject.with_name(LOCK_NAME)
    if not wanted:
        raise LockError(
            "names no kernels",
            where=str(pyproject),
            hint='Add the table [tool.webgpu-kernels.kernels] with lines such as "owner/domain.Name" = 1.',
        )
    before = read_lock(path).kernels if path.exists() else {}
    if arguments.check:
        return _check(wanted, before, path, screen)
    lock = _locked(wanted, arguments, screen)
    write_lock(lock, path)
    _show(before, lock.kernels, path, screen)
    return Exit.GOOD


def _locked(wanted: Mapping[str, int], arguments: argparse.Namespace, screen: Screen) -> Lock:
    from webgpu_kernels.contract.remote import connect  # noqa: PLC0415 - --check does without the Hub

    hub, trust = connect(), trust_of(arguments)
    pins: dict[str, Pin] = {}
    with trust_in_options(), screen.progress("lock", len(wanted)) as progress:
        for repository, version in wanted.items():
            pins.update(lock_kernels({repository: version}, hub, trust=trust).kernels)
            progress.advance(1, repository)
    return Lock(kernels=pins)


def _project(folder: str | None) -> Path:
    if folder is not None:
        given = Path(folder)
        return given if given.name == _PYPROJECT else given / _PYPROJECT
    here = Path.cwd()
    for place in (here, *here.parents):
        if (place / _PYPROJECT).is_file():
            return place / _PYPROJECT
    raise LockError(f"there is no {_PYPROJECT} here or above", where=str(here), hint="Name its folder with --project.")


def _check(wanted: Mapping[str, int], held: Mapping[str, Pin], path: Path, screen: Screen) -> Exit:
    faults = [
        f"{name}: version {version} is wanted and not locked" for name, version in wanted.items() if name not in held
    ]
    faults += [
        f"{name}: version {version} is wanted, version {held[name].version} is locked"
        for name, version in wanted.items()
        if name in held and held[name].version != version
    ]
    faults += [f"{name}: is locked and not wanted" for name in held if name not in wanted]
    for fault in faults:
        screen.text(fault)
    screen.text(("out of date: run webgpu-kernels lock", "bold red") if faults else ("up to date", "green"))
    screen.result({"good": not faults, "lock": str(path), "faults": faults})
    return Exit.FOUND if faults else Exit.GOOD


def _show(before: Mapping[str, Pin], after: Mapping[str, Pin], path: Path, screen: Screen) -> None:
    kernels: list[dict[str, Any]] = []
    for name in sorted({*before, *after}):
        old, new = before.get(name), after.get(name)
        kernels.append(
            {
                "repository": name,
                "version": new.version if new else None,
                "revision": new.revision if new else None,
                "before": old.revision if old else None,
            }
        )
        screen.text((name, "bold"), f" {_change(old, new)}")
    screen.text(("wrote ", "dim"), str(path))
    screen.result({"lock": str(path), "kernels": kernels})


def _change(old: Pin | None, new: Pin | None) -> str:
    if new is None:
        return "removed"
    now = f"v{new.version} {new.revision[:12]}"
    if old is None:
        return f"{now} added"
    if old.revision == new.revision:
        return f"{now} as before"
    return f"{now}, was v{old.version} {old.revision[:12]}"
