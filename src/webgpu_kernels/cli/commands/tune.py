r"""Search the variant and the tunables that are fastest on this device.

The cases of bench.json are searched for as long as --budget says; a wrong
result disqualifies. What became faster beyond the noise is kept as a profile
of this package on this adapter and driver, and calls go by it from then on,
unless WEBGPU_KERNELS_TUNING=off; 'explain' says so.

  webgpu-kernels tune com.microsoft.SkipGroupNorm --budget 2m
  webgpu-kernels tune com.microsoft.SkipGroupNorm --show
  webgpu-kernels tune com.microsoft.SkipGroupNorm --reset
"""

from __future__ import annotations

import argparse
import json
import math
import re
import time
from typing import TYPE_CHECKING, Any, Final

from webgpu_kernels.cli.bench_table import microseconds
from webgpu_kernels.cli.devices import adapter_of, add_adapter
from webgpu_kernels.cli.exits import Exit
from webgpu_kernels.cli.packages import add_package, located
from webgpu_kernels.cli.suites import add_filter, add_most_mb, check_matched, tell_skipped
from webgpu_kernels.contract.files import read_some
from webgpu_kernels.contract.json_text import MAX_TEXT_BYTES
from webgpu_kernels.tools.bench.reading import benches_of
from webgpu_kernels.tools.bench.running import Runner
from webgpu_kernels.tools.engines import open_engine
from webgpu_kernels.tools.tune.tuning import tune_package
from webgpu_kernels.tools.writing import write_file
from webgpu_kernels.tuning.places import check_place, drop_profile, keep_profile, path_of
from webgpu_kernels.tuning.profile import profile_text, read_profile

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from webgpu_kernels.cli.screen import Progress, Screen
    from webgpu_kernels.kernel import Kernel
    from webgpu_kernels.planning.capabilities import Capabilities
    from webgpu_kernels.tools.tune.tuning import TuningRun
    from webgpu_kernels.tuning.profile import Entry, Profile

BUDGET: Final = "60s"
_TIME: Final = re.compile(r"(?P<count>\d+(\.\d+)?)(?P<unit>s|m|h)?", re.ASCII)
_SECONDS: Final = {"s": 1, "m": 60, "h": 3600, None: 1}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments.

    Args:
        parser: the command's.
    """
    add_package(parser)
    which = parser.add_argument_group("what to search")
    add_filter(which)
    add_most_mb(which)
    which.add_argument(
        "--budget",
        type=_budget,
        default=_budget(BUDGET),
        metavar="TIME",
        help=f"for how long: 90s, 5m; default {BUDGET}",
    )
    add_adapter(parser)
    kept = parser.add_argument_group("the profile", "These search nothing.").add_mutually_exclusive_group()
    kept.add_argument("--show", action="store_true", help="show what was found before")
    kept.add_argument(
        "--export", metavar="FILE", help="write the profile to a file, for WEBGPU_KERNELS_TUNING elsewhere"
    )
    kept.add_argument("--reset", action="store_true", help="remove the profile")


def run(arguments: argparse.Namespace, screen: Screen) -> Exit:
    """Search, or do with the profile what was asked for.

    Args:
        arguments: parsed.
        screen: where to print.

    Returns:
        ``FOUND`` where there is no profile to export or remove, or a case is at fault.
    """
    kernel = located(arguments.package, arguments)
    engine = open_engine("native", adapter_of(arguments))
    try:
        if arguments.reset:
            return _reset(kernel, engine.capabilities, screen)
        if arguments.show or arguments.export:
            return _show_kept(kernel, engine.capabilities, arguments.export, screen)
        suite = benches_of(kernel.package)
        cases = suite.matching(arguments.filter)
        check_matched(arguments.filter, [case.name for case in suite.cases], matched=bool(cases))
        # Nobody waits a minute to hear that there is no place for what was found.
        check_place(kernel.package, engine.capabilities)
        _, earlier = _kept(kernel, engine.capabilities)
        most = int(arguments.most_mb * 1e6) if arguments.most_mb is not None else None
        runner = Runner(engine, most_bytes=most)
        with screen.progress("tune", math.ceil(arguments.budget)) as progress:
            steps = _Steps(progress, arguments.budget)
            tuned = tune_package(kernel, cases, runner, seconds=arguments.budget, earlier=earlier, say=steps.say)
        return _tell(tuned, kernel, engine.capabilities, screen)
    finally:
        engine.close()


class _Steps:
    """Shows seconds of the budget as steps."""

    def __init__(self, progress: Progress, seconds: float) -> None:
        self._progress = progress
        self._begin = time.monotonic()
        self._most = math.ceil(seconds)
        self._shown = 0

    def say(self, what: str) -> None:
        gone = min(self._most, int(time.monotonic() - self._begin))
        self._progress.advance(gone - self._shown, what)
        self._shown = gone


def _budget(text: str) -> float:
    found = _TIME.fullmatch(text)
    seconds = float(found["count"]) * _SECONDS[found["unit"]] if found else 0.0
    if not seconds > 0:
        raise argparse.ArgumentTypeError(f"{text!r}: write a time such as 90s or 5m")
    return seconds


def _tell(tuned: TuningRun, kernel: Kernel, capabilities: Capabilities, screen: Screen) -> Exit:
    rows = [
        (
            _named(one.case, one.before, one.way.variant, one.way.tunables),
            microseconds(one.before_us),
            microseconds(one.us) if one.faster else "—",
            (f"{one.gain:.2f}", "green") if one.faster else "",
            str(one.tried),
            str(one.wrong + one.failed or ""),
        )
        for one in tuned.found
    ]
    screen.table(("case, variant → faster", "µs", "tuned", "gain", "tried", "out"), rows, right=(1, 2, 3, 4, 5))
    screen.text()
    for skip in tuned.skipped:
        if skip.fault:
            screen.text(("FAILED", "bold red"), f" {skip.case}: {skip.reason}")
    tell_skipped((skip.reason for skip in tuned.skipped if not skip.fault), screen)
    if tuned.left_out:
        screen.text((f"left out {tuned.left_out}", "yellow"), ": the budget is too small for all cases")
    path = _keep(tuned, kernel, capabilities, screen)
    screen.result(
        {
            "opId": kernel.op_id,
            "file": str(path) if path else None,
            "cases": [
                {
                    "case": one.case,
                    "untunedVariant": one.before,
                    "untunedUs": one.before_us,
                    "variant": one.way.variant,
                    "tunables": dict(one.way.tunables),
                    "tunedUs": one.us,
                    "gain": round(one.gain, 4),
                    "tried": one.tried,
                    "wrong": one.wrong,
                    "failed": one.failed,
                }
                for one in tuned.found
            ],
            "skipped": [{"case": skip.case, "reason": skip.reason, "fault": skip.fault} for skip in tuned.skipped],
            "leftOut": tuned.left_out,
        }
    )
    return Exit.FOUND if any(skip.fault for skip in tuned.skipped) else Exit.GOOD


def _keep(tuned: TuningRun, kernel: Kernel, capabilities: Capabilities, screen: Screen) -> Path | None:
    gains = [one.gain for one in tuned.found if one.faster]
    if not tuned.profile.entries:
        screen.text("Nothing was faster beyond the noise; no profile was written.")
        return None
    path = keep_profile(tuned.profile, kernel.package, capabilities)
    if not gains:
        screen.text(f"Nothing was faster beyond the noise; what was found before stays: {path}")
        return path
    count = len(gains)
    mean = math.exp(sum(math.log(gain) for gain in gains) / count)
    of = f"{count} of {len(tuned.found)} case{'' if len(tuned.found) == 1 else 's'} became faster"
    screen.text((of, "bold green"), f", {mean:.2f} times in the mean; calls go by it from now on: {path}")
    return path


def _named(case: str, before: str, variant: str, tunables: Mapping[str, Any]) -> str:
    """Return the lines of a table's first column; a setting is not broken, as in a column of its own it would be."""
    faster = ([variant] if variant != before else []) + [f"{name}={value}" for name, value in tunables.items()]
    return "\n".join([case, f"  {before}", *(f"  → {setting}" for setting in faster)])


