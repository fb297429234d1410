r"""Run the cases of a package's bench.json: how fast each variant is.

Every variant that takes a case is checked, and timed beside a copy that moves
as many bytes, on the same device in the same run. Other implementations can be
timed beside them:

  webgpu-kernels bench ai.onnx.Add --against onnxruntime,torch,numpy

What the device cannot run is skipped and counted; so is what is large where a
processor imitates a GPU, unless --most-mb says otherwise. Exits with 1 where a
variant is wrong or fails. docs/suites.md says how to write cases.
"""

from __future__ import annotations

import dataclasses
import time
from collections import Counter
from typing import TYPE_CHECKING, Final

from webgpu_kernels.cli.arguments import Usage
from webgpu_kernels.cli.bench_table import COLUMNS, RIGHT, row_of
from webgpu_kernels.cli.devices import adapter_of
from webgpu_kernels.cli.exits import Exit
from webgpu_kernels.cli.packages import add_package
from webgpu_kernels.cli.suites import (
    add_engine,
    add_files,
    add_filter,
    add_most_mb,
    check_targets,
    device_words,
    subjects_of,
    tell_skipped,
)
from webgpu_kernels.contract.words import alternatives
from webgpu_kernels.tools.bench.ahead import prepared_cases
from webgpu_kernels.tools.bench.junit import write_bench_junit
from webgpu_kernels.tools.bench.peers import PEERS, open_peers
from webgpu_kernels.tools.bench.reading import benches_of
from webgpu_kernels.tools.bench.running import Runner
from webgpu_kernels.tools.bench.stands import Effort
from webgpu_kernels.tools.engines import open_engine
from webgpu_kernels.tools.results import SkippedBench, new_results, package_facts, results_json, write_results
from webgpu_kernels.tools.suites.telling import fault_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from webgpu_kernels.cli.screen import Screen
    from webgpu_kernels.cli.suites import Subject
    from webgpu_kernels.kernel import Kernel
    from webgpu_kernels.tools.bench.model import BenchCase
    from webgpu_kernels.tools.bench.peers import Peer
    from webgpu_kernels.tools.engines import Engine
    from webgpu_kernels.tools.results import BenchResult, RunResults

QUICK: Final = Effort(runs=7, seconds=0.3)
QUICK_MOST_BYTES: Final = 20 * 10**6
_LEAST_SECONDS: Final = 0.02
_COMPARED: Final = {"onnxruntime": "onnxruntime", "torch": "torch", "onnxruntime-webgpu": "onnxruntime-webgpu"}
"""Peers whose distribution's version belongs to the results."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments.

    Args:
        parser: the command's.
    """
    add_package(parser, many=True)
    which = parser.add_argument_group("what to measure")
    add_filter(which, "sd15_*")
    which.add_argument("--variant", metavar="ID", help="only this variant")
    which.add_argument(
        "--against", default="", metavar="NAMES", help=f"others to time, with commas between: {', '.join(PEERS)}"
    )
    add_most_mb(which)
    how = parser.add_argument_group("how long")
    how.add_argument("--seconds", type=float, metavar="N", help="about how long all may take: fewer runs of each")
    how.add_argument("--quick", action="store_true", help="small cases and few runs, for a first look")
    add_engine(parser, threads="of the next N cases, between measurements")
    add_files(parser, junit="which variants are right")


def run(arguments: argparse.Namespace, screen: Screen) -> Exit:
    """Measure the cases.

    Args:
        arguments: parsed.
        screen: where to print.

    Returns:
        ``FOUND`` where a variant is wrong or fails, or a case is no call of its package.
    """
    if arguments.seconds is not None and not arguments.seconds > 0:
        raise Usage("--seconds takes a number above 0.")
    if arguments.jobs < 1:
        raise Usage("-j takes a number from 1 on.")
    names = _peer_names(arguments.against)
    subjects = subjects_of(arguments, benches_of, "measure")
    check_targets((arguments.output, arguments.junit), subjects)
    peers, missing = open_peers(names)
    for name, why in missing.items():
        screen.note(("left out: ", "yellow"), f"{name} {why}")
    begin = time.monotonic()
    engine = open_engine(arguments.engine, adapter_of(arguments))
    try:
        results = _run(subjects, engine, peers, arguments, screen)
    finally:
        engine.close()
    if arguments.output:
        write_results(arguments.output, results)
    if arguments.junit:
        write_bench_junit(arguments.junit, results, only=arguments.variant)
    _show(results, time.monotonic() - begin, screen)
    screen.result(results_json(results))
    wrong = any(variant.error for bench in results.benches for variant in bench.variants.values())
    return Exit.FOUND if wrong or any(skip.fault for skip in results.skipped) else Exit.GOOD


