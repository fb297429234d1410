"""Devices as JSON files, so that a choice can be explained and WGSL rendered for a GPU that is not here.

A file is ``{description?, features?, limits?, adapterInfo?, wgslLanguageFeatures?}``, in WebGPU's words; a limit that
is left out has WebGPU's default. A few devices come with this library, each as it was measured.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from webgpu_kernels.contract import closest
from webgpu_kernels.contract.documents import read_document
from webgpu_kernels.contract.fields import Fields
from webgpu_kernels.contract.files import read_some, reason_of
from webgpu_kernels.contract.json_text import MAX_TEXT_BYTES
from webgpu_kernels.contract.kinds import Entries, Key, Table, Text, Whole
from webgpu_kernels.errors import RequestError
from webgpu_kernels.planning.capabilities import DEFAULT_LIMITS, FEATURES, Capabilities

if TYPE_CHECKING:
    import os

    from webgpu_kernels.contract.cursor import Node

_FOLDER: Final = Path(__file__).resolve().parent
_DIGITS: Final = re.compile(r"\d+")
_NAMES: Final = Entries(Text())
_INFO: Final = Table(
    "'adapterInfo'",
    Key("subgroupMinSize", Whole(1), "The least subgroup size."),
    Key("subgroupMaxSize", Whole(1), "The greatest subgroup size."),
    Key("invocationsInFlight", Whole(1), "How many invocations a GPU runs side by side, as this library measures it."),
    open=True,
)
_LIMITS: Final = Table("'limits'", *(Key(name, Whole(), f"WebGPU's {name}.") for name in DEFAULT_LIMITS))
DEVICE: Final = Table(
    "a device",
    Key("$schema", Text(), "The JSON Schema that an editor holds this file against."),
    Key("description", Text(), "What the device is."),
    Key("features", _NAMES, "Its WebGPU features."),
    Key("limits", _LIMITS, "Its limits; one that is left out has WebGPU's default."),
    Key("adapterInfo", _INFO, "What the adapter says of itself."),
    Key("wgslLanguageFeatures", _NAMES, "Its WGSL language extensions."),
)
"""The whole of such a file."""


def known_capabilities() -> tuple[str, ...]:
    """Return the names of the devices that come with this library, such as ``h200``, sorted."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.json")))


def load_capabilities(name_or_path: str | os.PathLike[str]) -> Capabilities:
    """Read what a device can do.

    Args:
        name_or_path: one of ``known_capabilities()``, or a JSON file. A name that is known comes first.

    Returns:
        The capabilities.

    Raises:
        RequestError: no such name and no such file, or the file is broken; all its defects are listed.

    Source: WebGPU, section 3.6.
    """
    text = str(name_or_path)
    path = _FOLDER / f"{text}.json" if text in known_capabilities() else Path(text)
    try:
        content = read_some(path, MAX_TEXT_BYTES)
    except FileNotFoundError as error:
        raise _unknown(text) from error
    except (OSError, ValueError) as error:
        raise RequestError(f"the file cannot be read: {reason_of(error)}", where=text) from error
    return read_document(content, _read, what="the description of a device", where=text, error=RequestError)


def capabilities_json(capabilities: Capabilities, description: str | None = None) -> dict[str, Any]:
    """Return capabilities as ``load_capabilities`` reads them.

    Args:
        capabilities: of a device.
        description: what the device is.

    Returns:
        Plain JSON, with every limit.
    """
    info = {name: value for name, value in capabilities.adapter_info.items() if value is not None}
    return {
        **({"description": description} if description else {}),
        "features": sorted(capabilities.features),
        "limits": {name: capabilities.limits[name] for name in DEFAULT_LIMITS},
        "adapterInfo": info,
        "wgslLanguageFeatures": sorted(capabilities.wgsl_language_features),
    }


def _unknown(text: str) -> RequestError:
    known = known_capabilities()
    near = closest(text, known)
    hint = f"Did you mean {near!r}?" if near else None
    return RequestError(
        "no such device is described", where=text, expected=f"a JSON file, or one of {', '.join(known)}", hint=hint
    )


def _read(root: Node) -> Capabilities:
    fields = Fields(root, DEVICE)
    for key in ("$schema", "description"):
        fields.text(key)
    return Capabilities(
        features=_features(fields),
        limits=_limits(fields.get("limits")),
        adapter_info=_members(fields.get("adapterInfo")),
        wgsl_language_features=_names(fields, "wgslLanguageFeatures"),
    )


def _names(fields: Fields, key: str) -> frozenset[str]:
    node = fields.get(key)
    listed = [entry.string() for entry in node.entries("names")] if node else []
    return frozenset(name for name in listed if name is not None)


def _features(fields: Fields) -> frozenset[str]:
    """Refuse names that are nearly WebGPU's, and would only select other variants; others may be new."""
    node = fields.get("features")
    for entry in node.entries("names") if node else []:
        name = entry.value
        if not isinstance(name, str) or name in FEATURES or name.startswith("chromium-"):
            continue
        meant = closest(name, sorted(FEATURES))
        # Another number is another feature: a tier 3 may follow the second.
        if meant is not None and _DIGITS.findall(meant) == _DIGITS.findall(name):
            entry.fail(f"is no feature of WebGPU's: did you mean {meant!r}?")
    return _names(fields, "features")


def _limits(node: Node | None) -> dict[str, int]:
    fields = Fields(node, _LIMITS) if node else None
    return {name: fields.integer(name) for name in DEFAULT_LIMITS if name in fields} if fields else {}


def _members(node: Node | None) -> dict[str, object]:
    """Return adapterInfo's members; expressions see whatever is there."""
    if node is None:
        return {}
    fields = Fields(node, _INFO)
    for name in _INFO.keys:
        fields.integer(name)
    return dict(node.value) if isinstance(node.value, dict) else {}
