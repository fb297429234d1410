"""The command schema."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from webgpu_kernels.tools.schema import SCHEMAS, SHIPPED

if TYPE_CHECKING:
    from pathlib import Path

    from command_line import Wk


@pytest.mark.parametrize("name", SCHEMAS)
def test_it_prints_the_schema_that_is_shipped(wk: Wk, name: str) -> None:
    """Text and JSON are the same document."""
    text = (SHIPPED / f"{name}.schema.json").read_text("utf-8")
    ran = wk("schema", name)
    assert (ran.code, ran.out, ran.err) == (0, text, "")
    assert wk("schema", name, "--json").document == ran.document


def test_it_writes_a_file(wk: Wk, tmp_path: Path) -> None:
    """In a folder that is made if need be."""
    path = tmp_path / "schemas" / "manifest.json"
    ran = wk("schema", "manifest", "-o", path)
    assert (ran.code, ran.out) == (0, f"wrote {path}\n")
    assert path.read_text("utf-8") == (SHIPPED / "manifest.schema.json").read_text("utf-8")


def test_a_file_that_cannot_be_written_is_an_error(wk: Wk, tmp_path: Path) -> None:
    """Nothing is left behind."""
    (tmp_path / "file").write_text("mine")
    ran = wk("schema", "manifest", "-o", tmp_path / "file" / "manifest.json")
    assert (ran.code, ran.out) == (3, "")
    assert ran.err.startswith(f"error: {tmp_path}/file/manifest.json: cannot be written: ")


def test_what_is_no_file_is_written_to_and_not_replaced(wk: Wk, tmp_path: Path) -> None:
    """A device or a pipe: who reads from it gets the text."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    ran = wk("schema", "metadata", "-o", pipe)
    assert (ran.code, ran.err) == (0, "")
    assert os.read(reader, 20) == b'{\n "$schema": "https:'[:20]
    os.close(reader)
    assert pipe.is_fifo()


def test_another_file_has_no_schema(wk: Wk) -> None:
    """The message lists those that have."""
    ran = wk("schema", "readme")
    assert ran.code == 2
    assert "choose from 'manifest', 'manifest-1.0', 'metadata'" in ran.err
