"""Where kernels come from: with this library, from a folder, from the Hub."""

from __future__ import annotations

from typing import TYPE_CHECKING

from webgpu_kernels.contract import bundled_package, open_package
from webgpu_kernels.errors import SourceError
from webgpu_kernels.kernel import Kernel

if TYPE_CHECKING:
    import os

    from webgpu_kernels.contract.trust import Trust
    from webgpu_kernels.device import Device


def get_kernel(
    name: str,
    /,
    *,
    version: int | None = None,
    revision: str | None = None,
    trust_remote_code: Trust = False,
    locked: bool | str | os.PathLike[str] = False,
    token: str | bool | None = None,
    device: Device | None = None,
) -> Kernel:
    """Load a bundled kernel by its operator, without network, or a kernel from the Hub.

    Args:
        name: an operator such as ``"com.microsoft.SkipGroupNorm"``, or a repository,
            ``"webgpu-kernels/com.microsoft.SkipGroupNorm"``. With any of version, revision and locked, an operator
            stands for its repository of the organisation ``webgpu-kernels``; without, it is bundled.
        version: follow this version, which is resolved to a commit once a process.
        revision: the commit to load, 40 hexadecimal digits.
        trust_remote_code: True to trust any repository; or the repositories and organisations to trust, beside
            ``webgpu-kernels``.
        locked: True to load what the nearest ``webgpu-kernels.lock`` says, here or in a folder above; or that file.
        token: who asks the Hub; None for the saved token, False for nobody. It is sent to the endpoint only.
        device: where the kernel's calls run, unless one says otherwise.

    Returns:
        The kernel.

    Raises:
        PackageNotFound: no such package is bundled, or on the Hub.
        SourceError: neither or both of version and revision are given, or what is given is no such thing.
        UntrustedRepository: nobody said that the repository is trusted.
        LockError: the lock file is missing or broken, or does not hold it.
        DigestError: a file is not what its digest says; the cached copy is gone.
        PackageError: the parts of the package do not agree, or break the format.
        HubError: the Hub does not give it.
        HubExtraMissing: huggingface_hub is not installed.

    Source: FORMAT, sections 1 and 10.
    """
    if not isinstance(name, str):
        raise SourceError("name", expected="an operator or a repository", got=repr(name))
    if "/" not in name and version is None and revision is None and not locked:
        return Kernel(bundled_package(name), device)
    from webgpu_kernels.contract import published  # noqa: PLC0415 - who loads bundled kernels does without the Hub

    if not locked:
        return Kernel(published.followed_package(name, version, revision, trust_remote_code, token), device)
    if revision is not None:
        raise SourceError("revision and locked are both given", where=name, hint="Give one of them.")
    return Kernel(published.locked_package(name, version, locked, trust_remote_code, token), device)


def load_kernel(path: str | os.PathLike[str], *, verify: bool = False, device: Device | None = None) -> Kernel:
    """Load a kernel from a folder.

    Args:
        path: a package (``<path>/build/webgpu/manifest.json``), or the folder that holds manifest.json and templates.
        verify: whether its files must be those that metadata.json lists.
        device: where its calls run, unless one says otherwise.

    Returns:
        The kernel; without verify, manifest and templates are enough.

    Raises:
        PackageNotFound: there is no manifest there.
        DigestError: with verify, a file is not what its digest says, has none, or is not there.
        ManifestError: the manifest breaks the format; every defect is listed.

    Source: FORMAT, section 1.
    """
    return Kernel(open_package(path, verify=verify), device)
