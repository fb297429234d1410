"""The hostile corpus: files that lie in tests/data/hostile, and those that are made because of their size.

``expected.toml`` says of each how it ends: in which class of errors, and what the message has in it; nothing where it
only looks like an attack.
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import hostile_damage
import hostile_folders
import hostile_manifests
import hostile_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DATA: Final = Path(__file__).resolve().parent / "data" / "hostile"
IN_A_PACKAGE: Final = {
    "manifest": "manifest.json",
    "template": "main.wgsl.jinja",
    "metadata": "metadata.json",
    "test": "test.json",
    "bench": "bench.json",
}
"""Kinds of files that lie in a package, each with its name there."""
OBEYED: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""What a terminal would obey, and what changes the order in which a text is seen."""


class Hostile(NamedTuple):
    """One attack.

    Attributes:
        action: what the probe does with it.
        name: unique among those of its action.
        write: writes it into a folder that is not there yet, and returns what the probe opens.
    """

    action: str
    name: str
    write: Callable[[Path], Path]

    @property
    def id(self) -> str:
        """What tests call it."""
        return f"{self.action}/{self.name}"


def _contents(kind: str, content: bytes) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        if kind in IN_A_PACKAGE:
            root = hostile_folders.write_package(folder)
            (root / IN_A_PACKAGE[kind]).write_bytes(content)
            return root
        folder.mkdir()
        path = folder / "file"
        path.write_bytes(content)
        return path

    return write


def _spoiled(spoil: Callable[[Path], None]) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        root = hostile_folders.write_package(folder / "package")
        spoil(root)
        return root

    return write


def _bytes(content: object) -> bytes:
    if isinstance(content, bytes):
        return content
    return content.encode() if isinstance(content, str) else json.dumps(content).encode()


def _made() -> Iterator[tuple[str, str, bytes]]:
    for kind, made in (
        ("manifest", hostile_manifests.LARGE | hostile_manifests.HARMLESS),
        ("template", hostile_texts.TEMPLATES | hostile_texts.HARMLESS_TEMPLATES),
        ("wgsl", hostile_texts.SHADERS | hostile_texts.HARMLESS_SHADERS),
    ):
        for name, content in made.items():
            yield kind, name, _bytes(content)
    for kind in hostile_damage.GOOD:
        for name, content in hostile_damage.damaged(kind).items():
            yield kind, name, content
    for key, document in (hostile_damage.LARGE | hostile_damage.HARMLESS).items():
        kind, _, name = key.partition("/")
        yield kind, name, _bytes(document)


def corpus() -> list[Hostile]:
    """Return every attack, in the order of its action and name."""
    found = [
        Hostile(path.parent.name, path.name.partition(".")[0], _contents(path.parent.name, path.read_bytes()))
        for path in DATA.glob("*/*")
    ]
    found += [Hostile(kind, name, _contents(kind, content)) for kind, name, content in _made()]
    found += [Hostile("package", spoil.__name__, _spoiled(spoil)) for spoil in hostile_folders.OPENED]
    found += [Hostile("verify", spoil.__name__, _spoiled(spoil)) for spoil in hostile_folders.VERIFIED]
    return sorted(found, key=lambda attack: attack.id)


def expectations() -> dict[str, str]:
    """Return how each attack ends: ``Class: part of the message``, empty for the harmless."""
    tables = tomllib.loads((DATA / "expected.toml").read_text("utf-8"))
    return {f"{action}/{name}": end for action, table in tables.items() for name, end in table.items()}
