"""Described devices."""

from __future__ import annotations

import pickle

import pytest

from webgpu_kernels.errors import RequestError
from webgpu_kernels.planning.capabilities import Capabilities


def test_limits_that_are_left_out_have_webgpus_defaults() -> None:
    """A description names only what differs."""
    limits = Capabilities(limits={"maxBufferSize": 2**31 - 1}).limits
    assert limits["maxBufferSize"] == 2**31 - 1
    assert limits["maxStorageBufferBindingSize"] == 134217728
    assert limits["maxComputeInvocationsPerWorkgroup"] == 256


def test_the_grid_limit_never_exceeds_the_fold_width() -> None:
    """Templates rebuild flat ids with 65535, whatever the device could do."""
    assert Capabilities(limits={"maxComputeWorkgroupsPerDimension": 10**6}).limits[
        "maxComputeWorkgroupsPerDimension"
    ] == (65535)


def test_an_unknown_limit_is_refused() -> None:
    """A typing error must not silently mean the default."""
    with pytest.raises(RequestError, match="Capabilities: unknown limit: got 'maxBuferSize'"):
        Capabilities(limits={"maxBuferSize": 1})


@pytest.mark.parametrize("value", [-1, 1.5, True, "4"])
def test_a_limit_is_a_non_negative_integer(value: object) -> None:
    """Anything else is refused, naming the limit."""
    with pytest.raises(RequestError, match="Capabilities: maxBufferSize: expected a non-negative integer"):
        Capabilities(limits={"maxBufferSize": value})  # type: ignore[dict-item]


def test_features_are_a_collection_of_names() -> None:
    """One string would be read letter by letter."""
    with pytest.raises(RequestError, match="expected a collection of names, got 'shader-f16'"):
        Capabilities(features="shader-f16")


def test_a_description_can_be_pickled_and_compared() -> None:
    """Equal descriptions are equal and hash alike, also in another process."""
    described = Capabilities(features={"shader-f16"}, limits={"maxBufferSize": 8}, adapter_info={"vendor": "x"})
    copy = pickle.loads(pickle.dumps(described))
    assert copy == described
    assert hash(copy) == hash(described)
    assert described != Capabilities()
