"""Show what changed between two packages, and whether it breaks callers.

OLD is what callers have, NEW what they would get in its place. Of the contract
all is compared; of the variants only what is shown beside it, since how an
operator is computed is nobody's promise. Every call of OLD's test.json and
bench.json is planned with both, for each device that is known here.
Exits with 1 where callers of the same version are broken.

  webgpu-kernels diff owner/domain.Name@v1 path/to/package
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from webgpu_kernels.cli.exits import Exit
from webgpu_kernels.cli.packages import PACKAGE_HELP, add_trust, located
from webgpu_kernels.tools.diff import compare_kernels

if TYPE_CHECKING:
    import argparse

    from webgpu_kernels.cli.screen import Screen
    from webgpu_kernels.tools.diff import Change


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("old", metavar="OLD", help=PACKAGE_HELP)
    parser.add_argument("new", metavar="NEW", help="likewise")
    add_trust(parser)


def run(arguments: argparse.Namespace, screen: Screen) -> Exit:
    """Compare two packages."""
    old, new = located(arguments.old, arguments), located(arguments.new, arguments)
    comparison = compare_kernels(old, new)
    broken = [change for change in comparison.changes if change.breaking]
    kept = [change for change in comparison.changes if not change.breaking]
    _show("breaks callers", broken, screen)
    _show("breaks nobody", kept, screen)
    if not comparison.changes:
        screen.text("no difference")
    elif broken:
        screen.text((f"{_count(broken)} callers: publish it as another version", "bold red"))
    else:
        screen.text(("callers are not broken", "green"))
    screen.result(
        {
            "old": arguments.old,
            "new": arguments.new,
            "breaking": comparison.breaking,
            "changes": [change._asdict() for change in comparison.changes],
        }
    )
    return Exit.FOUND if comparison.breaking else Exit.GOOD


def _count(changes: list[Change]) -> str:
    return "1 change breaks" if len(changes) == 1 else f"{len(changes)} changes break"


def _show(title: str, changes: list[Change], screen: Screen) -> None:
    if changes:
        screen.table([title, ""], [(change.path, change.what) for change in changes])
        screen.text()
