"""What the sample shows of selection: variants that nothing takes, requests that no variant takes, missing tests."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from webgpu_kernels.planning.scope import describe_request
from webgpu_kernels.planning.selection import select_variant
from webgpu_kernels.tools.lint.findings import Place
from webgpu_kernels.tools.lint.sampling.devices import EVERYTHING
from webgpu_kernels.tools.lint.subject import in_manifest
from webgpu_kernels.tools.suites.reading import TEST_FILE

if TYPE_CHECKING:
    from webgpu_kernels.contract import Variant
    from webgpu_kernels.tools.lint.findings import Findings
    from webgpu_kernels.tools.lint.sampling.sample import Judged, Sample
    from webgpu_kernels.tools.lint.subject import Subject

_MAX_REASON: Final = 200


def check_selection(subject: Subject, sample: Sample, findings: Findings) -> None:
    """Report what the sample shows of selection.

    Args:
        subject: the package.
        sample: calls on devices.
        findings: where it is reported.
    """
    _check_cases(sample, findings)
    if not any(judged.chosen for judged in sample.judged):
        reason = f": {_shortened(sample.failure)}" if sample.failure else ""
        findings.add("L406", in_manifest("inputs"), f"none of {sample.tries} made-up requests is taken{reason}")
        return
    chosen = {judged.chosen for judged in sample.judged}
    for variant in subject.manifest.variants:
        if variant.id not in chosen:
            place = in_manifest(subject.paths.variant(variant))
            findings.add("L401", place, f"nothing selects {variant.id!r}: {_why_not(variant, sample)}")
    _check_refused(sample, findings)
    _check_tests(subject, sample, findings)


def _check_cases(sample: Sample, findings: Findings) -> None:
    """A case must run somewhere: on the device that has everything. Cases that fail alike make one finding."""
    alike: dict[tuple[str, str], list[Judged]] = {}
    for judged in sample.judged:
        case = judged.sampled
        if case.origin and not case.set_apart and judged.device.name == EVERYTHING and not judged.accepted:
            reason = judged.error.message if judged.error is not None else _reasons(judged)
            alike.setdefault((case.origin, _shortened(reason)), []).append(judged)
    for (origin, reason), cases in alike.items():
        first, *others = [judged.sampled.name for judged in cases]
        more = f" (and {len(others)} more case{'s' if others[1:] else ''})" if others else ""
        error = cases[0].error if not others else None
        facts = [("expected", error.expected), ("got", error.got)] if error is not None else []
        told = "".join(f", {word} {_shortened(fact)}" for word, fact in facts if fact)
        findings.add("L402", Place(origin, f"case {first!r}"), f"{reason}{told}{more}")


def _reasons(judged: Judged) -> str:
    assert judged.selection is not None
    return "; ".join(dict.fromkeys(f"{each.id}: {each.reason}" for each in judged.selection.candidates))


def _why_not(variant: Variant, sample: Sample) -> str:
    """Say what the variant's fate is mostly: a clause counts as one fate, whatever values it is false for."""
    fates: Counter[str] = Counter()
    examples: dict[str, str] = {}
    judged_count = 0
    for judged in sample.judged:
        for candidate in judged.selection.candidates if judged.selection is not None else ():
            if candidate.id == variant.id:
                judged_count += 1
                fate = f"{judged.chosen} is preferred" if candidate.accepted else candidate.reason
                clause = fate.partition(" (")[0]
                fates[clause] += 1
                examples.setdefault(clause, fate)
    if not fates:
        return "it was never reached"
    clause, count = fates.most_common(1)[0]
    return f"of {judged_count} judgements, {count} are: {_shortened(examples[clause])}"


def _check_refused(sample: Sample, findings: Findings) -> None:
    """Report the smallest request, and what the variant says that comes closest to taking it."""
    if not sample.refused:
        return
    trial = min(sample.refused, key=lambda each: sum(spec.size for spec in each.request.inputs.values()))
    nearest = max(trial.own, key=lambda name: trial.own[name])
    selection = select_variant(trial.request, exhaustive=True)
    reason = next(each.reason for each in selection.candidates if each.id == nearest)
    count = len(sample.refused)
    others = f" and {count - 1} other made-up request{'s' if count > 2 else ''}" if count > 1 else ""
    message = f"no variant takes {describe_request(trial.request)}{others}; {nearest}: {_shortened(reason)}"
    findings.add("L403", in_manifest("variants"), message)


def _check_tests(subject: Subject, sample: Sample, findings: Findings) -> None:
    if not sample.has_tests:
        if subject.package.revision is None and not findings.has("L002", Place(TEST_FILE)):
            findings.add("L405", Place(TEST_FILE), "there is no test.json")
        return
    reached = {
        name
        for judged in sample.judged
        if judged.sampled.origin == TEST_FILE and not judged.sampled.set_apart
        for name in judged.accepted
        if not judged.sampled.force or name in judged.sampled.force
    }
    for variant in subject.manifest.variants:
        if variant.id not in reached:
            place = in_manifest(subject.paths.variant(variant))
            findings.add("L404", place, f"no case of test.json reaches {variant.id!r}")


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MAX_REASON else f"{line[: _MAX_REASON - 1]}…"
