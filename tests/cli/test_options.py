"""The options that many commands share: packages, trust, devices, calls."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import webgpu_kernels as wk_library
from webgpu_kernels.cli.arguments import Parser, Usage
from webgpu_kernels.cli.calls import add_call, call_of
from webgpu_kernels.cli.devices import add_adapter, add_capabilities, asked_device
from webgpu_kernels.cli.packages import add_package, package_names, trust_of
from webgpu_kernels.contract import LOGICAL_DTYPES, bundled_names
from webgpu_kernels.errors import NoAdapterError, RequestError
from webgpu_kernels.planning.spec import TensorSpec

if TYPE_CHECKING:
    from pathlib import Path

    from command_line import Wk

    from webgpu_kernels.tools.calls import CallDescription

FORM = "dtype[dimensions], such as float16[2,64,64,320]"
DTYPES = ", ".join(LOGICAL_DTYPES)
AB = ["--input", "a=float32[8]", "--input", "b=float32[8]"]


def call(*words: str, op: str = "ai.onnx.Add") -> CallDescription:
    """Return the call that options describe."""
    parser = Parser(prog="wk")
    add_call(parser)
    return call_of(parser.parse_args(words), wk_library.get_kernel(op))


def refusal(*words: str, op: str = "ai.onnx.Add") -> str:
    """Return the first line of what is said of options that describe no call."""
    with pytest.raises(Usage) as caught:
        call(*words, op=op)
    return str(caught.value).splitlines()[0].removeprefix("wk: ")


def test_inputs_are_shapes_and_dtypes() -> None:
    """A scalar has no dimensions; spaces do not count; uint8 may be packed."""
    described = call("--input", "a=float16[2, 64]", "--input", "b=uint8[]", "--input", "c=uint8[0,8]:packed")
    assert described.inputs == {
        "a": TensorSpec((2, 64), "float16"),
        "b": TensorSpec((), "uint8"),
        "c": TensorSpec((0, 8), "uint8", "packed"),
    }


def test_options_are_json_or_text() -> None:
    """As they would be in a file; quotes make a number a text."""
    described = call(
        *AB,
        *("--attr", "axis=-1", "--attr", "axes=[0, 1]", "--attr", "mode=linear", "--attr", 'name="4"'),
        *("--arg", "n=0.5", "--tunable", "W=true", "--attr", "eq=a=b", "--attr", "none="),
    )
    assert described.attrs == {"axis": -1, "axes": [0, 1], "mode": "linear", "name": "4", "eq": "a=b", "none": ""}
    assert described.args == {"n": 0.5}
    assert described.tunables == {"W": True}


def test_outputs_and_a_variant_may_be_named() -> None:
    """An output's shape only where the contract does not infer it."""
    described = call(*AB, "--output", "S", "--output", "Y=float32[4]", "--variant", "elements")
    assert described.outputs == {"S": None, "Y": TensorSpec((4,), "float32")}
    assert described.variant == "elements"


def test_a_request_is_text_or_a_file(tmp_path: Path) -> None:
    """Options replace what it says of the same name."""
    document = {"inputs": {"a": {"dtype": "float32", "shape": [2]}}, "attrs": {"x": 1, "y": 1}, "variant": "v"}
    path = tmp_path / "request.json"
    path.write_text(json.dumps(document))
    for given in (json.dumps(document), str(path)):
        described = call("--request", given, "--input", "b=float32[2]", "--attr", "y=2", "--variant", "w")
        assert described.inputs == {"a": TensorSpec((2,), "float32"), "b": TensorSpec((2,), "float32")}
        assert described.attrs == {"x": 1, "y": 2}
        assert described.variant == "w"