def _kept(kernel: Kernel, capabilities: Capabilities) -> tuple[Path, Profile | None]:
    path = path_of(kernel.package, capabilities)
    try:
        return path, read_profile(read_some(path, MAX_TEXT_BYTES), where=str(path))
    except FileNotFoundError:
        return path, None


def _show_kept(kernel: Kernel, capabilities: Capabilities, export: str | None, screen: Screen) -> Exit:
    path, profile = _kept(kernel, capabilities)
    if profile is None:
        screen.text(f"There is no profile of {kernel.op_id} on {capabilities.adapter_info.get('device')}.")
        screen.result({"opId": kernel.op_id, "file": None})
        return Exit.FOUND if export is not None else Exit.GOOD
    if export is not None:
        write_file(export, profile_text(profile))
        screen.text(f"Written: {export}")
        screen.result({"opId": kernel.op_id, "file": str(export)})
        return Exit.GOOD
    screen.text((f"{kernel.op_id}", "bold"), f" on {profile.device['device']}, {profile.created[:10]}")
    screen.text((str(path), "dim"))
    rows = [_row(entry) for entry in profile.entries]
    screen.table(("case, variant → faster", "µs", "tuned", "gain"), rows, right=(1, 2, 3))
    screen.result({"opId": kernel.op_id, "file": str(path), **_document(profile)})
    return Exit.GOOD


def _document(profile: Profile) -> dict[str, Any]:
    # The same text that is written, as a value.
    document: dict[str, Any] = json.loads(profile_text(profile))
    return document


def _row(entry: Entry) -> tuple[Any, ...]:
    return (
        _named(entry.case, entry.untuned_variant, entry.variant, entry.tunables),
        microseconds(entry.untuned_us),
        microseconds(entry.tuned_us),
        (f"{entry.gain:.2f}", "green"),
    )


def _reset(kernel: Kernel, capabilities: Capabilities, screen: Screen) -> Exit:
    path = drop_profile(kernel.package, capabilities)
    said = f"Removed: {path}" if path else f"There is no profile of {kernel.op_id} on this device."
    screen.text(said)
    screen.result({"opId": kernel.op_id, "removed": str(path) if path else None})
    return Exit.GOOD if path else Exit.FOUND
