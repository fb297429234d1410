"""What the keys of a file of results are: its reader goes by these tables, and its JSON Schema is made of them.

Keys of later versions of this library are let be, so every table is open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from webgpu_kernels.contract.kinds import (
    Either,
    Entries,
    Flag,
    Key,
    Members,
    Nothing,
    Number,
    Table,
    Text,
    Whole,
    Words,
)
from webgpu_kernels.tools.results.model import CLOCKS, FORMAT, KINDS, OUTCOMES, VERSION

if TYPE_CHECKING:
    from webgpu_kernels.contract.kinds import Kind

SPECIAL: Final = ("NaN", "Infinity", "-Infinity")
WHOLE: Final = r"-?[0-9]{1,40}"
"""An integer that no double holds, as a string."""
_NUMBER: Final = Either((Number(), Text("|".join((*SPECIAL, WHOLE)))))


def _text(name: str, about: str) -> Key:
    return Key(name, Text(), about, "give a string")


def _number(name: str, about: str) -> Key:
    return Key(name, _NUMBER, about, "give a number")


def _count(name: str, about: str) -> Key:
    return Key(name, Whole(), about, "give an integer")


def _words(name: str, choices: tuple[str, ...], about: str) -> Key:
    return Key(name, Words(choices), about, f"give {' or '.join(choices)}")


def _maybe(name: str, kind: Kind, about: str) -> Key:
    return Key(name, Either((kind, Nothing())), about)


MACHINE: Final = Table(
    "the machine",
    _text("system", "The operating system and its version."),
    _text("processor", "Its name, or its architecture where nobody says more."),
    _count("cores", "How many logical ones there are."),
    _text("python", "The interpreter's version."),
    open=True,
)
DEVICE: Final = Table(
    "the device",
    _text("engine", "What ran the programs: native or chromium."),
    _text("version", "The engine's version."),
    _text("name", "The device's name."),
    _text("vendor", "Who made it."),
    _text("architecture", "WebGPU's word for its architecture."),
    _text("description", "What the driver says of it."),
    _text("driver", "The driver and its version."),
    _text("backend", "The interface beneath WebGPU."),
    _text("kind", "Such as discrete or cpu."),
    Key("features", Entries(Text()), "Its WebGPU features."),
    Key("limits", Members(_NUMBER), "Its WebGPU limits."),
    open=True,
)
VARIANT: Final = Table(
    "one of the variants",
    _text("id", "Its id."),
    _maybe("description", Text(), "A sentence."),
    _number("priority", "As the manifest has it."),
    open=True,
)
PACKAGE: Final = Table(
    "one of the packages",
    _text("opId", "The operator."),
    _text("source", "What was typed."),
    _maybe("id", Text(), "As its metadata has it."),
    _maybe("version", Whole(), "As its metadata has it."),
    _maybe("revision", Text(), "The Hub's commit."),
    _text("digest", "SHA-256 over the digests of its files, in hexadecimal digits."),
    Key("variants", Entries(VARIANT), "Its variants, in the manifest's order."),
    open=True,
)
WORST: Final = Table(
    "the worst element",
    _text("output", "Its tensor."),
    Key("index", Entries(_NUMBER), "Where, one number an axis."),
    _number("got", "What the kernel gave."),
    _number("expected", "What the reference gives."),
    _number("difference", "The distance of the two."),
    _number("allowed", "The greatest distance that passes."),
    open=True,
)
TEST: Final = Table(
    "one of the tests",
    _text("package", "The operator."),
    _text("case", "The case's name."),
    _text("request", "Tensors and attributes in one line."),
    _text("variant", "Its id; empty where the case ended before variants mattered."),
    Key("chosen", Flag(False), "Whether it is the one that a call takes."),
    _words("outcome", OUTCOMES, "How it ended."),
    _maybe("reason", Text(), "What is wrong, or why it was skipped."),
    _maybe("errorOfAllowed", _NUMBER, "The greatest error as a part of what is allowed: up to 1 passes."),
    _maybe("worst", WORST, "Where that is."),
    _number("seconds", "Wall time."),
    open=True,
)
COPY: Final = Table(
    "the copy",
    _number("medianUs", "Microseconds."),
    _number("spreadUs", "The half width of the middle half of the runs, in microseconds."),
    _number("gbPerS", "10**9 bytes read and written a second."),
    open=True,
)
VARIANT_TIME: Final = Table(
    "a variant's time",
    _maybe("medianUs", _NUMBER, "Microseconds."),
    _maybe("spreadUs", _NUMBER, "The half width of the middle half of the runs, in microseconds."),
    Key("runsUs", Entries(_NUMBER), "Every run, in microseconds."),
    _maybe("gbPerS", _NUMBER, "10**9 bytes read and written a second."),
    _maybe("ofCopy", _NUMBER, "That as a part of the copy's speed."),
    _maybe("note", Text(), "Why not to trust it."),
    _maybe("error", Text(), "Why it did not run."),
    open=True,
)
PEER_TIME: Final = Table(
    "a peer's time",
    _text("version", "Of the implementation."),
    _text("device", "Where it ran."),
    _words("clock", CLOCKS, "How it was timed."),
    _maybe("medianUs", _NUMBER, "Microseconds."),
    _maybe("spreadUs", _NUMBER, "The half width of the middle half of the runs, in microseconds."),
    _maybe("errorOfAllowed", _NUMBER, "Its greatest error as a part of what is allowed."),
    Key("counted", Flag(False), "Whether it computes the same."),
    _maybe("note", Text(), "A remark."),
    open=True,
)
BENCH: Final = Table(
    "one of the benches",
    _text("package", "The operator."),
    _text("case", "The case's name."),
    _text("request", "Tensors and attributes in one line."),
    _count("bytesRead", "Bytes that it has to read."),
    _count("bytesWritten", "Bytes that it has to write."),
    _maybe("operations", _NUMBER, "Arithmetic operations."),
    _words("clock", CLOCKS, "How it was timed."),
    _maybe("copy", COPY, "What a copy of as many bytes takes, on the same device in the same run."),
    _maybe("chosen", Text(), "The variant that a call takes."),
    Key("variants", Members(VARIANT_TIME), "Variant to time."),
    Key("peers", Members(PEER_TIME), "Other implementation to time."),
    open=True,
)
SKIPPED: Final = Table(
    "one of the skipped cases",
    _text("package", "The operator."),
    _text("case", "The case's name."),
    _text("reason", "Why."),
    Key("fault", Flag(False), "Whether the package is at fault, not the device."),
    open=True,
)
RESULTS: Final = Table(
    "a file of results",
    Key("format", Words((FORMAT,)), "What the file is.", f'give "{FORMAT}"'),
    Key("version", Whole(), f"How it is written; {VERSION} today.", "give an integer"),
    _words("kind", KINDS, "What was run."),
    _text("created", "When, in UTC, such as 2026-11-30T05:00:00Z."),
    _text("command", "What was typed."),
    Key("machine", MACHINE, "The computer.", "say what the machine is"),
    Key("versions", Members(Text()), "Library to version."),
    Key("device", DEVICE, "The device.", "say what the device is"),
    Key("packages", Entries(PACKAGE), "What was run."),
    Key("tests", Entries(TEST), "One entry for each case and variant."),
    Key("benches", Entries(BENCH), "One entry for each measured case."),
    Key("skipped", Entries(SKIPPED), "Cases of bench.json that were not measured."),
    open=True,
)
"""The whole of a file of results."""
