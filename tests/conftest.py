"""What holds for every test."""

from __future__ import annotations

import os

from chromium_here import chromium
from hypothesis import settings

# What somebody tuned on this machine must not change what tests see; those of profiles name a folder of their own.
os.environ["WEBGPU_KERNELS_TUNING"] = "off"

__all__ = ["chromium"]

# Speed is measured in benchmarks: a loaded machine must not fail a law.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
