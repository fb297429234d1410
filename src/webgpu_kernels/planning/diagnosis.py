"""Why a clause is false, down to the condition that decided, in words a caller can act on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple

from webgpu_kernels.errors import (
    AttributeValueError,
    LanguageError,
    NoVariantError,
    RequestError,
    ShapeError,
)
from webgpu_kernels.language import UNDEFINED, compile_expression
from webgpu_kernels.language.conjuncts import conjuncts, disjuncts
from webgpu_kernels.planning.attribute_kinds import wrong_kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webgpu_kernels.contract import Manifest
    from webgpu_kernels.language import Expression, Value
    from webgpu_kernels.planning.request import Request
    from webgpu_kernels.planning.scope import Scope
    from webgpu_kernels.planning.selection import Selection

Topic = Literal["shape", "attribute", "device", "other"]
_MEMBER = re.compile(r"\b(shapes|ranks|attrs|args|tunables|present|tensorDtypes)\.([A-Za-z_]\w*)")
_LIMIT = re.compile(r"\bdevice\.limits\.(\w+)")
_SAME_SHAPE = re.compile(r"sameShape\(\s*shapes\.(\w+)\s*,\s*(.+?)\s*\)")
_ABSENT = re.compile(r"not\s+present\.\w+")
_MAX_SHOWN = 6


class Failure(NamedTuple):
    """The condition that decided.

    Attributes:
        text: the chain of names down to the condition, and the values it saw.
        topic: what the condition is about.
        culprit: the input or output, or the attribute, that is to blame; empty where it is not one alone.
        expected: what the culprit may be.
        got: what it is.
    """

    text: str
    topic: Topic
    culprit: str = ""
    expected: str = ""
    got: str = ""


def explain_failure(clause: Expression, scope: Scope, request: Request) -> Failure:
    """Follow a false clause through the derives it names to the condition that is false.

    Args:
        clause: a ``when`` clause that is not true.
        scope: manifest-level scope.
        request: the bound call.

    Returns:
        The failure; its text names the clause, the deciding condition and its values.
    """
    derives = {entry.name: entry.expression for entry in request.manifest.derive}
    chain: list[str] = []
    current = clause
    while True:
        decisive = _false_conjunct(current, scope)
        name = decisive.source.strip()
        if name not in derives or name in chain:
            break
        chain.append(name)
        current = derives[name]
    condition = decisive.source if decisive.source not in chain else derives[decisive.source].source
    if condition.startswith("f16Ok("):
        return Failure("float16 needs the feature shader-f16, which the device lacks", "device")
    seen = _values(decisive, derives, scope)
    values = f" ({', '.join(f'{name} = {_text(value)}' for name, value in seen.items())})" if seen else ""
    text = " → ".join([*chain, f"`{condition}`"])
    topic = _topic(decisive, derives)
    if topic == "shape":
        return Failure(f"{text} is false{values}", topic, *_shape_blame(decisive, derives, scope))
    asked = [name for name in seen if name.startswith("attrs.")]
    if topic == "attribute" and len(asked) == 1:
        name = asked[0].removeprefix("attrs.")
        return Failure(f"{text} is false{values}", topic, name, f"{text}{values}", _text(seen[asked[0]]))
    return Failure(f"{text} is false{values}", topic)


def _shape_blame(decisive: Expression, derives: Mapping[str, Expression], scope: Scope) -> tuple[str, str, str]:
    """Read sameShape(shapes.p, a) or sameShape(shapes.p, b): return the port, the shapes it may have, and its own."""
    ports: set[str] = set()
    allowed: list[str] = []
    for part in disjuncts(decisive.source):
        text = derives[part].source if part in derives else part
        match = _SAME_SHAPE.fullmatch(text)
        if match is None and not _ABSENT.fullmatch(text):
            return "", "", ""
        if match is not None:
            ports.add(match.group(1))
            allowed.append(_text(compile_expression(match.group(2)).evaluate(scope)))
    shapes = scope["shapes"]
    port = ports.pop() if len(ports) == 1 else ""
    if not isinstance(shapes, dict) or port not in shapes:
        return "", "", ""
    listed = ", ".join(allowed[:-1]) + (" or " if allowed[1:] else "") + allowed[-1]
    return port, listed, _text(shapes[port])


def _false_conjunct(expression: Expression, scope: Scope) -> Expression:
    """Return the first part of an and-chain that is not true, or the expression itself."""
    parts = conjuncts(expression.source)
    if parts == (expression.source,):
        return expression
    for part in map(compile_expression, parts):
        try:
            holds = bool(part.evaluate(scope))
        except LanguageError:
            holds = False
        if not holds:
            return _false_conjunct(part, scope)
    return expression


def _values(expression: Expression, derives: Mapping[str, Expression], scope: Scope) -> dict[str, Value]:
    """Collect what the condition saw; for a derive made of attributes also those, in the caller's terms."""
    seen = _MEMBER.findall(expression.source)
    for name in sorted(expression.names & derives.keys()):
        seen += [entry for entry in _MEMBER.findall(derives[name].source) if entry[0] == "attrs"]
    shown: dict[str, Value] = {}
    for namespace, member in seen:
        mapping = scope.get(namespace)
        if isinstance(mapping, dict):
            shown[f"{namespace}.{member}"] = mapping.get(member, UNDEFINED)
    limits = scope["device"]["limits"]
    shown.update({name: limits.get(name) for name in _LIMIT.findall(expression.source)})
    for name in sorted(expression.names):
        value = scope.get(name)
        if isinstance(value, bool | int | float | str | list):
            shown[name] = value
    return dict(list(shown.items())[:_MAX_SHOWN])


