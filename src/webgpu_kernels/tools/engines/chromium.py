"""The engine of a browser: a headless Chromium, whose compiler is Tint, runs the same programs as wgpu does."""

from __future__ import annotations

import json
import os
from importlib.resources import files
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from webgpu_kernels.arrays import np
from webgpu_kernels.device.wgsl_text import not_compiled
from webgpu_kernels.errors import DeviceClosed, DeviceError, DeviceLost, LimitError, NoAdapterError, OutOfMemory
from webgpu_kernels.planning.capabilities import DEFAULT_LIMITS, Capabilities
from webgpu_kernels.tools.engines import DeviceCensus, Outcome
from webgpu_kernels.tools.engines.browser import Browser, BrowserGone, BrowserSlow, find_settings
from webgpu_kernels.tools.engines.courier import Courier
from webgpu_kernels.tools.engines.words import decode_output, encode_input
from webgpu_kernels.tools.export.describe import describe_program
from webgpu_kernels.tools.export.fields import as_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webgpu_kernels.device.codec import Array
    from webgpu_kernels.errors import KernelError
    from webgpu_kernels.planning.program import Program
    from webgpu_kernels.tools.engines.browser import BrowserSettings

TIMEOUT_VARIABLE: Final = "WEBGPU_KERNELS_CHROMIUM_TIMEOUT"
TIMEOUT_SECONDS: Final = 300.0
SOFTWARE: Final = "swiftshader"
KINDS: Final[Mapping[str, str]] = MappingProxyType(
    {"discrete GPU": "discrete", "integrated GPU": "integrated", "CPU": "cpu"}
)
"""Chromium's types of adapters by the census's words."""


class ChromiumEngine:
    """Runs programs in one page of a headless Chromium; a crashed browser is started anew by the next run.

    Args:
        settings: how the browser is started.
        timeout_s: how long a run may take, in seconds.

    Raises:
        NoAdapterError: the browser does not start, or has no WebGPU.
    """

    name = "chromium"

    def __init__(self, settings: BrowserSettings, *, timeout_s: float = TIMEOUT_SECONDS) -> None:
        self._settings = settings
        self._timeout_s = timeout_s
        self._jobs = 0
        self._closed = False
        self._courier = Courier(_page())
        self._browser: Browser | None = None
        try:
            self._facts = self._ask("facts", None, "asking for a device", "chromium")
        except BaseException:
            self.close()
            raise

    @property
    def capabilities(self) -> Capabilities:
        """Features, limits and adapter facts of the page's device."""
        facts = self._facts
        return Capabilities(
            features=frozenset(facts["features"]),
            limits={name: value for name, value in facts["limits"].items() if name in DEFAULT_LIMITS},
            adapter_info=facts["adapterInfo"],
            wgsl_language_features=frozenset(facts["wgslLanguageFeatures"]),
        )

    @property
    def census(self) -> DeviceCensus:
        """What the device is."""
        info, extra = self._facts["adapterInfo"], self._facts["extra"]
        kind = KINDS.get(extra.get("type", ""), "cpu" if info["isFallbackAdapter"] else "unknown")
        return DeviceCensus(
            engine=self.name,
            version=f"Chromium {self._facts['version']}",
            name=info.get("description") or info.get("device") or info.get("architecture") or "unnamed",
            vendor=info.get("vendor", ""),
            architecture=info.get("architecture", ""),
            description=info.get("description", ""),
            driver=extra.get("driver", ""),
            backend=extra.get("backend", "").capitalize(),
            kind=kind,
        )

    def run(self, program: Program, inputs: Mapping[str, Array], *, repeat: int = 0) -> Outcome:
        """Run a program once on poisoned outputs, and then again as often as it shall be timed.

        Args:
            program: planned for this engine's capabilities.
            inputs: name to array of the planned shape and logical dtype.
            repeat: how many timed runs follow.

        Returns:
            The outputs of the first run, and the times.

        Raises:
            RequestError: a value that the contract does not allow.
            LimitError: the device has less than the program needs.
            ShaderError: Tint refuses a shader.
            DeviceError: the device or the browser failed; the next run has a new one.
        """
        words = [encode_input(use, inputs[use.name], where=program.where) for use in program.inputs]
        self._jobs += 1
        job = str(self._jobs)
        sent, came = (f"in/{job}/program", f"in/{job}/inputs"), f"out/{job}"
        self._courier.offer(sent[0], [json.dumps(_document(program)).encode()])
        self._courier.offer(sent[1], [array.view(np.uint8).data for array in words])
        try:
            answer = self._ask("run", {"job": job, "repeat": repeat}, "running", program.where, program)
            contents = np.frombuffer(self._courier.take(came), np.uint32)
        finally:
            self._courier.withdraw(*sent, came)
        return _outcome(program, answer, contents)

    def close(self) -> None:
        """End the browser; a second call does nothing."""
        if self._closed:
            return
        self._closed = True
        self._end_browser()
        self._courier.close()

    def _ask(self, function: str, argument: object, doing: str, where: str, program: Program | None = None) -> Any:
        """Call the page; end a browser that has crashed, hangs, or was interrupted."""
        if self._closed:
            raise DeviceClosed("the engine was closed", where=where)
        try:
            browser = self._browser = self._browser or Browser(self._settings, self._courier.address)
            reply = browser.call(f"Engine.{function}", argument, seconds=self._timeout_s)
        except BrowserGone as error:
            self._end_browser()
            hint = "The next run starts it anew"
            raise DeviceLost(f"Chromium crashed while {doing}", where=where, hint=hint) from error
        except BrowserSlow as error:
            self._end_browser()
            hint = f"{TIMEOUT_VARIABLE} allows more seconds"
            raise DeviceLost(f"Chromium gave {error} while {doing}, and was ended", where=where, hint=hint) from error
        except BaseException:
            self._end_browser()
            raise
        if "failure" in reply:
            raise _error(reply["failure"], where, program)
        answer = reply["answer"]
        return {**answer, "version": browser.version} if function == "facts" else answer

    def _end_browser(self) -> None:
        browser, self._browser = self._browser, None
        if browser is not None:
            browser.close()


