"""The example in JavaScript, for the published loader."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from webgpu_kernels.contract import Manifest
    from webgpu_kernels.tools.card.example import Example

PACKAGE: Final = "@huggingface/kernels"
RELEASE: Final = "0.0.1-preview.3"
SPEC: Final = "2.1"
"""The one spec that this release reads."""


def javascript_code(
    manifest: Manifest, repository: str, version: int, example: Example | None, *, trusted: bool
) -> str:
    """Write the example.

    Args:
        manifest: the contract.
        repository: ``owner/name``.
        version: of the contract.
        example: the call, or None to stop at loading.
        trusted: whether the loader trusts the owner without being told.

    Returns:
        A module.
    """
    options = f"version: {version}{'' if trusted else ', trustRemoteCode: true'}"
    lines = [
        f'import {{ getKernel }} from "{PACKAGE}";',
        "",
        f"const kernel = await getKernel({json.dumps(repository)}, {{ {options} }});",
    ]
    if example is None:
        return "\n".join(lines)
    call = example.call
    lines.append(f"const {{ {', '.join(example.results)} }} = await kernel({{")
    lines += [f"  {name}: {_tensor(name, list(spec.shape), spec.dtype)}," for name, spec in call.inputs.items()]
    lines += [f"  {name}: {_literal(value)}," for name, value in call.args.items()]
    members = list(_options(manifest, example))
    lines += ["}, {", *members, "});"] if members else ["});"]
    return "\n".join(lines)


def _tensor(name: str, shape: list[int], dtype: str) -> str:
    # Of a typed array's kinds only this one stands for two dtypes.
    told = ', dtype: "bool"' if dtype == "bool" else ""
    return f"{{ data: {name}Data, shape: {json.dumps(shape)}{told} }}"


def _options(manifest: Manifest, example: Example) -> Iterator[str]:
    if example.call.attrs:
        yield f"  attrs: {_members(example.call.attrs)},"
    wanted: dict[str, Any] = {}
    for name, given in example.call.outputs.items():
        if given is not None:
            wanted[name] = {"shape": list(given.shape), "dtype": given.dtype}
        elif manifest.outputs[name].optional:
            wanted[name] = {"shape": list(example.results[name].shape)}
    if wanted:
        yield f"  outputs: {_members(wanted)},"


def _members(values: Mapping[str, Any]) -> str:
    return f"{{ {', '.join(f'{name}: {_literal(value)}' for name, value in values.items())} }}"


def _literal(value: object) -> str:
    return _members(value) if isinstance(value, dict) else json.dumps(value)
