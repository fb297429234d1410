"""The options that describe a call: shapes and dtypes on the command line, in a file, or those of a suite's case."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from webgpu_kernels.cli.arguments import Usage
from webgpu_kernels.contract.files import read_some, reason_of
from webgpu_kernels.contract.json_text import MAX_TEXT_BYTES
from webgpu_kernels.errors import RequestError
from webgpu_kernels.planning.spec import TensorSpec
from webgpu_kernels.tools.calls import CallDescription, parse_call
from webgpu_kernels.tools.cases import case_call

if TYPE_CHECKING:
    from collections.abc import Sequence

    from webgpu_kernels.kernel import Kernel

_SPEC: Final = re.compile(r"(?P<dtype>\w+)\[(?P<shape>[\d,\s]*)\](?::(?P<layout>\w+))?", re.ASCII)
_LONGEST: Final = 100
_T = TypeVar("_T")
_SPEC_FORM: Final = "dtype[dimensions], such as float16[2,64,64,320]"


def add_call(parser: argparse.ArgumentParser) -> None:
    """Add the options that describe a call.

    Args:
        parser: the command's.
    """
    group = parser.add_argument_group(
        "the call", "An option replaces what --request or --case says of that name. Quote brackets."
    )
    named: Any = {"action": "append", "default": []}
    group.add_argument(
        "--input", **named, type=_input, metavar="X=float16[2,64]", help="an input; ':packed' may follow"
    )
    group.add_argument("--attr", **named, type=_option, metavar="NAME=VALUE", help="an attribute: JSON, else a string")
    group.add_argument("--arg", **named, type=_option, metavar="NAME=VALUE", help="a scalar argument, likewise")
    group.add_argument("--output", **named, type=_output, metavar="NAME[=SPEC]", help="an optional output to compute")
    group.add_argument("--variant", metavar="ID", help="this variant and no other")
    group.add_argument("--tunable", **named, type=_option, metavar="NAME=VALUE", help="override a tunable")
    group.add_argument("--request", metavar="FILE|JSON", help="{inputs: {X: {dtype, shape}}, attrs, args, outputs, …}")
    group.add_argument("--case", metavar="NAME", help="the request of a case of test.json or bench.json")


def call_of(arguments: argparse.Namespace, kernel: Kernel) -> CallDescription:
    """Return the call that the options describe.

    Args:
        arguments: of a parser that ``add_call`` has seen.
        kernel: whose suites ``--case`` reads.

    Returns:
        The call; whether it fits the contract is not checked here.

    Raises:
        Usage: no option describes a call, or both a request and a case are named.
        RequestError: the request is not to be read, or there is no such case.
        PackageError: a suite is not to be read.
    """
    if arguments.request is not None and arguments.case is not None:
        raise Usage("Give --request or --case, not both: each describes a whole call.")
    if arguments.request is not None:
        base = _request(arguments.request)
    elif arguments.case is not None:
        base = case_call(kernel.package, arguments.case)
    elif arguments.input or not kernel.manifest.inputs:
        base = CallDescription(inputs={})
    else:
        raise Usage(_nothing_described(kernel))
    return CallDescription(
        inputs={**base.inputs, **_once("input", arguments.input)},
        attrs={**base.attrs, **_once("attr", arguments.attr)},
        args={**base.args, **_once("arg", arguments.arg)},
        outputs={**base.outputs, **_once("output", arguments.output)},
        variant=arguments.variant if arguments.variant is not None else base.variant,
        tunables={**base.tunables, **_once("tunable", arguments.tunable)},
    )


def _once(option: str, pairs: Sequence[tuple[str, _T]]) -> dict[str, _T]:
    """Return pairs by name; one that is given twice is probably a slip."""
    named = dict(pairs)
    if len(named) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise Usage(f"--{option} {twice} is given twice.")
    return named


def _nothing_described(kernel: Kernel) -> str:
    inputs = ", ".join(f"{name}?" if port.optional else name for name, port in kernel.manifest.inputs.items())
    first, port = next(iter(kernel.manifest.inputs.items()))
    dtype = kernel.manifest.type_constraints.get(port.dtype or "", (port.dtype or "float32",))[0]
    return (
        f"Which call? {kernel.op_id} takes {inputs}.\n"
        f"Describe each: --input '{first}={dtype}[2,64]'; or give --case NAME or --request FILE."
    )


def _request(text: str) -> CallDescription:
    if text.lstrip().startswith(("{", "[")):
        return parse_call(text, where="--request")
    try:
        content = read_some(Path(text), MAX_TEXT_BYTES)
    except (OSError, ValueError) as error:
        raise RequestError(f"the request cannot be read: {reason_of(error)}", where=text) from error
    return parse_call(content, where=text)


def _input(text: str) -> tuple[str, TensorSpec]:
    name, equals, spec = text.partition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(f"{_cut(text)}: write NAME={_SPEC_FORM}")
    return name, _spec(spec, text)


def _output(text: str) -> tuple[str, TensorSpec | None]:
    name, equals, spec = text.partition("=")
    return name, _spec(spec, text) if equals else None


def _spec(spec: str, text: str) -> TensorSpec:
    found = _SPEC.fullmatch(spec)
    if found is None:
        raise argparse.ArgumentTypeError(f"{_cut(text)}: write {_SPEC_FORM}")
    try:
        shape = tuple(int(entry) for entry in found["shape"].split(",") if entry.strip())
        return TensorSpec(shape, found["dtype"], found["layout"])
    except RequestError as error:
        error.hint = None  # how to convert an array
        raise argparse.ArgumentTypeError(f"{_cut(text)}: {error}") from error
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{_cut(text)}: write {_SPEC_FORM}") from error


def _cut(text: str) -> str:
    return repr(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…")


def _option(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(f"{_cut(text)}: write NAME=VALUE")
    try:
        return name, json.loads(value)
    except (ValueError, RecursionError):
        return name, value