def _peer_names(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    for name in names:
        if name not in PEERS:
            raise Usage(f"There is no peer {name!r}: {alternatives(name, tuple(PEERS), what='peers')}")
    return names


def _run(
    subjects: Sequence[Subject[BenchCase]],
    engine: Engine,
    peers: Sequence[Peer],
    arguments: argparse.Namespace,
    screen: Screen,
) -> RunResults:
    results = new_results(
        "bench",
        command=_command(arguments),
        engine=engine,
        packages=[package_facts(subject.kernel, subject.source) for subject in subjects],
        libraries=[_COMPARED[peer.name] for peer in peers if peer.name in _COMPARED],
    )
    runner = Runner(
        engine,
        effort=QUICK if arguments.quick else Effort(),
        most_bytes=_most_bytes(arguments),
        peers=peers,
        variant=arguments.variant,
    )
    end = time.monotonic() + arguments.seconds if arguments.seconds is not None else None
    pairs = [(subject.kernel, case) for subject in subjects for case in subject.cases]
    benches: list[BenchResult] = []
    skipped: list[SkippedBench] = []
    with screen.progress("bench", len(pairs)) as progress:

        def say(what: str) -> None:
            progress.advance(0, what)

        ahead = prepared_cases(runner, ((case, kernel) for kernel, case in pairs), jobs=arguments.jobs, say=say)
        for index, prepared in enumerate(ahead):
            if end is not None:
                runner.effort = _left(runner.effort, end - time.monotonic(), pairs[index:], len(peers))
            found = prepared if isinstance(prepared, SkippedBench) else runner.measure(prepared, say)
            if isinstance(found, SkippedBench):
                skipped.append(found)
            else:
                benches.append(found)
            progress.advance(1)
    return dataclasses.replace(results, benches=tuple(benches), skipped=tuple(skipped))


def _most_bytes(arguments: argparse.Namespace) -> int | None:
    if arguments.most_mb is not None:
        return int(arguments.most_mb * 1e6)
    return QUICK_MOST_BYTES if arguments.quick else None


def _left(effort: Effort, seconds: float, pairs: Sequence[tuple[Kernel, BenchCase]], peers: int) -> Effort:
    """Divide the time that is left among what is to be measured: half of it goes by without a clock."""
    measured = sum(2 + len(kernel.manifest.variants) // 2 + peers for kernel, _ in pairs)
    return effort._replace(seconds=max(_LEAST_SECONDS, min(Effort().seconds, seconds / 2 / max(measured, 1))))


def _command(arguments: argparse.Namespace) -> str:
    words = ["webgpu-kernels", "bench", *(["--all"] if arguments.all else []), *arguments.packages]
    for pattern in arguments.filter:
        words += ["--filter", pattern]
    for option, value in (
        ("variant", arguments.variant),
        ("against", arguments.against),
        ("most-mb", arguments.most_mb),
        ("seconds", arguments.seconds),
        ("adapter", arguments.adapter),
    ):
        if value:
            words += [f"--{option}", f"{value:g}" if isinstance(value, float) else value]
    return " ".join([*words, *(["--quick"] if arguments.quick else []), "--engine", arguments.engine])


def _show(results: RunResults, seconds: float, screen: Screen) -> None:
    for package in results.packages:
        benches = [bench for bench in results.benches if bench.package == package.op_id]
        if benches:
            screen.table(COLUMNS, [row_of(bench) for bench in benches], right=RIGHT, title=package.op_id)
            screen.text()
    _show_failures(results, screen)
    _show_notes(results, screen)
    noisy = sum(1 for bench in results.benches if (time := bench.variants.get(bench.chosen or "")) and time.note)
    if noisy:
        screen.text(
            (f"noisy {noisy}", "yellow"),
            ": the time of the chosen variant is not to be trusted; the file of -o says why",
        )
    for skip in results.skipped:
        if skip.fault:
            screen.text(("FAILED", "bold red"), f" {skip.package}: {skip.case}: {skip.reason}")
    tell_skipped((skip.reason for skip in results.skipped if not skip.fault), screen)
    where = device_words(results.device.census)
    wall = any(bench.clock == "wall" for bench in results.benches)
    clock = "; wall time: the device has no timestamp queries" if wall else "; GPU time" if results.benches else ""
    count = len(results.benches)
    screen.text(f"{count:,} case{'' if count == 1 else 's'} on {where} in {seconds:.0f} s{clock}")


def _show_failures(results: RunResults, screen: Screen) -> None:
    """Tell each fault once, with the first case and variant that met it."""
    faults: dict[tuple[str, str], list[str]] = {}
    for bench in results.benches:
        for name, variant in bench.variants.items():
            if variant.error is not None:
                said = f"{bench.case} on {name}: {variant.error}"
                # What is wrong is wrong in its own way.
                fault = said if variant.error.startswith("wrong: ") else fault_of(variant.error)
                faults.setdefault((bench.package, fault), []).append(said)
    for (package, _), met in faults.items():
        screen.text(("FAILED", "bold red"), f" {package}: {met[0]}")
        if met[1:]:
            screen.text(f"  and {len(met) - 1:,} more, for the same reason")


def _show_notes(results: RunResults, screen: Screen) -> None:
    """Say once what peers say of several cases, and how they were timed."""
    said = Counter(
        (name, part)
        for bench in results.benches
        for name, time in bench.peers.items()
        for part in (time.note or "").split("; ")
        if part and not part.endswith("to trust")
    )
    for (name, note), count in said.items():
        screen.text((name, "dim"), f", {count} case{'' if count == 1 else 's'}: {note}")
    clocks = {(name, time.clock) for bench in results.benches for name, time in bench.peers.items() if time.median_us}
    walls = sorted(name for name, clock in clocks if clock == "wall")
    if walls and any(bench.clock == "gpu" for bench in results.benches):
        screen.text((", ".join(walls), "dim"), ": wall time, what is passed on the host included")
