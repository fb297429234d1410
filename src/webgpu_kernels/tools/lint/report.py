"""Lints a package: every rule, and what was done of it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from webgpu_kernels.errors import DigestError, HubError, ManifestError, PackageError, PackageNotFound, SourceError
from webgpu_kernels.tools.lint.descriptions import check_descriptions
from webgpu_kernels.tools.lint.files import check_files
from webgpu_kernels.tools.lint.findings import Finding, Findings, Place
from webgpu_kernels.tools.lint.members import check_members
from webgpu_kernels.tools.lint.subject import in_manifest, subject_of
from webgpu_kernels.tools.lint.templates import check_templates
from webgpu_kernels.tools.lint.unused import check_unused

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from webgpu_kernels.device import Device
    from webgpu_kernels.kernel import Kernel
    from webgpu_kernels.tools.lint.compiling import Compiled
    from webgpu_kernels.tools.lint.sampling.sample import Sample
    from webgpu_kernels.tools.lint.subject import Subject
    from webgpu_kernels.tools.lint.templates import Parsed

SECONDS: Final = 30.0
"""After this much sampling, rendering and compiling the report says that it did not come to an end."""


class LintReport(NamedTuple):
    """What lint found, and what it looked at.

    Attributes:
        package: as it was named.
        root: the folder that places are relative to, or None where the package could not be opened.
        findings: errors first, by code.
        sampled: what the package was tried on, None where it was not.
        compiled: what was compiled, None where no device was used.
        late: whether the time was over before everything was tried.
    """

    package: str
    root: str | None
    findings: tuple[Finding, ...]
    sampled: Sampled | None = None
    compiled: Compiled | None = None
    late: bool = False

    def count(self, severity: str) -> int:
        """Return how many findings are of a severity.

        Args:
            severity: ``error`` or ``warning``.

        Returns:
            The number.
        """
        return sum(finding.severity == severity for finding in self.findings)


class Sampled(NamedTuple):
    """What a package was tried on.

    Attributes:
        made_up: requests that were made up.
        valid: how many of them the contract takes.
        cases: cases of test.json and bench.json.
        devices: described devices.
        variants: how many variants a sampled request selects.
        all_variants: how many there are.
        programs: calls that were planned and rendered.
    """

    made_up: int
    valid: int
    cases: int
    devices: int
    variants: int
    all_variants: int
    programs: int


def lint_package(
    package: str,
    load: Callable[[], Kernel],
    *,
    device: Device | None = None,
    ignored: Collection[str] = (),
    seconds: float = SECONDS,
    advance: Callable[[str], None] = lambda _: None,
) -> LintReport:
    """Look for everything that can be wrong with a package.

    Args:
        package: what it is called.
        load: loads it; a broken manifest becomes findings.
        device: where shaders are compiled, None for nowhere.
        ignored: codes that are left out.
        seconds: how long it may sample, render and compile.
        advance: told what comes now.

    Returns:
        The report.

    Raises:
        PackageError: there is no such package, or it cannot be had.
    """
    findings = Findings(ignored)
    advance("reading")
    try:
        subject = subject_of(load())
    except ManifestError as error:
        for defect in error.defects:
            findings.add("L001", in_manifest(defect.path), defect.message)
        return LintReport(package, None, findings.sorted())
    except (PackageNotFound, SourceError, HubError):
        raise
    except PackageError as error:
        code = "L004" if isinstance(error, DigestError) or "metadata" in error.message else "L002"
        findings.add(code, Place("metadata.json" if code == "L004" else "manifest.json"), error.message)
        return LintReport(package, None, findings.sorted())
    return _linted(package, subject, findings, device, time.monotonic() + seconds, advance)


def _linted(  # noqa: PLR0917 - what the public function gathered
    package: str,
    subject: Subject,
    findings: Findings,
    device: Device | None,
    deadline: float,
    advance: Callable[[str], None],
) -> LintReport:
    from webgpu_kernels.tools.lint.reference import check_reference  # noqa: PLC0415 - broken manifests do without
    from webgpu_kernels.tools.lint.run_rules import check_budget  # noqa: PLC0415

    check_members(subject, findings)
    templates = check_templates(subject, findings)
    check_unused(subject, templates, findings)
    check_descriptions(subject, findings)
    check_files(subject, findings)
    check_reference(subject, findings)
    check_budget(subject, findings)
    sample, programs, compiled = _tried(subject, templates, findings, device, deadline, advance)
    return LintReport(
        package=package,
        root=str(subject.package.root),
        findings=findings.sorted(),
        sampled=_sampled(subject, sample, programs),
        compiled=compiled,
        late=sample.late or time.monotonic() > deadline,
    )


def _tried(  # noqa: PLR0917 - as above
    subject: Subject,
    templates: Mapping[str, Parsed],
    findings: Findings,
    device: Device | None,
    deadline: float,
    advance: Callable[[str], None],
) -> tuple[Sample, int, Compiled | None]:
    from webgpu_kernels.tools.lint.compiling import Compilation  # noqa: PLC0415 - as above
    from webgpu_kernels.tools.lint.run_rules import RunRules  # noqa: PLC0415
    from webgpu_kernels.tools.lint.runs import runs  # noqa: PLC0415
    from webgpu_kernels.tools.lint.sampling.sample import take_sample  # noqa: PLC0415
    from webgpu_kernels.tools.lint.selection_rules import check_selection  # noqa: PLC0415

    sample = take_sample(subject, findings, deadline, advance)
    check_selection(subject, sample, findings)
    rules = RunRules(subject, templates, findings)
    compilation = Compilation(device, findings, deadline) if device is not None else None
    programs = 0
    for run in runs(subject, sample, deadline, advance):
        rules.take(run)
        if run.program is None:
            continue
        programs += 1
        for step in run.program.passes if compilation is not None else ():
            assert compilation is not None
            compilation.take(step, rules.path_of(run.variant, step), run.where)
    rules.finish()
    return sample, programs, compilation.result() if compilation is not None else None


def _sampled(subject: Subject, sample: Sample, programs: int) -> Sampled:
    return Sampled(
        made_up=sample.tries,
        valid=sample.valid,
        cases=len({(each.sampled.origin, each.sampled.name) for each in sample.judged if each.sampled.origin}),
        devices=len({each.device.name for each in sample.judged}),
        variants=len({each.chosen for each in sample.judged if each.chosen}),
        all_variants=len(subject.manifest.variants),
        programs=programs,
    )


def report_json(report: LintReport) -> dict[str, Any]:
    """Return a report as plain JSON.

    Args:
        report: the report.

    Returns:
        ``{package, findings: [{code, severity, file, path?, line?, message, remedy}], sampled, compiled, complete}``.
    """
    return {
        "package": report.package,
        "findings": [finding_json(finding) for finding in report.findings],
        "sampled": report.sampled._asdict() if report.sampled else None,
        "compiled": report.compiled._asdict() if report.compiled else None,
        "complete": not report.late,
    }


def finding_json(finding: Finding) -> dict[str, Any]:
    """Return a finding as plain JSON.

    Args:
        finding: the finding.

    Returns:
        Its members; a path or line that it has not is left out.
    """
    place = finding.place
    return {
        "code": finding.code,
        "severity": finding.severity,
        "file": place.file,
        **({"path": place.path} if place.path else {}),
        **({"line": place.line} if place.line else {}),
        "message": finding.message,
        "remedy": finding.remedy,
    }
