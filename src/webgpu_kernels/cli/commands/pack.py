"""Write metadata.json of packages: digests, id, version, provenance, templates.

It lies beside manifest.json and lists every other file there. The same files
give the same bytes. Where they come from is asked of git: the last commit that
changed one of them, and whether there are changes that no commit holds. So
commit the files, pack them, and commit metadata.json.

  webgpu-kernels pack path/to/package
  webgpu-kernels pack --all --check
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, Final

from webgpu_kernels.cli.exits import Exit
from webgpu_kernels.cli.packages import add_own_packages, package_names
from webgpu_kernels.contract.files import read_if_there
from webgpu_kernels.contract.metadata import METADATA
from webgpu_kernels.tools.own import own_package
from webgpu_kernels.tools.pack import differences, metadata_text, packed, provenance_lag
from webgpu_kernels.tools.writing import write_file

if TYPE_CHECKING:
    from webgpu_kernels.cli.screen import Screen

_MOST: Final = 999_999_999


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_own_packages(parser)
    parser.add_argument(
        "--version", type=_version, metavar="N", help="the contract's version; default: the one it has, or 1"
    )
    parser.add_argument("--license", metavar="SPDX", help="default: the one it has, or Apache-2.0")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 where it is out of date")


def _version(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text[:10]) <= _MOST):
        raise argparse.ArgumentTypeError(f"{text!r} is no version: give a number from 1")
    return int(text)


def run(arguments: argparse.Namespace, screen: Screen) -> Exit:
    """Pack each package, or say which are out of date."""
    documents = [_pack(name, arguments, screen) for name in package_names(arguments)]
    good = not (arguments.check and any(document["differences"] for document in documents))
    screen.result({"good": good, "packages": documents})
    return Exit.GOOD if good else Exit.FOUND


def _pack(name: str, arguments: argparse.Namespace, screen: Screen) -> dict[str, Any]:
    own = own_package(name)
    fresh = packed(own, version=arguments.version, license_=arguments.license)
    text, path = metadata_text(fresh), own.root / METADATA
    found = differences(own, fresh)
    changed = read_if_there(own.root, METADATA, where=own.where) != text.encode()
    if arguments.check:
        _tell_stale(name, found, provenance_lag(own, fresh), screen)
    else:
        if changed:
            write_file(path, text)
        screen.text((name, "bold"), ": ", "packed" if changed else "nothing to change", f", {fresh.id}")
    return {
        "package": name,
        "id": fresh.id,
        "version": fresh.version,
        "file": str(path),
        "differences": list(found),
        "written": changed and not arguments.check,
    }


def _tell_stale(name: str, found: tuple[str, ...], lag: str | None, screen: Screen) -> None:
    if not found:
        screen.text((name, "bold"), ": ", ("up to date", "green"))
        if lag:
            screen.text((f"  {lag}", "dim"))
        return
    screen.text((name, "bold"), ": ", ("out of date", "bold red"))
    for sentence in found:
        screen.text(f"  {sentence}")
    screen.text((f"  Write it: webgpu-kernels pack {name}", "dim"))
