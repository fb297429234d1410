"""Look for everything that can be wrong with packages, without a GPU and with one.

Requests are made up from the contract, taken from test.json and bench.json, and tried
on several described devices; what they render is compiled where an adapter is here.
docs/lint.md lists the codes, and says what is tried.

  webgpu-kernels lint path/to/package
  webgpu-kernels lint path/to/package --strict --ignore L405 --format github

Exits with 1 where there are errors, with --strict also where there are warnings.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from webgpu_kernels.cli.arguments import Usage
from webgpu_kernels.cli.devices import add_adapter, device_of
from webgpu_kernels.cli.exits import Exit
from webgpu_kernels.cli.packages import add_package, located, package_names
from webgpu_kernels.contract.words import alternatives
from webgpu_kernels.errors import NoAdapterError
from webgpu_kernels.tools.lint import CODES, lint_package, report_json
from webgpu_kernels.tools.lint.subject import file_of

if TYPE_CHECKING:
    import argparse

    from webgpu_kernels.cli.screen import Progress, Screen
    from webgpu_kernels.device import Device
    from webgpu_kernels.tools.lint import Finding, LintReport

_STYLES = {"error": "bold red", "warning": "yellow"}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments.

    Args:
        parser: the command's.
    """
    add_package(parser, many=True)
    which = parser.add_argument_group("what counts")
    which.add_argument(
        "--ignore", action="append", default=[], metavar="CODE", help="leave this code out; may be repeated"
    )
    which.add_argument("--strict", action="store_true", help="exit with 1 for warnings, too")
    which.add_argument("--codes", action="store_true", help="list the codes and do nothing else")
    where = parser.add_argument_group("where")
    where.add_argument("--no-device", action="store_true", help="compile nothing")
    add_adapter(parser)
    parser.add_argument(
        "--format",
        choices=("text", "json", "github"),
        default="text",
        help="json is --json; github prints a CI's annotations",
    )


def run(arguments: argparse.Namespace, screen: Screen) -> Exit:
    """Lint each package.

    Args:
        arguments: parsed.
        screen: where to print.

    Returns:
        ``FOUND`` where there are errors, or with ``--strict`` findings.
    """
    screen.json = screen.json or arguments.format == "json"
    if arguments.codes:
        return _list_codes(screen)
    unknown = [code for code in arguments.ignore if code not in CODES]
    if unknown:
        raise Usage(f"There is no code {unknown[0]!r}: {alternatives(unknown[0], CODES, what='codes')}")
    names = package_names(arguments)
    device, reason = _device(arguments)
    reports = []
    with screen.progress("lint") as progress:
        for name in names:
            reports.append(_linted(name, arguments, device, progress))
            _show(reports[-1], reason, arguments.format, screen)
    errors, warnings = (sum(report.count(severity) for report in reports) for severity in ("error", "warning"))
    good = not errors and not (arguments.strict and warnings)
    documents = [report_json(report) for report in reports]
    screen.result({"good": good, "errors": errors, "warnings": warnings, "packages": documents})
    return Exit.GOOD if good else Exit.FOUND


def _linted(name: str, arguments: argparse.Namespace, device: Device | None, progress: Progress) -> LintReport:
    return lint_package(
        name,
        lambda: located(name, arguments),
        device=device,
        ignored=arguments.ignore,
        advance=lambda what: progress.advance(1, f"{name}: {what}"),
    )


def _device(arguments: argparse.Namespace) -> tuple[Device | None, str]:
    """Open the device, or say why there is none; one that was named must be there."""
    if arguments.no_device:
        if arguments.adapter is not None:
            raise Usage("Give --adapter or --no-device, not both.")
        return None, "--no-device"
    try:
        return device_of(arguments), ""
    except NoAdapterError as error:
        # Named on the command line, or by the environment.
        if error.got is not None:
            raise
        return None, "there is no adapter"


def _list_codes(screen: Screen) -> Exit:
    screen.table(("code", "severity", "meaning"), [(code, each.severity, each.meaning) for code, each in CODES.items()])
    screen.result({code: each._asdict() for code, each in CODES.items()})
    return Exit.GOOD


def _show(report: LintReport, reason: str, form: str, screen: Screen) -> None:
    if form == "github":
        for finding in report.findings:
            screen.raw(_annotation(finding, report) + "\n")
        return
    for finding in report.findings:
        screen.text((finding.severity, _STYLES[finding.severity]), f" {finding.code} ", (str(finding.place), "bold"))
        screen.text(f"    {finding.message}")
        if finding.code != "L001":  # what is wrong with a manifest says itself how it would be right
            screen.text((f"    {finding.remedy}", "dim"))
    screen.text((report.package, "bold"), ": ", _verdict(report))
    for line in _done(report, reason):
        screen.text(f"    {line}")


def _verdict(report: LintReport) -> tuple[str, str]:
    counts = [(report.count(severity), severity) for severity in ("error", "warning")]
    told = ", ".join(f"{count} {severity}{'s' if count != 1 else ''}" for count, severity in counts if count)
    return (told, "bold red" if counts[0][0] else "yellow") if told else ("nothing found", "green")


def _done(report: LintReport, reason: str) -> list[str]:
    """Say what was looked at: a clean report is worth as much as that."""
    sampled, compiled = report.sampled, report.compiled
    if sampled is None:
        return ["what follows the manifest was not looked at"]
    calls = f"{sampled.made_up} requests made up, {sampled.valid} of them valid; {sampled.cases} cases"
    lines = [
        f"{calls}; {sampled.devices} devices",
        f"{sampled.variants} of {sampled.all_variants} variants selected; {sampled.programs} programs rendered",
    ]
    if compiled is None:
        lines.append(f"nothing compiled: {reason}")
    else:
        left = compiled.beyond + compiled.skipped
        lines.append(f"{compiled.shaders} shaders compiled on {compiled.adapter}{f', {left} left out' if left else ''}")
    return [*lines, "stopped before the end: that took too long"] if report.late else lines


def _annotation(finding: Finding, report: LintReport) -> str:
    """Return a workflow command of GitHub Actions."""
    place = finding.place
    path = os.path.relpath(file_of(_root(report), place.file))
    properties = f"file={_escaped(path, ':,')},line={place.line or 1},title={finding.code}"
    message = f"{place.path}: {finding.message}" if place.path else finding.message
    return f"::{finding.severity} {properties}::{_escaped(f'{message} {finding.remedy}')}"


def _root(report: LintReport) -> Path:
    """Return the folder of the manifest, also of a package that could not be opened."""
    if report.root:
        return Path(report.root)
    inner = Path(report.package, "build", "webgpu")
    return inner if inner.is_dir() else Path(report.package)


def _escaped(text: str, also: str = "") -> str:
    for character in f"%\r\n{also}":
        text = text.replace(character, f"%{ord(character):02X}")
    return text
