"""The bundled packages in a browser: every variant that a call can take there gives what the reference gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import webgpu_kernels as wk
from webgpu_kernels.contract import bundled_names
from webgpu_kernels.tools.suites.preparing import variants_of
from webgpu_kernels.tools.suites.reading import suite_of
from webgpu_kernels.tools.suites.running import run_suite

if TYPE_CHECKING:
    from webgpu_kernels.kernel import Kernel
    from webgpu_kernels.tools.engines.chromium import ChromiumEngine
    from webgpu_kernels.tools.suites.model import Case

pytestmark = [pytest.mark.browser, pytest.mark.slow]

EACH_VARIANT, EVERY, LARGE = 3, 9, 2**20
"""How many cases each variant runs at least, which of the others run, and elements that take a software GPU long."""


def chosen(kernel: Kernel, engine: ChromiumEngine) -> list[Case]:
    """Return a part of a suite in which every variant occurs; ``webgpu-kernels test --engine chromium`` runs it all."""
    seen: dict[str, int] = {}
    taken = []
    for index, case in enumerate(suite_of(kernel.package).cases):
        if any(spec.size > LARGE for spec in case.call.inputs.values()):
            continue
        variants = variants_of(case, kernel, engine.capabilities)
        if index % EVERY == 0 or any(seen.get(name, 0) < EACH_VARIANT for name in variants):
            taken.append(case)
            seen.update({name: seen.get(name, 0) + 1 for name in variants})
    return taken


@pytest.mark.parametrize("op_id", bundled_names())
def test_a_package_passes_in_a_browser(browser_engine: ChromiumEngine, op_id: str) -> None:
    """No case fails, and no variant of the package is left out whose features the browser has."""
    kernel = wk.get_kernel(op_id)
    results = [
        result for run in run_suite(kernel, chosen(kernel, browser_engine), browser_engine) for result in run.results
    ]
    wrong = [
        f"{result.case}, {result.variant}: {result.reason}"
        for result in results
        if result.outcome in {"failed", "error"}
    ]
    assert wrong == []
    passed = {result.variant for result in results if result.outcome == "passed"}
    features = frozenset(browser_engine.capabilities.features)
    able = {variant.id for variant in kernel.manifest.variants if variant.requires.features <= features}
    assert len(able) > 1
    assert able <= passed
