"""What a process does once: forks, interrupts, exits, first use, and years of calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from webgpu_kernels.device import default_device

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    Run = Callable[..., subprocess.CompletedProcess[str]]

pytestmark = pytest.mark.device

OPEN = """
import os, sys, time, signal, threading, multiprocessing
import numpy as np
from webgpu_kernels.device import Device, Executable, adapters, default_device
from webgpu_kernels.errors import *
X = np.arange(256, dtype=np.float32)
device = default_device()
executable = Executable.compile(device, programs.scale())
x = device.tensor(X)
(y,) = executable.run([x])
"""


def clean(result: subprocess.CompletedProcess[str], *lines: str) -> None:
    """Assert that a process ended well, printed these lines and nothing on stderr."""
    assert (result.returncode, result.stderr, result.stdout.split("\n")) == (0, "", [*lines, ""])


def test_a_run_prints_nothing(fresh_python: Run) -> None:
    """With XDG_RUNTIME_DIR unset, over opening, running, closing and exit, and the variable stays unset."""
    code = OPEN + "y.numpy(); adapters(); device.close(); adapters(); print(os.environ.get('XDG_RUNTIME_DIR'))"
    clean(fresh_python(code), "None")


def test_exiting_without_closing_prints_nothing(fresh_python: Run) -> None:
    """Device, tensors and executables may be left to the interpreter."""
    clean(fresh_python(OPEN + "print(y.numpy()[3])"), "6.0")


def test_an_exit_with_work_under_way_is_clean(fresh_python: Run) -> None:
    """The GPU is busy, a read waits in another thread, a batch is open: the process ends in order."""
    code = """
    spin = Executable.compile(device, programs.spin(16))
    s = device.tensor(X[:64])
    spin.run([s])
    threading.Thread(target=lambda: spin.run_to_host([s]), daemon=True).start()
    time.sleep(0.05)
    batch = device.batch().__enter__()
    executable.run([x])
    print("bye")
    """
    clean(fresh_python(OPEN + dedented(code)), "bye")


def test_a_forked_child_cannot_use_the_device(fresh_python: Run) -> None:
    """Every use is ForkedProcessError, the default device too; the child ends by sys.exit, the parent works on."""
    code = """
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        for use in (lambda: executable.run([x]), y.numpy, lambda: device.tensor(X), device.synchronize,
                    default_device, adapters, Device, lambda: device.batch().__enter__()):
            try:
                use()
            except ForkedProcessError as error:
                last = error
            else:
                print("no error", use)
        print(device.failure.__name__)
        y.destroy()
        device.close()
        del x, y, executable
        sys.exit(7)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    print(y.numpy()[3])
    """
    clean(fresh_python(OPEN + dedented(code)), "ForkedProcessError", "7", "6.0")


def test_a_forked_child_says_what_to_do(fresh_python: Run) -> None:
    """The message names the ways out."""
    code = """
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        try:
            y.numpy()
        except ForkedProcessError as error:
            print(error)
        sys.exit(0)
    os.waitpid(pid, 0)
    """
    clean(
        fresh_python(OPEN + dedented(code)),
        "the device belongs to the process that this one was forked from. "
        "Start workers with multiprocessing's 'spawn' or 'forkserver', or open the device after the fork",
    )


@pytest.mark.parametrize("busy", [False, True], ids=["idle", "while another thread uses the device"])
def test_forking_never_hangs(fresh_python: Run, busy: bool) -> None:
    """Locks that another thread holds at the fork do not stop the child."""
    code = f"""
    stop = False
    def work():
        while not stop:
            executable.run_to_host([x])
    thread = threading.Thread(target=work)
    if {busy}:
        thread.start()
    codes = []
    for _ in range(5):
        pid = os.fork()
        if pid == 0:
            try:
                executable.run([x])
            except ForkedProcessError:
                y.destroy()
                device.close()
                sys.exit(3)
            sys.exit(4)
        codes.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    stop = True
    print(codes)
    """
    clean(fresh_python(OPEN + dedented(code)), "[3, 3, 3, 3, 3]")


def test_multiprocessing_children_end_normally(fresh_python: Run) -> None:
    """Forked workers that do not touch the device work; those that do get the error, not a hang."""
    code = """
    def work(number):
        if number == 2:
            try:
                return executable.run([x])
            except ForkedProcessError as error:
                return type(error).__name__
        return number * 2
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(pool.map(work, range(4)))
    print(y.numpy()[3])
    """
    clean(fresh_python(OPEN + dedented(code)), "[0, 2, 'ForkedProcessError', 6]", "6.0")


def test_a_child_that_opens_the_first_device_works(fresh_python: Run) -> None:
    """Forking before wgpu was used is fine."""
    code = """
    import os, sys
    from webgpu_kernels.device import default_device
    import numpy as np
    pid = os.fork()
    if pid == 0:
        print(default_device().tensor(np.arange(3)).numpy().tolist())
        sys.exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    """
    clean(fresh_python(dedented(code)), "[0, 1, 2]", "0")


@pytest.mark.parametrize("use", ["spin.run_to_host([s])", "(spin.run([s]), device.synchronize())", "in_batch()"])
def test_an_interrupt_leaves_everything_usable(fresh_python: Run, use: str) -> None:
    """Ctrl-C is seen once the dispatch has ended; no lock stays held and no batch open."""
    code = f"""
    spin = Executable.compile(device, programs.spin(48))
    s = device.tensor(X[:64])
    def in_batch():
        with device.batch():
            spin.run([s])
            time.sleep(20)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs inherit one that ignores it
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    started = time.monotonic()
    try:
        for _ in range(200):
            {use}
        print("not interrupted")
    except KeyboardInterrupt:
        print("interrupted")
    assert time.monotonic() - started < 20
    results = []
    other = threading.Thread(target=lambda: results.append(executable.run_to_host([x])[0]))
    other.start()
    other.join(30)
    print((results[0] == 2 * X).all(), device.open_batches, device.current_batch())
    """
    clean(fresh_python(OPEN + dedented(code)), "interrupted", "True 0 None")


def test_no_driver_says_what_to_install(fresh_python: Run) -> None:
    """Without Vulkan an OpenGL adapter at most is there, which does not count."""
    code = """
    import os
    os.environ["VK_ICD_FILENAMES"] = os.environ["VK_DRIVER_FILES"] = "/nonexistent.json"
    from webgpu_kernels.device import default_device
    from webgpu_kernels.errors import NoAdapterError
    try:
        default_device()
    except NoAdapterError as error:
        print("apt-get install mesa-vulkan-drivers libvulkan1" in str(error))
    """
    clean(fresh_python(dedented(code)), "True")


def test_importing_does_not_load_wgpu(fresh_python: Run) -> None:
    """The device package is imported by everybody; wgpu only by those who open a device."""
    code = "import webgpu_kernels.device\nprint('wgpu' in sys.modules)"
    clean(fresh_python(code), "False")


def test_running_out_of_memory_is_survived(fresh_python: Run) -> None:
    """Address space runs out below the driver: OutOfMemory, and afterwards the device still works."""
    if default_device().adapter_info["isFallbackAdapter"] is not True:
        pytest.skip("only software Vulkan takes its memory from the address space")
    code = """
    import resource
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (400 << 20), resource.RLIM_INFINITY))
    kept = []
    try:
        for _ in range(50):
            kept.append(device.empty((1 << 24,), "float32"))
        print("no error")
    except OutOfMemory:
        print("out of memory")
    kept.clear()
    device.trim()
    print((executable.run_to_host([x])[0] == 2 * X).all())
    """
    clean(fresh_python(OPEN + dedented(code)), "out of memory", "True")


@pytest.mark.slow
def test_ten_thousand_calls_leak_nothing(fresh_python: Run) -> None:
    """Live wgpu objects stay as many, and resident memory stays flat."""
    code = """
    import gc, wgpu
    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096
    def objects():
        gc.collect()
        counts = {name: entry["count"] for name, entry in wgpu.diagnostics.wgpu_native_counts.get_dict().items()}
        return {name: counts[name] for name in ("Buffer", "BindGroup", "CommandBuffer", "ComputePipeline")}
    def calls(count):
        for number in range(count):
            (y,) = executable.run([device.tensor(X)])
            if number % 10 == 0:
                with device.batch():
                    (z,) = executable.run([y])
                z.numpy()
                executable.run_to_host([y])
            if number % 100 == 0:
                Executable.compile(device, programs.scale(factor=float(number))).run_to_host([x])
    calls(1000)
    before, memory = objects(), resident()
    calls(10000)
    after = objects()
    print(all(after[name] <= count + 8 for name, count in before.items()) or (before, after))
    print(resident() - memory < 8 << 20 or resident() - memory)
    """
    clean(fresh_python(OPEN + dedented(code), timeout=300), "True", "True")


def dedented(code: str) -> str:
    import textwrap  # noqa: PLC0415 - only here

    return textwrap.dedent(code)


def test_reading_as_the_interpreter_ends_does_not_hang(fresh_python: Run) -> None:
    """In ``__del__`` of what a module keeps the thread that polls is gone: reads and waits still end.

    Python 3.11.2 does not flush what is printed as late as that.
    """
    code = """
    large = np.ones(10_000_000, np.float32)
    device.tensor(large).numpy()
    class Late:
        def __del__(self, y=y, executable=executable, x=x, device=device, large=large, print=print):
            for use in (y.numpy, lambda: executable.run_to_host([x])[0], lambda: device.tensor(large).numpy()):
                print(use()[3], flush=True)
            device.synchronize()
            print("done", flush=True)
    late = Late()
    """
    clean(fresh_python(OPEN + dedented(code)), "6.0", "6.0", "1.0", "done")


def test_what_cannot_be_read_any_more_is_a_device_error(fresh_python: Run) -> None:
    """A first read as late as that ends well, or says that it is too late."""
    code = """
    class Late:
        def __del__(self, y=y, KernelError=KernelError, print=print):
            try:
                y.numpy()
            except KernelError as error:
                right = type(error).__name__ == "DeviceError" and "the interpreter is ending" in str(error)
                print(right, flush=True)
            else:
                print(True, flush=True)
    late = Late()
    """
    clean(fresh_python(OPEN + dedented(code)), "True")
