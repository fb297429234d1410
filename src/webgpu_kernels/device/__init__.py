"""The wgpu seam: adapters, devices, tensors, execution and timing; nothing else imports wgpu."""

from __future__ import annotations

from webgpu_kernels.device.adapters import AdapterInfo, adapters
from webgpu_kernels.device.batch import Batch
from webgpu_kernels.device.device import Device
from webgpu_kernels.device.executable import Executable
from webgpu_kernels.device.lifecycle import default_device
from webgpu_kernels.device.tensor import Tensor

__all__ = ["AdapterInfo", "Batch", "Device", "Executable", "Tensor", "adapters", "default_device"]
