"""The cases of packages as pytest's items, one for each case and variant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from webgpu_kernels.errors import KernelError
from webgpu_kernels.tools.engines import open_engine
from webgpu_kernels.tools.locate import locate
from webgpu_kernels.tools.suites.preparing import prepare_case, variants_of
from webgpu_kernels.tools.suites.reading import suite_of
from webgpu_kernels.tools.suites.references import Reference
from webgpu_kernels.tools.suites.running import SuiteRunner
from webgpu_kernels.tools.suites.telling import Rerun, failure_lines

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    from _pytest._code.code import TerminalRepr

    from webgpu_kernels.kernel import Kernel
    from webgpu_kernels.tools.engines import Engine
    from webgpu_kernels.tools.results.model import TestResult
    from webgpu_kernels.tools.suites.model import Case, Suite
    from webgpu_kernels.tools.suites.preparing import Prepared


class CaseFailed(Exception):
    """A case that failed; its text is for people."""


class PackageSuite(pytest.Collector):
    """The suite of one package.

    Attributes:
        kernel: the package's.
        suite: its cases.
        engine: where they run.
        reference: the package's, loaded once for all of them.
        rerun: how the command line runs one of them.
    """

    kernel: Kernel
    suite: Suite[Case]
    engine: Engine
    reference: Reference
    rerun: Rerun
    _ready: Prepared | None = None

    def collect(self) -> Iterator[pytest.Item]:
        """Yield an item for each case and each variant that takes it on the engine's device."""
        for case in self.suite.cases:
            for variant in variants_of(case, self.kernel, self.engine.capabilities):
                name = f"{case.name}[{variant}]" if variant else case.name
                item: CaseItem = CaseItem.from_parent(self, name=name)
                item.case, item.variant = case, variant
                yield item

    def run(self, case: Case, variant: str) -> tuple[TestResult, ...]:
        """Run a case on one variant; its arrays stay for the next one."""
        if self._ready is None or self._ready.case is not case:
            self._ready = prepare_case(case, self.kernel, self.engine.capabilities, self.reference)
        return SuiteRunner(self.kernel, self.engine).run(self._ready, variant or None).results


class CaseItem(pytest.Item):
    """One case on one variant.

    Attributes:
        case: the case.
        variant: the variant's id, empty where the case does not come to that.
    """

    case: Case
    variant: str

    def runtest(self) -> None:
        """Run the case.

        Raises:
            CaseFailed: it failed.
        """
        suite = self._suite()
        results = suite.run(self.case, self.variant)
        failed = [result for result in results if result.outcome in {"failed", "error"}]
        if failed:
            raise CaseFailed("\n".join(line for result in failed for line in failure_lines(result, suite.rerun)))
        skipped = [result.reason or "" for result in results if result.outcome == "skipped"]
        if skipped:
            pytest.skip("; ".join(skipped))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> str | TerminalRepr:
        """Return the text of the failure, without the way through this library."""
        if isinstance(excinfo.value, CaseFailed):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[os.PathLike[str] | str, int | None, str]:
        """Return where the case stands, and what it is called."""
        return self._suite().kernel.package.root / "test.json", None, f"{self._suite().name}: {self.name}"

    def _suite(self) -> PackageSuite:
        assert isinstance(self.parent, PackageSuite)
        return self.parent


def cases_of(session: pytest.Session, packages: Sequence[str]) -> list[pytest.Item]:
    """Collect the cases of packages.

    Args:
        session: pytest's.
        packages: as they were typed.

    Returns:
        An item for each case and variant.

    Raises:
        pytest.UsageError: a package or its suite cannot be read, or there is no device.
    """
    options = session.config.option
    name, adapter = options.webgpu_engine, options.webgpu_adapter
    try:
        found = [(source, locate(source)) for source in dict.fromkeys(packages)]
        suites = [(source, kernel, suite_of(kernel.package)) for source, kernel in found]
        engine = open_engine(name, int(adapter) if adapter and adapter.isdecimal() else adapter)
    except KernelError as error:
        raise pytest.UsageError(str(error)) from error
    session.config.add_cleanup(engine.close)
    items: list[pytest.Item] = []
    for source, kernel, suite in suites:
        collector: PackageSuite = PackageSuite.from_parent(session, name=kernel.op_id, nodeid=kernel.op_id)
        collector.kernel, collector.suite, collector.engine = kernel, suite, engine
        collector.reference = Reference(kernel.package)
        collector.rerun = Rerun(source=source, engine=name, adapter=adapter)
        items += collector.collect()
    return items
