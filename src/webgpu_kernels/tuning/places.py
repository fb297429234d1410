"""Where profiles are kept, and which one belongs to a package on a device."""

from __future__ import annotations

import os
import threading
import warnings
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from webgpu_kernels.errors import KernelError, OutputError, ResultsError

if TYPE_CHECKING:
    from webgpu_kernels.contract import Package
    from webgpu_kernels.planning.capabilities import Capabilities
    from webgpu_kernels.tuning.profile import Profile

VARIABLE: Final = "WEBGPU_KERNELS_TUNING"
"""``off`` leaves profiles alone; anything else is the folder that they are in, or one profile's file."""
OFF: Final = "off"
_KEY_DIGITS: Final = 16
_FACTS: Final = ("vendor", "architecture", "device", "description")

_lock = threading.Lock()
_known: dict[tuple[str, ...], Profile | None] = {}
_digests: weakref.WeakKeyDictionary[Package, str] = weakref.WeakKeyDictionary()


def profile_for(package: Package, capabilities: Capabilities) -> Profile | None:
    """Return the profile that calls of a package go by on a device.

    Args:
        package: the kernel's.
        capabilities: the device.

    Returns:
        The profile; None where there is none, or profiles are off. One that cannot be read is warned of, once.
    """
    place = place_of_profiles()
    # Most people tune nothing: they pay for looking whether there is a folder.
    if place is None or not (place.is_file() or (place / package.manifest.op_id).is_dir()):
        return None
    try:
        return _fitting(path_of(package, capabilities), package, capabilities)
    except (KernelError, OSError):
        return None  # whoever reads the package's files next says what is wrong with them


def place_of_profiles() -> Path | None:
    """Return the folder of all profiles, or one profile's file; None where profiles are off."""
    asked = os.environ.get(VARIABLE, "")
    if asked.lower() == OFF:
        return None
    if asked:
        return Path(asked)
    # XDG's rule, and Windows' own, are all that a library for this would add.
    base = os.environ.get("XDG_DATA_HOME") or os.environ.get("LOCALAPPDATA")
    try:
        return Path(base or Path.home() / ".local" / "share") / "webgpu-kernels" / "tuning"
    except RuntimeError:
        return None  # nobody's home


def device_facts(capabilities: Capabilities) -> dict[str, Any]:
    """Return what a profile's device is known by: the adapter, and its driver, which stands in the description."""
    return {name: str(capabilities.adapter_info.get(name) or "") for name in _FACTS}


def package_digest(package: Package) -> str:
    """Return the digest of what speed depends on in a package: manifest and templates.

    Args:
        package: from anywhere; of the Hub nothing is fetched.

    Returns:
        64 hexadecimal digits.

    Raises:
        PackageError: a file cannot be read.
    """
    from webgpu_kernels.contract.digests import file_digest, table_digest  # noqa: PLC0415 - who tunes nothing needs not
    from webgpu_kernels.contract.listing import template_names  # noqa: PLC0415 - likewise

    if package.revision is not None and package.metadata is not None:
        stated = package.metadata.digests
        digests = {name: stated[name] for name in stated if name == "manifest.json" or ".wgsl" in name}
    else:
        names = ("manifest.json", *template_names(package.root, where=package.where))
        digests = {name: file_digest(package.read(name)) for name in names}
    return table_digest(digests)


def file_name(package: Package, capabilities: Capabilities) -> str:
    """Return what a package's profile on a device is called.

    Args:
        package: the kernel's.
        capabilities: the device.

    Returns:
        A name that another adapter, driver or package does not have.

    Raises:
        PackageError: a file of the package cannot be read.
    """
    import hashlib  # noqa: PLC0415 - loads OpenSSL, which who tunes nothing needs not

    facts = "\0".join(device_facts(capabilities).values())
    key = hashlib.sha256(f"{facts}\0{_digest_once(package)}".encode()).hexdigest()[:_KEY_DIGITS]
    return f"{key}.json"


