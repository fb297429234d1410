"""Whether the device can hold and bind what a plan needs, asked before any memory is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from webgpu_kernels.errors import LimitError
from webgpu_kernels.planning.bindings import tensor_bytes
from webgpu_kernels.planning.selection import every_pass

if TYPE_CHECKING:
    from webgpu_kernels.planning.plan import Plan, PlannedPass
    from webgpu_kernels.planning.request import Request

_WHAT = {
    "maxBufferSize": "buffer",
    "maxStorageBufferBindingSize": "storage binding",
    "maxUniformBufferBindingSize": "uniform binding",
}


def check_tensors(request: Request) -> None:
    """Refuse tensors that one buffer could not hold, or one binding could not cover where no variant splits them.

    Args:
        request: the bound call, outputs known.

    Raises:
        LimitError: naming the tensor, the limit, the bytes asked for and those there are.

    Source: WebGPU, section 3.6.2.
    """
    for name in request.tensors:
        _check_tensor("maxBufferSize", name, request)
    passes = [step for variant in request.manifest.variants for step in every_pass(variant.passes)]
    split = {binding.target for step in passes for binding in step.bindings if binding.split is not None}
    for name in request.tensors:
        if name not in split:
            _check_tensor("maxStorageBufferBindingSize", name, request)


def check_limits(plan: Plan) -> None:
    """Refuse a plan whose buffers or bindings are larger or more than the device allows.

    Args:
        plan: the evaluated variant.

    Raises:
        LimitError: naming the tensor, intermediate, uniform or pass, the limit, what it needs and what there is.

    Source: WebGPU, section 3.6.2.
    """
    if not plan.passes:
        return
    request = plan.request
    for name in request.tensors:
        _check_tensor("maxBufferSize", name, request)
    for entry in plan.intermediates:
        for limit in ("maxBufferSize", "maxStorageBufferBindingSize"):
            _check(limit, entry.size_bytes, request, f"{plan.where}: intermediate {entry.id!r}")
    for step in plan.passes:
        _check_pass(step, request, f"{plan.where}: pass {step.id}")


def _check_pass(step: PlannedPass, request: Request, where: str) -> None:
    for binding in step.bindings:
        if binding.struct is not None:
            _check("maxUniformBufferBindingSize", binding.min_bytes, request, f"{where}: binding {binding.name!r}")
        elif binding.resource == "tensor" and binding.size_bytes is None:
            _check_tensor("maxStorageBufferBindingSize", binding.target, request)
    limit = "maxStorageBuffersPerShaderStage"
    count = sum(binding.struct is None for binding in step.bindings)
    if count > request.capabilities.limits[limit]:
        available = request.capabilities.limits[limit]
        raise LimitError("too many storage buffers", limit=limit, asked=count, available=available, where=where)


def _check_tensor(limit: str, name: str, request: Request) -> None:
    _check(limit, tensor_bytes(request, name), request, f"{request.manifest.op_id}: {name!r}")


def _check(limit: str, size_bytes: int, request: Request, where: str) -> None:
    available = request.capabilities.limits[limit]
    if size_bytes > available:
        message = f"the {_WHAT[limit]} is too large"
        raise LimitError(message, limit=limit, asked=size_bytes, available=available, where=where)
