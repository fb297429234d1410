"""Does what a job says in a process of its own, and says how it ended, how long it took and how much memory.

It reads one JSON job a line, ``{"action", "path"}``, and answers with one line: ``{"error", "message", "seconds",
"elapsed", "megabytes"}``, seconds of the processor and of the clock. Everything is imported, and done once with good
files, before the first job; each job is a fork, so what is measured is the job's alone.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import webgpu_kernels as wk
from webgpu_kernels.contract.hub import forget_versions
from webgpu_kernels.contract.lock import read_lock
from webgpu_kernels.device.shader_bounds import check_nesting
from webgpu_kernels.device.shader_check import check_memory, check_workgroup
from webgpu_kernels.device.wgsl_text import for_naga
from webgpu_kernels.errors import KernelError
from webgpu_kernels.planning.capabilities import DEFAULT_LIMITS
from webgpu_kernels.planning.program import ProgramPass
from webgpu_kernels.planning.wgsl import check_opaque_int64, missing_directives
from webgpu_kernels.tools.bench.reading import benches_of
from webgpu_kernels.tools.capabilities import load_capabilities
from webgpu_kernels.tools.results import read_results
from webgpu_kernels.tools.suites.reading import suite_of
from webgpu_kernels.tuning.profile import read_profile

if TYPE_CHECKING:
    from collections.abc import Callable

DEADLINE_SECONDS = 20.0
MOST_BYTES = 4 * 2**30
INPUTS = {"x": wk.TensorSpec((8,), "float32")}


def render(path: Path) -> None:
    """Load a package and render its only pass for a small call."""
    wk.load_kernel(path).render(INPUTS, capabilities=wk.Capabilities())


def verify(path: Path) -> None:
    """Load a package whose files must be those that metadata.json lists."""
    wk.load_kernel(path, verify=True)


def shader(path: Path) -> None:
    """Do with a shader's text what is done before a compiler sees it."""
    text = path.read_text("utf-8")
    missing_directives(text)
    check_opaque_int64(text, ("x",), "here")
    a_pass = ProgramPass(id="main", label="main", wgsl=text, lines=(), slots=(), grid=(1, 1, 1))
    check_nesting(a_pass, where="here")
    check_memory(a_pass, where="here")
    check_workgroup(text, DEFAULT_LIMITS, where="here")
    for_naga(text)


def suite(path: Path) -> None:
    """Read test.json."""
    suite_of(wk.load_kernel(path).package)


def benches(path: Path) -> None:
    """Read bench.json."""
    benches_of(wk.load_kernel(path).package)


def profile(path: Path) -> None:
    """Read what tune found."""
    read_profile(path.read_bytes(), where=str(path))


def hub(folder: Path) -> None:
    """Load a kernel from a Hub on loopback, and use it; ``hub.json`` says what is asked."""
    import huggingface_hub  # noqa: PLC0415 - an optional extra
    from huggingface_hub import constants  # noqa: PLC0415

    job = json.loads((folder / "hub.json").read_text())
    settings = {
        "ENDPOINT": job["endpoint"],
        "HUGGINGFACE_CO_URL_TEMPLATE": job["endpoint"] + "/{repo_id}/resolve/{revision}/{filename}",
        "HF_HUB_CACHE": job["cache"],
        "HF_HUB_OFFLINE": job.get("offline", False),
        "HF_HUB_DISABLE_TELEMETRY": True,
    }
    for name, value in settings.items():
        setattr(constants, name, value)
    huggingface_hub.close_session()
    forget_versions()
    kernel = wk.get_kernel("webgpu-kernels/test.Scale", version=1, token=False)
    for name in job.get("read", ()):
        kernel.package.read(name)
    kernel.render(INPUTS, capabilities=wk.Capabilities())
    huggingface_hub.close_session()


ACTIONS: dict[str, Callable[[Path], Any]] = {
    "manifest": render,
    "template": render,
    "package": render,
    "verify": verify,
    "metadata": verify,
    "wgsl": shader,
    "test": suite,
    "bench": benches,
    "device": load_capabilities,
    "lock": read_lock,
    "results": read_results,
    "profile": profile,
    "hub": hub,
}


def measured(action: str, path: str) -> dict[str, Any]:
    """Do a job, and say how it ended."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begun, started = time.process_time(), time.monotonic()
    error, message = None, ""
    try:
        ACTIONS[action](Path(path))
    except KernelError as caught:
        error, message = type(caught).__name__, str(caught)
    except BaseException as caught:  # noqa: BLE001 - whatever gets through is what the probe is for
        error, message = f"not ours: {type(caught).__name__}", str(caught)[:500]
    seconds, elapsed = time.process_time() - begun, time.monotonic() - started
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return {"error": error, "message": message, "seconds": seconds, "elapsed": elapsed, "megabytes": grown / 1024}


def answered(action: str, path: str) -> str:
    """Do a job in a fork; one that does not end in time is ended."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
        with os.fdopen(writing, "w") as file:
            file.write(json.dumps(measured(action, path)))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as file:
        in_time = select.select([file], [], [], DEADLINE_SECONDS)[0]
        if not in_time:
            os.kill(child, signal.SIGKILL)
        text = file.read()
    status = os.waitpid(child, 0)[1]
    end = "does not end" if not in_time else f"ends with status {status}"
    nothing = {"message": "", "seconds": DEADLINE_SECONDS, "elapsed": DEADLINE_SECONDS, "megabytes": 0}
    return text or json.dumps({"error": end} | nothing)


def main() -> None:
    """Answer jobs until there are no more."""
    for line in sys.stdin:
        job = json.loads(line)
        answer = json.dumps(measured(**job)) if job.pop("warm") else answered(**job)
        sys.stdout.write(f"{answer}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