def _text(value: Value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "absent" if value is UNDEFINED else repr(value)


def _topic(expression: Expression, derives: Mapping[str, Expression]) -> Topic:
    direct = expression.names
    if "device" in direct or "f16Ok" in direct:
        return "device"
    if direct & {"shapes", "ranks"}:
        return "shape"
    roots = [_roots(name, derives) for name in direct]
    if any("attrs" in found and not found & {"shapes", "ranks", "device"} for found in roots):
        return "attribute"
    everything = frozenset[str]().union(*roots)
    if "device" in everything:
        return "device"
    return "shape" if everything & {"shapes", "ranks"} else "other"


def _roots(name: str, derives: Mapping[str, Expression]) -> frozenset[str]:
    """Return the names outside the derives that one depends on."""
    seen: set[str] = set()
    pending = [name]
    while pending:
        current = pending.pop()
        if current not in seen:
            seen.add(current)
            pending.extend(derives[current].names if current in derives else ())
    return frozenset(seen - derives.keys())


def no_variant_error(selection: Selection) -> RequestError:
    """Return the error for a request that nothing takes, of the kind that says what is wrong.

    Args:
        selection: an exhaustive selection without a variant.

    Returns:
        ShapeError or AttributeValueError where every candidate fails on the same condition of the contract,
        else NoVariantError with each candidate's reason.

    Source: FORMAT, section 5.
    """
    request = selection.request
    where = request.manifest.op_id
    plain = _wrong_rank(request.manifest, request, selection.scope) or wrong_kind(request)
    if plain is not None:
        return plain
    reasons = {candidate.id: candidate.reason for candidate in selection.candidates}
    clause = _common_clause(selection)
    if clause is None:
        listed = "".join(f"\n  {name}: {reason}" for name, reason in reasons.items())
        return NoVariantError(f"no variant takes this request; rejected{listed}", where=where, reasons=reasons)
    failure = explain_failure(clause, selection.scope, request)
    if failure.topic == "device":
        return NoVariantError(failure.text, where=where, reasons=reasons)
    kind = {"shape": ShapeError, "attribute": AttributeValueError}.get(failure.topic, RequestError)
    if not failure.culprit:
        return kind(f"the request breaks the contract: {failure.text}", where=where)
    if failure.topic == "attribute":
        path = f"{where}: attribute {failure.culprit!r}"
        return AttributeValueError("value not allowed", where=path, expected=failure.expected, got=failure.got)
    return ShapeError(
        "wrong shape",
        where=f"{where}: {failure.culprit!r}",
        expected=failure.expected,
        got=failure.got,
        hint=f"The contract asks for {clause.source}.",
    )


def _common_clause(selection: Selection) -> Expression | None:
    """Return the clause that every candidate fails; one that the device rules out would fail it, too, if it has it."""
    failing = [candidate for candidate in selection.candidates if candidate.clause is not None]
    if not failing:
        return None
    clause, reason = failing[0].clause, failing[0].reason
    ruled_out = {candidate.id for candidate in selection.candidates if candidate.clause is None}
    others = [variant for variant in selection.request.manifest.variants if variant.id in ruled_out]
    same = all(candidate.clause is clause and candidate.reason == reason for candidate in failing)
    return clause if same and all(any(clause is own for own in variant.when) for variant in others) else None


def _wrong_rank(manifest: Manifest, request: Request, scope: Scope) -> ShapeError | None:
    """Ranks in a manifest are informative, so they only speak once nothing takes the request."""
    for name, spec in request.inputs.items():
        rank = manifest.inputs[name].rank
        try:
            expected = rank.evaluate(scope) if rank is not None else len(spec.shape)
        except LanguageError:
            continue
        if expected != len(spec.shape):
            return ShapeError(
                "wrong rank",
                where=f"{manifest.op_id}: {name!r}",
                expected=f"rank {expected}",
                got=f"rank {len(spec.shape)}, shape {list(spec.shape)}",
            )
    return None
