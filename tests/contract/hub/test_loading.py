"""Kernels from the Hub: what is loaded, from where, and how often it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loopback_hub import REPOSITORY, LoopbackHub, package_files

import webgpu_kernels as wk

if TYPE_CHECKING:
    from webgpu_kernels.contract.remote import Hub


def test_a_version_is_its_branchs_commit(server: LoopbackHub, hub: Hub) -> None:
    """The kernel says which."""
    commit = server.publish(package_files())
    kernel = wk.get_kernel(REPOSITORY, version=1)
    assert kernel.op_id == "test.Scale"
    assert kernel.revision == commit
