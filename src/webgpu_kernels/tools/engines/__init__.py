"""Where programs run: an engine takes a program and arrays, and gives arrays and times.

Everything that an engine needs is in the program; what it knows of its device it says as plain values.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from webgpu_kernels.contract import closest
from webgpu_kernels.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webgpu_kernels.device.codec import Array
    from webgpu_kernels.planning.capabilities import Capabilities
    from webgpu_kernels.planning.program import Program

ENGINES: Final = ("native", "chromium")
_NONE: Final[Mapping[str, Any]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceCensus:
    """What a device is, for whoever reads results later.

    Attributes:
        engine: which engine reaches it, one of ``ENGINES``.
        version: of what runs there, such as ``wgpu 0.32.0``.
        name: the device's name.
        vendor: WebGPU's vendor name, lower case.
        architecture: WebGPU's, or empty.
        description: WebGPU's, or empty.
        driver: what the driver says of itself, or empty.
        backend: such as ``Vulkan``, or empty where nobody says.
        kind: ``discrete``, ``integrated``, ``virtual``, ``cpu`` or ``unknown``.
    """

    engine: str
    version: str
    name: str
    vendor: str = ""
    architecture: str = ""
    description: str = ""
    driver: str = ""
    backend: str = ""
    kind: str = "unknown"

    @property
    def software(self) -> bool:
        """Whether it only imitates a GPU."""
        return self.kind == "cpu"


class Outcome(NamedTuple):
    """What a run gave.

    Attributes:
        outputs: name to array of its shape and logical dtype, in the contract's order.
        times_ns: GPU time of each repetition of the whole program; empty where none was asked for or can be measured.
        unwritten: name to the flat indices of the elements that the program left as they were; only where there are.
    """

    outputs: Mapping[str, Array]
    times_ns: tuple[int, ...] = ()
    unwritten: Mapping[str, Array] = _NONE


class Engine(Protocol):
    """Runs programs on one device."""

    name: str

    @property
    def capabilities(self) -> Capabilities:
        """Features, limits and adapter facts, as planning asks for them."""

    @property
    def census(self) -> DeviceCensus:
        """What the device is."""

    def run(self, program: Program, inputs: Mapping[str, Array], *, repeat: int = 0) -> Outcome:
        """Run a program once, and then again as often as it shall be timed.

        Before the first run outputs hold ``words.POISON``, unless they are updated in place, and intermediates
        ``words.SCRATCH_POISON``, unless the program asks for zeros.

        Args:
            program: planned for this engine's capabilities.
            inputs: name to array of the planned shape and logical dtype.
            repeat: how many timed runs follow.

        Returns:
            The outputs of the first run, and the times.

        Raises:
            RequestError: a value that the contract does not allow.
            DeviceError: the device failed, or refused a shader.
        """

    def close(self) -> None:
        """Free the device; a second call does nothing."""


def open_engine(name: str = "native", adapter: str | int | None = None) -> Engine:
    """Open an engine.

    Args:
        name: one of ``ENGINES``.
        adapter: part of an adapter's name, its index, or None for the best.

    Returns:
        The engine; whoever opens it closes it.

    Raises:
        RequestError: there is no such engine.
        NoAdapterError: there is no such adapter.
        DeviceError: the engine does not start.
    """
    if name == "native":
        from webgpu_kernels.tools.engines.native import open_native  # noqa: PLC0415 - only the one that is asked for

        return open_native(adapter)
    if name == "chromium":
        from webgpu_kernels.tools.engines.chromium import open_chromium  # noqa: PLC0415 - as above

        return open_chromium(adapter)
    near = closest(name, ENGINES)
    hint = f"Did you mean {near!r}?" if near else None
    raise RequestError("no such engine", expected=f"one of {', '.join(ENGINES)}", got=repr(name), hint=hint)
