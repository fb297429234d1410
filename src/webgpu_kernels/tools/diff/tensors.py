"""What changed in inputs and outputs: presence, dtypes, layouts, ranges of values, shapes."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from webgpu_kernels.contract import possible_dtypes
from webgpu_kernels.tools.diff.changes import appeared, breaks, demanded, keeps, listed, reordered, turned
from webgpu_kernels.tools.diff.formulas import formulas_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from webgpu_kernels.contract import Manifest, Port
    from webgpu_kernels.tools.diff.changes import Change
    from webgpu_kernels.tools.diff.formulas import Formulas


def compare_tensors(old: Manifest, new: Manifest) -> Iterator[Change]:
    """Compare the inputs and outputs of two contracts.

    Args:
        old: what callers have.
        new: what they would get in its place.

    Yields:
        Each change.

    Source: FORMAT, sections 2 and 9.
    """
    marks = formulas_of(old), formulas_of(new)
    yield from _compare_inputs(old, new, marks)
    yield from _linked(old, new)
    yield from _compare_outputs(old, new, marks)


def _compare_inputs(old: Manifest, new: Manifest, marks: tuple[Formulas, Formulas]) -> Iterator[Change]:
    for name, port in old.inputs.items():
        path = f"inputs.{name}"
        if name not in new.inputs:
            yield breaks(path, "is gone")
            continue
        now = new.inputs[name]
        if port.optional != now.optional:
            yield demanded(path, needed=not now.optional)
        yield from _dtypes(path, (old, port), (new, now))
        yield from _stored(path, port, now)
        yield from _range(f"{path}.range", port, now, marks)
        yield from _told(path, port, now, marks)
    for name, port in new.inputs.items():
        if name not in old.inputs:
            yield appeared(f"inputs.{name}", needed=not port.optional)
    if change := reordered("inputs", tuple(old.inputs), tuple(new.inputs)):
        yield change


def _compare_outputs(old: Manifest, new: Manifest, marks: tuple[Formulas, Formulas]) -> Iterator[Change]:
    for name, port in old.outputs.items():
        path = f"outputs.{name}"
        if name not in new.outputs:
            yield breaks(path, "is gone")
            continue
        now = new.outputs[name]
        if port.optional != now.optional:
            yield (
                breaks(path, "is computed only where a call names it")
                if now.optional
                else keeps(path, "is always computed now")
            )
        yield from _dtypes(path, (old, port), (new, now))
        yield from _inferred_dtype(path, (old, port), (new, now))
        yield from _stored(path, port, now)
        yield from _shape(f"{path}.shape", port, now, marks)
        yield from _told(path, port, now, marks)
    for name, port in new.outputs.items():
        if name not in old.outputs:
            yield _new_output(f"outputs.{name}", port)
    if change := reordered("outputs", tuple(old.outputs), tuple(new.outputs)):
        yield change


def _new_output(path: str, port: Port) -> Change:
    if port.optional:
        return keeps(path, "is new, and computed where a call names it")
    if port.shape is None:
        return breaks(path, "is new, and every call must give its shape")
    return keeps(path, "is new")


def _dtypes(path: str, old: tuple[Manifest, Port], new: tuple[Manifest, Port]) -> Iterator[Change]:
    """Compare which dtypes a port takes; of a type variable it is said once, for all its ports."""
    before, after = (possible_dtypes(port, manifest.type_constraints) for manifest, port in (old, new))
    variable = old[1].dtype
    shared = variable == new[1].dtype and variable in old[0].type_constraints and variable in new[0].type_constraints
    path = f"typeConstraints.{variable}" if shared else f"{path}.dtype"
    if lost := [dtype for dtype in before if dtype not in after]:
        yield breaks(path, f"no longer {listed(lost)}")
    if gained := [dtype for dtype in after if dtype not in before]:
        yield keeps(path, f"also {listed(gained)}")


def _linked(old: Manifest, new: Manifest) -> Iterator[Change]:
    """Find inputs that must have the same dtype now, and could differ before."""
    kept = [name for name in old.inputs if name in new.inputs]
    for one, other in combinations(kept, 2):
        variable = new.inputs[one].dtype
        if variable is None or variable != new.inputs[other].dtype or variable not in new.type_constraints:
            continue
        if old.inputs[one].dtype == old.inputs[other].dtype and old.inputs[one].dtype in old.type_constraints:
            continue
        allowed = new.type_constraints[variable]
        taken = [
            [dtype for dtype in possible_dtypes(old.inputs[name], old.type_constraints) if dtype in allowed]
            for name in (one, other)
        ]
        if any(a != b for a in taken[0] for b in taken[1]):
            yield breaks(f"inputs.{other}.dtype", f"must be that of {one!r} now")


def _inferred_dtype(path: str, old: tuple[Manifest, Port], new: tuple[Manifest, Port]) -> Iterator[Change]:
    """Compare what an output's dtype follows where a call does not give it (FORMAT, section 9)."""
    kept = set(old[0].inputs) & set(new[0].inputs)
    before, after = (_dtype_source(manifest, port, kept) for manifest, port in (old, new))
    if before != after:
        yield breaks(f"{path}.dtype", f"was {before}, is {after}")


