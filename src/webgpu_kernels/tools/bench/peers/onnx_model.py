"""An ONNX model of one node, made of a manifest: it is an ONNX operator's, so names and order are ONNX's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from webgpu_kernels.arrays import np
from webgpu_kernels.contract import NIBBLE_DTYPES, onnx_code
from webgpu_kernels.device.codec import numpy_dtype
from webgpu_kernels.tools.bench.peers import PeerUnable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webgpu_kernels.contract import Port
    from webgpu_kernels.device.codec import Array
    from webgpu_kernels.tools.bench.peers import PeerCase

_OPSET: Final = 21
_IR_VERSION: Final = 10
_STANDARD: Final = "ai.onnx"
_MOST_BYTES: Final = 2**31 - 2**20
"""A model is one message of protobuf, which may not be larger."""


class NodeModel(NamedTuple):
    """A model.

    Attributes:
        content: its bytes.
        fed: the inputs that are not in it.
    """

    content: bytes
    fed: tuple[str, ...]


def model_of(case: PeerCase, arrays: Mapping[str, Array], *, inline: bool) -> NodeModel:
    """Make a model of a case.

    Args:
        case: the case.
        arrays: its inputs.
        inline: whether they are to be in the model.

    Returns:
        The model, its outputs named as the contract names them.

    Raises:
        PeerUnable: ONNX has no words for the call, or it is too large.

    Source: ONNX IR, version 10.
    """
    from onnx import helper  # noqa: PLC0415 - optional

    request, manifest = case.request, case.request.manifest
    if request.args:
        raise PeerUnable(f"the scalar arguments {', '.join(request.args)} have no place in an ONNX node")
    # Two values of four bits lie in a byte, which a feed cannot say.
    held = [name for name, array in arrays.items() if inline or array.dtype.name in NIBBLE_DTYPES]
    if sum(arrays[name].nbytes for name in held) > _MOST_BYTES:
        raise PeerUnable("a model holds no more than 2 GiB")
    domain = "" if manifest.domain == _STANDARD else manifest.domain
    version = max(_OPSET, manifest.since_version or 1) if not domain else manifest.since_version or 1
    formal = _formal_names(manifest.name, domain, version)
    node = helper.make_node(
        manifest.name,
        _placed(manifest.inputs, set(request.inputs), formal[0]),
        _placed(manifest.outputs, set(request.outputs), formal[1]),
        domain=domain,
        **case.case.call.attrs,
    )
    fed = tuple(name for name in request.inputs if name not in held)
    graph = helper.make_graph(
        [node],
        "call",
        [_described(name, request.inputs[name]) for name in fed],
        [_described(name, spec) for name, spec in request.outputs.items()],
        [_initializer(name, request.inputs[name].dtype, arrays[name]) for name in held],
    )
    opsets = [helper.make_opsetid("", version if not domain else _OPSET)]
    opsets += [helper.make_opsetid(domain, version)] if domain else []
    model = helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION)
    return NodeModel(model.SerializeToString(), fed)


def _formal_names(name: str, domain: str, version: int) -> tuple[list[str], list[str]]:
    """Return the formal inputs and outputs in ONNX's order; none where onnx does not know the operator."""
    from onnx import defs  # noqa: PLC0415 - optional

    try:
        schema = defs.get_schema(name, version, domain)
    except defs.SchemaError:
        return [], []
    return [formal.name for formal in schema.inputs], [formal.name for formal in schema.outputs]


def _placed(ports: Mapping[str, Port], used: set[str], formal: list[str]) -> list[str]:
    """Return the ports that are used in formal order, nothing in the place of others, as positions count."""
    names = {port.onnx or name: name for name, port in ports.items()}
    order = formal if set(names) <= set(formal) else list(names)
    placed = [names[word] if word in names and names[word] in used else "" for word in order]
    while placed and not placed[-1]:
        placed.pop()
    return placed


def _described(name: str, spec: Any) -> Any:
    from onnx import helper  # noqa: PLC0415 - optional

    return helper.make_tensor_value_info(name, onnx_code(spec.dtype), list(spec.shape))


def _initializer(name: str, dtype: str, array: Array) -> Any:
    from onnx import helper  # noqa: PLC0415 - optional

    if dtype not in NIBBLE_DTYPES:
        content = np.ascontiguousarray(array, numpy_dtype(dtype)).tobytes()
    else:
        halves = array.ravel().astype(np.uint8) & 15
        padded = np.append(halves, np.zeros(halves.size % 2, np.uint8))
        content = (padded[::2] | padded[1::2] << 4).astype(np.uint8).tobytes()
    return helper.make_tensor(name, onnx_code(dtype), array.shape, content, raw=True)
