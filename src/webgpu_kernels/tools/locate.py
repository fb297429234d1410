"""From what a person types to a package: a folder, a bundled operator or a repository of the Hub."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from webgpu_kernels.contract import bundled_names, closest
from webgpu_kernels.contract.files import reason_of
from webgpu_kernels.errors import PackageNotFound, SourceError
from webgpu_kernels.loading import get_kernel, load_kernel

if TYPE_CHECKING:
    from webgpu_kernels.contract.trust import Trust
    from webgpu_kernels.device import Device
    from webgpu_kernels.kernel import Kernel

_REPOSITORY: Final = re.compile(r"(?P<name>[\w.-]+/[\w.-]+)(@(?P<at>\w+))?", re.ASCII)


def locate(text: str, *, trust: Trust = False, token: str | bool | None = None, device: Device | None = None) -> Kernel:
    """Load the package that a command line names.

    Args:
        text: a folder, a bundled operator such as ``ai.onnx.Add``, or a repository with a version or a commit, such as
            ``owner/name@v1``. A folder that is there comes first.
        trust: whose repositories beside the organisation's are trusted.
        token: who asks the Hub.
        device: where its calls run.

    Returns:
        The kernel; bundled ones and folders are not verified.

    Raises:
        PackageNotFound: it is none of these.
        SourceError: a repository without version and commit.
        PackageError: the package cannot be read.
    """
    if _is_folder(text):
        return load_kernel(text, device=device)
    if text in bundled_names():
        return get_kernel(text, device=device)
    found = _REPOSITORY.fullmatch(text)
    if found is None or text.startswith("."):
        raise _nowhere(text)
    at = found["at"]
    if at is None:
        raise SourceError(
            "a repository of the Hub needs a version or a commit, and there is no such folder",
            where=text,
            hint=f"Write {text}@v1, or {text}@ and the 40 digits of a commit.",
        )
    version = re.fullmatch(r"v([0-9]{1,9})", at, re.ASCII)
    if version:
        return get_kernel(found["name"], version=int(version[1]), trust_remote_code=trust, token=token, device=device)
    return get_kernel(found["name"], revision=at, trust_remote_code=trust, token=token, device=device)


def _is_folder(text: str) -> bool:
    try:
        return Path(text).is_dir()
    except (OSError, ValueError) as error:
        raise PackageNotFound(f"cannot be looked at: {reason_of(error)}", where=text[:120]) from error


def _nowhere(text: str) -> PackageNotFound:
    near = closest(text, bundled_names())
    hint = f"Did you mean {near!r}?" if near else f"Bundled are {', '.join(bundled_names())}."
    return PackageNotFound(
        "no such package", where=text, expected="a folder, a bundled operator or owner/name@v1 of the Hub", hint=hint
    )
