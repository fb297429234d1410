"""Fetch kernels, so that a program finds them without network.

Without PACKAGE: those of the nearest webgpu-kernels.lock, at exactly the
commits and with exactly the files that it holds; wk.get_kernel(name,
locked=True) then loads them. With PACKAGE: these. Every file is checked; what
is in the cache already is not fetched again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from webgpu_kernels.cli.arguments import Usage
from webgpu_kernels.cli.exits import Exit
from webgpu_kernels.cli.packages import add_trust, located, trust_in_options, trust_of
from webgpu_kernels.contract import verify
from webgpu_kernels.contract.lock import find_lock, read_lock
from webgpu_kernels.contract.published import locked_package
from webgpu_kernels.errors import DigestError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from webgpu_kernels.cli.screen import Screen
    from webgpu_kernels.contract import Package


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("packages", nargs="*", metavar="PACKAGE", help="owner/name@v1 or owner/name@commit of the Hub")
    parser.add_argument("--lock", metavar="FILE", help="this lock file; default: the nearest, here or above")
    add_trust(parser)


def run(arguments: argparse.Namespace, screen: Screen) -> Exit:
    """Fetch every package, then say where each lies."""
    if arguments.packages and arguments.lock is not None:
        raise Usage("Name packages or a lock file, not both.")
    names, load = _named(arguments) if arguments.packages else _locked(arguments)
    documents = []
    with screen.progress("download", len(names)) as progress:
        for name in names:
            documents.append(_fetched(name, load(name)))
            progress.advance(1, name)
    for document in documents:
        revision = document["revision"]
        screen.text((document["package"], "bold"), f" {revision[:12]}" if revision else " is here already")
    screen.result({"packages": documents})
    return Exit.GOOD


def _named(arguments: argparse.Namespace) -> tuple[tuple[str, ...], Callable[[str], Package]]:
    return tuple(dict.fromkeys(arguments.packages)), lambda name: located(name, arguments).package


def _locked(arguments: argparse.Namespace) -> tuple[tuple[str, ...], Callable[[str], Package]]:
    path = find_lock() if arguments.lock is None else arguments.lock
    trust = trust_of(arguments)

    def load(name: str) -> Package:
        with trust_in_options():
            return locked_package(name, None, str(path), trust, None)

    return tuple(read_lock(path).kernels), load


def _fetched(name: str, package: Package) -> dict[str, Any]:
    if package.revision is not None:
        report = verify(package)
        if not report.ok:
            raise DigestError(f"the files are not as listed: {', '.join(report.names('differs'))}", where=name)
    return {"package": name, "opId": package.manifest.op_id, "revision": package.revision, "folder": str(package.root)}
