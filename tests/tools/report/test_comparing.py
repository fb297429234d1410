"""Two runs are compared: what is slower, what fails now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabricated_results import read, results

from webgpu_kernels.tools.report.content import content_of

if TYPE_CHECKING:
    from webgpu_kernels.tools.report.comparing import Comparison

ADD = ("ai.onnx.Add",)


def compared(now: dict[str, Any], *bases: dict[str, Any]) -> tuple[Comparison, ...]:
    return content_of([read(now)], bases=[read(base) for base in bases]).comparisons


def retimed(document: dict[str, Any], factor: float) -> dict[str, Any]:
    """Return the document with other times of all variants."""
    for bench in document["benches"]:
        for time in bench["variants"].values():
            if time["medianUs"]:
                time["medianUs"] *= factor
    return document


def speeds(**options: Any) -> dict[str, Any]:
    return results("h200", cases=0, benches=3, packages=ADD, **options)


def test_a_run_beside_itself_did_not_change() -> None:
    """One line for each benchmark, that of a call."""
    comparison = compared(speeds(), speeds())[0]
    assert [change.verdict for change in comparison.changes] == ["same"] * 3
    assert [change.called for change in comparison.changes] == [True] * 3
    assert (comparison.foreign, comparison.tests, comparison.missing) == (False, (), ())


def test_a_slowdown_beyond_the_noise_is_marked() -> None:
    """The greatest stands first, and variants that are not called are told where they changed."""
    comparison = compared(retimed(speeds(), 1.2), speeds())[0]
    assert comparison.count("slower") == 3
    assert {change.verdict for change in comparison.changes} == {"slower"}
    assert [change.ratio for change in comparison.changes] == sorted(
        (change.ratio for change in comparison.changes), reverse=True
    )
    assert sum(not change.called for change in comparison.changes) == 3


def test_a_faster_run_is_no_slowdown() -> None:
    """It is told apart."""
    comparison = compared(retimed(speeds(), 0.8), speeds())[0]
    assert (comparison.count("faster"), comparison.count("slower")) == (3, 0)


def test_another_choice_is_compared_with_what_was_chosen() -> None:
    """A call pays for its variant, whichever it is."""
    now = speeds()
    now["benches"][0]["chosen"] = "elements"
    now["benches"][0]["variants"]["elements"]["medianUs"] *= 3
    change = next(change for change in compared(now, speeds())[0].changes if change.was)
    assert (change.variant, change.was, change.verdict) == ("elements", "flat_vec4", "slower")


def test_other_clocks_are_not_compared() -> None:
    """Wall time holds more than GPU time."""
    now = speeds()
    for bench in now["benches"]:
        bench["clock"] = "wall"
    assert compared(now, speeds())[0].changes == ()


def test_benchmarks_of_one_run_only_are_named() -> None:
    """They are neither slower nor faster."""
    now = speeds()
    now["benches"][0]["case"] = "fresh"
    assert compared(now, speeds())[0].missing == ("sd15_000 is only in the base", "fresh is only in this run")


def test_the_base_of_the_same_device_counts() -> None:
    """The latest, where there are several; another device only where there is no choice."""
    found = compared(speeds(), results("lavapipe"), speeds(seed=2), speeds(seed=3))
    assert [(one.base, one.foreign) for one in found] == [("NVIDIA H200, native, 2026-11-30 05:03:00 UTC", False)]
    found = compared(speeds(), results("lavapipe"))
    assert [one.foreign for one in found] == [True]
    assert compared(speeds(), results("lavapipe"), results("chromium")) == ()


def test_tests_that_end_otherwise_are_told() -> None:
    """Broken, repaired, skipped, new and gone."""
    now, base = (results(cases=3, benches=0, packages=ADD) for _ in range(2))
    for test in [*now["tests"], *base["tests"]]:
        test["outcome"] = "passed"
    now["tests"][0]["outcome"] = "failed"
    base["tests"][1]["outcome"] = "error"
    now["tests"][2]["outcome"] = "skipped"
    now["tests"][3]["case"] = "fresh"
    found = compared(now, base)[0].tests
    assert [(test.case, test.turn, test.before, test.after) for test in found] == [
        ("sd15_float32_000", "broken", "passed", "failed"),
        ("sd15_float32_000", "repaired", "error", "passed"),
        ("sd15_float32_000", "skipped", "passed", "skipped"),
        ("fresh", "new", "—", "passed"),
        ("sdxl_float16_001", "gone", "passed", "—"),
    ]


def test_a_base_without_tests_breaks_none() -> None:
    """Its file holds benchmarks; and where the two have nothing in common there is no comparison."""
    comparison = compared(results(cases=2, benches=1), results(cases=0, benches=1))[0]
    assert (comparison.tests, comparison.tested, comparison.timed) == ((), False, True)
    assert compared(results(cases=2, benches=0), results(cases=0, benches=1)) == ()


def test_a_device_that_is_slower_as_a_whole_is_no_slowdown_of_ours() -> None:
    """Where the copy changed as the kernel did; what goes beyond that is ours again."""
    now = retimed(speeds(), 1.3)
    for bench in now["benches"]:
        bench["copy"]["medianUs"] *= 1.3
    comparison = compared(now, speeds())[0]
    assert (comparison.count("slower"), comparison.count("device")) == (0, 3)
    comparison = compared(retimed(now, 1.3), speeds())[0]
    assert (comparison.count("slower"), comparison.count("device")) == (3, 0)


def test_a_faster_copy_excuses_nothing() -> None:
    """A kernel that is slower on a faster device is slower."""
    now = retimed(speeds(), 1.3)
    for bench in now["benches"]:
        bench["copy"]["medianUs"] /= 1.3
    assert compared(now, speeds())[0].count("slower") == 3
