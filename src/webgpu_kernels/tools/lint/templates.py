"""Templates as texts: whether they are there, parse, and use names that their passes have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from webgpu_kernels.contract.extensions import SPLIT_WINDOW
from webgpu_kernels.contract.listing import template_names
from webgpu_kernels.contract.words import CONSTANTS, NAMESPACES, closest
from webgpu_kernels.errors import KernelError, LanguageError, PackageError
from webgpu_kernels.language import FUNCTIONS
from webgpu_kernels.language.source import TemplateSource, read_source
from webgpu_kernels.language.statement_parser import StatementParser
from webgpu_kernels.language.syntax import Name
from webgpu_kernels.tools.lint.findings import Place
from webgpu_kernels.tools.lint.members import Members
from webgpu_kernels.tools.lint.subject import in_manifest
from webgpu_kernels.tools.lint.trees import nodes, references

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from webgpu_kernels.contract import Pass, Variant
    from webgpu_kernels.language.statements import Block
    from webgpu_kernels.tools.lint.findings import Findings
    from webgpu_kernels.tools.lint.subject import Subject

_ALWAYS: Final = frozenset({*NAMESPACES, *CONSTANTS, *FUNCTIONS, "f16Ok", "env", "repeat", SPLIT_WINDOW})


class Parsed(NamedTuple):
    """A template that parses.

    Attributes:
        source: its text with the includes put in; says which line an offset is of.
        block: its statements.
        names: the names that it asks of its passes.
        includes: every file that was read for it, itself first.
    """

    source: TemplateSource
    block: Block
    names: frozenset[str]
    includes: tuple[str, ...]


def check_templates(subject: Subject, findings: Findings) -> Mapping[str, Parsed]:
    """Report templates that are missing, do not parse, use unknown names or are used by nothing.

    Args:
        subject: the package.
        findings: where they are reported.

    Returns:
        The templates that parse, by file name.
    """
    parsed: dict[str, Parsed] = {}
    looked_at: set[str] = set()
    for path, _, step in _passes(subject):
        if step.shader in looked_at:
            continue
        looked_at.add(step.shader)
        place = in_manifest(f"{path}.shader")
        try:
            template = subject.package.template(step.shader)
            parsed[step.shader] = _parsed(subject, step.shader, template.names)
        except PackageError as error:
            findings.add("L201", place, error.message, error.hint or "")
        except LanguageError as error:
            findings.add("L202", place_of(error, step.shader), error.message)
    for file, found in parsed.items():
        _check_names(subject, file, found, findings)
    read = {name for found in parsed.values() for name in found.includes}
    for name in _files(subject):
        if name not in read | looked_at:
            findings.add("L003", Place(name), "no pass renders it")
    return parsed


def _passes(subject: Subject) -> Iterator[tuple[str, Variant, Pass]]:
    for variant in subject.manifest.variants:
        for path, _, step in subject.paths.steps(variant):
            yield path, variant, step


def _files(subject: Subject) -> tuple[str, ...]:
    """Return the templates of the folder; of a package from the Hub only those that were asked for are there."""
    package = subject.package
    return template_names(package.root, where=package.where) if package.revision is None else ()


def _parsed(subject: Subject, name: str, asked: frozenset[str]) -> Parsed:
    read = [name]

    def include(part: str) -> str:
        read.append(part)
        return _text(subject, part)

    source = read_source(_text(subject, name), name=name, include=include)
    return Parsed(source, StatementParser(source).template(), asked, tuple(read))


def _text(subject: Subject, name: str) -> str:
    return subject.package.read(name).decode("utf-8").removeprefix("\ufeff")


def place_of(error: KernelError, file: str) -> Place:
    """Return the template line that an error names.

    Args:
        error: whose ``where`` is ``<template>:<line>``.
        file: the template where it names none.

    Returns:
        The place.
    """
    name, _, line = (error.where or "").rpartition(":")
    return Place(name, line=int(line)) if name and line.isdecimal() else Place(file)


def _check_names(subject: Subject, file: str, template: Parsed, findings: Findings) -> None:
    """Report names that no pass which renders the template has, and members that the contract has not."""
    manifest = subject.manifest
    known = {*_ALWAYS, *manifest.type_constraints, *(entry.name for entry in manifest.derive)}
    for _, variant, step in _passes(subject):
        if step.shader == file:
            known |= {entry.name for entry in (*variant.derive, *step.derive)}
    # A name that the template asks about is an option, which none of its passes needs to have.
    asked = {node.name for node, guarded in nodes(template.block) if guarded and isinstance(node, Name)}
    unknown = template.names - known - asked
    for node, guarded in nodes(template.block):
        if isinstance(node, Name) and node.name in unknown and not guarded:
            near = closest(node.name, sorted(known))
            remedy = f"Did you mean {near!r}?" if near else "Derive it in the manifest, the variant or the pass."
            findings.add("L104", _at(template, node.at), f"unknown name {node.name!r}", remedy)
    members = Members(manifest)
    for found in references(template.block):
        members.check(found, findings, _at(template, found.at), None, whole=True)


def _at(template: Parsed, offset: int) -> Place:
    name, line = template.source.origin(offset)
    return Place(name, line=line)
