"""Start a new package that runs and passes.

It is a small operator with everything that a kernel has: float32 and float16, an
attribute, two variants, a tunable, tests, benchmarks, a reference in numpy and a card.
Change it step by step into yours; docs/publishing.md shows the way.

  webgpu-kernels init com.example.LeakyRelu
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from webgpu_kernels.cli.arguments import Usage
from webgpu_kernels.cli.exits import Exit
from webgpu_kernels.errors import PackageError
from webgpu_kernels.tools.scaffold import operator_name, start_package

if TYPE_CHECKING:
    import argparse

    from webgpu_kernels.cli.screen import Screen
    from webgpu_kernels.tools.scaffold import OperatorName

_SAID: Final = {
    "README.md": "the card, made by card",
    "reference.py": "the operator in numpy, for the tests",
    "build/webgpu/manifest.json": "the contract and the variants",
    "build/webgpu/test.json": "correctness cases",
    "build/webgpu/bench.json": "benchmark cases",
    "build/webgpu/metadata.json": "digests and id, made by pack",
}
_SAID_OF_KINDS: Final = {".wgsl.jinja": "the shader of both variants", ".schema.json": "for editors"}
_NEXT: Final = {
    "test": "run the cases on every variant",
    "lint": "look for all that can be wrong",
    "bench": "measure",
    "pack": "after a change: metadata.json",
    "card": "after a change: the card",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments.

    Args:
        parser: the command's.
    """
    parser.add_argument("operator", metavar="DOMAIN.NAME", help="the operator, such as com.example.LeakyRelu")
    parser.add_argument("-o", "--output-dir", metavar="DIR", help="the folder to make; default: the operator's name")


def run(arguments: argparse.Namespace, screen: Screen) -> Exit:
    """Make the folder.

    Args:
        arguments: parsed.
        screen: where to print.

    Returns:
        ``Exit.GOOD``.

    Raises:
        Usage: no operator may be called that.
        OutputError: the folder holds something, or cannot be written.
    """
    operator = _operator(arguments.operator)
    folder = arguments.output_dir if arguments.output_dir is not None else operator.op_id
    started = start_package(operator, folder)
    screen.text((operator.op_id, "bold"), f": a package that runs and passes, in {folder}")
    width = max(map(len, started.files))
    for name in started.files:
        screen.text(f"  {name:{width}}  ", (_said_of(name), "dim"))
    screen.text("next")
    for command, said in _NEXT.items():
        # As wide as the longest, bench.
        screen.text(f"  webgpu-kernels {command} {folder}{' ' * (5 - len(command))}  ", (said, "dim"))
    screen.text("docs/publishing.md leads from here to the Hub.")
    screen.result({"opId": operator.op_id, "folder": str(folder), "files": list(started.files)})
    return Exit.GOOD


def _said_of(name: str) -> str:
    by_kind = (said for ending, said in _SAID_OF_KINDS.items() if name.endswith(ending))
    return _SAID.get(name) or next(by_kind, "")


def _operator(text: str) -> OperatorName:
    try:
        return operator_name(text)
    except PackageError as error:
        raise Usage(str(error)) from error
