"""SkipGroupNorm in PyTorch, to be timed beside this package."""

# ruff: noqa: INP001 - the folder bears the operator's name, which is no Python package
from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def with_torch(inputs: Mapping[str, Any], attrs: Mapping[str, Any], outputs: Sequence[str]) -> dict[str, Any]:
    """Normalise a sum group by group.

    Args:
        inputs: X, gamma, beta, skip and perhaps bias, PyTorch tensors.
        attrs: groups, activation, channels_last, epsilon.
        outputs: which of Y and S are wanted.

    Returns:
        Output name to tensor of X's shape and layout. S is rounded after each of its additions.

    Source: ONNX Runtime's contrib operator SkipGroupNorm.
    """
    from torch.nn import functional  # noqa: PLC0415 - who asks for the reference has no PyTorch

    channels_last = attrs.get("channels_last", 1) != 0
    x, skip = inputs["X"], inputs["skip"]
    if skip.dim() == 2:
        skip = skip[:, None, None, :] if channels_last else skip[:, :, None, None]
    total = x + skip
    if "bias" in inputs:
        total = total + (inputs["bias"] if channels_last else inputs["bias"][:, None, None])
    # Channels come first for PyTorch; a view of tensors whose channels lie last has its own fast way.
    planes = total.permute(0, 3, 1, 2) if channels_last else total
    gamma, beta = (inputs[name].to(total.dtype) for name in ("gamma", "beta"))
    y = functional.group_norm(planes, int(attrs["groups"]), gamma, beta, float(attrs.get("epsilon", 1e-5)))
    if attrs["activation"] == 1:
        y = functional.silu(y)
    found = {"Y": y.permute(0, 2, 3, 1) if channels_last else y, "S": total}
    return {name: found[name] for name in outputs}
