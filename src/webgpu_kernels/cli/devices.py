"""The options that say which device: one of this machine, or one that is described."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from webgpu_kernels.cli.arguments import Usage
from webgpu_kernels.device import Device, default_device
from webgpu_kernels.tools.capabilities import known_capabilities, load_capabilities

if TYPE_CHECKING:
    import argparse

    from webgpu_kernels.planning.capabilities import Capabilities


def add_adapter(parser: argparse.ArgumentParser) -> None:
    """Add ``--adapter``.

    Args:
        parser: the command's.
    """
    parser.add_argument(
        "--adapter", metavar="NAME", help="part of an adapter's name, or its number in 'info'; default: the best"
    )


def add_capabilities(parser: argparse.ArgumentParser) -> None:
    """Add ``--capabilities``.

    Args:
        parser: the command's.
    """
    parser.add_argument(
        "--capabilities",
        metavar="NAME|FILE",
        help=f"answer for this device instead: {', '.join(known_capabilities())}, or a JSON file",
    )


def adapter_of(arguments: argparse.Namespace) -> str | int | None:
    """Return the adapter that was asked for.

    Args:
        arguments: of a parser that ``add_adapter`` has seen.

    Returns:
        Its number, or a part of its name; None where none was named.
    """
    name: str | None = arguments.adapter
    return int(name) if name is not None and name.isdecimal() and len(name) < 4 else name


def device_of(arguments: argparse.Namespace) -> Device:
    """Open the device that was asked for.

    Args:
        arguments: of a parser that ``add_adapter`` has seen.

    Returns:
        The device; the process's default one where none was named.

    Raises:
        NoAdapterError: there is none, or none of that name.
    """
    adapter = adapter_of(arguments)
    return default_device() if adapter is None else Device(adapter)


def capabilities_of(arguments: argparse.Namespace) -> Capabilities | None:
    """Return the described device.

    Args:
        arguments: of a parser that ``add_capabilities`` has seen.

    Returns:
        What it can do; None where no device was described, so that a real one counts.

    Raises:
        RequestError: no such description, or a broken one.
        Usage: an adapter was named, too.
    """
    if arguments.capabilities is None:
        return None
    if getattr(arguments, "adapter", None) is not None:
        raise Usage("Give --adapter or --capabilities, not both: one is here, the other is described.")
    return load_capabilities(arguments.capabilities)


class AskedDevice(NamedTuple):
    """The device that a question is about.

    Attributes:
        name: for people.
        capabilities: what it can do.
        here: whether it is one of this machine's, whose profiles of 'tune' count then.
    """

    name: str
    capabilities: Capabilities
    here: bool


def asked_device(arguments: argparse.Namespace) -> AskedDevice:
    """Return the device that a question is about, described or real.

    Args:
        arguments: of a parser that ``add_adapter`` and ``add_capabilities`` have seen.

    Returns:
        Its name and capabilities.

    Raises:
        RequestError: no such description, or a broken one.
        NoAdapterError: none is described, and there is none here.
        Usage: both are named.
    """
    described = capabilities_of(arguments)
    if described is not None:
        return AskedDevice(f"{arguments.capabilities} (described)", described, here=False)
    capabilities = device_of(arguments).capabilities
    return AskedDevice(str(capabilities.adapter_info.get("device") or "this machine's device"), capabilities, here=True)
