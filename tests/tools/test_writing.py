"""Files that a person asks for: whole or not at all, also where Ctrl-C comes between."""

from __future__ import annotations

import signal
import threading
from pathlib import Path

import pytest

from webgpu_kernels.contract.writing import uninterrupted
from webgpu_kernels.errors import OutputError
from webgpu_kernels.tools.writing import write_file, write_files


def names(folder: Path) -> dict[str, str]:
    """Return every file's text."""
    return {path.name: path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_files_are_written_into_folders_that_are_made(tmp_path: Path) -> None:
    """Text and bytes; what else is there stays."""
    (tmp_path / "other").write_text("kept")
    paths = write_files(tmp_path, {"a.txt": "é", "inner/b.bin": b"b"})
    assert paths == (tmp_path / "a.txt", tmp_path / "inner" / "b.bin")
    assert names(tmp_path) == {"a.txt": "é", "b.bin": "b", "other": "kept"}


@pytest.mark.parametrize("at", [1, 2, 3])
def test_ctrl_c_leaves_the_old_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int) -> None:
    """All of them, and nothing beside them, so that no reader meets files of two exports."""
    files = dict.fromkeys(("a", "b", "c"), "old")
    write_files(tmp_path, files)
    count = 0
    real = Path.write_bytes

    def write_half(path: Path, content: bytes) -> int:
        nonlocal count
        count += 1
        if count == at:
            real(path, content[:1])
            raise KeyboardInterrupt
        return real(path, content)

    monkeypatch.setattr(Path, "write_bytes", write_half)
    with pytest.raises(KeyboardInterrupt):
        write_files(tmp_path, dict.fromkeys(files, "new"))
    assert names(tmp_path) == files


def test_a_file_that_cannot_be_written_leaves_the_others_as_they_were(tmp_path: Path) -> None:
    """They belong together."""
    (tmp_path / "b").mkdir()
    (tmp_path / "a").write_text("old")
    with pytest.raises(OutputError) as caught:
        write_files(tmp_path, {"a": "new", "b": "new"})
    assert str(caught.value) == f"{tmp_path / 'b'}: cannot be written: Is a directory"
    assert names(tmp_path) == {"a": "old"}


def test_text_that_utf_8_lacks_is_an_error(tmp_path: Path) -> None:
    """And no file."""
    with pytest.raises(OutputError, match="cannot be written: surrogates not allowed"):
        write_file(tmp_path / "a", "\ud800")
    assert names(tmp_path) == {}


def test_ctrl_c_waits_for_what_must_not_be_done_by_halves() -> None:
    """It comes right afterwards, and the next one as ever."""
    done = []

    def work() -> None:
        with uninterrupted():
            signal.raise_signal(signal.SIGINT)
            done.append("all")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["all"]
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_a_thread_is_never_interrupted_anyway() -> None:
    """Only the first one hears of signals."""
    done: list[str] = []

    def work() -> None:
        with uninterrupted():
            done.append("all")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == ["all"]