def open_chromium(adapter: str | int | None = None) -> ChromiumEngine:
    """Start a headless Chromium.

    Args:
        adapter: ``swiftshader``, as for None: the one in software that Chromium brings along, the same on every
            machine; ``gpu`` for the machine's GPU; or part of that one's name, vendor or architecture.

    Returns:
        The engine.

    Raises:
        NoAdapterError: there is no Chromium, no playwright, no WebGPU, or another adapter than was asked for.

    Source: docs/how-to.md, "Test in a browser".
    """
    wanted = str(SOFTWARE if adapter is None else adapter).lower()
    engine = ChromiumEngine(find_settings(software=wanted == SOFTWARE), timeout_s=_timeout_s())
    found = engine.census
    names = (found.name, found.vendor, found.architecture)
    if not (wanted == "gpu" and not found.software) and not any(wanted in name.lower() for name in names):
        engine.close()
        there = f"{SOFTWARE}, or {found.name} ({found.vendor} {found.architecture})"
        raise NoAdapterError("no such adapter in Chromium", expected=there, got=repr(str(adapter)))
    return engine


def _timeout_s() -> float:
    limit = os.environ.get(TIMEOUT_VARIABLE, "")
    try:
        return float(limit or TIMEOUT_SECONDS)
    except ValueError as error:
        raise NoAdapterError(TIMEOUT_VARIABLE, expected="a number of seconds", got=repr(limit)) from error


def _page() -> str:
    here = files("webgpu_kernels.tools")
    scripts = (here / "export" / "runner.js", here / "engines" / "chromium.js")
    inlined = "".join(f"<script>{script.read_text('utf-8')}</script>" for script in scripts)
    return f'<!doctype html><meta charset="utf-8"><title>webgpu-kernels</title>{inlined}'


def _document(program: Program) -> dict[str, Any]:
    document: dict[str, Any] = as_json(describe_program(program))
    for entry, step in zip(document["passes"], program.passes, strict=True):
        entry["wgsl"] = step.wgsl
    return document


def _outcome(program: Program, answer: Mapping[str, Any], contents: Array) -> Outcome:
    in_place = {use.name for use in program.inputs}
    uses = {use.name: use for use in (*program.inputs, *program.outputs)}
    outputs, unwritten, at = {}, {}, 0
    for name in answer["names"]:
        count = uses[name].size_bytes // 4
        decoded = decode_output(uses[name], contents[at : at + count])
        at += count
        outputs[name] = decoded.elements
        if decoded.unwritten.size and name not in in_place:
            unwritten[name] = decoded.unwritten
    ordered = {use.name: outputs[use.name] for use in program.outputs}
    times = tuple(int(time) for time in answer["times"])
    return Outcome(MappingProxyType(ordered), times, MappingProxyType(unwritten))


def _error(failure: Mapping[str, Any], where: str, program: Program | None) -> KernelError:
    kind, message, details = failure["kind"], failure["message"].strip(), failure["details"]
    if kind == "shader" and program is not None:
        step = next(step for step in program.passes if step.id == details["pass"])
        line = next((int(found["line"]) for found in details["messages"] if found["line"]), None)
        return not_compiled(" ".join(message.split()), step, line, where=where)
    if kind == "limit" and "limit" in details:
        return LimitError("the program asks too much of the device", **details, where=where)
    if kind == "absent":
        hint = "SwiftShader needs no GPU: leave --adapter out"
        return NoAdapterError(f"no WebGPU in Chromium: {message}", where=where, hint=hint)
    if kind == "memory":
        return OutOfMemory(f"the browser's device has not enough memory ({message})", where=where)
    return (DeviceLost if kind == "lost" else DeviceError)(f"WebGPU failed in Chromium ({message})", where=where)
