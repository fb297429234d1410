"""Whether a package may be published: it is packed, its card is up to date, lint finds no error, and its tests pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from webgpu_kernels.contract import file_digest
from webgpu_kernels.contract.files import read_file, read_if_there
from webgpu_kernels.contract.metadata import METADATA
from webgpu_kernels.contract.remote import FOLDER
from webgpu_kernels.errors import DigestError
from webgpu_kernels.tools.card import card_text
from webgpu_kernels.tools.lint import lint_package
from webgpu_kernels.tools.own import CARD
from webgpu_kernels.tools.pack import differences, packed, provenance_lag
from webgpu_kernels.tools.suites.reading import TEST_FILE, suite_of
from webgpu_kernels.tools.suites.running import run_suite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from webgpu_kernels.contract import Metadata
    from webgpu_kernels.contract.source import Source
    from webgpu_kernels.kernel import Kernel
    from webgpu_kernels.tools.engines import Engine
    from webgpu_kernels.tools.engines.native import NativeEngine
    from webgpu_kernels.tools.own import OwnPackage

_TOLD: Final = 5


class Refusal(NamedTuple):
    """Why a package may not be published.

    Attributes:
        reason: what is wrong.
        remedy: what to do.
    """

    reason: str
    remedy: str


def check_files(own: OwnPackage, source: Source, *, allow_dirty: bool) -> tuple[Refusal, ...]:
    """Look at a package's files, without network and GPU.

    Args:
        own: the package.
        source: where it shall go, with a version.
        allow_dirty: whether files will do that no commit of the author's repository holds.

    Returns:
        What is wrong.

    Raises:
        PackageError: a file cannot be read, or has no place in a package.

    Source: FORMAT section 1.
    """
    return (*_name(own, source), *_metadata(own, source, allow_dirty=allow_dirty), *_card(own, source), *_suite(own))


def published_contents(own: OwnPackage) -> Mapping[str, bytes]:
    """Read what is published of a package: its card and all of ``build/webgpu``.

    Args:
        own: a package that ``check_files`` found nothing wrong with.

    Returns:
        Path in the repository to bytes.

    Raises:
        PackageError: a file cannot be read.
        DigestError: the files have changed since they were checked.

    Source: FORMAT section 1.
    """
    inner = own.contents()
    if own.stated is None or dict(own.stated.digests) != {
        name: file_digest(content) for name, content in inner.items()
    }:
        raise DigestError("files have changed while they were checked", where=own.where, hint="Pack and push again.")
    found = {f"{FOLDER}/{name}": content for name, content in inner.items()}
    return {
        **found,
        f"{FOLDER}/{METADATA}": read_file(own.root, METADATA, where=own.where),
        CARD: read_file(own.card.parent, CARD, where=own.where),
    }


def check_runs(name: str, kernel: Kernel, engine: NativeEngine, advance: Callable[[str], None]) -> tuple[Refusal, ...]:
    """Lint a package and run its test.json.

    Args:
        name: what it was called on the command line.
        kernel: the package.
        engine: where shaders are compiled and the tests run.
        advance: told what comes now.

    Returns:
        What is wrong.

    Raises:
        SuiteError: test.json breaks the format.

    Source: docs/suites.md, docs/lint.md.
    """
    report = lint_package(name, lambda: kernel, device=engine.device, advance=advance)
    errors = [finding for finding in report.findings if finding.severity == "error"]
    found = [Refusal(f"{each.code} {each.place}: {each.message}", each.remedy) for each in errors[:_TOLD]]
    if len(errors) > _TOLD:
        found.append(Refusal(f"{len(errors) - _TOLD} further errors", f"See all: webgpu-kernels lint {name}"))
    return (*found, *_failures(name, kernel, engine, advance))


def _failures(name: str, kernel: Kernel, engine: Engine, advance: Callable[[str], None]) -> Iterator[Refusal]:
    failed, passed = [], 0
    for run in run_suite(kernel, suite_of(kernel.package).cases, engine):
        advance(run.case.name)
        passed += sum(result.outcome == "passed" for result in run.results)
        failed += [result for result in run.results if result.outcome in {"failed", "error"}]
    if failed:
        first = failed[0]
        told = f"{first.case}{f' on {first.variant}' if first.variant else ''}"
        count = f"{len(failed)} tests fail, {told} first" if len(failed) > 1 else f"a test fails: {told}"
        yield Refusal(count, f"See why: webgpu-kernels test {name}")
    elif not passed:
        yield Refusal("no test ran on this device", f"See why: webgpu-kernels test {name}")


def _name(own: OwnPackage, source: Source) -> Iterator[Refusal]:
    op_id = own.package.manifest.op_id
    if source.name != op_id:
        remedy = f"A repository bears its operator's name: --repo {source.owner}/{op_id}"
        yield Refusal(f"the package is of {op_id}, the repository of {source.name}", remedy)


def _metadata(own: OwnPackage, source: Source, *, allow_dirty: bool) -> Iterator[Refusal]:
    command = f"webgpu-kernels pack {own.where}"
    fresh = packed(own)
    stale = differences(own, fresh)
    if stale:
        yield Refusal(f"{METADATA} is out of date: {_listed(stale)}", f"Write it: {command}")
        return
    assert own.stated is not None
    if own.stated.version != source.version:
        remedy = f"Pack it for that version: {command} --version {source.version}"
        yield Refusal(f"{METADATA} is of version {own.stated.version}, not {source.version}", remedy)
    if not allow_dirty:
        yield from _origin(own, own.stated, fresh, command)


def _origin(own: OwnPackage, stated: Metadata, fresh: Metadata, command: str) -> Iterator[Refusal]:
    if fresh.commit is None or fresh.dirty:
        reason = "git knows of no commit of the files" if fresh.commit is None else "files have changes in no commit"
        yield Refusal(reason, f"Commit them, then {command}; or give --allow-dirty")
    elif (lag := provenance_lag(own, fresh)) is not None:
        yield Refusal(lag, f"Write it again: {command}")
    elif stated.dirty:
        yield Refusal(f"{METADATA} says that files have changes in no commit", f"Write it again: {command}")


def _card(own: OwnPackage, source: Source) -> Iterator[Refusal]:
    command = f"webgpu-kernels card {own.where} --owner {source.owner}"
    card = read_if_there(own.card.parent, CARD, where=own.where)
    if card is None:
        yield Refusal(f"there is no {CARD}", f"Write it: {command}")
        return
    text = card.decode("utf-8", "replace")
    if text == card_text(own.package, metadata=own.stated, owner=source.owner):
        return
    if text == card_text(own.package, metadata=own.stated):
        yield Refusal(
            f"the examples of {CARD} load another repository than {source.repository}", f"Write it: {command}"
        )
    else:
        yield Refusal(f"{CARD} is not what the manifest says now", f"Write it again: {command}")


def _suite(own: OwnPackage) -> Iterator[Refusal]:
    if not (own.root / TEST_FILE).is_file():
        yield Refusal(f"there is no {TEST_FILE}", "Write cases: docs/suites.md says how")


def _listed(reasons: tuple[str, ...]) -> str:
    more = f" and {len(reasons) - _TOLD} more" if len(reasons) > _TOLD else ""
    return ", ".join(reasons[:_TOLD]) + more
