"""Plans and programs of the sample: for each variant a few of the calls that it takes, on different devices."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from webgpu_kernels.errors import KernelError, RequestError, WorkLimitExceeded
from webgpu_kernels.planning.limits import check_limits
from webgpu_kernels.planning.plan import build_plan
from webgpu_kernels.planning.rendering import build_program
from webgpu_kernels.planning.scope import describe_request
from webgpu_kernels.planning.selection import force_variant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from webgpu_kernels.contract import Variant
    from webgpu_kernels.planning.plan import Plan
    from webgpu_kernels.planning.program import Program
    from webgpu_kernels.tools.lint.sampling.sample import Judged, Sample
    from webgpu_kernels.tools.lint.subject import Subject

PLANS_OF_A_VARIANT: Final = 48
PROGRAMS_OF_A_VARIANT: Final = 14
MAX_PROGRAMS: Final = 400
MAX_STOPPED: Final = 3
"""Variants that are too much work, until no further ones are tried."""
MAX_PASSES: Final = 200
"""Passes of a plan that are looked at: repeat groups may make thousands, which take long to render."""


class Run(NamedTuple):
    """One call on one device, planned for one variant.

    Attributes:
        variant: the variant.
        judged: call and device.
        plan: the plan, or None where planning fails.
        program: the program, or None where it was not rendered or rendering fails.
        error: what fails, or None.
    """

    variant: Variant
    judged: Judged
    plan: Plan | None
    program: Program | None
    error: KernelError | None

    @property
    def where(self) -> str:
        """The request and the device, for messages."""
        return f"for {describe_request(self.judged.request)} on {self.judged.device.name}"


def runs(subject: Subject, sample: Sample, deadline: float, advance: Callable[[str], None]) -> Iterator[Run]:
    """Plan and render.

    Args:
        subject: the package.
        sample: calls on devices.
        deadline: when to stop, on ``time.monotonic``'s clock.
        advance: told what comes now.

    Yields:
        The runs of each variant; the first ones rendered.
    """
    manifest = subject.manifest
    rendered = max(2, min(PROGRAMS_OF_A_VARIANT, MAX_PROGRAMS // max(1, len(manifest.variants))))
    taken: dict[str, list[Judged]] = {}
    for judged in sample.judged:
        for name in judged.accepted:
            taken.setdefault(name, []).append(judged)
    stopped = 0
    for variant in manifest.variants:
        advance(f"rendering {variant.id}")
        for index, judged in enumerate(_spread(variant.id, taken.get(variant.id, []))):
            if time.monotonic() > deadline:
                return
            run = _run(subject, variant, judged, render=index < rendered)
            yield run
            if run.error is not None and _is_stopped(run.error):
                stopped += 1
                break  # the next one would take as long
        if stopped >= MAX_STOPPED:
            return


def _is_stopped(error: BaseException | None) -> bool:
    """Tell whether it fails because it is too much work."""
    while error is not None and not isinstance(error, WorkLimitExceeded):
        error = error.__cause__
    return error is not None


def _spread(variant: str, judged: Sequence[Judged]) -> list[Judged]:
    """Choose calls, one a device in turn; for each device the dtypes in turn, large and small ones in turn."""
    devices: dict[str, dict[tuple[str, ...], list[Judged]]] = {}
    for each in sorted(judged, key=lambda each: (each.chosen != variant, -_size(each))):
        dtypes = tuple(spec.dtype for spec in each.request.inputs.values())
        devices.setdefault(each.device.name, {}).setdefault(dtypes, []).append(each)
    queues = [_alternating(kinds) for kinds in devices.values()]
    chosen: list[Judged] = []
    while queues and len(chosen) < PLANS_OF_A_VARIANT:
        for queue in list(queues):
            chosen.append(queue.pop(0))
            if not queue:
                queues.remove(queue)
    return chosen[:PLANS_OF_A_VARIANT]


def _alternating(kinds: dict[tuple[str, ...], list[Judged]]) -> list[Judged]:
    """Order one device's calls: float16 first, which it may lack; the largest, the smallest, the next largest."""
    waiting = [kinds[key] for key in sorted(kinds, key=lambda key: "float16" not in key)]
    found: list[Judged] = []
    for turn in range(PLANS_OF_A_VARIANT):
        found += [calls.pop(0 if turn % 2 == 0 else -1) for calls in waiting if calls]
    return found


def _size(judged: Judged) -> int:
    return sum(spec.size for spec in judged.request.tensors.values())


def _run(subject: Subject, variant: Variant, judged: Judged, *, render: bool) -> Run:
    plan = program = None
    try:
        selection = force_variant(judged.request, variant.id)
        if selection.variant is None:
            return Run(variant, judged, None, None, None)
        plan = build_plan(selection)
        plan = replace(plan, passes=plan.passes[:MAX_PASSES])
        check_limits(plan)
        if render:
            program = build_program(subject.package, plan)
    except RequestError:
        return Run(variant, judged, plan, None, None)
    except KernelError as error:
        return Run(variant, judged, plan, None, error)
    return Run(variant, judged, plan, program, None)
