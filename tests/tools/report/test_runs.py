"""Files of one device are joined; runs are told apart."""

from __future__ import annotations

import copy

from fabricated_results import read, results

from webgpu_kernels.tools.report.runs import joined, runs_of


def test_files_of_one_device_are_one_run() -> None:
    """Tests of one file and benchmarks of another."""
    tests, speed = results(cases=4, benches=0), results(cases=0, benches=2)
    runs = runs_of(joined([read(speed), read(tests)]))
    assert len(runs) == 1
    assert (len(runs[0].results.tests), len(runs[0].results.benches)) == (len(tests["tests"]), 6)


def test_other_devices_stand_side_by_side() -> None:
    """In the order of the files."""
    runs = runs_of(joined([read(results(device)) for device in ("h200", "lavapipe", "h200")]))
    assert [run.name for run in runs] == ["NVIDIA H200", "llvmpipe (LLVM 19.1.7, 256 bits)"]
    assert [run.software for run in runs] == [False, True]


def test_other_contents_of_a_package_stand_side_by_side() -> None:
    """They are told apart by their dates."""
    changed = results(seed=2)
    changed["packages"][0]["digest"] = "f" * 64
    runs = runs_of(joined([read(changed), read(results())]))
    assert [run.name for run in runs] == [
        "llvmpipe (LLVM 19.1.7, 256 bits), 2026-11-30 05:01:00 UTC",
        "llvmpipe (LLVM 19.1.7, 256 bits), 2026-11-30 05:02:00 UTC",
    ]


def test_engines_of_one_device_are_told_apart() -> None:
    """And computers."""
    first, second, third = results(), results(), results()
    second = copy.deepcopy(second)
    second["device"]["engine"] = "chromium"
    third["machine"]["processor"] = "Another"
    names = [run.name for run in runs_of(joined([read(first), read(second), read(third)]))]
    assert names == [
        "llvmpipe (LLVM 19.1.7, 256 bits), native, AMD EPYC 9554",
        "llvmpipe (LLVM 19.1.7, 256 bits), chromium",
        "llvmpipe (LLVM 19.1.7, 256 bits), native, Another",
    ]


def test_the_census_says_what_the_device_is() -> None:
    """Facts that are empty are left out."""
    run = runs_of([read(results())])[0]
    facts = dict(run.facts)
    assert facts["engine"] == "native, wgpu 0.32.0"
    assert facts["kind"] == "cpu · Vulkan"
    assert facts["computer"] == "AMD EPYC 9554, 64 cores"
    assert dict(run.limits)["largest binding"] == "128 MiB"
    assert dict(run.limits)["lanes of a workgroup"] == "1,024"
    empty = results()
    empty["device"]["driver"] = " "
    assert "driver" not in dict(runs_of([read(empty)])[0].facts)
