"""Write README.md of packages, from the manifest and test.json.

It lies in the package's root, above build/webgpu, and has the layout of the
published cards; its example is the first small case of test.json. What is to
stand in it belongs into the descriptions of the manifest. Of a package from
the Hub the card is only printed.

  webgpu-kernels card path/to/package
  webgpu-kernels card --all --check
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from webgpu_kernels.cli.arguments import Usage
from webgpu_kernels.cli.exits import Exit
from webgpu_kernels.cli.packages import add_package, located, package_names
from webgpu_kernels.contract import bundled_names
from webgpu_kernels.contract.files import read_if_there
from webgpu_kernels.tools.card import card_text
from webgpu_kernels.tools.own import own_package
from webgpu_kernels.tools.writing import write_file

if TYPE_CHECKING:
    from webgpu_kernels.cli.screen import Screen

_OWNER: Final = re.compile(r"[\w.-]{1,96}", re.ASCII)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_package(parser, many=True)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 where it is out of date")
    parser.add_argument(
        "--owner", type=_owner, metavar="NAME", help="whose repository on the Hub the examples load; kept afterwards"
    )


def _owner(text: str) -> str:
    if not _OWNER.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no user or organisation of the Hub")
    return text


def run(arguments: argparse.Namespace, screen: Screen) -> Exit:
    """Write each card, or say which are out of date."""
    documents = [_card(name, arguments, screen) for name in package_names(arguments)]
    good = not (arguments.check and any(document["stale"] for document in documents))
    screen.result({"good": good, "packages": documents})
    return Exit.GOOD if good else Exit.FOUND


def _card(name: str, arguments: argparse.Namespace, screen: Screen) -> dict[str, Any]:
    if not Path(name).exists() and name not in bundled_names():
        return _printed(name, arguments, screen)
    own = own_package(name)
    path = own.card
    text = card_text(own.package, metadata=own.stated, owner=arguments.owner)
    there = read_if_there(path.parent, path.name, where=own.where)
    stale = there != text.encode()
    if stale and not arguments.check:
        write_file(path, text)
    _tell(name, stale=stale, there=there is not None, check=arguments.check, screen=screen)
    written = stale and not arguments.check
    return {"package": name, "file": str(path), "stale": stale, "written": written, "text": text}


def _printed(name: str, arguments: argparse.Namespace, screen: Screen) -> dict[str, Any]:
    if arguments.check:
        raise Usage(f"The card of {name} is not here: --check is for folders and bundled operators.")
    text = card_text(located(name, arguments).package, owner=arguments.owner)
    screen.raw(text)
    return {"package": name, "file": None, "stale": False, "written": False, "text": text}


def _tell(name: str, *, stale: bool, there: bool, check: bool, screen: Screen) -> None:
    if not check:
        screen.text((name, "bold"), ": ", "written" if stale else "nothing to change")
    elif not stale:
        screen.text((name, "bold"), ": ", ("up to date", "green"))
    else:
        screen.text((name, "bold"), ": ", ("out of date" if there else "there is no card", "bold red"))
        screen.text((f"  Write it: webgpu-kernels card {name}", "dim"))
