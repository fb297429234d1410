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
from webgpu_kernels.language import compile_expression
from webgpu_kernels.language.conjuncts import conjuncts

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
_MAX_SHOWN = 6


class Failure(NamedTuple):
    """The condition that decided.

    Attributes:
        text: the chain of names down to the condition, and the values it saw.
        topic: what the condition is about.
    """

    text: str
    topic: Topic


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
    text = " → ".join([*chain, f"`{condition}`"]) + " is false"
    values = _values(decisive, derives, scope)
    if values:
        text += f" ({values})"
    if decisive.source.strip().startswith("f16Ok(") and scope.get("dtypes"):
        text = f"float16 needs the feature shader-f16, which the device lacks; {text}"
    return Failure(text=text, topic=_topic(decisive, derives))


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


def _values(expression: Expression, derives: Mapping[str, Expression], scope: Scope) -> str:
    """Show what the condition saw; for a derive made of attributes also those, in the caller's terms."""
    seen = _MEMBER.findall(expression.source)
    for name in sorted(expression.names & derives.keys()):
        seen += [entry for entry in _MEMBER.findall(derives[name].source) if entry[0] == "attrs"]
    shown: list[str] = []
    for namespace, member in dict.fromkeys(seen):
        mapping = scope.get(namespace)
        if isinstance(mapping, dict):
            shown.append(f"{namespace}.{member} = {_text(mapping[member]) if member in mapping else 'absent'}")
    limits = scope["device"]["limits"]
    shown += [f"{name} = {limits.get(name)}" for name in dict.fromkeys(_LIMIT.findall(expression.source))]
    for name in sorted(expression.names):
        value = scope.get(name)
        if isinstance(value, bool | int | float | str | list):
            shown.append(f"{name} = {_text(value)}")
    return ", ".join(shown[:_MAX_SHOWN])


def _text(value: Value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value)


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
    ranks = _wrong_rank(request.manifest, request, selection.scope)
    if ranks is not None:
        return ranks
    reasons = {candidate.id: candidate.reason for candidate in selection.candidates}
    clauses = {id(candidate.clause) for candidate in selection.candidates}
    clause = selection.candidates[0].clause if selection.candidates else None
    if clause is None or len(clauses) > 1 or len(set(reasons.values())) > 1:
        listed = "".join(f"\n  {name}: {reason}" for name, reason in reasons.items())
        return NoVariantError(f"no variant takes this request; rejected{listed}", where=where, reasons=reasons)
    failure = explain_failure(clause, selection.scope, request)
    message = f"the request breaks the contract: {failure.text}"
    if failure.topic == "shape":
        return ShapeError(message, where=where)
    if failure.topic == "attribute":
        return AttributeValueError(message, where=where)
    return NoVariantError(message, where=where, reasons=reasons)


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
