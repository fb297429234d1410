"""The card as a whole, in the layout of the published ones; docs/command-line.md, section "card", tells about it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from webgpu_kernels.contract import bundled_names, bundled_package
from webgpu_kernels.contract.files import read_if_there, suffix_fault
from webgpu_kernels.contract.listing import file_names
from webgpu_kernels.contract.package import MANIFEST
from webgpu_kernels.tools.card.contract_tables import attribute_table, constraint_table, port_table, scalar_table
from webgpu_kernels.tools.card.example import example_of
from webgpu_kernels.tools.card.javascript_code import PACKAGE, RELEASE, SPEC, javascript_code
from webgpu_kernels.tools.card.markdown import block, code, one_line
from webgpu_kernels.tools.card.python_code import needs_nibbles, python_code
from webgpu_kernels.tools.lint.subject import folder_of
from webgpu_kernels.tools.own import CARD, spec_of
from webgpu_kernels.tools.pack import LICENSE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from webgpu_kernels.contract import Manifest, Metadata, Package
    from webgpu_kernels.tools.card.example import Example

ORGANISATION: Final = "webgpu-kernels"
OWNER: Final = "OWNER"
"""Stands for the owner of a repository that nobody has named yet."""
_DOMAINS: Final = ("ai.onnx", "com.microsoft")
"""Domains of the organisation's own operators."""
_FILES: Final = {
    "metadata.json": "id, version, digests, origin, templates of each variant",
    MANIFEST: "the contract: tensors, attributes, variants and their formulas",
    "test.json": "cases that every variant must get right",
    "bench.json": "cases to measure",
}


class _Facts(NamedTuple):
    """What the card needs to know beside the manifest."""

    files: tuple[str, ...]
    license: str
    version: int
    owner: str
    spec: str
    example: Example | None
    bundled: bool


def card_text(package: Package, *, metadata: Metadata | None = None, owner: str | None = None) -> str:
    """Write a package's README.md.

    Args:
        package: from anywhere; of the Hub test.json is fetched now.
        metadata: what metadata.json says; by default the package's own.
        owner: of the repository on the Hub; by default the one that the card that is there names, else the organisation
            ``webgpu-kernels`` for its domains and ``OWNER`` for others.

    Returns:
        Markdown; the same package gives the same text.

    Raises:
        PackageError: the manifest cannot be read.

    Source: FORMAT, section 15.
    """
    stated = metadata or package.metadata
    facts = _Facts(
        files=_files(package),
        license=(stated.license if stated else None) or LICENSE,
        version=(stated.version if stated else None) or 1,
        owner=owner or _owner(package),
        spec=spec_of(package),
        example=example_of(package),
        bundled=_is_bundled(package),
    )
    return "\n\n".join(_sections(package.manifest, facts)) + "\n"


def _sections(manifest: Manifest, facts: _Facts) -> Iterator[str]:
    yield f"{_front(facts.license)}\n# {manifest.op_id}"
    yield _origin(manifest)
    yield "## Description"
    yield from _description(manifest)
    for title, ports in (("Inputs", manifest.inputs), ("Outputs", manifest.outputs)):
        if ports:
            yield f"## {title}"
            yield port_table(manifest, ports)
    if manifest.args:
        yield "## Scalar arguments"
        yield scalar_table(manifest)
    if manifest.attributes:
        yield "## Attributes"
        yield "A call that does not give an attribute gets its default."
        yield attribute_table(manifest)
    if manifest.type_constraints:
        yield "## Type constraints"
        yield constraint_table(manifest)
    yield "## Implementation variants"
    yield "Each call runs one of these: which, its shapes, its dtypes and the device decide."
    yield "\n".join(
        f"- {code(variant.id)}{f' — {one_line(variant.description)}' if variant.description else ''}"
        for variant in manifest.variants
    )
    if manifest.extensions:
        yield "## Extensions"
        yield (
            "The manifest declares extensions of the format, so that loaders that do not know them refuse it instead "
            f"of misreading it: {', '.join(code(name) for name in sorted(manifest.extensions))}."
        )
    yield "## Files"
    yield "\n".join(_file(name) for name in facts.files)
    yield "## Use with Python"
    yield from _python(manifest, facts)
    yield f"## Use with `{PACKAGE}`"
    yield from _javascript(manifest, facts)


def _front(license_: str) -> str:
    words = ["library_name: kernels", f"license: {license_.lower()}", "tags:", "- kernel", "- webgpu", "- wgsl"]
    return "\n".join(["---", *words, "---"])


def _origin(manifest: Manifest) -> str:
    kinds = {"ai.onnx": "ONNX operator", "com.microsoft": "ONNX Runtime contrib operator"}
    kind = kinds.get(manifest.domain, "operator") if _is_specified(manifest) else "operator"
    parts = [code(manifest.domain), kind]
    if manifest.since_version is not None:
        parts.append(f"{'contrib ' if 'contrib' in kind else ''}since_version {manifest.since_version}")
    return "  ·  ".join(parts)