def test_a_case_is_taken_from_the_packages_suites() -> None:
    """Its tensors and options, not its values."""
    op = "com.microsoft.SkipGroupNorm"
    described = call("--case", "float32_float32_gamma_nhwc_bias", op=op)
    assert described.inputs["X"].dtype == "float32"
    assert set(described.inputs) == {"X", "gamma", "beta", "skip", "bias"}
    assert described.attrs["groups"] == 16
    with pytest.raises(RequestError) as caught:
        call("--case", "float32_float32_gamma_nhwc_bia", op=op)
    assert str(caught.value) == (
        "com.microsoft.SkipGroupNorm: no case is called 'float32_float32_gamma_nhwc_bia'. "
        "Did you mean 'float32_float32_gamma_nhwc_bias'?"
    )


def test_a_package_without_suites_has_no_cases(tmp_path: Path) -> None:
    """That is said instead of a list."""
    root = wk_library.get_kernel("ai.onnx.Identity").package.root
    for name in ("manifest.json", "identity-copy.wgsl.jinja"):
        (tmp_path / name).write_bytes((root / name).read_bytes())
    parser = Parser(prog="wk")
    add_call(parser)
    with pytest.raises(RequestError, match=r"no case is called 'x'\. It has no cases\.$"):
        call_of(parser.parse_args(["--case", "x"]), wk_library.load_kernel(tmp_path))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--input", "a"], "argument --input: 'a': write NAME=dtype[dimensions], such as float16[2,64,64,320]"),
        (["--input", "=x[]"], "argument --input: '=x[]': write NAME=dtype[dimensions], such as float16[2,64,64,320]"),
        (
            ["--input", "a=float32"],
            "argument --input: 'a=float32': write dtype[dimensions], such as float16[2,64,64,320]",
        ),
        (
            ["--input", "a=float32[-1]"],
            "argument --input: 'a=float32[-1]': write dtype[dimensions], such as float16[2,64,64,320]",
        ),
        (
            ["--input", "a=float64[2]"],
            f"argument --input: 'a=float64[2]': unsupported dtype: expected one of {DTYPES}, got float64",
        ),
        (["--output", "y=[]"], "argument --output: 'y=[]': write dtype[dimensions], such as float16[2,64,64,320]"),
        (["--input", f"a=float32[{'9' * 5000}]"], f"argument --input: 'a=float32[{'9' * 90}…': write {FORM}"),
        ([*AB, "--input", "a=float32[9]"], "--input a is given twice."),
        ([*AB, "--attr", "x=1", "--attr", "x=1"], "--attr x is given twice."),
        (["--attr", "axis"], "argument --attr: 'axis': write NAME=VALUE"),
        (["--tunable", "=3"], "argument --tunable: '=3': write NAME=VALUE"),
        ([], "Which call? ai.onnx.Add takes a, b."),
        (["--attr", "axis=1"], "Which call? ai.onnx.Add takes a, b."),
        (["--request", "{}", "--case", "x"], "Give --request or --case, not both: each describes a whole call."),
    ],
)
def test_what_describes_no_call_is_one_clear_error(words: list[str], said: str) -> None:
    """With the form that would be right."""
    assert refusal(*words) == said


def test_what_to_write_is_shown_with_the_packages_own_inputs() -> None:
    """Optional ones have a question mark."""
    with pytest.raises(Usage) as caught:
        call(op="com.microsoft.SkipGroupNorm")
    assert str(caught.value) == (
        "Which call? com.microsoft.SkipGroupNorm takes X, gamma, beta, skip, bias?.\n"
        "Describe each: --input 'X=float32[2,64]'; or give --case NAME or --request FILE."
    )
    with pytest.raises(Usage, match=r"--input 'data=uint8\[2,64\]'; or give"):
        call(op="com.microsoft.GatherBlockQuantized")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "--request: the call has 1 defect\n  is not JSON: Expecting property name enclosed in double quotes at"),
        ('{"input": {}}', "--request: the call has 2 defects\n  input: is not a key of a call: did you mean 'inputs'?"),
        ("[]", "--request: the call has 1 defect\n  must be an object with the keys inputs, attrs, args, outputs, "),
        ("nowhere.json", "nowhere.json: the request cannot be read: No such file or directory"),
        (".", ".: the request cannot be read: Is a directory"),
    ],
)
def test_a_request_that_is_none_is_one_clear_error(text: str, said: str) -> None:
    """With every defect of it."""
    with pytest.raises(RequestError) as caught:
        call("--request", text)
    assert str(caught.value).startswith(said)


