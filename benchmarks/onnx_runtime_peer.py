"""ONNX Runtime as a peer: one node in a model, its data initialisers, run on a provider of one's choice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

if TYPE_CHECKING:
    from collections.abc import Mapping

Array = np.ndarray[Any, np.dtype[Any]]

# Errors are raised; what is logged besides is noise.
FATAL_ONLY = 4
_CODES = {
    "uint8": TensorProto.UINT8,
    "int4": TensorProto.INT4,
    "uint4": TensorProto.UINT4,
    "int32": TensorProto.INT32,
    "int64": TensorProto.INT64,
    "float32": TensorProto.FLOAT,
    "float16": TensorProto.FLOAT16,
}


def flat_bytes(array: Array) -> bytes:
    """Return an array's values as ONNX stores them: int4 and uint4 two a byte, low half first."""
    if array.dtype.name not in {"int4", "uint4"}:
        return array.tobytes()
    halves = array.ravel().astype(np.uint8) & 15
    padded = np.append(halves, np.zeros(halves.size % 2, np.uint8))
    pairs: Array = (padded[::2] | padded[1::2] << 4).astype(np.uint8)
    return pairs.tobytes()


def session(
    inputs: Mapping[str, Array], attrs: Mapping[str, Any], provider: str = "CPUExecutionProvider", threads: int = 1
) -> onnxruntime.InferenceSession:
    """Build a session of one GatherBlockQuantized whose table is in the model; only indices are fed.

    Args:
        inputs: data, indices, scales and if there are any zero_points.
        attrs: the node's attributes.
        provider: ONNX Runtime's name of what is to run it; nothing else may.
        threads: that the CPU provider may use; 0 for one a core.

    Returns:
        A session with the input ``indices`` and the output ``output``.
    """
    table = [name for name in ("data", "scales", "zero_points") if name in inputs]
    initializers = [
        helper.make_tensor(
            name, _CODES[inputs[name].dtype.name], inputs[name].shape, flat_bytes(inputs[name]), raw=True
        )
        for name in table
    ]
    indices = helper.make_tensor_value_info("indices", _CODES[inputs["indices"].dtype.name], None)
    output = helper.make_tensor_value_info("output", _CODES[inputs["scales"].dtype.name], None)
    names = [table[0], "indices", *table[1:]]
    node = helper.make_node("GatherBlockQuantized", names, ["output"], domain="com.microsoft", **attrs)
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    graph = helper.make_graph([node], "gather", [indices], [output], initializers)
    model: onnx.ModelProto = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = FATAL_ONLY
    options.intra_op_num_threads = threads
    if provider != "CPUExecutionProvider":
        options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=[provider])


def run(inputs: Mapping[str, Array], attrs: Mapping[str, Any]) -> Array:
    """Return the output of the CPU provider."""
    output: Array = session(inputs, attrs).run(None, {"indices": inputs["indices"]})[0]
    return output
