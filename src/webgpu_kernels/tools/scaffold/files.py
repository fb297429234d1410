"""Makes the folder of a new package: all of it, or nothing."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from webgpu_kernels.contract import open_package
from webgpu_kernels.contract.files import reason_of
from webgpu_kernels.contract.metadata import METADATA
from webgpu_kernels.contract.writing import uninterrupted
from webgpu_kernels.errors import KernelError, OutputError
from webgpu_kernels.tools.card import card_text
from webgpu_kernels.tools.own import CARD, own_package
from webgpu_kernels.tools.pack import metadata_text, packed
from webgpu_kernels.tools.schema import schema_text
from webgpu_kernels.tools.writing import write_file, write_files

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webgpu_kernels.tools.scaffold.naming import OperatorName

_STARTER: Final = Path(__file__).resolve().parent / "starter"
_INNER: Final = "build/webgpu"
_SCHEMAS: Final = ("manifest", "test", "bench")


class Started(NamedTuple):
    """A package that was begun.

    Attributes:
        folder: where it is.
        files: its files, relative to the folder, sorted.
    """

    folder: Path
    files: tuple[str, ...]


def start_package(operator: OperatorName, folder: str | os.PathLike[str]) -> Started:
    """Write a package that runs, passes its tests and is packed.

    Args:
        operator: what it shall compute one day.
        folder: where; it is made if need be, and has to be empty.

    Returns:
        What was written.

    Raises:
        OutputError: the folder holds something, or cannot be written; nothing is left behind.

    Source: FORMAT section 1 (layout).
    """
    target = Path(folder)
    try:
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise OutputError(
                "is there already and holds something" if target.is_dir() else "is a file",
                where=str(folder),
                hint="Name a new folder with -o.",
            )
        target.parent.mkdir(parents=True, exist_ok=True)
        return _made(operator, target)
    except KernelError:
        raise
    except (OSError, ValueError) as error:
        raise OutputError(f"cannot be written: {reason_of(error)}", where=str(folder)) from error


def _made(operator: OperatorName, target: Path) -> Started:
    """Write everything beside the target first, then move it there."""
    # A folder that is there may be somebody's current one, so it is filled and not replaced.
    beside = target.resolve()
    fresh = beside.with_name(f".{beside.name}.{os.getpid()}.tmp")
    try:
        fresh.mkdir()
        _fill(operator, fresh)
        files = tuple(sorted(path.relative_to(fresh).as_posix() for path in fresh.rglob("*") if path.is_file()))
        with uninterrupted():
            if target.exists():
                for path in fresh.iterdir():
                    path.rename(target / path.name)
            else:
                fresh.rename(target)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return Started(target, files)


def _fill(operator: OperatorName, folder: Path) -> None:
    write_files(folder, starter_files(operator))
    write_file(folder / _INNER / METADATA, metadata_text(packed(own_package(str(folder)))))
    write_file(folder / CARD, card_text(open_package(folder)))


def starter_files(operator: OperatorName) -> Mapping[str, str]:
    """Return the files that a new package begins with, without the two that are made of them.

    Args:
        operator: its name.

    Returns:
        Path in the package to text.

    Source: docs/publishing.md.
    """
    places = {
        f"{_INNER}/manifest.json": "manifest.json",
        f"{_INNER}/{operator.file_stem}.wgsl.jinja": "kernel.wgsl.jinja",
        f"{_INNER}/test.json": "test.json",
        f"{_INNER}/bench.json": "bench.json",
        "reference.py": "reference.py.txt",
    }
    schemas = {f"schemas/{name}.schema.json": schema_text(name) for name in _SCHEMAS}
    return {path: _filled(name, operator) for path, name in places.items()} | schemas


def _filled(name: str, operator: OperatorName) -> str:
    text = (_STARTER / name).read_text(encoding="utf-8")
    words = {"__DOMAIN__": operator.domain, "__NAME__": operator.name, "__FILE__": operator.file_stem}
    for word, value in words.items():
        text = text.replace(word, value)
    return text
