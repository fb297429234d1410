"""SkipGroupNorm on a GPU: checked, and timed beside a copy of the same traffic.

    python benchmarks/gpu.py [--all] [--torch] [--runs 25] [--tiny] [--out benchmarks/results]

Each call is timed as a whole, in one compute pass as a real call runs, by timestamp queries: the better median of two
series of 25 runs, or as many as are asked for, of the copy as of the kernels. The runs take enough sets of buffers in
turns that none is in the GPU's cache, after the clocks were spun up. Every variant that takes the call is timed, and
the one that is picked by itself. The tables go to the screen, and with all figures to a dated JSON and a dated Markdown
file.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import math
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import gpu_cases
import numpy as np
from busy import COPY, START_BYTES, Busy
from machine import describe

import webgpu_kernels as wk

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gpu_cases import Case, Tensors

    from webgpu_kernels.prepared import PreparedCall

RUNS: Final = 25
SERIES: Final = 2
"""Of each series the median is taken, and of these the least: now and then a whole series takes twice as long."""
WARM_UP: Final = 2
FAST_ENOUGH: Final = 1.05
"""How many times as long as the fastest variant the one that is picked may take."""
COMPARED: Final = "With bias and S"
"""The part of the table beside which PyTorch is timed."""
HERE: Final = Path(__file__).resolve().parent


class Timing(NamedTuple):
    """A median and the distance between the quartiles, in microseconds."""

    median_us: float
    spread_us: float


class Bench:
    """The kernels under test, a copy to hold them against, and work that keeps the clocks up."""

    def __init__(self, device: wk.Device, runs: int) -> None:
        self.device, self.runs = device, runs
        self.kernel = wk.get_kernel("com.microsoft.SkipGroupNorm", device=device)
        self.copy = wk.load_kernel(COPY, device=device)
        self.reference = gpu_cases.load_reference()
        self.busy = Busy(device)

    def fits(self, case: Case) -> bool:
        """Say whether the device binds tensors of this size; if not, tell the user."""
        limits = self.device.capabilities.limits
        fits = case.bytes <= min(limits["maxStorageBufferBindingSize"], limits["maxBufferSize"])
        if not fits:
            print(f"{case}: left out, a tensor of it is larger than this device binds", file=sys.stderr)
        return fits

    def time(self, call: PreparedCall, tensors: Tensors) -> Timing:
        """Time a prepared call."""
        names = [use.name for use in call.program.inputs]
        inputs = [{name: given[name] for name in names} for given in tensors.inputs]
        call.time_calls(inputs, tensors.outputs, repeat=WARM_UP)
        found = []
        for _ in range(SERIES):
            self.busy.spin(START_BYTES // 8)
            low, median, high = np.percentile(call.time_calls(inputs, tensors.outputs, repeat=self.runs), (25, 50, 75))
            found.append(Timing(median / 1e3, (high - low) / 1e3))
        return min(found)

    def measure(self, case: Case, *, with_torch: bool = False) -> dict[str, Any]:
        """Check and time one case, and PyTorch's way if asked; return its figures."""
        arrays = gpu_cases.draw(case)
        tensors = gpu_cases.upload(case, arrays, self.device)
        self.busy.spin(START_BYTES)
        specs = {name: case.specs[name] for name in ("X", "skip")}
        floor = self.time(self.copy.prepare(specs, outputs=case.outputs), tensors)
        prepare: Callable[..., PreparedCall] = self.kernel.prepare
        picked = prepare(case.specs, attrs=case.attrs, outputs=case.outputs).variant
        sought = gpu_cases.expected(case, arrays, self.reference)
        variants = {}
        worst = 0.0
        for name in self._accepted(case):
            call = prepare(case.specs, attrs=case.attrs, outputs=case.outputs, variant=name)
            tensors.poison(case, self.device)
            self.busy.spin(START_BYTES // 4)
            variants[name] = self.time(call, tensors)
            worst = max(worst, gpu_cases.error(case, sought, tensors.outputs[0]))
        tensors.destroy()
        row = figures(case, picked, floor, variants, worst)
        if with_torch:
            import torch_peer  # noqa: PLC0415 - optional

            peer = torch_peer.measure(case, arrays, sought, self.runs)
            row["torch_us"] = {name: round(value, 1) for name, value in peer.times_us.items()}
            row["torch_error_of_allowed"] = round(peer.error_of_allowed, 3)
        return row

    def _accepted(self, case: Case) -> list[str]:
        explanation = self.kernel.explain(case.specs, attrs=case.attrs, outputs=case.outputs)
        return [candidate.id for candidate in explanation.candidates if candidate.accepted]


def figures(case: Case, picked: str, floor: Timing, variants: dict[str, Timing], worst: float) -> dict[str, Any]:
    """Gather what was found out about a case, ready for JSON."""
    best = min(variants, key=lambda name: variants[name].median_us)
    return {
        "case": str(case),
        "bias": case.bias,
        "S": case.keeps_sum,
        "floor_us": round(floor.median_us, 2),
        "picked": picked,
        "picked_us": round(variants[picked].median_us, 2),
        "spread_us": round(variants[picked].spread_us, 2),
        "floor_share": round(floor.median_us / variants[picked].median_us, 3),
        "best": best,
        "over_best": round(variants[picked].median_us / variants[best].median_us, 3),
        "variants_us": {name: round(timing.median_us, 2) for name, timing in variants.items()},
        "error_of_allowed": round(worst, 3),
    }


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Return a Markdown table, the geometric mean of the shares of the floor, and which picks were too slow."""
    with_torch = "torch_us" in rows[0]
    heads = ["X", "copy µs", "picked", "µs", "±", "copy/picked", "best other", "error/allowed"]
    heads += ["PyTorch eager µs", "to ours", "compiled µs", "to ours", "error/allowed"] if with_torch else []
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    for row in rows:
        others = {name: us for name, us in row["variants_us"].items() if name != row["picked"]}
        other = min(others, key=lambda name: others[name], default=None)
        cells = [row["case"], f"{row['floor_us']:.1f}"]
        cells += [row["picked"], f"{row['picked_us']:.1f}", f"{row['spread_us']:.1f}", f"{row['floor_share']:.0%}"]
        cells += [f"{other} {others[other]:.1f}" if other else "", f"{row['error_of_allowed']:.2f}"]
        if with_torch:
            cells += [cell for way in ("eager", "compiled") for cell in torch_cells(row, way)]
            cells += [f"{row['torch_error_of_allowed']:.2f}"]
        lines.append("| " + " | ".join(cells) + " |")
    mean = math.exp(sum(math.log(row["floor_share"]) for row in rows) / len(rows))
    slower = [f"{row['case']} ({row['over_best']:.2f})" for row in rows if row["over_best"] > FAST_ENOUGH]
    share = f"geometric mean of copy/picked: {mean:.3f}"
    picks = f"more than {FAST_ENOUGH - 1:.0%} slower than the best: {', '.join(slower) or 'none'}"
    return "\n\n".join(["\n".join(lines), share, picks, ""])


def torch_cells(row: dict[str, Any], way: str) -> tuple[str, str]:
    """Return PyTorch's time in the layout that suits it best, and how many times ours that is."""
    best = min(us for name, us in row["torch_us"].items() if name.startswith(way))
    return f"{best:.0f}", f"{best / row['picked_us']:.1f}"


def facts(device: wk.Device, *, with_torch: bool) -> str:
    """Say what the figures depend on."""
    info = device.capabilities.adapter_info
    text = describe(f"{device.name}, driver {info.get('description', 'unknown')}")
    if with_torch:
        import torch_peer  # noqa: PLC0415 - optional

        text += f"peer      {torch_peer.version()}\n"
    return text + f"date      {dt.datetime.now(tz=dt.UTC):%Y-%m-%d}\n"


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="without S, without bias, and 40 further shapes, too")
    parser.add_argument("--torch", action="store_true", help="PyTorch on CUDA beside the rows with bias and S")
    parser.add_argument("--runs", type=int, default=RUNS, help=f"of each series (default {RUNS}); software is slow")
    parser.add_argument("--tiny", action="store_true", help="one small case and no files, to see that it runs")
    parser.add_argument("--out", type=Path, default=HERE / "results", help="folder of the dated files")
    options = parser.parse_args()
    device = wk.default_device()
    heading = facts(device, with_torch=options.torch)
    print(heading)
    bench = Bench(device, options.runs)
    if options.tiny:
        print(table([bench.measure(gpu_cases.Case(1, 16, 16, 64, "float32"))]))
        return
    parts = {COMPARED: gpu_cases.rows()}
    if options.all:
        parts["Further shapes, with bias and S"] = gpu_cases.further()
        parts["Without S"] = gpu_cases.rows(keeps_sum=False)
        parts["Without bias"] = gpu_cases.rows(bias=False)
    found: dict[str, list[dict[str, Any]]] = {}
    for title, cases in parts.items():
        fitting = [case for case in cases if bench.fits(case)]
        if not fitting:
            continue
        found[title] = measured(bench, fitting, with_torch=options.torch and title == COMPARED)
        print(f"## {title}\n\n{table(found[title])}", flush=True)
        write(options.out, device.name, heading, found)


def measured(bench: Bench, cases: Sequence[Case], *, with_torch: bool) -> list[dict[str, Any]]:
    """Measure cases, and say how far they are."""
    rows = []
    for case in cases:
        row = bench.measure(case, with_torch=with_torch)
        rows.append(row)
        print(f"{row['case']:<32}{row['picked']:<18}{row['variants_us']} {row.get('torch_us', '')}", file=sys.stderr)
    return rows


def write(out: Path, device: str, heading: str, found: dict[str, list[dict[str, Any]]]) -> None:
    """Write the dated files, again after each part: a long run that is stopped leaves something."""
    out.mkdir(parents=True, exist_ok=True)
    name = (
        f"{dt.datetime.now(tz=dt.UTC):%Y-%m-%d}-{re.sub('[^a-z0-9]+', '-', device.lower()).strip('-')}-skip-group-norm"
    )
    tables = "\n".join(f"## {title}\n\n{table(rows)}" for title, rows in found.items())
    title = f"# SkipGroupNorm on {device}\n\n```\n{heading}```\n\n"
    (out / f"{name}.md").write_text(title + tables, encoding="utf-8")
    data = {"heading": heading.splitlines(), **found}
    (out / f"{name}.json").write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
