"""What results say of where they come from: the machine, the libraries, the device, the packages."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

from webgpu_kernels.contract.digests import file_digest, table_digest
from webgpu_kernels.contract.listing import check_amount, file_names
from webgpu_kernels.contract.metadata import METADATA
from webgpu_kernels.tools.results.model import Machine, PackageFacts, ResultDevice, RunResults, VariantFacts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from webgpu_kernels.contract import Package
    from webgpu_kernels.kernel import Kernel
    from webgpu_kernels.tools.engines import Engine
    from webgpu_kernels.tools.results.model import Kind

LIBRARIES: Final = ("webgpu-kernels", "wgpu", "numpy")
_SUFFIXES: Final = (".json", ".wgsl", ".jinja")
_CPU_FACTS: Final = Path("/proc/cpuinfo")


def new_results(
    kind: Kind,
    *,
    command: str,
    engine: Engine,
    packages: Sequence[PackageFacts],
    libraries: Iterable[str] = (),
) -> RunResults:
    """Begin a run's results.

    Args:
        kind: what the run does.
        command: what was typed.
        engine: where it runs.
        packages: what is run.
        libraries: distributions beside ``LIBRARIES`` whose versions count.

    Returns:
        Results without tests and benches.
    """
    return RunResults(
        kind=kind,
        created=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        command=command,
        machine=machine_facts(),
        versions=_versions((*LIBRARIES, *libraries)),
        device=_device_facts(engine),
        packages=tuple(packages),
    )


def machine_facts() -> Machine:
    """Describe this computer."""
    return Machine(
        system=f"{platform.system()} {platform.release()}",
        processor=_processor(),
        cores=os.cpu_count() or 1,
        python=platform.python_version(),
    )


def package_facts(kernel: Kernel, source: str) -> PackageFacts:
    """Describe a package.

    Args:
        kernel: made of it.
        source: what was typed to find it.

    Returns:
        What results say of it.
    """
    package = kernel.package
    metadata = package.metadata
    return PackageFacts(
        op_id=kernel.op_id,
        source=source,
        id=metadata.id if metadata else None,
        version=metadata.version if metadata else None,
        revision=kernel.revision,
        digest=_digest(package),
        variants=tuple(
            VariantFacts(id=variant.id, description=variant.description or None, priority=variant.priority)
            for variant in kernel.manifest.variants
        ),
    )


def _device_facts(engine: Engine) -> ResultDevice:
    capabilities = engine.capabilities
    return ResultDevice(
        census=engine.census, features=tuple(sorted(capabilities.features)), limits=dict(capabilities.limits)
    )


def _digest(package: Package) -> str:
    """Hash the digests of a package's files; those of the Hub are as its metadata says, and not all fetched."""
    digests: Mapping[str, str]
    if package.revision is not None and package.metadata is not None:
        digests = package.metadata.digests
    else:
        names = [name for name in file_names(package.root, where=package.where) if name.endswith(_SUFFIXES)]
        check_amount(package.root, names, where=package.where)
        digests = {name: file_digest(package.read(name)) for name in names if PurePosixPath(name).name != METADATA}
    return table_digest(digests)


def _versions(libraries: Iterable[str]) -> dict[str, str]:
    found = {}
    for name in libraries:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _processor() -> str:
    """Return the processor's name; Linux tells it in a file only."""
    try:
        lines = _CPU_FACTS.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
