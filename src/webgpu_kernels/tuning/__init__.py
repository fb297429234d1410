"""What tuning found on a device, and calls that go by it.

A profile holds, for each measured call, the variant and the tunables that were fastest there. A call goes by the
nearest of them that is of its kind; what the caller forces counts more. Nothing is looked up for a call whose plan is
known already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from webgpu_kernels.errors import KernelError
from webgpu_kernels.tuning.places import profile_for

if TYPE_CHECKING:
    from webgpu_kernels.contract import Package
    from webgpu_kernels.invocation import Invocation
    from webgpu_kernels.planning.capabilities import Capabilities
    from webgpu_kernels.planning.explanation import Explanation
    from webgpu_kernels.planning.plan import Plan
    from webgpu_kernels.tuning.profile import Entry, Profile


class Tuned(NamedTuple):
    """A call that goes by a profile.

    Attributes:
        asked: the call with the profile's variant and tunables.
        plan: its plan.
        entry: what was measured.
        profile: where that stands.
    """

    asked: Invocation
    plan: Plan
    entry: Entry
    profile: Profile

    @property
    def said(self) -> str:
        """One line about where the choice comes from."""
        settings = ", ".join(f"{name}={value}" for name, value in self.entry.tunables.items())
        return (
            f"{self.entry.variant}{' with ' if settings else ''}{settings} comes from the profile of "
            f"{self.profile.created[:10]}, case {self.entry.case}: {self.entry.gain:.2f} times as fast there"
        )


def plan_call(asked: Invocation, package: Package, capabilities: Capabilities, *, here: bool) -> Plan:
    """Plan a call, by its device's profile where there is one.

    Args:
        asked: the call.
        package: the kernel's.
        capabilities: the device.
        here: whether that is a device of this machine, not a described one: only then profiles count.

    Returns:
        The plan.

    Raises:
        RequestError: the call does not fit the contract, or no variant takes it.
        PlanError: the chosen variant cannot be planned on this device.

    Source: docs/command-line.md, "tune".
    """
    tuned = tuned_call(asked, package, capabilities) if here else None
    return tuned.plan if tuned is not None else asked.plan(package.manifest, capabilities)


def tuned_call(asked: Invocation, package: Package, capabilities: Capabilities) -> Tuned | None:
    """Apply a device's profile to a call.

    Args:
        asked: the call.
        package: the kernel's.
        capabilities: the device.

    Returns:
        The call as it is planned then; None where there is no profile, where it has nothing for such a call, where
        the variant does not take this one, or where the caller forces a variant or tunables.

    Raises:
        RequestError: the call does not fit the contract.

    Source: docs/command-line.md, "tune".
    """
    if asked.variant is not None or asked.tunables:
        return None
    profile = profile_for(package, capabilities)
    if profile is None:
        return None
    entry = profile.entry_for(asked.bind(package.manifest, capabilities))
    if entry is None:
        return None
    tuned = asked._replace(variant=entry.variant, tunables=entry.tunables)
    try:
        plan = tuned.plan(package.manifest, capabilities)
    except KernelError:
        return None  # it was good for a neighbour of this call, and is not for this one
    return Tuned(tuned, plan, entry, profile)


def explain_call(asked: Invocation, package: Package, capabilities: Capabilities, *, here: bool) -> Explanation:
    """Explain a call, with what a profile says of it.

    Args:
        asked: the call.
        package: the kernel's.
        capabilities: the device.
        here: whether that is a device of this machine, not a described one: only then profiles count.

    Returns:
        The explanation.

    Raises:
        RequestError: the call does not fit the contract in a way that no variant decides.
        PlanError: the chosen variant cannot be planned.

    Source: FORMAT, section 5; docs/command-line.md, "tune".
    """
    from webgpu_kernels.planning.explanation import explain_selection  # noqa: PLC0415 - calls do without it

    tuned = tuned_call(asked, package, capabilities) if here else None
    used = tuned.asked if tuned is not None else asked
    selection = used.select(package.manifest, capabilities, exhaustive=True)
    return explain_selection(selection, tuned=tuned.said if tuned is not None else None)
