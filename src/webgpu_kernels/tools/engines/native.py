"""The engine of this process: wgpu, on any adapter of this machine."""

from __future__ import annotations

from functools import partial
from importlib.metadata import version
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from webgpu_kernels.device import Device, Executable, adapters
from webgpu_kernels.device.adapters import choose_adapter
from webgpu_kernels.device.lifecycle import by_environment
from webgpu_kernels.planning.spec import TensorSpec
from webgpu_kernels.tools.engines import DeviceCensus, Outcome
from webgpu_kernels.tools.engines.words import SCRATCH_POISON, decode_output, encode_input, poisoned_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webgpu_kernels.device import AdapterInfo, Tensor
    from webgpu_kernels.device.codec import Array
    from webgpu_kernels.planning.capabilities import Capabilities
    from webgpu_kernels.planning.program import Program, TensorUse

KINDS: Final[Mapping[str, str]] = MappingProxyType(
    {"DiscreteGPU": "discrete", "IntegratedGPU": "integrated", "VirtualGPU": "virtual", "CPU": "cpu"}
)
"""wgpu's kinds of adapters by the census's words."""


class NativeEngine:
    """Runs programs through wgpu.

    Args:
        device: where; closed with the engine.
        info: the adapter that it was opened on.
    """

    name = "native"

    def __init__(self, device: Device, info: AdapterInfo) -> None:
        self.device = device
        self._info = info

    @property
    def capabilities(self) -> Capabilities:
        """Features, limits and adapter facts, as planning asks for them."""
        return self.device.capabilities

    @property
    def census(self) -> DeviceCensus:
        """What the device is."""
        facts = self.device.adapter_info
        return DeviceCensus(
            engine=self.name,
            version=f"wgpu {version('wgpu')}",
            name=self._info.name,
            vendor=self._info.vendor,
            architecture=str(facts.get("architecture") or ""),
            description=str(facts.get("description") or ""),
            driver=self._info.driver,
            backend=self._info.backend,
            kind=KINDS.get(self._info.type, "unknown"),
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
            DeviceError: the device failed, or refused a shader.
        """
        executable = Executable.compile(self.device, program)
        memory = {use.name: self._uploaded(program, use, inputs[use.name]) for use in program.inputs}
        in_place = frozenset(memory)
        for use in program.outputs:
            if use.name not in in_place:
                memory[use.name] = self.device.tensor(poisoned_words(use.size_bytes))
        seen = {use.name: self._seen_as(use, memory[use.name]) for use in (*program.inputs, *program.outputs)}
        given = [seen[use.name] for use in program.inputs]
        results = [seen[use.name] for use in program.outputs]
        self._poison_scratch(program)
        executable.run(given, results)
        words = self.device.read([memory[use.name] for use in program.outputs])
        found = {use.name: decode_output(use, raw) for use, raw in zip(program.outputs, words, strict=True)}
        return Outcome(
            MappingProxyType({name: decoded.elements for name, decoded in found.items()}),
            self._times(executable, given, results, repeat),
            MappingProxyType(
                {
                    name: decoded.unwritten
                    for name, decoded in found.items()
                    if decoded.unwritten.size and name not in in_place
                }
            ),
        )

    def close(self) -> None:
        """Free the device; a second call does nothing."""
        self.device.close()

    def _uploaded(self, program: Program, use: TensorUse, array: Array) -> Tensor:
        return self.device.tensor(encode_input(use, array, where=program.where))

    def _seen_as(self, use: TensorUse, words: Tensor) -> Tensor:
        """Look at words as the tensor that they are."""
        return self.device.wrap(words.buffer, use.shape, use.dtype, use.layout, use.storage, words.offset)

    def _poison_scratch(self, program: Program) -> None:
        """Fill the intermediates that the coming run will be given: its calls take the same ones for the same sizes.

        What the program keeps is its own, and begins with zeros.
        """
        device = self.device
        passing = tuple(entry for entry in program.scratch if not entry.kept)
        with device.lock:
            scratch = device.scratch.get(passing, program.where)
            for entry in passing:
                words = poisoned_words(entry.size_bytes, SCRATCH_POISON)
                spec = TensorSpec(words.shape, "uint32")
                device.transfers.upload(scratch[entry.id], words, spec, "checked", entry.id)

    def _times(
        self, executable: Executable, given: list[Tensor], results: list[Tensor], repeat: int
    ) -> tuple[int, ...]:
        if not repeat or "timestamp-query" not in self.capabilities.features:
            return ()
        return executable.time_calls([(given, results)], repeat=repeat)


def open_native(adapter: str | int | None = None) -> NativeEngine:
    """Open an adapter of this machine.

    Args:
        adapter: part of its name, its index, or None for the one of WEBGPU_KERNELS_ADAPTER, else the best.

    Returns:
        The engine.

    Raises:
        NoAdapterError: there is no such adapter.
    """
    found = adapters()
    info = choose_adapter(found, adapter) if adapter is not None else by_environment(partial(choose_adapter, found))
    return NativeEngine(Device(info), info)
