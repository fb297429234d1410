"""What the manifest declares and nothing uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from webgpu_kernels.tools.lint.formulas import formulas, tree
from webgpu_kernels.tools.lint.subject import in_manifest
from webgpu_kernels.tools.lint.trees import names, references

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from webgpu_kernels.contract import Variant
    from webgpu_kernels.tools.lint.findings import Findings
    from webgpu_kernels.tools.lint.subject import Subject
    from webgpu_kernels.tools.lint.templates import Parsed


class _Uses:
    """Names and members that formulas, bindings and templates ask for, with the path of the formula."""

    def __init__(self, subject: Subject, templates: Mapping[str, Parsed]) -> None:
        self.names: dict[str, set[str]] = {}
        self.members: set[tuple[str, str]] = set()
        self.whole: set[str] = set()
        for formula in formulas(subject.manifest, subject.paths):
            self._take(tree(formula.source), formula.path)
        for file, template in templates.items():
            self._take(template.block, file)
        for variant in subject.manifest.variants:
            self._take_values(subject, variant)
        self.names.pop("", None)

    def _take(self, node: object, path: str) -> None:
        found = names(node)
        asked = list(references(node))
        for name in found:
            self.names.setdefault(name, set()).add(path)
        for entry in asked:
            self.members.add((entry.namespace, entry.member))
            if entry.namespace in {"derive", "constants"}:
                self.names.setdefault(entry.member, set()).add(path)
        self.whole |= found - {entry.namespace.partition(".")[0] for entry in asked}

    def _take_values(self, subject: Subject, variant: Variant) -> None:
        """``$name`` in elementType and length."""
        for path, _, step in subject.paths.steps(variant):
            for binding in step.bindings:
                for value in (binding.element_type, binding.length):
                    if isinstance(value, str) and value.startswith("$"):
                        self.names.setdefault(value[1:], set()).add(f"{path}.bindings")

    def name(self, name: str, own: str = "") -> bool:
        """Tell whether a name is used anywhere but in its own formula."""
        return bool(self.names.get(name, set()) - {own})

    def member(self, namespaces: Iterable[str], member: str) -> bool:
        """Tell whether a member is used: by its name, or as the namespace is handed on as a whole."""
        return any((each, member) in self.members or each in self.whole for each in namespaces)


def check_unused(subject: Subject, templates: Mapping[str, Parsed], findings: Findings) -> None:
    """Report handles, intermediates, derived names, tunables, attributes, arguments and tensors that nothing uses.

    Args:
        subject: the package.
        templates: those that parse; where one does not, names are not judged: it may use them.
        findings: where they are reported.
    """
    _check_handles(subject, findings)
    _check_intermediates(subject, findings)
    shaders = {step.shader for variant in subject.manifest.variants for _, _, step in subject.paths.steps(variant)}
    if shaders - templates.keys():
        return
    uses = _Uses(subject, templates)
    _check_derived(subject, uses, findings)
    _check_contract(subject, uses, findings)


def _check_handles(subject: Subject, findings: Findings) -> None:
    document = subject.document if isinstance(subject.document, dict) else {}
    handles = document.get("bindings")
    used = set(_strings(document.get("variants")))
    for handle in handles if isinstance(handles, dict) else ():
        if handle not in used and handle != "$comment":
            findings.add("L301", in_manifest(f"bindings.{handle}"), f"the handle {handle!r} is not used")


def _strings(value: object) -> Iterable[str]:
    """Give every string in lists of bindings; placeholders of families count for whatever they may become."""
    pending = [value]
    while pending:
        current = pending.pop()
        if isinstance(current, str):
            yield current
        elif isinstance(current, list):
            pending.extend(current)
        elif isinstance(current, dict):
            pending.extend(current.values())


def _check_intermediates(subject: Subject, findings: Findings) -> None:
    for variant in subject.manifest.variants:
        bound = {
            binding.target
            for _, _, step in subject.paths.steps(variant)
            for binding in step.bindings
            if binding.resource == "scratch"
        }
        for index, entry in enumerate(variant.intermediates):
            if entry.id not in bound:
                path = f"{subject.paths.variant(variant)}.intermediates[{index}]"
                findings.add("L303", in_manifest(path), f"the intermediate {entry.id!r} is not bound")


def _check_derived(subject: Subject, uses: _Uses, findings: Findings) -> None:
    derived: dict[str, str] = {}
    for formula in formulas(subject.manifest, subject.paths):
        if formula.derives:
            derived.setdefault(formula.path.partition("[")[0] if not formula.variant else formula.path, formula.derives)
    for path, name in derived.items():
        if not uses.name(name, path):
            findings.add("L304", in_manifest(path), f"the derived name {name!r} is not used")


def _check_contract(subject: Subject, uses: _Uses, findings: Findings) -> None:
    manifest = subject.manifest
    for name in manifest.tunables:
        if not uses.member(("tunables",), name):
            findings.add("L305", in_manifest(f"tunables.{name}"), f"the tunable {name!r} is not used")
    for variant in manifest.variants:
        for name in variant.tunables:
            if not uses.member(("tunables",), name):
                path = f"{subject.paths.variant(variant)}.tunables.{name}"
                findings.add("L305", in_manifest(path), f"the tunable {name!r} is not used")
    for name in manifest.attributes:
        # An output's dtype may come from this attribute without any formula (FORMAT, section 9).
        if not uses.member(("attrs",), name) and not (name == "to" and manifest.domain == "ai.onnx"):
            findings.add("L306", in_manifest(f"attributes.{name}"), f"the attribute {name!r} is not used")
    _check_args(subject, uses, findings)
    _check_ports(subject, uses, findings)


def _check_args(subject: Subject, uses: _Uses, findings: Findings) -> None:
    fields = {
        field.name
        for variant in subject.manifest.variants
        for _, _, step in subject.paths.steps(variant)
        for binding in step.bindings
        if binding.struct is not None
        for field in binding.struct.fields
        if field.value is None
    }
    for name in subject.manifest.args:
        if name not in fields and not uses.member(("args", "present"), name):
            findings.add("L306", in_manifest(f"args.{name}"), f"the argument {name!r} is not used")


def _check_ports(subject: Subject, uses: _Uses, findings: Findings) -> None:
    manifest = subject.manifest
    bound = {
        binding.target
        for variant in manifest.variants
        for _, _, step in subject.paths.steps(variant)
        for binding in step.bindings
        if binding.resource == "tensor"
    }
    for group, ports in (("inputs", manifest.inputs), ("outputs", manifest.outputs)):
        for name, port in ports.items():
            looked_at = group == "inputs" and uses.member(("shapes", "ranks"), port.semantic)
            if name not in bound and not looked_at:
                findings.add("L307", in_manifest(f"{group}.{name}"), f"the tensor {name!r} is not bound")
