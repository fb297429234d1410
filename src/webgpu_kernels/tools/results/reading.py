"""Reads results from JSON; keys of later versions of this library are let be."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeVar

from webgpu_kernels.contract.cursor import Node, Report
from webgpu_kernels.contract.fields import Fields
from webgpu_kernels.tools.engines import DeviceCensus
from webgpu_kernels.tools.results.model import (
    CLOCKS,
    FORMAT,
    KINDS,
    OUTCOMES,
    VERSION,
    BenchResult,
    CopyTime,
    Machine,
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
from webgpu_kernels.tools.results.tables import (
    BENCH,
    COPY,
    DEVICE,
    MACHINE,
    PACKAGE,
    PEER_TIME,
    RESULTS,
    SKIPPED,
    SPECIAL,
    TEST,
    VARIANT,
    VARIANT_TIME,
    WHOLE,
    WORST,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from webgpu_kernels.contract.kinds import Table
    from webgpu_kernels.tools.results.model import Number

_T = TypeVar("_T")
_C = TypeVar("_C", bound=str)
_WHOLE: Final = re.compile(WHOLE, re.ASCII)


def read_run(root: Node) -> RunResults:
    """Read a document of results.

    Args:
        root: plain JSON.

    Returns:
        The results; what is wrong is reported at its place.

    Source: docs/suites.md, "Results".
    """
    members = Members(root, RESULTS)
    members.choice("format", (FORMAT,))
    members.version(VERSION)
    return RunResults(
        kind=members.choice("kind", KINDS),
        created=members.text("created"),
        command=members.text("command"),
        machine=members.one("machine", _machine, MACHINE),
        versions=members.named("versions", lambda node: node.string() or "", "versions"),
        device=members.one("device", _device, DEVICE),
        packages=members.several("packages", _package, PACKAGE, "packages"),
        tests=members.several("tests", _test, TEST, "tests"),
        benches=members.several("benches", _bench, BENCH, "benches"),
        skipped=members.several("skipped", _skipped, SKIPPED, "skipped cases"),
    )


class Members(Fields):
    """The members of an object of results: what has to be there is never None, and null is as good as nothing."""

    __slots__ = ()

    def text(self, key: str) -> str:
        """Return a string that has to be there."""
        return super().text(key) or ""

    def text_or_none(self, key: str) -> str | None:
        """Return a string, or None for null or nothing."""
        node = self._given(key)
        return node.string() if node else None

    def choice(self, key: str, choices: Sequence[_C]) -> _C:
        """Return one of a few words, which has to be there."""
        return super().choice(key, choices) or choices[0]

    def integer_or_none(self, key: str) -> int | None:
        """Return an integer that is not negative, or None for null or nothing."""
        return self.integer(key) if self._given(key) else None

    def number(self, key: str) -> Number:
        """Return a number that has to be there."""
        node = self.get(key)
        return number(node) if node else 0

    def number_or_none(self, key: str) -> Number | None:
        """Return a number, or None for null or nothing."""
        node = self._given(key)
        return number(node) if node else None

    def one(self, key: str, read: Callable[[Members], _T], table: Table) -> _T:
        """Return an object that has to be there; where it is not, that is one defect, not one for each member."""
        return read(Members(self.get(key) or Node({}, Report()), table))

    def one_or_none(self, key: str, read: Callable[[Members], _T], table: Table) -> _T | None:
        """Return an object, or None for null or nothing."""
        node = self._given(key)
        return read(Members(node, table)) if node else None

    def several(self, key: str, read: Callable[[Members], _T], table: Table, what: str) -> tuple[_T, ...]:
        """Return a list of objects, empty where it is absent."""
        node = self.get(key)
        return tuple(read(Members(entry, table)) for entry in (node.entries(what) if node else ()))

    def named(self, key: str, read: Callable[[Node], _T], what: str) -> Mapping[str, _T]:
        """Return an object of names to values, empty where it is absent."""
        node = self.get(key)
        return MappingProxyType({name: read(member) for name, member in (node.members(what) if node else ())})

    def list_of(self, key: str, read: Callable[[Node], _T], what: str) -> tuple[_T, ...]:
        """Return a list of values, empty where it is absent."""
        node = self.get(key)
        return tuple(read(entry) for entry in (node.entries(what) if node else ()))

    def _given(self, key: str) -> Node | None:
        node = self.get(key)
        return node if node is not None and node.value is not None else None


def number(node: Node) -> Number:
    """Return a number: a JSON number, one of the special words, or an integer too great for a double as a string."""
    value: Any = node.value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and value in SPECIAL:
        return float(value)
    if isinstance(value, str) and _WHOLE.fullmatch(value):
        return int(value)
    node.fail_kind('a number, "NaN", "Infinity" or "-Infinity"')
    return 0


def whole(node: Node) -> int:
    """Return an integer: a JSON number, or one too great for a double as a string."""
    value = number(node)
    if isinstance(value, int) or value.is_integer():
        return int(value)
    node.fail_kind("an integer")
    return 0


def _machine(members: Members) -> Machine:
    return Machine(
        system=members.text("system"),
        processor=members.text("processor"),
        cores=members.integer("cores"),
        python=members.text("python"),
    )


def _device(members: Members) -> ResultDevice:
    return ResultDevice(
        census=DeviceCensus(
            engine=members.text("engine"),
            version=members.text("version"),
            name=members.text("name"),
            vendor=members.text("vendor"),
            architecture=members.text("architecture"),
            description=members.text("description"),
            driver=members.text("driver"),
            backend=members.text("backend"),
            kind=members.text("kind"),
        ),
        features=members.list_of("features", lambda node: node.string() or "", "features"),
        limits=members.named("limits", whole, "limits"),
    )


def _package(members: Members) -> PackageFacts:
    return PackageFacts(
        op_id=members.text("opId"),
        source=members.text("source"),
        id=members.text_or_none("id"),
        version=members.integer_or_none("version"),
        revision=members.text_or_none("revision"),
        digest=members.text("digest"),
        variants=members.several("variants", _variant, VARIANT, "variants"),
    )


def _variant(members: Members) -> VariantFacts:
    return VariantFacts(
        id=members.text("id"), description=members.text_or_none("description"), priority=members.number("priority")
    )


def _test(members: Members) -> TestResult:
    return TestResult(
        package=members.text("package"),
        case=members.text("case"),
        request=members.text("request"),
        variant=members.text("variant"),
        chosen=members.flag("chosen"),
        outcome=members.choice("outcome", OUTCOMES),
        reason=members.text_or_none("reason"),
        error_of_allowed=members.number_or_none("errorOfAllowed"),
        worst=members.one_or_none("worst", _worst, WORST),
        seconds=members.number("seconds"),
    )


def _worst(members: Members) -> Worst:
    return Worst(
        output=members.text("output"),
        index=members.list_of("index", whole, "indices"),
        got=members.number("got"),
        expected=members.number("expected"),
        difference=members.number("difference"),
        allowed=members.number("allowed"),
    )


def _bench(members: Members) -> BenchResult:
    return BenchResult(
        package=members.text("package"),
        case=members.text("case"),
        request=members.text("request"),
        bytes_read=members.integer("bytesRead"),
        bytes_written=members.integer("bytesWritten"),
        operations=members.number_or_none("operations"),
        clock=members.choice("clock", CLOCKS),
        copy=members.one_or_none("copy", _copy, COPY),
        chosen=members.text_or_none("chosen"),
        variants=members.named("variants", lambda node: _variant_time(Members(node, VARIANT_TIME)), "variants"),
        peers=members.named("peers", lambda node: _peer(Members(node, PEER_TIME)), "peers"),
    )


def _copy(members: Members) -> CopyTime:
    return CopyTime(
        median_us=members.number("medianUs"), spread_us=members.number("spreadUs"), gb_per_s=members.number("gbPerS")
    )


def _variant_time(members: Members) -> VariantTime:
    return VariantTime(
        median_us=members.number_or_none("medianUs"),
        spread_us=members.number_or_none("spreadUs"),
        runs_us=members.list_of("runsUs", number, "times"),
        gb_per_s=members.number_or_none("gbPerS"),
        of_copy=members.number_or_none("ofCopy"),
        note=members.text_or_none("note"),
        error=members.text_or_none("error"),
    )


def _peer(members: Members) -> PeerTime:
    return PeerTime(
        version=members.text("version"),
        device=members.text("device"),
        clock=members.choice("clock", CLOCKS),
        median_us=members.number_or_none("medianUs"),
        spread_us=members.number_or_none("spreadUs"),
        error_of_allowed=members.number_or_none("errorOfAllowed"),
        counted=members.flag("counted"),
        note=members.text_or_none("note"),
    )


def _skipped(members: Members) -> SkippedBench:
    return SkippedBench(
        package=members.text("package"),
        case=members.text("case"),
        reason=members.text("reason"),
        fault=members.flag("fault"),
    )
