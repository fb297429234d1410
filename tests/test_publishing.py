"""docs/publishing.md is true: its edits are made, its commands run, and they print what it shows."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from loopback_hub import LoopbackHub

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = Path(__file__).resolve().parent.parent / "docs" / "publishing.md"
BLOCK = re.compile(r"^```(?:json)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
REPOSITORY = "me/com.example.Swish"
INNER = "build/webgpu"
# What begins a block that is to be written, where it belongs, and what it replaces.
EDITS = {
    "    return ": ("reference.py", r"^    return .*?\n"),
    "        y[i] ": (f"{INNER}/swish.wgsl.jinja", r"^        y\[i\] .*?\n"),
    '  "description": ': (f"{INNER}/manifest.json", r'^  "description": .*?\n'),
    '    "alpha": ': (f"{INNER}/manifest.json", r'^    "alpha": .*?\n'),
    '    {\n      "name": "known_values"': (f"{INNER}/test.json", r'^    {\n      "name": "known_values".*?^    },\n'),
}
# What depends on the machine: devices, times, rounding of another GPU, who committed when.
PRIVATE = re.compile(
    r"[0-9a-f]{40}|(?<='sync )[0-9a-f]{12}|(?<=^com\.example\.Swish   ).*|(?<= on ).* in .* s$|llvmpipe.*"
)
WORST = re.compile(r"(?<=worst is ).*", re.ASCII)


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[dict[str, str]]:
    """A Hub with the repository that the page makes, a token that may write there, and an author for git."""
    with LoopbackHub() as server:
        writer = server.create(REPOSITORY).writer
        assert writer is not None
        person = {"NAME": "Me", "EMAIL": "me@example.org"}
        yield {
            **{name: value for name, value in os.environ.items() if name != "COLUMNS"},
            **{f"GIT_{role}_{fact}": value for role in ("AUTHOR", "COMMITTER") for fact, value in person.items()},
            "HF_ENDPOINT": server.endpoint,
            "HF_HOME": str(tmp_path / "hf"),
            "HF_TOKEN": writer,
            "NO_PROXY": "127.0.0.1",
            "XDG_RUNTIME_DIR": str(tmp_path),
        }


def lines_of(text: str) -> list[str]:
    """Return lines without what depends on the machine."""
    return [WORST.sub("…", PRIVATE.sub("…", line.rstrip())) for line in text.strip().splitlines()]


def run(words: str, folder: Path, environment: dict[str, str]) -> str:
    """Run a command line and return what it prints."""
    program = shlex.join([sys.executable, "-m", "webgpu_kernels"])
    line = re.sub(r"^webgpu-kernels", program, words)
    done = subprocess.run(line, shell=True, capture_output=True, text=True, check=False, cwd=folder, env=environment)
    return done.stdout + done.stderr


def write(block: str, folder: Path) -> None:
    """Make an edit that the page shows."""
    name, replaced = next(place for begin, place in EDITS.items() if block.startswith(begin))
    path = folder / name
    found = list(re.finditer(replaced, path.read_text("utf-8"), re.MULTILINE | re.DOTALL))
    assert len(found) == 1
    path.write_text(path.read_text("utf-8").replace(found[0][0], block), "utf-8")


def break_callers(folder: Path, environment: dict[str, str]) -> None:
    """Do what the page tells as a thing that might have happened."""
    path = folder / INNER / "manifest.json"
    path.write_text(path.read_text("utf-8").replace('"default": 1,', '"default": 1.702,'), "utf-8")
    for words in ("git commit -qam Change", "webgpu-kernels pack .", "webgpu-kernels card .", "git commit -qam Pack"):
        run(words, folder, environment)


def call(block: str, folder: Path, environment: dict[str, str]) -> None:
    """Run the Python that the page shows, whose last line has its result as a comment."""
    load, last = block.splitlines()
    expression, _, result = last.partition("#")
    program = f"import numpy as np\nimport webgpu_kernels as wk\n{load}\nprint({expression.strip()})"
    assert run(shlex.join([sys.executable, "-c", program]), folder, environment).strip() == result.strip()


@pytest.mark.device
@pytest.mark.slow
def test_the_page_can_be_followed(tmp_path: Path, environment: dict[str, str]) -> None:
    """Word by word, from init to a second version; only the repository is made otherwise."""
    folder, followed = tmp_path, 0
    for block in BLOCK.findall(PAGE.read_text("utf-8")):
        if block.startswith("kernel = "):
            call(block, folder, environment)
        elif not block.startswith("$ "):
            write(block, folder)
        if "refused: breaks callers" in block:
            break_callers(folder, environment)
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            words, _, shown = part.partition("\n")
            if words.startswith("cd "):
                folder /= words.removeprefix("cd ")
            elif not words.startswith("hf "):
                printed, wanted = lines_of(run(words, folder, environment)), lines_of(shown)
                if wanted[:1] == ["…"]:
                    printed[: 1 - len(wanted)] = ["…"]
                assert printed == wanted, words
                followed += 1
    assert followed == 18
