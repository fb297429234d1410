"""The arrays that cases are timed with: as many sets as it takes to leave nothing in a cache."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final, Protocol

from webgpu_kernels.arrays import np
from webgpu_kernels.planning.spec import TensorSpec
from webgpu_kernels.tools.suites.generators import make_array
from webgpu_kernels.tools.suites.model import Random

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webgpu_kernels.device.codec import Array
    from webgpu_kernels.tools.bench.model import BenchCase
    from webgpu_kernels.tools.suites.model import Data

PERIOD: Final = 1_048_573
"""Random elements that are drawn; larger arrays repeat them. A prime, so that rows of a power of two never align."""
SMALL_ELEMENTS: Final = 65_536
"""Random arrays up to this size differ from set to set: indices, above all, must not find the same rows again."""
_SET_STEP: Final = 1_000_003


class ArraySets(Protocol):
    """Sets of inputs."""

    def of_set(self, index: int) -> Mapping[str, Array]:
        """Return the arrays of one set.

        Args:
            index: which.

        Returns:
            Input name to array; arrays that do not differ between sets are the same object.
        """


class CaseArrays:
    """Makes the arrays of a case, set by set.

    Args:
        case: the case.
    """

    def __init__(self, case: BenchCase) -> None:
        self._case = case
        self._same: dict[str, Array] = {}

    def of_set(self, index: int) -> dict[str, Array]:
        """Return the arrays of one set.

        Args:
            index: which; results are checked with the first, 0.

        Returns:
            Input name to array; arrays that do not differ between sets are the same object.
        """
        arrays = {}
        for position, (name, spec) in enumerate(self._case.call.inputs.items()):
            data = self._case.inputs.get(name) or Random(seed=position + 1)
            if index and isinstance(data, Random) and spec.size <= SMALL_ELEMENTS:
                arrays[name] = _drawn(dataclasses.replace(data, seed=data.seed + index * _SET_STEP), spec)
                continue
            if name not in self._same:
                self._same[name] = _drawn(data, spec)
            arrays[name] = self._same[name]
        return arrays


def _drawn(data: Data, spec: TensorSpec) -> Array:
    if not isinstance(data, Random) or spec.size <= PERIOD:
        return make_array(data, spec)
    few = make_array(data, TensorSpec((PERIOD,), spec.dtype))
    return np.resize(few, spec.shape)
