"""The documentation is true: its snippets run and print what the pages show, and its links lead somewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
# A python block, and the plain block that directly follows it where its output is shown.
BLOCK = re.compile(r"^```python\n(?P<code>.*?)^```$(?:\n\n```\n(?P<output>.*?)^```$)?", re.MULTILINE | re.DOTALL)
PROGRAMS = [page for page in PAGES if BLOCK.search(page.read_text(encoding="utf-8"))]
LINK = re.compile(r"\]\((?!https?:)(?P<path>[^)#]*)(?:#(?P<anchor>[^)]*))?\)")


def name_of(page: Path) -> str:
    return page.name


def anchors(page: Path) -> set[str]:
    """Return the anchors that headings get: lower case, punctuation dropped, spaces as hyphens."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.device
@pytest.mark.parametrize("page", PROGRAMS, ids=name_of)
def test_snippets_run(page: Path, tmp_path: Path) -> None:
    """A page's Python blocks run in order in one program, without a word on stderr, and print what the page shows."""
    blocks = list(BLOCK.finditer(page.read_text(encoding="utf-8")))
    mark = "=== end of block ==="
    program = tmp_path / "snippets.py"
    program.write_text("\n".join(f"{block['code']}\nprint({mark!r})" for block in blocks), encoding="utf-8")
    # A snippet that opens wgpu itself would show Mesa's complaints about this variable.
    environment = {"XDG_RUNTIME_DIR": str(tmp_path), **os.environ}
    command = [sys.executable, str(program)]
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
    assert result.stderr == ""
    assert result.returncode == 0
    for block, printed in zip(blocks, result.stdout.split(f"{mark}\n"), strict=False):
        if block["output"] is not None:
            assert printed == block["output"]
        # Nobody reads a screenful of numbers.
        assert printed.count("\n") <= 60
        assert max(map(len, printed.splitlines()), default=0) <= 140


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    """Every relative link names a file of the project, and its anchor a heading there."""
    for link in LINK.finditer(page.read_text(encoding="utf-8")):
        target = page.parent / link["path"] if link["path"] else page
        assert target.exists(), link[0]
        if link["anchor"]:
            assert link["anchor"] in anchors(target), link[0]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_lines_fit(page: Path) -> None:
    """Text is wrapped at 120 columns; table rows cannot be."""
    lines = page.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if len(line) > 120 and not line.startswith("|")] == []


def test_the_reference_names_every_public_name() -> None:
    """Whatever ``import webgpu_kernels`` promises stands in the API reference."""
    import webgpu_kernels  # noqa: PLC0415 - the other tests of this module read files only

    text = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    assert [name for name in webgpu_kernels.__all__ if not re.search(rf"\b{name}\b", text)] == []


def test_the_format_names_whatever_formulas_know() -> None:
    """Every namespace and function of formulas stands in a table of the format's page."""
    from webgpu_kernels.contract.words import CONSTANTS, NAMESPACES  # noqa: PLC0415 - as above
    from webgpu_kernels.language import FUNCTIONS  # noqa: PLC0415

    rows = [line for line in (ROOT / "docs" / "format.md").read_text("utf-8").splitlines() if line.startswith("| ")]
    known = {*NAMESPACES, *FUNCTIONS, *(name for name in CONSTANTS if name.islower()), "f16Ok", "env"}
    assert sorted(name for name in known if not re.search(rf"`{name}[`.(]", "\n".join(rows))) == []


def test_cited_sections_are_explained() -> None:
    """``FORMAT, section N`` in a docstring is a row of the format page's first table."""
    cited = set()
    for module in (ROOT / "src").rglob("*.py"):
        for numbers in re.findall(r"FORMAT,? sections? ((?:[\d]+(?:, | and | to )?)+)", module.read_text("utf-8")):
            cited |= set(re.findall(r"\d+", numbers))
    text = (ROOT / "docs" / "format.md").read_text("utf-8")
    assert cited
    assert sorted(number for number in cited if f"\n| {number} | " not in text) == []


def test_the_first_page_names_every_bundled_kernel() -> None:
    """What comes with the library stands in the README."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    bundled = [folder.name for folder in (ROOT / "src" / "webgpu_kernels" / "kernels").iterdir() if folder.is_dir()]
    assert [name for name in bundled if f"`{name}`" not in text and name != "__pycache__"] == []
