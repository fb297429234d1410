"""What SkipGroupNorm computes, in numpy: the sum rounded as a kernel must round it, everything after it in float64."""

# ruff: noqa: INP001 - the folder bears the operator's name, which is no Python package
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Array = np.ndarray[Any, np.dtype[Any]]


def reference(
    inputs: Mapping[str, Array], attrs: Mapping[str, Any], outputs: Sequence[str] = ("Y", "S")
) -> dict[str, Array]:
    """Normalise the rounded sum group by group.

    Args:
        inputs: X (N, H, W, C), or (N, C, H, W) where ``channels_last`` is 0, of dtype T; gamma and beta (C,) of dtype
            M; skip of X's shape, (N, C) or (N, 1, 1, C), and if given bias (C,), of dtype T. T and M are float32 or
            float16.
        attrs: ``groups`` and ``activation`` (0 or 1); ``channels_last`` (1) and ``epsilon`` (1e-5) may be left out.
        outputs: which of Y and S are wanted.

    Returns:
        Output name to a float64 array of X's shape and layout: Y not rounded, S as rounded to T.

    Source: ONNX Runtime's contrib operator SkipGroupNorm.
    """
    channels_last = attrs.get("channels_last", 1) != 0
    rounded = _pixels_by_channels(residual_sum(inputs, channels_last=channels_last), channels_last=channels_last)
    s = rounded.astype(np.float64)
    results: dict[str, Array] = {"S": s}
    if "Y" in outputs:
        gamma, beta = (inputs[name].astype(np.float64) for name in ("gamma", "beta"))
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            y = _normalized(s, int(attrs["groups"]), float(attrs.get("epsilon", 1e-5))) * gamma + beta
            results["Y"] = y / (1.0 + np.exp(-y)) if attrs["activation"] == 1 else y
    return {name: _as_x(results[name], inputs["X"].shape, channels_last=channels_last) for name in outputs}


def residual_sum(inputs: Mapping[str, Array], *, channels_last: bool = True) -> Array:
    """Return S: X + skip + bias, rounded once to the dtype of X.

    Args:
        inputs: X, skip and if given bias, as for ``reference``.
        channels_last: whether X is (N, H, W, C) rather than (N, C, H, W).

    Returns:
        The sum, of X's shape, layout and dtype.

    Source: ONNX Runtime's contrib operator SkipGroupNorm.
    """
    x, skip = inputs["X"], inputs["skip"]
    if skip.shape != x.shape:
        n, c = skip.shape[0], skip.shape[-1]
        skip = skip.reshape((n, 1, 1, c) if channels_last else (n, c, 1, 1))
    total = x.astype(np.float64) + skip.astype(np.float64)
    if "bias" in inputs:
        bias = inputs["bias"].astype(np.float64)
        total += bias if channels_last else bias[:, None, None]
    with np.errstate(over="ignore"):
        return total.astype(x.dtype)


def _normalized(s: Array, groups: int, epsilon: float) -> Array:
    """Take (N, pixels, C) to mean 0 and variance 1 (but for epsilon) in each group of each image."""
    n, pixels, channels = s.shape
    grouped = s.reshape(n, pixels, groups, channels // groups)
    if grouped.size == 0:
        return s
    # Two passes: the mean first, then the squares about it.
    centred = grouped - grouped.mean(axis=(1, 3), keepdims=True)
    variance = np.square(centred).mean(axis=(1, 3), keepdims=True)
    normalized: Array = centred / np.sqrt(variance + epsilon)
    return normalized.reshape(s.shape)


def _pixels_by_channels(x: Array, *, channels_last: bool) -> Array:
    moved = x if channels_last else np.moveaxis(x, 1, -1)
    return moved.reshape(moved.shape[0], moved.shape[1] * moved.shape[2], moved.shape[3])


def _as_x(pixels: Array, shape: tuple[int, ...], *, channels_last: bool) -> Array:
    if channels_last:
        return pixels.reshape(shape)
    n, c, h, w = shape
    return np.ascontiguousarray(np.moveaxis(pixels.reshape(n, h, w, c), -1, 1))