def keep_profile(profile: Profile, package: Package, capabilities: Capabilities) -> Path:
    """Write a profile where calls find it; those of before are replaced.

    Args:
        profile: of the package on the device.
        package: the kernel's.
        capabilities: the device.

    Returns:
        The file.

    Raises:
        OutputError: it cannot be written, or profiles are off.
    """
    from webgpu_kernels.contract.writing import replace_text  # noqa: PLC0415 - calls read only
    from webgpu_kernels.tuning.profile import profile_text  # noqa: PLC0415 - likewise

    path = path_of(package, capabilities)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_text(path, profile_text(profile))
    except OSError as error:
        raise OutputError(f"cannot be written: {error.strerror or error}", where=str(path)) from error
    forget_profiles()
    return path


def check_place(package: Package, capabilities: Capabilities) -> None:
    """Find out whether a profile could be kept, before time is spent on one; nothing is written.

    Args:
        package: the kernel's.
        capabilities: the device.

    Raises:
        OutputError: it could not be written, profiles are off, or there is no home to keep them in.
        PackageError: a file of the package cannot be read.
    """
    path = path_of(package, capabilities)
    there = next(folder for folder in path.parents if folder.exists())
    if not there.is_dir():
        raise OutputError("cannot be written: it would lie in a file", where=str(path), got=str(there))
    if not os.access(there, os.W_OK | os.X_OK):
        raise OutputError("cannot be written: the folder is not writable", where=str(path), got=str(there))


def drop_profile(package: Package, capabilities: Capabilities) -> Path | None:
    """Remove the profile of a package on a device.

    Args:
        package: the kernel's.
        capabilities: the device.

    Returns:
        The file that was removed, or None where there is none.

    Raises:
        OutputError: it cannot be removed, or profiles are off.
    """
    path = path_of(package, capabilities)
    try:
        path.unlink()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise OutputError(f"cannot be removed: {error.strerror or error}", where=str(path)) from error
    forget_profiles()
    return path


def path_of(package: Package, capabilities: Capabilities) -> Path:
    """Return where the profile of a package on a device is, whether it is there or not.

    Args:
        package: the kernel's.
        capabilities: the device.

    Returns:
        The file.

    Raises:
        OutputError: profiles are off, or there is no home to keep them in.
        PackageError: a file of the package cannot be read.
    """
    place = place_of_profiles()
    if place is None:
        raise OutputError(
            "there is no place for profiles", hint=f"Let {VARIABLE} name a folder, or do not set it to {OFF}."
        )
    return place if place.is_file() else place / package.manifest.op_id / file_name(package, capabilities)


def forget_profiles() -> None:
    """Read profiles anew from now on: one was written or removed."""
    with _lock:
        _known.clear()
        _digests.clear()


def _digest_once(package: Package) -> str:
    with _lock:
        found = _digests.get(package)
    if found is None:
        found = package_digest(package)
        with _lock:
            _digests[package] = found
    return found


def _fitting(path: Path, package: Package, capabilities: Capabilities) -> Profile | None:
    facts = device_facts(capabilities)
    key = (str(path), _digest_once(package), *facts.values())
    with _lock:
        if key in _known:
            return _known[key]
    profile = _read(path)
    meant = (package.manifest.op_id, _digest_once(package), facts)
    if profile is not None and (profile.op_id, profile.digest, dict(profile.device)) != meant:
        profile = None
    with _lock:
        _known[key] = profile
    return profile


def _read(path: Path) -> Profile | None:
    from webgpu_kernels.contract.files import read_some  # noqa: PLC0415 - only where there is one
    from webgpu_kernels.contract.json_text import MAX_TEXT_BYTES  # noqa: PLC0415 - likewise
    from webgpu_kernels.tuning.profile import read_profile  # noqa: PLC0415 - likewise

    try:
        return read_profile(read_some(path, MAX_TEXT_BYTES), where=str(path))
    except FileNotFoundError:
        return None
    except (ResultsError, OSError) as error:
        warnings.warn(f"calls go on without a profile: {error}", RuntimeWarning, stacklevel=2)
        return None
