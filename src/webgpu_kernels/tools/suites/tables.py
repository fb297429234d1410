"""What the keys of test.json are: its reader goes by these tables, and its JSON Schema is made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from webgpu_kernels import errors
from webgpu_kernels.contract.kinds import (
    Anything,
    Branch,
    Either,
    Entries,
    Flag,
    Key,
    Kind,
    Members,
    Number,
    Some,
    Table,
    Text,
    Whole,
    Words,
)
from webgpu_kernels.tools.calls import DTYPE_KEY, SHAPE_KEY, SPEC
from webgpu_kernels.tools.suites.model import DISTRIBUTIONS, SKIP_CATEGORIES

if TYPE_CHECKING:
    from collections.abc import Sequence

ERROR_KINDS: Final = tuple(
    name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, errors.KernelError)
)
"""The classes that ``error.kind`` may name."""
DIGITS: Final = r"-?[0-9]{1,20}"
SPECIAL_NUMBERS: Final = ("NaN", "Infinity", "-Infinity", "-0")

_TEXT: Final = Text()
MAX_NAME: Final = 200
CASE_NAME: Final = Text(rf"[^\x00-\x1f\x7f]{{1,{MAX_NAME}}}")
_ELEMENT: Final = Either((Number(), Flag(), Text("|".join((DIGITS, *SPECIAL_NUMBERS)))))
_OPTIONS: Final = Members(Anything())

REFERENCE: Final = Table(
    "a reference",
    Key("$ref", _TEXT, "#/fixtureArrays/ and the array's name.", 'give "#/fixtureArrays/" and a name'),
)
OUTLIERS: Final = Table(
    "'outliers'",
    Key("every", Whole(1, 1), "How many elements apart they are.", "say how many elements apart they are"),
    Key("scale", Number(), "What they are multiplied by.", "say what they are multiplied by"),
)


def _data(kind: str, *keys: Key) -> Table:
    return Table(f"data of the kind {kind!r}", Key("kind", Words((kind,)), "How the elements are made."), *keys)


DATA: Final = {
    "values": _data(
        "values",
        Key(
            "values",
            Either((Entries(_ELEMENT), REFERENCE)),
            "The elements, row-major, or a reference to them.",
            "list the elements, row-major",
        ),
    ),
    "fill": _data("fill", Key("value", _ELEMENT, "Every element.", "give the element")),
    "range": _data(
        "range",
        Key("start", Number(), "Element 0, by default 0."),
        Key("step", Number(), "How much each is more than the one before, by default 1."),
        Key("modulo", Whole(1), "After how many elements it starts again."),
    ),
    "random": _data(
        "random",
        Key("seed", Whole(), "Which numbers.", "give an integer, so that the data are the same everywhere"),
        Key("distribution", Words(DISTRIBUTIONS), "By default normal for floats, else integers."),
        Key("mean", Number(), "Of normal numbers, by default 0."),
        Key("std", Number(), "The standard deviation of normal numbers, by default 1."),
        Key("low", _ELEMENT, "The least that other numbers may be."),
        Key("high", _ELEMENT, "The greatest."),
        Key("outliers", OUTLIERS, "Which elements are much greater than the others."),
    ),
    "fillFloat32": _data(
        "fillFloat32",
        Key("sinStep", Number(), "Of scale * (sin(i * sinStep) + cos(i * cosStep)).", "give a number"),
        Key("cosStep", Number(), "See sinStep.", "give a number"),
        Key("scale", Number(), "By default 1."),
    ),
}
"""The keys of ``data`` by its ``kind``."""
_UNKNOWN_DATA: Final = Table(
    "data",
    Key("kind", Words(tuple(DATA)), "How the elements are made.", f"give one of {', '.join(DATA)}"),
    open=True,
)


def _any_data(kinds: Sequence[str]) -> Kind:
    return Branch(("kind",), DATA[kinds[0]], _any_data(kinds[1:]), kinds[0]) if kinds else _UNKNOWN_DATA


ANY_DATA: Final = _any_data(tuple(DATA))
"""``data`` of any kind."""
TOLERANCE: Final = Table(
    "a tolerance",
    Key("atol", Number(0), "The absolute part of what is allowed."),
    Key("rtol", Number(0), "What is allowed as a part of the expected value, added to the absolute part."),
)
ANY_TOLERANCE: Final = Either((Number(0), TOLERANCE))
INPUT: Final = SPEC.changed(Key("data", ANY_DATA, "What it holds."))
OUTPUT: Final = Table(
    "an output",
    DTYPE_KEY._replace(missing=None),
    SHAPE_KEY._replace(missing=None),
    Key("data", ANY_DATA, "The expected values; by default those of reference.py."),
    Key("tolerance", ANY_TOLERANCE, "How far off values may be; equal where it is absent."),
    Key("allowNaN", Flag(False), "Whether a NaN is right where a NaN is expected."),
)
ERROR: Final = Table(
    "'error'",
    Key(
        "kind",
        Words(ERROR_KINDS),
        "A class of errors; those below it count, too.",
        "name a class of errors, such as ShapeError",
    ),
    Key("message", _TEXT, "What must occur in the error's text."),
)
SKIP: Final = Table(
    "'skipGpu'",
    Key("category", Words(SKIP_CATEGORIES), "Whether that will change.", "give permanent or todo"),
    Key("reason", _TEXT, "Why no GPU can run it.", "say why"),
)
PROVENANCE: Final = Table(
    "'provenance'",
    Key("source", _TEXT, "Where the case is from."),
    Key("test", _TEXT, "What it is called there."),
    Key("notes", _TEXT, "What has been changed."),
)
CASE: Final = Table(
    "a case",
    Key("name", CASE_NAME, "Unique in the file.", "name the case"),
    Key("description", _TEXT, "What the case is for."),
    Key("inputs", Members(INPUT), "Input to shape, dtype and data.", "give {name: {dtype, shape, data}}"),
    Key("attrs", _OPTIONS, "Attributes by name."),
    Key("args", _OPTIONS, "Scalar arguments by name."),
    Key("outputs", Members(OUTPUT), "Output to what is expected of it."),
    Key("tunables", _OPTIONS, "Overrides of tunables by name."),
    Key("variant", _TEXT, "The variant that a call must choose."),
    Key("force", Entries(_TEXT, 1), "The variants to run, and no others."),
    Key("error", ERROR, "How the call must fail."),
    Key("skipGpu", SKIP, "Why the case is not for GPUs: it is counted and not run."),
    Key("provenance", PROVENANCE, "Where the case is from."),
    some=(Some(("outputs", "error"), "say what is expected: {name: {tolerance, …}}"),),
)
"""One case of test.json."""
SUITE: Final = Table(
    "test.json",
    Key("$schema", _TEXT, "The JSON Schema that an editor holds this file against."),
    Key("fixtureArrays", Members(Entries(Anything())), "Arrays that data may refer to, by name."),
    Key("cases", Entries(CASE, 1), "The cases.", "list the cases"),
)
"""The whole of test.json."""
