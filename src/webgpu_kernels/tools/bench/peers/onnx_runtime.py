"""ONNX Runtime on the processor: a model of one node, made of the manifest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from webgpu_kernels.tools.bench.peers import PeerUnable, wall_runs_us
from webgpu_kernels.tools.bench.peers.onnx_model import model_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from webgpu_kernels.device.codec import Array
    from webgpu_kernels.tools.bench.peers import Peer, PeerCase, PeerWork
    from webgpu_kernels.tools.bench.stands import Effort
    from webgpu_kernels.tools.results.model import Clock

CPU: Final = "CPUExecutionProvider"
WEBGPU: Final = "WebGpuExecutionProvider"
_FATAL_ONLY: Final = 4


class OnnxRuntimePeer:
    """Computes with one of ONNX Runtime's providers.

    Args:
        name: what the peer is called.
        runtime: the module.
        provider: which of its providers; no other one may take the node.
        device: where that runs.
    """

    def __init__(self, name: str, runtime: Any, provider: str, device: str) -> None:
        self.name = name
        self.device = device
        self.version = str(runtime.__version__)
        self._runtime = runtime
        self._provider = provider

    def prepare(self, case: PeerCase) -> PeerWork:
        """Build a session; see ``Peer``."""
        on_cpu = self._provider == CPU
        sets = case.host_sets()
        # What is fed to another provider is uploaded by every run; what lies in the model is not.
        model = model_of(case, sets[0], inline=not on_cpu)
        options = self._runtime.SessionOptions()
        options.log_severity_level = _FATAL_ONLY
        if not on_cpu:
            # Else it would compute a node of constants once, before anybody looks at a clock.
            options.graph_optimization_level = self._runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
            options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
        try:
            session = self._runtime.InferenceSession(model.content, options, providers=[self._provider])
        except Exception as error:
            # Its exceptions have no other base of their own.
            raise PeerUnable(_first_line(error)) from error
        feeds = [{name: arrays[name] for name in model.fed} for arrays in sets]
        note = None if on_cpu else "its outputs are read back in each run"
        return _Work(session, feeds, tuple(case.request.outputs), note)


class _Work:
    clock: Clock = "wall"

    def __init__(
        self, session: Any, feeds: Sequence[Mapping[str, Array]], names: tuple[str, ...], note: str | None
    ) -> None:
        self._session = session
        self._feeds = feeds
        self._names = names
        self.note = note

    def outputs(self) -> Mapping[str, Array]:
        return dict(zip(self._names, self._call(0), strict=True))

    def runs_us(self, effort: Effort) -> Sequence[float]:
        return wall_runs_us(self._call, effort)

    def _call(self, index: int) -> list[Array]:
        found: list[Array] = self._session.run(list(self._names), self._feeds[index % len(self._feeds)])
        return found


def open_peer() -> Peer:
    """Open it.

    Raises:
        ImportError: it, or onnx, is not installed.
    """
    import onnx  # noqa: F401, PLC0415 - models are made with it
    import onnxruntime  # noqa: PLC0415 - optional, and slow to load

    return OnnxRuntimePeer("onnxruntime", onnxruntime, CPU, "CPU")


def _first_line(error: Exception) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return lines[0][:200] if lines else type(error).__name__