def _is_specified(manifest: Manifest) -> bool:
    """Tell whether the operator is its domain's: a conformance says that it is not."""
    return manifest.conformance is None


def _description(manifest: Manifest) -> Iterator[str]:
    if manifest.description:
        yield manifest.description.strip()
    if not _is_specified(manifest):
        return
    name = code(manifest.name)
    if manifest.domain == "com.microsoft":
        page = "https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md"
        yield f"The operator is specified by ONNX Runtime: [{name}]({page}#com.microsoft.{manifest.name})."
    elif manifest.domain.startswith("ai.onnx"):
        domain = "" if manifest.domain == "ai.onnx" else manifest.domain.replace(".", "")
        page = f"https://onnx.ai/onnx/operators/onnx_{domain}_{manifest.name}.html"
        yield f"The operator is specified by ONNX: [{name}]({page})."


def _files(package: Package) -> tuple[str, ...]:
    """Return the files that a card lists: the documents, then the templates."""
    if package.revision is not None and package.metadata is not None:
        names = set(package.metadata.digests)
    else:
        names = set(file_names(package.root, where=package.where))
    # Every published package has metadata.json, also one whose card is written before it.
    documents = [name for name in _FILES if name in names | {"metadata.json"}]
    return (*documents, *sorted(name for name in names if suffix_fault(name) is None))


def _is_bundled(package: Package) -> bool:
    """Tell whether the package that comes with this library has the same contract, in the same words."""
    op_id = package.manifest.op_id
    return op_id in bundled_names() and bundled_package(op_id).read(MANIFEST) == package.read(MANIFEST)


def _file(name: str) -> str:
    told = f" — {_FILES[name]}" if name in _FILES else ""
    return f"- [{code(name)}](build/webgpu/{name}){told}"


def _owner(package: Package) -> str:
    """Return the owner that the Hub or the card that is there names, else the one of the operator's domain."""
    named = re.match(rf"([\w.-]+)/{re.escape(package.manifest.op_id)}\b", package.where)
    if package.revision is not None and named:
        return named[1]
    card = None if package.revision else read_if_there(folder_of(package.root), CARD, where=package.where)
    if card is not None:
        text = card.decode("utf-8", errors="replace")
        found = re.search(rf'(?:getKernel|get_kernel)\("([\w.-]+)/{re.escape(package.manifest.op_id)}"', text, re.ASCII)
        if found:
            return found[1]
    return ORGANISATION if package.manifest.domain in _DOMAINS else OWNER


def _python(manifest: Manifest, facts: _Facts) -> Iterator[str]:
    extras = [*([] if facts.bundled else ["hub"]), *(["int4"] if needs_nibbles(facts.example) else [])]
    yield "The Python package is not on PyPI yet; install it from a clone, in the folder that holds it:"
    yield block(
        "sh", f'pip install "./webgpu-kernels[{",".join(extras)}]"' if extras else "pip install ./webgpu-kernels"
    )
    yield (
        "Arrays go in and come out as numpy's; tensors made with `device.tensor` stay on the GPU, and so do the "
        "results of a call on them."
    )
    yield block("python", python_code(manifest, _loading(manifest, facts), facts.example))
    yield "`kernel.explain(...)` says which variant a call takes on a device, and why not another."


def _loading(manifest: Manifest, facts: _Facts) -> str:
    if facts.bundled:
        return f'wk.get_kernel("{manifest.op_id}")'
    trust = "" if facts.owner == ORGANISATION else f', trust_remote_code=["{facts.owner}"]'
    return f'wk.get_kernel("{facts.owner}/{manifest.op_id}", version={facts.version}{trust})'


def _javascript(manifest: Manifest, facts: _Facts) -> Iterator[str]:
    if facts.spec != SPEC or manifest.extensions:
        fault = f"is of spec {facts.spec}" if facts.spec != SPEC else "declares extensions of the format"
        yield (
            f"The manifest {fault}, and so that loader, which reads plain spec {SPEC} in its release {RELEASE}, "
            "refuses the package. `webgpu-kernels export` writes a call of it as WGSL and JSON, with a page that runs "
            "it in a browser."
        )
        return
    yield block("sh", f"npm install --save-exact {PACKAGE}@{RELEASE}")
    yield "Outputs are allocated for you, with the shapes and dtypes that follow from the inputs and attributes."
    yield (
        f"`version: {facts.version}` names the contract of this package, not an opset and not a model's version, and "
        f"follows the branch `v{facts.version}`. For the same bytes every time, give a 40-character commit as "
        "`revision` in its place."
    )
    if facts.example is not None and facts.example.call.inputs:
        yield "What ends in `Data` stands for a typed array of yours, with as many elements as the shape says."
    repository = f"{facts.owner}/{manifest.op_id}"
    trusted = facts.owner == ORGANISATION
    yield block("js", javascript_code(manifest, repository, facts.version, facts.example, trusted=trusted))
