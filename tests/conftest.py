"""What holds for every test."""

from __future__ import annotations

import os
import signal
import threading

from chromium_here import chromium
from hypothesis import settings

# What somebody tuned on this machine must not change what tests see; those of profiles name a folder of their own.
os.environ["WEBGPU_KERNELS_TUNING"] = "off"

# A shell that starts tests in the background lets them ignore Ctrl-C, and all that they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN and threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)

__all__ = ["chromium"]

# Speed is measured in benchmarks: a loaded machine must not fail a law.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
