"""Publish a package on the Hub.

The card and metadata.json must be up to date and the files committed; the package is
linted and its tests run; and where the version is there already, the package must not
break its callers. Then the files that differ go to the version's branch in one commit,
or with --dry-run nothing does. The repository has to be there.

  webgpu-kernels push path/to/package --repo owner/domain.Name --dry-run
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from webgpu_kernels.cli.arguments import Usage
from webgpu_kernels.cli.devices import adapter_of, add_adapter
from webgpu_kernels.cli.exits import Exit
from webgpu_kernels.contract.remote import connect
from webgpu_kernels.contract.source import source_of
from webgpu_kernels.loading import load_kernel
from webgpu_kernels.tools.engines.native import open_native
from webgpu_kernels.tools.own import own_package
from webgpu_kernels.tools.push import Refusal, check_files, check_runs, plan_push, published_contents, push

if TYPE_CHECKING:
    import argparse

    from webgpu_kernels.cli.screen import Screen
    from webgpu_kernels.kernel import Kernel
    from webgpu_kernels.tools.push import PushPlan

_SHOWN: Final = 12
_STYLES: Final = {"added": "green", "changed": "yellow", "unchanged": "dim"}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments.

    Args:
        parser: the command's.
    """
    parser.add_argument("package", metavar="PACKAGE", help="a folder, or a bundled operator")
    target = parser.add_argument_group("where to")
    target.add_argument("--repo", required=True, metavar="OWNER/NAME", help="the repository; it has to be there")
    target.add_argument("--version", type=int, metavar="N", help="default: the version in metadata.json")
    target.add_argument("--token", metavar="TOKEN", help="default: HF_TOKEN, or the saved one")
    parser.add_argument("--dry-run", action="store_true", help="do everything but change the Hub")
    parser.add_argument("--allow-dirty", action="store_true", help="publish files that no commit of yours holds")
    add_adapter(parser)


def run(arguments: argparse.Namespace, screen: Screen) -> Exit:
    """Check, compare, test, and commit.

    Args:
        arguments: parsed.
        screen: where to print.

    Returns:
        ``FOUND`` where the package may not be published.
    """
    if arguments.version is not None and arguments.version < 1:
        raise Usage("--version takes a number from 1 on.")
    own = own_package(arguments.package)
    stated = own.stated.version if own.stated else None
    source = source_of(arguments.repo, stated or 1 if arguments.version is None else arguments.version, None)
    refusals = check_files(own, source, allow_dirty=arguments.allow_dirty)
    if refusals:
        return _end(refusals, None, None, arguments, screen)
    hub = connect(arguments.token)
    kernel = load_kernel(own.root)
    with screen.progress("compare"):
        plan = plan_push(kernel.package, published_contents(own), source, hub)
    refusals = (*_breaking(plan, arguments.package), *_tested(kernel, arguments, screen))
    commit = push(plan, hub) if plan.changes and not refusals and not arguments.dry_run else None
    return _end(refusals, plan, commit, arguments, screen)


def _tested(kernel: Kernel, arguments: argparse.Namespace, screen: Screen) -> tuple[Refusal, ...]:
    with screen.progress("test") as progress:
        engine = open_native(adapter_of(arguments))
        try:
            return check_runs(arguments.package, kernel, engine, lambda what: progress.advance(1, what))
        finally:
            engine.close()


def _breaking(plan: PushPlan, package: str) -> list[Refusal]:
    """Refuse what breaks callers, who should find it under another number."""
    found = plan.comparison.changes if plan.comparison is not None else ()
    remedy = f"Publish it as another version: webgpu-kernels pack {package} --version {plan.next_version}, then card"
    return [Refusal(f"breaks callers: {change.path}: {change.what}", remedy) for change in found if change.breaking]


def _end(
    refusals: tuple[Refusal, ...],
    plan: PushPlan | None,
    commit: str | None,
    arguments: argparse.Namespace,
    screen: Screen,
) -> Exit:
    if plan is not None:
        _show(plan, screen)
    _tell(refusals, plan, commit, screen)
    screen.result(_document(refusals, plan, commit, dry_run=arguments.dry_run))
    return Exit.FOUND if refusals else Exit.GOOD


def _show(plan: PushPlan, screen: Screen) -> None:
    screen.table(
        ("file", "bytes", f"{plan.repository}@{plan.branch}"),
        [
            *((file.path, f"{file.size_bytes:,}", (file.fate, _STYLES[file.fate])) for file in plan.files),
            *((path, "", ("deleted", "red")) for path in plan.deleted),
        ],
        right={1},
    )
    changes = plan.comparison.changes if plan.comparison is not None else ()
    if changes:
        screen.table(("what changes for callers", ""), [(change.path, change.what) for change in changes[:_SHOWN]])
        if len(changes) > _SHOWN:
            screen.text(f"and {len(changes) - _SHOWN} more: webgpu-kernels diff shows all")


def _tell(refusals: tuple[Refusal, ...], plan: PushPlan | None, commit: str | None, screen: Screen) -> None:
    remedies = [refusal.remedy for refusal in refusals]
    for index, refusal in enumerate(refusals, start=1):
        screen.text(("refused: ", "bold red"), refusal.reason)
        # One remedy may be of several reasons that follow each other.
        if remedies[index : index + 1] != [refusal.remedy]:
            screen.text((f"  {refusal.remedy}", "dim"))
    if refusals or plan is None:
        return
    if commit is not None:
        screen.text(("published ", "green"), f"{plan.repository}@{plan.branch}", f": commit {commit}")
    elif plan.changes:
        new = ", of a new branch" if plan.begins else ""
        screen.text(f"--dry-run: nothing was sent; the commit would be {plan.message!r}{new}")
    else:
        screen.text(f"{plan.repository}@{plan.branch} holds all this already")


def _document(
    refusals: tuple[Refusal, ...], plan: PushPlan | None, commit: str | None, *, dry_run: bool
) -> dict[str, object]:
    document: dict[str, object] = {
        "dryRun": dry_run,
        "refused": [refusal._asdict() for refusal in refusals],
        "commit": commit,
    }
    if plan is None:
        return document
    comparison = plan.comparison
    return document | {
        "repository": plan.repository,
        "version": plan.version,
        "newBranch": plan.begins,
        "parent": plan.parent,
        "message": plan.message,
        "files": [{"path": file.path, "bytes": file.size_bytes, "fate": file.fate} for file in plan.files],
        "deleted": list(plan.deleted),
        "changes": [change._asdict() for change in comparison.changes] if comparison is not None else [],
    }
