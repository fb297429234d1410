"""Whose packages may be loaded.

A package is not run as Python, but its shaders do run on the GPU, and a driver is no sandbox to rely on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from webgpu_kernels.contract.source import ORGANISATION
from webgpu_kernels.errors import UntrustedRepository

if TYPE_CHECKING:
    from collections.abc import Collection

    from webgpu_kernels.contract.source import Source

Trust: TypeAlias = "bool | Collection[str]"


def check_trusted(source: Source, trust: Trust) -> None:
    """Let a repository pass that is trusted.

    Args:
        source: the repository.
        trust: True for any; or repositories and organisations, beside the organisation of the published kernels.

    Raises:
        UntrustedRepository: it is not among them.

    Source: FORMAT section 10 (``trustRemoteCode``).
    """
    if trust is True or source.owner == ORGANISATION:
        return
    # A text is a collection too, of its letters.
    trusted = {trust} if isinstance(trust, str) else set(trust or ())
    if not trusted & {source.repository, source.owner}:
        raise UntrustedRepository(
            "nobody said that this repository is trusted",
            where=source.repository,
            expected=", ".join([ORGANISATION, *sorted(trusted)]),
            hint=f"Read its templates, then give trust_remote_code=[{source.repository!r}].",
        )
