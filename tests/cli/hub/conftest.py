"""A loopback Hub and an empty cache for each test."""

from __future__ import annotations

from hub_fixtures import alone, hub, naps, server

__all__ = ["alone", "hub", "naps", "server"]
