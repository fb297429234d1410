"""What changed in what a call may say beside tensors: scalar arguments, attributes, tunables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from webgpu_kernels.contract import UNSET, same_value
from webgpu_kernels.planning.request import declared_tunables
from webgpu_kernels.tools.diff.changes import appeared, breaks, demanded, keeps, listed, shown, turned

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from webgpu_kernels.contract import Attribute, Manifest, ScalarArg, Tunable
    from webgpu_kernels.tools.diff.changes import Change


def compare_args(old: Manifest, new: Manifest) -> Iterator[Change]:
    """Compare the scalar arguments of two contracts.

    Args:
        old: what callers have.
        new: what they would get in its place.

    Yields:
        Each change.

    Source: FORMAT, section 2 (``args``).
    """
    for name, arg in old.args.items():
        path = f"args.{name}"
        if name not in new.args:
            yield breaks(path, "is gone")
            continue
        yield from _compare_arg(path, arg, new.args[name])
    for name, arg in new.args.items():
        if name not in old.args:
            yield appeared(f"args.{name}", needed=arg.required)


def _compare_arg(path: str, arg: ScalarArg, now: ScalarArg) -> Iterator[Change]:
    if arg.kind != now.kind:
        yield breaks(f"{path}.kind", f"was {arg.kind}, is {now.kind}")
    if arg.required != now.required:
        yield demanded(path, needed=now.required)
    yield from _compare_choices(f"{path}.oneOf", arg.one_of, now.one_of)
    if arg.onnx != now.onnx:
        yield keeps(f"{path}.onnx", turned(arg.onnx, now.onnx))


def _compare_choices(path: str, old: Sequence[object] | None, new: Sequence[object] | None) -> Iterator[Change]:
    """Compare the values that something may have; None for any."""
    if old is None or new is None:
        if new is not None:
            yield breaks(path, f"must be one of {listed(map(shown, new))} now")
        elif old is not None:
            yield keeps(path, "may be any value now")
        return
    if lost := [value for value in old if not _among(value, new)]:
        yield breaks(path, f"no longer {listed(map(shown, lost))}")
    if gained := [value for value in new if not _among(value, old)]:
        yield keeps(path, f"also {listed(map(shown, gained))}")


def _among(value: object, values: Sequence[object]) -> bool:
    return any(same_value(value, other) for other in values)


def compare_attributes(old: Manifest, new: Manifest) -> Iterator[Change]:
    """Compare the attributes of two contracts, with their constraints.

    Args:
        old: what callers have.
        new: what they would get in its place.

    Yields:
        Each change.

    Source: FORMAT, section 2 (``attributes``, ``attributeConstraints``).
    """
    for name, attribute in old.attributes.items():
        path = f"attributes.{name}"
        if name not in new.attributes:
            yield breaks(path, "is gone")
            continue
        yield from _compare_attribute(path, attribute, new.attributes[name])
    for name, attribute in new.attributes.items():
        if name not in old.attributes:
            yield appeared(f"attributes.{name}", needed=attribute.required)


def _compare_attribute(path: str, attribute: Attribute, now: Attribute) -> Iterator[Change]:
    if attribute.required != now.required:
        yield demanded(path, needed=now.required)
    elif not _same_default(attribute.default, now.default):
        yield breaks(f"{path}.default", f"was {_default(attribute)}, is {_default(now)}")
    yield from _compare_choices(f"{path}.values", attribute.values, now.values)


def _same_default(old: object, new: object) -> bool:
    if old is UNSET or new is UNSET:
        return old is new
    return same_value(old, new)


def _default(attribute: Attribute) -> str:
    return "none" if attribute.default is UNSET else shown(attribute.default)


def compare_tunables(old: Manifest, new: Manifest) -> Iterator[Change]:
    """Compare the tunables of two packages, those of their variants among them: calls may override each by its name.

    Args:
        old: what callers have.
        new: what they would get in its place.

    Yields:
        Each change. Another default changes speed, not results.

    Source: FORMAT, section 2 (``tunables``).
    """
    before, after = declared_tunables(old), declared_tunables(new)
    for name, tunable in before.items():
        path = f"tunables.{name}"
        if name not in after:
            yield breaks(path, "is gone")
        elif _kind(tunable) != _kind(after[name]):
            yield breaks(path, f"was {_kind(tunable)}, is {_kind(after[name])}")
        elif tunable.default != after[name].default:
            yield keeps(f"{path}.default", f"was {shown(tunable.default)}, is {shown(after[name].default)}")
    for name in after:
        if name not in before:
            yield keeps(f"tunables.{name}", "is new")


def _kind(tunable: Tunable) -> str:
    if isinstance(tunable.default, bool):
        return "true or false"
    return "a string" if isinstance(tunable.default, str) else "a number"