def test_a_request_is_read_no_further_than_one_may_be_long(tmp_path: Path) -> None:
    """Somebody else may have written it."""
    path = tmp_path / "long.json"
    path.write_bytes(b" " * 3 * 2**20)
    with pytest.raises(RequestError) as caught:
        call("--request", str(path))
    assert str(caught.value).endswith("is 2,097,153 bytes long: 2,097,152 are the most")


def parsed(*words: str) -> Any:
    parser = Parser(prog="wk")
    add_adapter(parser)
    add_capabilities(parser)
    return parser.parse_args(words)


def test_a_device_may_be_described() -> None:
    """Then it need not be here."""
    device = asked_device(parsed("--capabilities", "h200"))
    assert device.name == "h200 (described)"
    assert device.capabilities.limits["maxComputeInvocationsPerWorkgroup"] == 1024


def test_a_device_is_here_or_described() -> None:
    """Not both."""
    with pytest.raises(Usage, match="Give --adapter or --capabilities, not both"):
        asked_device(parsed("--capabilities", "h200", "--adapter", "0"))


@pytest.mark.device
def test_a_device_is_named_by_a_part_or_its_number() -> None:
    """As info lists them."""
    first = next(adapter for adapter in wk_library.adapters() if adapter.usable)
    assert asked_device(parsed("--adapter", str(first.index))).name == first.name
    assert asked_device(parsed("--adapter", first.name[2:6].upper())).name == first.name
    assert asked_device(parsed()).name
    with pytest.raises(NoAdapterError, match="no such adapter"):
        asked_device(parsed("--adapter", "nonsense"))


def packages(*words: str) -> Any:
    parser = Parser(prog="wk")
    add_package(parser, many=True)
    return parser.parse_args(words)


def test_several_packages_stand_once_each() -> None:
    """All of the bundled ones come first."""
    assert package_names(packages("b", "a", "b")) == ("b", "a")
    assert package_names(packages("--all", "x", "ai.onnx.Add")) == (*bundled_names(), "x")
    with pytest.raises(Usage, match=r"Name a package, or give --all for every bundled one: ai\.onnx\.Add, "):
        package_names(packages())


def test_trust_is_for_names_or_for_all() -> None:
    """Nobody beside the organisation of the published kernels by default."""
    assert trust_of(packages("a")) == ()
    assert trust_of(packages("--trust", "one", "a", "--trust", "two/x")) == ("one", "two/x")
    assert trust_of(packages("--trust-remote-code", "a")) is True


def test_a_package_is_a_folder_a_bundled_operator_or_a_repository(tmp_path: Path, wk: Wk) -> None:
    """Whatever else it is, is said."""
    described = [*AB, "--capabilities", "h200"]
    bundled = wk_library.get_kernel("ai.onnx.Add").package.root
    assert wk("explain", bundled, *described).code == 0
    assert wk("explain", bundled.parent.parent, *described).code == 0
    assert wk("explain", tmp_path, *described).err == (
        f"error: {tmp_path}: holds no package: expected build/webgpu/manifest.json, or manifest.json in the folder "
        "itself\n"
    )
    assert wk("explain", "ai.onnx.Ad", *described).err.endswith("Did you mean 'ai.onnx.Add'?\n")
    assert wk("explain", "owner/name", *described).err == (
        "error: owner/name: a repository of the Hub needs a version or a commit, and there is no such folder. "
        "Write owner/name@v1, or owner/name@ and the 40 digits of a commit.\n"
    )
    assert wk("explain", "a" * 5000, *described).err.endswith("cannot be looked at: File name too long\n")
