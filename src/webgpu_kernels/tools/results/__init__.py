"""What test and bench found: a model, its JSON file, and several of them merged."""

from __future__ import annotations

from webgpu_kernels.tools.results.files import merge_results, read_results, results_json, write_results
from webgpu_kernels.tools.results.model import (
    BenchResult,
    CopyTime,
    Machine,
    Number,
    Outcome,
    PackageFacts,
    PeerTime,
    ResultDevice,
    RunResults,
    SkippedBench,
    TestResult,
    VariantFacts,
    VariantTime,
    Worst,
)
from webgpu_kernels.tools.results.surroundings import machine_facts, new_results, package_facts

__all__ = [
    "BenchResult",
    "CopyTime",
    "Machine",
    "Number",
    "Outcome",
    "PackageFacts",
    "PeerTime",
    "ResultDevice",
    "RunResults",
    "SkippedBench",
    "TestResult",
    "VariantFacts",
    "VariantTime",
    "Worst",
    "machine_facts",
    "merge_results",
    "new_results",
    "package_facts",
    "read_results",
    "results_json",
    "write_results",
]
