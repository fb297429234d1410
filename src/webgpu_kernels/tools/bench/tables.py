"""What the keys of bench.json are: its reader goes by these tables, and its JSON Schema is made of them."""

from __future__ import annotations

from typing import Final

from webgpu_kernels.contract.kinds import Anything, Either, Entries, Formula, Key, Members, Table, Text
from webgpu_kernels.tools.calls import DTYPE_KEY, SHAPE_KEY, SPEC
from webgpu_kernels.tools.suites.tables import ANY_DATA, ANY_TOLERANCE, CASE_NAME

_TEXT: Final = Text()
_OPTIONS: Final = Members(Anything())
_TRAFFIC: Final = (
    Key("bytesRead", Formula(least=0), "Bytes that a call has to read; by default those of all inputs."),
    Key("bytesWritten", Formula(least=0), "Bytes that a call has to write; by default those of all outputs."),
    Key("operations", Formula(least=0), "Arithmetic operations of a call."),
)
_INPUT: Final = SPEC.changed(Key("data", ANY_DATA, "What it holds; by default random numbers."))
OUTPUT: Final = Table(
    "an output",
    DTYPE_KEY._replace(missing=None),
    SHAPE_KEY._replace(missing=None),
    Key("tolerance", ANY_TOLERANCE, "How far off values may be; by default as its dtype allows."),
)
"""A wanted output."""
CASE: Final = Table(
    "a case",
    Key("name", CASE_NAME, "Unique in the file.", "name the case"),
    Key("description", _TEXT, "Which model, and where in it."),
    Key("inputs", Members(_INPUT), "Input to shape and dtype.", "give {name: {dtype, shape}}"),
    Key("attrs", _OPTIONS, "Attributes by name."),
    Key("args", _OPTIONS, "Scalar arguments by name."),
    Key("outputs", Either((Entries(_TEXT), Members(OUTPUT))), "Optional outputs to compute, and how exact each is."),
    Key("tunables", _OPTIONS, "Overrides of tunables by name."),
    *_TRAFFIC,
)
"""One case of bench.json."""
BENCH: Final = Table(
    "bench.json",
    Key("$schema", _TEXT, "The JSON Schema that an editor holds this file against."),
    Key("description", _TEXT, "What the cases are."),
    *(key._replace(about=f"{key.about} For every case that does not say otherwise.") for key in _TRAFFIC),
    Key("cases", Entries(CASE, 1), "The cases.", "list the cases"),
)
"""The whole of bench.json."""
