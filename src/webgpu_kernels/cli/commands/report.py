"""Write results of test and bench as one page, to look at in any browser.

The page is a single file that asks no network. It shows the devices, which case
passed on which variant, how near each benchmark comes to the speed of a copy,
where another variant would have been faster, peers, and what changed since an
earlier run. Files of one device are joined, those of others stand side by side.

  webgpu-kernels test --all -o tests.json
  webgpu-kernels bench --all -o speed.json
  webgpu-kernels report tests.json speed.json -o report.html
  webgpu-kernels report speed.json --compare before.json
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from webgpu_kernels.cli.exits import Exit
from webgpu_kernels.tools.report import content_of, figures_of, page_of, plots_of, require_libraries
from webgpu_kernels.tools.report.text import counted, share, size
from webgpu_kernels.tools.results import read_results
from webgpu_kernels.tools.writing import write_file

if TYPE_CHECKING:
    import argparse

    from webgpu_kernels.cli.screen import Part, Screen
    from webgpu_kernels.tools.report import Content


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments.

    Args:
        parser: the command's.
    """
    parser.add_argument("results", nargs="+", metavar="RESULTS", help="a file that 'test -o' or 'bench -o' wrote")
    parser.add_argument("-o", "--output", default="report.html", metavar="FILE", help="default: report.html")
    parser.add_argument("--title", metavar="TEXT", help="the page's heading")
    parser.add_argument(
        "--compare",
        action="append",
        default=[],
        metavar="RESULTS",
        help="the file of an earlier run; may be repeated, for its other files or for other devices",
    )


def run(arguments: argparse.Namespace, screen: Screen) -> Exit:
    """Read the results, draw the plots one by one and write the page.

    Args:
        arguments: the command's.
        screen: where to say so.

    Returns:
        GOOD, whatever the results are: it is ``test`` that fails.
    """
    require_libraries()
    files = [read_results(path) for path in arguments.results]
    base = [read_results(path) for path in arguments.compare]
    content = content_of(files, title=arguments.title, bases=base)
    figures = figures_of(content)
    plots: dict[str, str] = {}
    with screen.progress("draw", len(figures)) as progress:
        for key, plot in plots_of(figures):
            plots[key] = plot
            progress.advance()
    page = page_of(content, plots)
    path = write_file(arguments.output, page)
    _tell(content, screen)
    if base and not content.comparisons:
        screen.note(
            "nothing is compared: no run of --compare is of one of these devices and has tests or benchmarks too"
        )
    length = len(page.encode())
    screen.text(f"{path}: {size(length)}")
    screen.result({"report": str(path), "bytes": length, **_facts(content)})
    return Exit.GOOD


def _facts(content: Content) -> dict[str, Any]:
    return {
        "devices": [run.name for run in content.runs],
        "tests": {
            "passed": content.count("passed"),
            "failed": content.count("failed"),
            "error": content.count("error"),
            "skipped": content.count("skipped"),
        },
        "benches": len(content.benches),
        "ofCopy": content.of_copy,
        "wrongChoices": len(content.wrong_choices),
        "slower": len(content.slowdowns) if content.comparisons else None,
        "broken": len(content.broken) if content.comparisons else None,
    }


def _tell(content: Content, screen: Screen) -> None:
    for run in content.runs:
        screen.text((run.name, "bold"))
    if content.tests:
        failed = content.count("failed") + content.count("error")
        parts: list[Part] = [f"  {counted(content.tests, 'test')}: {content.count('passed'):,} passed"]
        parts += [", ", (f"{failed:,} failed", "bold red")] if failed else []
        parts += [f", {content.count('skipped'):,} skipped"] if content.count("skipped") else []
        screen.text(*parts)
    if content.benches:
        reached = f", {share(content.of_copy)} of a copy's speed in the median" if content.of_copy else ""
        wrong = counted(len(content.wrong_choices), "wrong choice")
        screen.text(f"  {counted(len(content.benches), 'benchmark')}{reached}, {wrong}")
    if content.comparisons:
        slower = len(content.slowdowns)
        screen.text("  ", (f"{slower:,} slower than the base", "bold red" if slower else ""))
