"""What a bug report needs: versions, adapters, caches, and the environment as far as it changes anything."""

from __future__ import annotations

import os
import platform
import re
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Final, NamedTuple

from webgpu_kernels.contract import bundled_names
from webgpu_kernels.contract.remote import connect
from webgpu_kernels.device import AdapterInfo, adapters
from webgpu_kernels.device.adapters import choose_adapter
from webgpu_kernels.device.lifecycle import by_environment
from webgpu_kernels.device.seam import native_version
from webgpu_kernels.errors import HubExtraMissing, NoAdapterError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_LIBRARIES: Final = (
    "webgpu-kernels",
    "wgpu",
    "numpy",
    "rich",
    "huggingface_hub",
    "ml-dtypes",
    "onnx",
    "onnxruntime",
    "torch",
)
_PREFIXES: Final = ("WEBGPU_KERNELS_", "WGPU_", "HF_", "HUGGING_FACE_", "VK_", "MESA_", "LP_")
_NAMES: Final = ("XDG_RUNTIME_DIR", "XDG_CACHE_HOME", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "NO_COLOR", "COLUMNS")
_SECRET: Final = re.compile(r"TOKEN|KEY|SECRET|PASSWORD")
_USER_OF_ADDRESS: Final = re.compile(r"//[^/@\s]*@")


class Cache(NamedTuple):
    """A folder in which things are kept.

    Attributes:
        what: what is kept there.
        place: the folder.
        repositories: how many kernels.
        size_bytes: of all their files, each counted once.
    """

    what: str
    place: Path
    repositories: int
    size_bytes: int


class Installation(NamedTuple):
    """What is here.

    Attributes:
        versions: library to version, of those that are installed.
        python: version of the interpreter.
        system: operating system, its release and the processor's family.
        adapters: of this machine, usable or not.
        default_adapter: index of the one that calls use where none is named, or None.
        adapter_fault: why there is none, or None.
        endpoint: of the Hub, or None where huggingface_hub is not installed.
        caches: where kernels of the Hub are kept.
        bundled: operators that come with this library.
        environment: variables that change something here; secrets are left out.
    """

    versions: Mapping[str, str]
    python: str
    system: str
    adapters: tuple[AdapterInfo, ...]
    default_adapter: int | None
    adapter_fault: str | None
    endpoint: str | None
    caches: tuple[Cache, ...]
    bundled: tuple[str, ...]
    environment: Mapping[str, str]


def describe_installation() -> Installation:
    """Describe this library where it is installed.

    Returns:
        What is here; a part that fails is described by why.
    """
    found, default, fault = _adapters()
    endpoint, caches = _hub()
    return Installation(
        versions=_versions(),
        python=platform.python_version(),
        system=f"{platform.system()} {platform.release()} ({platform.machine()})",
        adapters=found,
        default_adapter=default,
        adapter_fault=fault,
        endpoint=endpoint,
        caches=caches,
        bundled=bundled_names(),
        environment=told_environment(os.environ),
    )


def told_environment(environment: Mapping[str, str]) -> Mapping[str, str]:
    """Return the variables that change something here.

    Args:
        environment: all variables.

    Returns:
        Name to value, sorted; a secret's value is ``(set)``, and who an address is for is left out of it.
    """
    told = {
        name: "(set)" if _SECRET.search(name.upper()) else _USER_OF_ADDRESS.sub("//", value)
        for name, value in sorted(environment.items())
        if name.startswith(_PREFIXES) or name.upper() in _NAMES
    }
    return {name: value for name, value in told.items() if value}


def _adapters() -> tuple[tuple[AdapterInfo, ...], int | None, str | None]:
    try:
        found = adapters()
    except NoAdapterError as error:
        return (), None, str(error)
    try:
        return found, by_environment(partial(choose_adapter, found)).index, None
    except NoAdapterError as error:
        return found, None, str(error)


def _hub() -> tuple[str | None, tuple[Cache, ...]]:
    try:
        hub = connect()
    except HubExtraMissing:
        return None, ()
    stored = hub.stored()
    cache = Cache("kernels of the Hub", hub.cache, len(stored), sum(map(_size_bytes, stored)))
    return hub.endpoint, (cache,)


def _size_bytes(folder: Path) -> int:
    """Return the bytes of a folder's files; links into the cache's blobs count for nothing."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.lstat().st_size if path.is_file() and not path.is_symlink() else 0
        except OSError:
            continue
    return total


def _versions() -> Mapping[str, str]:
    found = {}
    for name in _LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
        if name == "wgpu":
            found |= _native()
    return found


def _native() -> dict[str, str]:
    try:
        return {"wgpu-native": native_version()}
    except NoAdapterError:
        return {}
