"""Check that the files of packages are those that their metadata.json lists.

Of a package from the Hub every listed file is fetched that is not in the cache.
Exits with 1 where a file differs, is missing or is not listed, or where the
package's id is not the one that the digests give.

  webgpu-kernels verify webgpu-kernels/ai.onnx.Identity@v1
  webgpu-kernels verify path/to/package --json
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from webgpu_kernels.cli.exits import Exit
from webgpu_kernels.cli.packages import add_package, located, package_names
from webgpu_kernels.contract import verify
from webgpu_kernels.errors import DigestError

if TYPE_CHECKING:
    import argparse

    from webgpu_kernels.cli.screen import Screen
    from webgpu_kernels.contract import Package, Verification

_WORDS = {
    "differs": "is not what its digest says",
    "absent": "is listed and not there",
    "unlisted": "is there and not listed",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_package(parser, many=True)


def run(arguments: argparse.Namespace, screen: Screen) -> Exit:
    """Verify each package, also after one that is not as it should be."""
    names = package_names(arguments)
    documents = []
    with screen.progress("verify", len(names)) as progress:
        for name in names:
            documents.append(_verified(name, arguments, screen))
            progress.advance(1)
    good = all(document["good"] for document in documents)
    screen.result({"good": good, "packages": documents})
    return Exit.GOOD if good else Exit.FOUND


def _verified(name: str, arguments: argparse.Namespace, screen: Screen) -> dict[str, Any]:
    try:
        package = located(name, arguments).package
        report = verify(package)
    except DigestError as error:
        # What is not loaded because of its digests is an answer, too.
        screen.text((f"{name}: not as listed", "bold red"))
        screen.text(f"  {error}")
        return {"package": name, "good": False, "reason": str(error)}
    _show(name, package, report, screen)
    return {
        "package": name,
        "good": report.ok,
        "opId": package.manifest.op_id,
        "revision": package.revision,
        "id": {"stated": report.stated_id, "computed": report.computed_id},
        "files": [file._asdict() for file in report.files],
    }


def _show(name: str, package: Package, report: Verification, screen: Screen) -> None:
    count = len(report.files)
    good = f", {count} file{'s' if count != 1 else ''}"
    screen.text((name, "bold"), ": ", *((("good", "green"), good) if report.ok else (("not as listed", "bold red"),)))
    if package.revision:
        screen.text((f"  commit {package.revision}", "dim"))
    if report.ok:
        screen.text((f"  {report.computed_id}", "dim"))
    for file in report.files:
        if file.status != "ok":
            screen.text(f"  {file.name} {_WORDS[file.status]}")
    if not report.id_ok:
        screen.text(f"  the id is {report.stated_id or 'missing'}, the digests give {report.computed_id}")
