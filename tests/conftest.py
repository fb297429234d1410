"""What holds for every test."""

from __future__ import annotations

from chromium_here import chromium
from hypothesis import settings

__all__ = ["chromium"]

# Speed is measured in benchmarks: a loaded machine must not fail a law.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
