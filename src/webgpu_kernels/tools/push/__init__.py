"""Publishing a package: what a push would change, whether it may, and the one commit that does it."""

from __future__ import annotations

from webgpu_kernels.tools.push.checks import Refusal, check_files, check_runs, published_contents
from webgpu_kernels.tools.push.plan import PlannedFile, PushPlan, plan_push, push

__all__ = [
    "PlannedFile",
    "PushPlan",
    "Refusal",
    "check_files",
    "check_runs",
    "plan_push",
    "published_contents",
    "push",
]