def _dtype_source(manifest: Manifest, port: Port, kept: set[str]) -> str:
    allowed = possible_dtypes(port, manifest.type_constraints)
    if port.dtype is None or port.dtype not in manifest.type_constraints:
        return allowed[0]
    if linked := sorted(name for name in kept if manifest.inputs[name].dtype == port.dtype):
        return f"that of {listed(linked)}"
    to = manifest.attributes.get("to")
    if manifest.domain == "ai.onnx" and to is not None and to.required:
        return "what 'to' says"
    if len(allowed) == 1:
        return allowed[0]
    return f"that of the first input that is {' or '.join(sorted(allowed))}"


def _stored(path: str, port: Port, now: Port) -> Iterator[Change]:
    """Compare how a tensor lies on the device: callers hold tensors there."""
    if port.layout != now.layout:
        yield breaks(f"{path}.layout", turned(port.layout, now.layout, nothing="plain"))
    if port.storage != now.storage:
        yield breaks(f"{path}.storage", turned(port.storage, now.storage, nothing="as the dtype"))
    if port.narrowing != now.narrowing and None not in {port.narrowing, now.narrowing}:
        said = f"was {port.narrowing}, is {now.narrowing}"
        yield (breaks if now.narrowing == "checked" else keeps)(f"{path}.narrowing", said)


def _range(path: str, port: Port, now: Port, marks: tuple[Formulas, Formulas]) -> Iterator[Change]:
    before, after = port.value_range, now.value_range
    if before is None or after is None:
        if before is not None:
            yield keeps(path, "values are no longer checked")
        elif after is not None:
            yield breaks(path, f"values must be {after.least.source} to {after.most.source} now")
        return
    for word, one, other in (("least", before.least, after.least), ("most", before.most, after.most)):
        if marks[0].mark(one) == marks[1].mark(other):
            continue
        said = f"the {word} was {one.source}, is {other.source}"
        wider = _is_wider(word, one.evaluate({}), other.evaluate({})) if one.constant and other.constant else False
        yield (keeps if wider else breaks)(path, said)


def _is_wider(word: str, before: object, after: object) -> bool:
    if not isinstance(before, int | float) or not isinstance(after, int | float):
        return False
    return after <= before if word == "least" else after >= before


def _shape(path: str, port: Port, now: Port, marks: tuple[Formulas, Formulas]) -> Iterator[Change]:
    if marks[0].mark(port.shape) == marks[1].mark(now.shape):
        return
    if now.shape is None:
        yield breaks(path, "is no longer inferred: every call must give it")
    elif port.shape is None:
        yield keeps(path, f"is inferred now: {now.shape.source}")
    elif port.shape.source == now.shape.source:
        yield breaks(path, f"{now.shape.source}: what it is derived from reads differently")
    else:
        yield breaks(path, f"was {port.shape.source}, is {now.shape.source}")


def _told(path: str, port: Port, now: Port, marks: tuple[Formulas, Formulas]) -> Iterator[Change]:
    """Compare what is told to people and to other programs, and checked by nobody."""
    if port.onnx != now.onnx:
        yield keeps(f"{path}.onnx", turned(port.onnx, now.onnx))
    if marks[0].mark(port.rank) != marks[1].mark(now.rank):
        before, after = (each.source if each else "absent" for each in (port.rank, now.rank))
        yield keeps(f"{path}.rank", f"was {before}, is {after}; ranks are documentation")


def reworded(old: Manifest, new: Manifest) -> tuple[str, ...]:
    """Return what is described in other words, among what both contracts have.

    Args:
        old: what callers have.
        new: what they would get in its place.

    Returns:
        Paths.
    """
    sections: dict[str, tuple[Mapping[str, object], Mapping[str, object]]] = {
        "inputs": (old.inputs, new.inputs),
        "outputs": (old.outputs, new.outputs),
        "args": (old.args, new.args),
        "attributes": (old.attributes, new.attributes),
        "tunables": (old.tunables, new.tunables),
    }
    found = ["description"] if old.description != new.description else []
    for section, (before, after) in sections.items():
        for name in before:
            words = [getattr(each.get(name), "description", None) for each in (before, after)]
            if name in after and words[0] != words[1]:
                found.append(f"{section}.{name}")
    return tuple(found)
