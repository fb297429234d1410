"""Whether the device can hold and bind what a plan needs, asked before any memory is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from webgpu_kernels.errors import LimitError
from webgpu_kernels.planning.bindings import tensor_bytes

if TYPE_CHECKING:
    from webgpu_kernels.planning.plan import Plan
    from webgpu_kernels.planning.request import Request

_WHAT = {
    "maxBufferSize": "buffer",
    "maxStorageBufferBindingSize": "storage binding",
    "maxUniformBufferBindingSize": "uniform binding",
}


def check_tensors(request: Request) -> None:
    """Refuse tensors that one buffer or one binding could not cover.

    Args:
        request: the bound call, outputs known.

    Raises:
        LimitError: naming the tensor, the limit, the bytes asked for and those there are.

    Source: WebGPU, section 3.6.2.
    """
    for limit in ("maxBufferSize", "maxStorageBufferBindingSize"):
        for name in request.tensors:
            _check(limit, tensor_bytes(request, name), request, f"{request.manifest.op_id}: {name!r}")


def check_limits(plan: Plan) -> None:
    """Refuse a plan whose buffers or bindings exceed what the device allows.

    Args:
        plan: the evaluated variant.

    Raises:
        LimitError: naming the tensor, intermediate or uniform, the limit, the bytes asked for and those there are.

    Source: WebGPU, section 3.6.2.
    """
    if not plan.passes:
        return
    request = plan.request
    check_tensors(request)
    for entry in plan.intermediates:
        for limit in ("maxBufferSize", "maxStorageBufferBindingSize"):
            _check(limit, entry.size_bytes, request, f"{plan.where}: intermediate {entry.id!r}")
    for step in plan.passes:
        for binding in step.bindings:
            if binding.struct is not None:
                where = f"{plan.where}: pass {step.id}: binding {binding.name!r}"
                _check("maxUniformBufferBindingSize", binding.min_bytes, request, where)


def _check(limit: str, size_bytes: int, request: Request, where: str) -> None:
    available = request.capabilities.limits[limit]
    if size_bytes > available:
        message = f"the {_WHAT[limit]} is too large"
        raise LimitError(message, limit=limit, asked=size_bytes, available=available, where=where)
