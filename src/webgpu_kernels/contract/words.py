"""Names: what may be one, and which are taken by WGSL, by expressions or by JavaScript."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

_MAX_COMPARED: Final = 200
_MAX_LETTERS: Final = 48
_CLOSE: Final = 0.7
_LOOKED_AT: Final = 3

NAME: Final = re.compile(r"(?!__)[A-Za-z_][A-Za-z0-9_]*")
MAX_NAME: Final = 255
VARIANT_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_]{0,254}")
PASS_ID: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,254}")
DOMAIN: Final = re.compile(r"[a-z][a-z0-9]*(\.[A-Za-z][A-Za-z0-9_]*)*")
WGSL_TYPE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\s*<[A-Za-z0-9_<>,\s]*>)?")
VALUE: Final = re.compile(rf"\$({NAME.pattern})")
"""A derived name or type variable, whose value stands in its place."""

# Member names of JavaScript's Object.prototype: a reader that looks keys up in plain objects finds these everywhere.
_PROTOTYPE: Final = """
    constructor __defineGetter__ __defineSetter__ hasOwnProperty __lookupGetter__ __lookupSetter__ isPrototypeOf
    propertyIsEnumerable toString valueOf __proto__ toLocaleString
"""
PROTOTYPE_MEMBERS: Final = frozenset(_PROTOTYPE.split())

# The namespaces of every expression; ``env`` is there in templates only and hides a derived name.
_NAMESPACES: Final = """
    repeat tunables derive DISPATCH_FOLD_WIDTH dtypes logicalDtypes tensorDtypes ranks shapes present args attrs device
"""
NAMESPACES: Final = tuple(_NAMESPACES.split())
CONSTANTS: Final = ("true", "false", "none", "True", "False", "None")
_OPERATORS: Final = ("and", "or", "not", "in", "is", "if", "else")
RESERVED: Final = frozenset((*NAMESPACES, *CONSTANTS, *_OPERATORS, "env", "f16Ok"))

_WGSL_KEYWORDS: Final = """
    alias break case const const_assert continue continuing default diagnostic discard else enable false fn for if let
    loop override requires return struct switch true var while
"""
_WGSL_RESERVED: Final = """
    NULL Self abstract active alignas alignof as asm asm_fragment async attribute auto await become cast catch class
    co_await co_return co_yield coherent column_major common compile compile_fragment concept const_cast consteval
    constexpr constinit crate debugger decltype delete demote demote_to_helper do dynamic_cast enum explicit export
    extends extern external fallthrough filter final finally friend from fxgroup get goto groupshared highp impl
    implements import inline instanceof interface layout lowp macro macro_rules match mediump meta mod module move mut
    mutable namespace new nil noexcept noinline nointerpolation non_coherent noncoherent noperspective null nullptr of
    operator package packoffset partial pass patch pixelfragment precise precision priv protected pub public readonly
    ref regardless register reinterpret_cast require resource restrict self set shared sizeof smooth snorm static
    static_assert static_cast std subroutine super target template this thread_local throw trait try type typedef
    typeid typename typeof union unless unorm unsafe unsized use using varying virtual volatile wgsl where with
    writeonly yield
"""
WGSL_WORDS: Final = frozenset((_WGSL_KEYWORDS + _WGSL_RESERVED).split())
_TOO_LONG: Final = f"is longer than a name may be: {MAX_NAME} characters are the most"


def name_fault(name: str) -> str | None:
    """Say what keeps a text from being a name in expressions.

    Args:
        name: the text.

    Returns:
        The fault, or None.

    Source: FORMAT section 3 (lexing).
    """
    if len(name) > MAX_NAME:
        return _TOO_LONG
    if NAME.fullmatch(name):
        return None
    return "is not a name: use letters, digits and underscores, no digit first and no two underscores first"


def wgsl_fault(name: str) -> str | None:
    """Say what keeps a text from being a WGSL identifier.

    Args:
        name: the text.

    Returns:
        The fault, or None.

    Source: WGSL, identifiers, keywords and reserved words.
    """
    if len(name) > MAX_NAME:
        return _TOO_LONG
    if name in WGSL_WORDS:
        return "is a word of WGSL: choose another name"
    if name.isidentifier() and name != "_" and not name.startswith("__"):
        return None
    return "is not a WGSL identifier: use letters, digits and underscores, no digit first and no two underscores first"


def closest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name most like this one, or None where none is.

    Args:
        name: what was written.
        known: what could have been meant.

    Returns:
        One of ``known``, or None.

    Source: DESIGN, errors say what to do.
    """
    import difflib  # noqa: PLC0415 - only a message needs them
    import heapq  # noqa: PLC0415

    if len(name) > _MAX_LETTERS:
        return None
    # Comparing is slow, and a hostile document could ask for much of it: most names are told apart by their letters.
    matcher, rated = difflib.SequenceMatcher(None, "", name), []
    for other in islice(known, _MAX_COMPARED):
        matcher.set_seq1(other[:_MAX_LETTERS])
        if matcher.real_quick_ratio() >= _CLOSE and (rate := matcher.quick_ratio()) >= _CLOSE:
            rated.append((rate, other))
    best = (_CLOSE, "")
    for _, other in heapq.nlargest(_LOOKED_AT, rated):
        matcher.set_seq1(other[:_MAX_LETTERS])
        best = max(best, (matcher.ratio(), other))
    return best[1] or None


def sentence(hint: str) -> str:
    """Return a hint that follows another message as one of its own.

    Args:
        hint: what ``alternatives`` gave.

    Returns:
        It with a capital letter and an end.

    Source: DESIGN, errors say what to do.
    """
    return f"{hint[0].upper()}{hint[1:]}{'' if hint.endswith('?') else '.'}"


def alternatives(name: str, known: Iterable[str], *, what: str) -> str:
    """Compose the hint that follows an unknown name.

    Args:
        name: what was written.
        known: what exists.
        what: the plural of what these are.

    Returns:
        The closest name, or a list of all.

    Source: DESIGN, errors say what to do.
    """
    names = tuple(dict.fromkeys(known))
    if close := closest(name, names):
        return f"did you mean {close!r}?"
    if not names:
        return f"there are no {what}"
    listed = ", ".join(names[:20])
    return f"the {what} are {listed}{', …' if len(names) > 20 else ''}"
