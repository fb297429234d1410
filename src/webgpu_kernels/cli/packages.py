"""The argument PACKAGE, and who is trusted to have written it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from webgpu_kernels.cli.arguments import Usage
from webgpu_kernels.contract import bundled_names
from webgpu_kernels.errors import UntrustedRepository
from webgpu_kernels.tools.locate import locate

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from webgpu_kernels.contract.trust import Trust
    from webgpu_kernels.device import Device
    from webgpu_kernels.kernel import Kernel

PACKAGE_HELP: Final = "a folder, a bundled operator, or owner/name@v1 (or @commit) of the Hub"


def add_package(parser: argparse.ArgumentParser, *, many: bool = False) -> None:
    """Add PACKAGE, or several of them and ``--all``, and the options that say who is trusted.

    Args:
        parser: the command's.
        many: whether several may be named; then ``package_names`` returns them.
    """
    if many:
        parser.add_argument("packages", nargs="*", metavar="PACKAGE", help=PACKAGE_HELP)
        parser.add_argument("--all", action="store_true", help="every bundled package")
    else:
        parser.add_argument("package", metavar="PACKAGE", help=PACKAGE_HELP)
    add_trust(parser)


def add_own_packages(parser: argparse.ArgumentParser) -> None:
    """Add PACKAGE, several of them, and ``--all``, for a command that writes into packages.

    Args:
        parser: the command's; ``package_names`` returns what was named.
    """
    parser.add_argument("packages", nargs="*", metavar="PACKAGE", help="a folder, or a bundled operator")
    parser.add_argument("--all", action="store_true", help="every bundled package")


def add_trust(parser: argparse.ArgumentParser) -> None:
    """Add ``--trust`` and ``--trust-remote-code``.

    Args:
        parser: the command's.
    """
    group = parser.add_argument_group("trust")
    group.add_argument(
        "--trust",
        action="append",
        default=[],
        metavar="NAME",
        help="trust this repository or organisation of the Hub, too; may be repeated",
    )
    group.add_argument("--trust-remote-code", action="store_true", help="trust every repository named here")


def trust_of(arguments: argparse.Namespace) -> Trust:
    """Return whom the command line trusts beside the organisation of the published kernels.

    Args:
        arguments: of a parser that ``add_trust`` has seen.

    Returns:
        True for everybody, or names.
    """
    return True if arguments.trust_remote_code else tuple(arguments.trust)


def package_names(arguments: argparse.Namespace) -> tuple[str, ...]:
    """Return the packages that were named, of a parser with several.

    Args:
        arguments: of a parser that ``add_package`` has seen.

    Returns:
        Texts for ``located``; with ``--all`` every bundled operator first. Each stands once.

    Raises:
        Usage: none is named.
    """
    named = (*(bundled_names() if arguments.all else ()), *arguments.packages)
    if not named:
        raise Usage("Name a package, or give --all for every bundled one: " + ", ".join(bundled_names()))
    return tuple(dict.fromkeys(named))


def located(text: str, arguments: argparse.Namespace, device: Device | None = None) -> Kernel:
    """Load the package that was named.

    Args:
        text: what was typed.
        arguments: of a parser that ``add_package`` has seen.
        device: where its calls run.

    Returns:
        The kernel.

    Raises:
        PackageError: as ``locate`` does; who is not trusted can be with an option of this command line.
    """
    with trust_in_options():
        return locate(text, trust=trust_of(arguments), device=device)


@contextmanager
def trust_in_options() -> Iterator[None]:
    """Say how to trust a repository in the words of the command line instead of those of Python.

    Yields:
        Nothing, for what may meet a repository that is not trusted.

    Raises:
        UntrustedRepository: with another hint than the one that came.
    """
    try:
        yield
    except UntrustedRepository as error:
        hint = f"Read its templates, then give --trust {error.where}."
        raise UntrustedRepository(error.message, where=error.where, expected=error.expected, hint=hint) from error
