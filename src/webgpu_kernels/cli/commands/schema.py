"""Print the JSON Schema of one of a package's files, for editors that complete and check while one types.

    webgpu-kernels schema manifest -o manifest.schema.json

and then, in manifest.json: "$schema": "manifest.schema.json".
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from webgpu_kernels.cli.exits import Exit
from webgpu_kernels.tools.schema import SCHEMAS, schema_text
from webgpu_kernels.tools.writing import write_file

if TYPE_CHECKING:
    import argparse

    from webgpu_kernels.cli.screen import Screen


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments.

    Args:
        parser: the command's.
    """
    parser.add_argument("file", choices=tuple(SCHEMAS), metavar="FILE", help=f"one of {', '.join(SCHEMAS)}")
    parser.add_argument("-o", "--output", type=Path, metavar="PATH", help="write it there instead of printing it")


def run(arguments: argparse.Namespace, screen: Screen) -> Exit:
    """Print or write a schema.

    Args:
        arguments: what was typed.
        screen: where to print.

    Returns:
        ``Exit.GOOD``.

    Raises:
        OutputError: the file cannot be written.
    """
    text = schema_text(arguments.file)
    if arguments.output is None:
        screen.raw(text)
        screen.result(json.loads(text))
        return Exit.GOOD
    write_file(arguments.output, text)
    screen.text("wrote ", (str(arguments.output), "bold"))
    screen.result({"file": str(arguments.output)})
    return Exit.GOOD
