"""Files beside the manifest: metadata.json and the card must be those of this package."""

from __future__ import annotations

from typing import TYPE_CHECKING

from webgpu_kernels.contract import verify
from webgpu_kernels.contract.agreement import check_templates
from webgpu_kernels.contract.files import read_if_there
from webgpu_kernels.contract.metadata import METADATA
from webgpu_kernels.errors import KernelError, PackageError
from webgpu_kernels.tools.lint.findings import Place
from webgpu_kernels.tools.own import CARD

if TYPE_CHECKING:
    from webgpu_kernels.contract import Package
    from webgpu_kernels.tools.lint.findings import Findings
    from webgpu_kernels.tools.lint.subject import Subject

_STATUS = {"differs": "is not what its digest says", "absent": "is not there", "unlisted": "has no digest"}


def check_files(subject: Subject, findings: Findings) -> None:
    """Report metadata.json and README.md where they are not up to date; packages from the Hub are checked already.

    Args:
        subject: the package.
        findings: where they are reported.
    """
    if subject.package.revision is not None:
        return
    _check_metadata(subject.package, findings)
    _check_card(subject, findings)


def _check_metadata(package: Package, findings: Findings) -> None:
    """A folder may do without metadata.json until it is published."""
    if package.metadata is None:
        return
    place = Place(METADATA, "digest.files")
    try:
        report = verify(package)
        check_templates(package.manifest, package.metadata, where=package.where)
    except PackageError as error:
        findings.add("L004", Place(METADATA), error.message)
        return
    for file in report.files:
        if file.status != "ok":
            findings.add("L004", place, f"{file.name} {_STATUS[file.status]}")
    if not report.id_ok:
        message = f"the id is {report.stated_id or 'missing'}, the digests give {report.computed_id}"
        findings.add("L004", Place(METADATA, "id"), message)


def _check_card(subject: Subject, findings: Findings) -> None:
    from webgpu_kernels.tools.card import card_text  # noqa: PLC0415 - it makes up an example with lint's own samples

    try:
        there = read_if_there(subject.folder, CARD, where=subject.package.where)
        if there is None:
            findings.add("L006", Place(CARD), "there is no card")
            return
        found, wanted = there.decode("utf-8"), card_text(subject.package)
    except (UnicodeDecodeError, KernelError) as error:
        findings.add("L002", Place(CARD), f"the card cannot be compared: {error}")
        return
    if found != wanted:
        findings.add("L005", Place(CARD, line=_first_difference(found, wanted)), "differs from what the manifest gives")


def _first_difference(found: str, wanted: str) -> int:
    here, there = found.splitlines(), wanted.splitlines()
    same = (index for index, (a, b) in enumerate(zip(here, there, strict=False), start=1) if a != b)
    return next(same, min(len(here), len(there)) + 1)
