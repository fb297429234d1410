"""What has no description: the card shows readers these words and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from webgpu_kernels.tools.lint.subject import in_manifest

if TYPE_CHECKING:
    from webgpu_kernels.tools.lint.findings import Findings
    from webgpu_kernels.tools.lint.subject import Subject


def check_descriptions(subject: Subject, findings: Findings) -> None:
    """Report what has no description, one finding for each section of the manifest.

    Args:
        subject: the package.
        findings: where they are reported.
    """
    manifest = subject.manifest
    if not manifest.description:
        findings.add("L601", in_manifest("description"), f"{manifest.op_id} has no description")
    sections = {
        "inputs": {name: port.description for name, port in manifest.inputs.items()},
        "outputs": {name: port.description for name, port in manifest.outputs.items()},
        "args": {name: argument.description for name, argument in manifest.args.items()},
        "attributes": {name: attribute.description for name, attribute in manifest.attributes.items()},
        "tunables": {name: tunable.description for name, tunable in manifest.tunables.items()},
    }
    for section, described in sections.items():
        silent = [name for name, text in described.items() if not text]
        if silent:
            findings.add("L602", in_manifest(section), f"no description: {_listed(silent)}")
    silent = [variant.id for variant in manifest.variants if not variant.description]
    if silent:
        findings.add("L603", in_manifest("variants"), f"no description: {_listed(silent)}")


def _listed(names: list[str], most: int = 8) -> str:
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + rest
