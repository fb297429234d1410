"""ONNX Runtime's WebGPU provider, of the distribution onnxruntime-webgpu."""

from __future__ import annotations

from typing import TYPE_CHECKING

from webgpu_kernels.tools.bench.peers import PeerUnable
from webgpu_kernels.tools.bench.peers.onnx_runtime import WEBGPU, OnnxRuntimePeer

if TYPE_CHECKING:
    from webgpu_kernels.tools.bench.peers import Peer


def open_peer() -> Peer:
    """Open it.

    Raises:
        ImportError: ONNX Runtime, or onnx, is not installed.
        PeerUnable: the one that is has no such provider.
    """
    import onnx  # noqa: F401, PLC0415 - models are made with it
    import onnxruntime  # noqa: PLC0415 - optional, and slow to load

    if WEBGPU not in onnxruntime.get_available_providers():
        raise PeerUnable(
            f"is not in this onnxruntime {onnxruntime.__version__}: install onnxruntime-webgpu in its place"
        )
    return OnnxRuntimePeer("onnxruntime-webgpu", onnxruntime, WEBGPU, "WebGPU")
