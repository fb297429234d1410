"""Run the demo and draw what it prints as a terminal window, in SVG: the picture of the README.

python scripts/picture.py docs/demo.svg
"""

from __future__ import annotations

import subprocess
import sys
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMMAND = "make demo"
FONT_SIZE = 14
# A column's width in the fonts listed below is 0.6 em or close to it; textLength makes it exact in all of them.
COLUMN, LINE = 8.4, 19
MARGIN, BAR = 18, 34
STYLE = (
    f"text{{font:{FONT_SIZE}px ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;fill:#d6deeb;white-space:pre}}"
    ".prompt{fill:#7fdbca}.title{fill:#8796a5}.good{fill:#addb67}.head{fill:#82aaff}"
)


def main(arguments: list[str]) -> int:
    """Write the picture.

    Args:
        arguments: path of the SVG file.

    Returns:
        the demo's exit code.
    """
    demo = subprocess.run([sys.executable, "-m", "webgpu_kernels.demo"], capture_output=True, text=True, check=False)
    if demo.returncode == 0:
        Path(arguments[0]).write_text(terminal([f"$ {COMMAND}", *demo.stdout.rstrip().splitlines()]), encoding="utf-8")
    else:
        print(demo.stdout + demo.stderr, file=sys.stderr)
    return demo.returncode


def terminal(lines: list[str]) -> str:
    """Draw lines of text as a terminal window.

    Args:
        lines: what stands in the window, the first being the command.

    Returns:
        an SVG document.
    """
    width = round(max(80, *map(len, lines)) * COLUMN + 2 * MARGIN)
    height = BAR + len(lines) * LINE + MARGIN
    dots = "".join(
        f'<circle cx="{MARGIN + 4 + 20 * index}" cy="17" r="6" fill="{colour}"/>'
        for index, colour in enumerate(("#ff5f57", "#febc2e", "#28c840"))
    )
    rows = "\n".join(row(line, index) for index, line in enumerate(lines) if line.strip())
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="What {COMMAND} prints">\n<style>{STYLE}</style>\n'
        f'<rect width="{width}" height="{height}" rx="9" fill="#011627"/>{dots}\n{rows}\n</svg>\n'
    )


def row(line: str, index: int) -> str:
    """Draw one line, as wide as its characters whatever the font.

    Args:
        line: the text.
        index: which line of the window it is, from 0.

    Returns:
        an SVG text element.
    """
    text = line.strip()
    x = MARGIN + (len(line) - len(line.lstrip())) * COLUMN
    y = BAR + (index + 1) * LINE - 4
    kind = "prompt" if index == 0 else "good" if text.startswith("passed") else "head" if line == text else ""
    return (
        f'<text class="{kind}" x="{x:g}" y="{y}" textLength="{len(text) * COLUMN:g}" '
        f'lengthAdjust="spacingAndGlyphs">{escape(text)}</text>'
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
