"""WebGPU kernel packages in Python: load one, check a call against its contract, select a variant, render, run."""

from webgpu_kernels import errors
from webgpu_kernels.device import Device, Tensor, adapters, default_device
from webgpu_kernels.kernel import Kernel
from webgpu_kernels.loading import get_kernel, load_kernel
from webgpu_kernels.planning.capabilities import Capabilities
from webgpu_kernels.planning.spec import TensorSpec

__all__ = [
    "Capabilities",
    "Device",
    "Kernel",
    "Tensor",
    "TensorSpec",
    "adapters",
    "default_device",
    "errors",
    "get_kernel",
    "load_kernel",
]
