"""Cases run on every variant that takes them, and a kernel that is wrong fails, whatever is wrong with it."""

from __future__ import annotations

import math
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from doubling_package import CASE, EIGHT, RIGHT, doubling_kernel, doubling_manifest, write_doubling
from package_references import KERNELS
from published_packages import FOLDERS, published_folder

import webgpu_kernels as wk
from webgpu_kernels.errors import SuiteError
from webgpu_kernels.planning.capabilities import Capabilities
from webgpu_kernels.tools.suites.reading import suite_of
from webgpu_kernels.tools.suites.references import reference_path
from webgpu_kernels.tools.suites.running import run_suite

if TYPE_CHECKING:
    from pathlib import Path

    from webgpu_kernels.tools.engines import Engine
    from webgpu_kernels.tools.results import TestResult

pytestmark = pytest.mark.device


def ran(kernel: wk.Kernel, engine: Engine, **options: Any) -> list[TestResult]:
    """Run a package's whole suite."""
    cases = suite_of(kernel.package).cases
    return [result for case in run_suite(kernel, cases, engine, **options) for result in case.results]


def only(kernel: wk.Kernel, engine: Engine) -> TestResult:
    """Run a package with one case and one variant."""
    (result,) = ran(kernel, engine)
    return result


def case(dtype: str = "float32", **changes: Any) -> dict[str, Any]:
    """Return a case of eight elements."""
    return {**CASE, "inputs": {"x": {**EIGHT, "dtype": dtype, **changes.pop("x", {})}}, **changes}


def test_every_variant_that_takes_a_case_runs_it(tmp_path: Path, engine: Engine) -> None:
    """The chosen one is marked."""
    results = ran(doubling_kernel(tmp_path / "p", {"first": RIGHT, "second": RIGHT}), engine)
    assert [(r.variant, r.outcome, r.chosen) for r in results] == [
        ("first", "passed", True),
        ("second", "passed", False),
    ]
    assert results[0].request == "x float32[8]"
    assert results[0].error_of_allowed == 0


def test_one_wrong_value_fails(tmp_path: Path, engine: Engine) -> None:
    """And is named with its index, what came and what should have come."""
    result = only(doubling_kernel(tmp_path / "p", {"plain": "y[i] = x[i] * select(2.0, 2.5, i == 5u);"}), engine)
    assert (result.outcome, result.reason) == ("failed", "y: 1 of 8 elements is wrong")
    worst = result.worst
    assert worst is not None
    assert (worst.output, worst.index, worst.got, worst.expected) == ("y", (5,), 15.0, 12.0)
    assert (worst.difference, worst.allowed) == (3.0, 0)


def test_only_the_wrong_variant_fails(tmp_path: Path, engine: Engine) -> None:
    """Though no call would have chosen it."""
    results = ran(doubling_kernel(tmp_path / "p", {"first": RIGHT, "second": "y[i] = x[i];"}), engine)
    assert [(r.variant, r.outcome) for r in results] == [("first", "passed"), ("second", "failed")]


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "int8", "bool"])
def test_an_element_that_nobody_writes_fails(tmp_path: Path, engine: Engine, dtype: str) -> None:
    """Whatever the tolerance, and whatever stood there."""
    body = "if (i != 3u) { y[i] = x[i]; }"
    data = {"kind": "fill", "value": True if dtype == "bool" else 1}
    loose = {"y": {"tolerance": 1e30}}
    kernel = doubling_kernel(
        tmp_path / "p",
        {"plain": body},
        [case(dtype, x={"data": data}, outputs=loose)],
        reference="def reference(inputs, attrs, outputs):\n    return {'y': inputs['x']}\n",
    )
    result = only(kernel, engine)
    assert (result.outcome, result.reason) == ("failed", "y: 1 of 8 elements is not written")
    assert result.worst is not None
    assert result.worst.index == (3,)


def test_an_intermediate_that_nobody_writes_holds_no_zeros(tmp_path: Path, engine: Engine) -> None:
    """A kernel that trusts in them is found out."""
    (variant,) = doubling_manifest(("plain",))["variants"]
    variant["intermediates"] = [{"id": "scratch", "dtype": "float32", "shape": "shapes.x"}]
    variant["passes"][0]["bindings"].append("scratch")
    bodies = {"plain": "y[i] = x[i] + x[i] + scratch[i];"}
    result = only(doubling_kernel(tmp_path / "p", bodies, manifest={"variants": [variant]}), engine)
    assert (result.outcome, result.reason) == ("failed", "y: 8 of 8 elements are wrong")


def test_a_nan_where_none_belongs_fails(tmp_path: Path, engine: Engine) -> None:
    """However great the tolerance."""
    body = "y[i] = bitcast<f32>(bitcast<u32>(x[i] + x[i]) | select(0u, 0x7fc00000u, i == 2u));"
    allowed = {"y": {"tolerance": 1e30, "allowNaN": True}}
    result = only(doubling_kernel(tmp_path / "p", {"plain": body}, [case(outputs=allowed)]), engine)
    assert (result.outcome, result.error_of_allowed) == ("failed", math.inf)
    assert result.worst is not None
    assert result.worst.index == (2,)


def test_nan_equals_nan_only_where_the_case_allows_it(tmp_path: Path, engine: Engine) -> None:
    """And says so where it does not."""
    x = {"data": {"kind": "fill", "value": "NaN"}}
    cases = [case(x=x, outputs={"y": {"allowNaN": True}}), case(x=x, name="refused")]
    passed, failed = ran(doubling_kernel(tmp_path / "p", None, cases), engine)
    assert passed.outcome == "passed"
    assert failed.reason == ("y: 8 of 8 elements are wrong; the reference is NaN, too, but the case does not allow NaN")


def test_elements_written_to_each_others_places_fail(tmp_path: Path, engine: Engine) -> None:
    """Those that were written over and those that were not written at all."""
    result = only(doubling_kernel(tmp_path / "p", {"plain": "y[i / 2u] = x[i] + x[i];"}), engine)
    assert (result.outcome, result.reason) == ("failed", "y: 4 of 8 elements are not written")


def test_a_shader_that_does_not_compile_is_an_error_of_its_variant(tmp_path: Path, engine: Engine) -> None:
    """The others still run."""
    first, second = ran(doubling_kernel(tmp_path / "p", {"first": "y[i] = nonsense;", "second": RIGHT}), engine)
    assert (first.outcome, second.outcome) == ("error", "passed")
    assert (first.reason or "").startswith("ShaderError: ")


def test_a_case_names_the_variant_that_has_to_be_chosen(tmp_path: Path, engine: Engine) -> None:
    """Its results are right, and it fails for not being taken."""
    cases = [case(variant="first"), case(name="other", variant="second"), case(name="none", variant="thrid")]
    results = ran(doubling_kernel(tmp_path / "p", {"first": RIGHT, "second": RIGHT, "third": RIGHT}, cases), engine)
    failed = [(r.case, r.variant, r.reason) for r in results if r.outcome != "passed"]
    assert failed == [
        ("other", "second", "the case wants second, and a call takes first, which ranks above it"),
        ("none", "thrid", "there is no variant 'thrid': did you mean 'third'?"),
    ]


def test_force_lists_the_only_variants(tmp_path: Path, engine: Engine) -> None:
    """One that refuses the case is an error."""
    cases = [case(force=["second"]), case(name="wrong", force=["secnd"])]
    results = ran(doubling_kernel(tmp_path / "p", {"first": RIGHT, "second": RIGHT}, cases), engine)
    assert [(r.case, r.variant, r.outcome, r.reason) for r in results] == [
        ("eight", "second", "passed", None),
        ("wrong", "secnd", "error", "there is no variant 'secnd': did you mean 'second'?"),
    ]


def test_one_variant_alone_can_be_run(tmp_path: Path, engine: Engine) -> None:
    """As the command's option asks."""
    kernel = doubling_kernel(tmp_path / "p", {"first": RIGHT, "second": RIGHT})
    assert [result.variant for result in ran(kernel, engine, variant="second")] == ["second"]


@pytest.mark.parametrize(
    ("error", "outcome", "reason"),
    [
        ({"kind": "DtypeError", "message": "wrong dtype"}, "passed", None),
        ({"kind": "RequestError"}, "passed", None),
        (
            {"kind": "DtypeError", "message": "odd"},
            "failed",
            (
                "DtypeError with 'odd' was expected, and came DtypeError: test.Double: 'x': wrong dtype: "
                "expected T, one of float32, float16, int32, int8, bool, got uint32"
            ),
        ),
    ],
)
def test_a_case_may_expect_an_error(
    tmp_path: Path, engine: Engine, error: dict[str, str], outcome: str, reason: str | None
) -> None:
    """Of a class or one below it, with a text."""
    inputs = {"x": {"dtype": "uint32", "shape": [8]}}
    kernel = doubling_kernel(tmp_path / "p", None, [{"name": "bad", "inputs": inputs, "error": error}])
    result = only(kernel, engine)
    assert (result.outcome, result.reason) == (outcome, reason)


def test_an_expected_error_that_does_not_come_fails(tmp_path: Path, engine: Engine) -> None:
    """The call ran."""
    kernel = doubling_kernel(tmp_path / "p", None, [case(error={"kind": "ShapeError"})])
    assert only(kernel, engine).reason == "ShapeError was expected, and the call ran"


def test_cases_that_are_not_for_gpus_are_skipped(tmp_path: Path, engine: Engine) -> None:
    """With their reason."""
    kernel = doubling_kernel(tmp_path / "p", None, [case(skipGpu={"category": "todo", "reason": "not yet"})])
    result = only(kernel, engine)
    assert (result.outcome, result.reason) == ("skipped", "skipGpu, todo: not yet")


def test_what_the_device_lacks_is_skipped(tmp_path: Path) -> None:
    """A device without float16 says nothing of a kernel's float16."""

    class Poor:
        capabilities = Capabilities()

    kernel = doubling_kernel(tmp_path / "p", None, [case("float16"), case("float16", name="f", force=["plain"])])
    results = ran(kernel, Poor())  # type: ignore[arg-type]  # nothing is run
    assert [(r.outcome, r.reason) for r in results] == [
        ("skipped", "float16 needs the feature shader-f16, which the device lacks")
    ] * 2


def test_what_no_device_takes_is_an_error(tmp_path: Path, engine: Engine) -> None:
    """Not skipped."""
    kernel = doubling_kernel(tmp_path / "p", None, [case()], manifest={"when": ["numel(shapes.x) > 8"]})
    result = only(kernel, engine)
    assert result.outcome == "error"
    assert (result.reason or "").startswith("ShapeError: test.Double: the request breaks the contract")


def test_another_dtype_than_expected_fails(tmp_path: Path, engine: Engine) -> None:
    """Before values are compared."""
    kernel = doubling_kernel(tmp_path / "p", None, [case(outputs={"y": {"dtype": "int32"}})])
    assert only(kernel, engine).reason == "y is float32, the case expects int32"


def test_values_of_the_case_go_before_the_reference(tmp_path: Path, engine: Engine) -> None:
    """So a case can do without one."""
    y = {"dtype": "float32", "shape": [8], "data": {"kind": "range", "start": 2, "step": 2}}
    assert (
        only(doubling_kernel(tmp_path / "p", None, [case(outputs={"y": y})], reference=None), engine).outcome
        == "passed"
    )


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        (None, "the case has no expected values, and the package no reference that may be run"),
        ("def reference(inputs, attrs, outputs):\n    return {}\n", "reference.py does not give the output 'y'"),
        (
            "def reference(inputs, attrs, outputs):\n    1 / 0\n",
            "reference.py fails: ZeroDivisionError: division by zero (reference.py:2)",
        ),
        (
            "import nothing_of_this_name\n",
            "ModuleNotFoundError: No module named 'nothing_of_this_name' (reference.py:1)",
        ),
        ("x = = 1\n", "reference.py cannot be imported: SyntaxError: invalid syntax (reference.py, line 1)"),
        ("x = 1\n", "reference.py has no function reference(inputs, attrs, outputs)"),
        ("import sys\nsys.exit(0)\n", "reference.py cannot be imported: SystemExit: 0"),
        ("def reference(inputs, attrs, outputs):\n    raise SystemExit(0)\n", "reference.py fails: SystemExit: 0"),
        (
            "def reference(inputs, attrs, outputs):\n    return {'y': object()}\n",
            "reference.py gives no numbers for 'y'",
        ),
    ],
)
def test_a_broken_reference_is_an_error(tmp_path: Path, engine: Engine, reference: str | None, reason: str) -> None:
    """Which says what is wrong with it."""
    result = only(doubling_kernel(tmp_path / "p", reference=reference), engine)
    assert result.outcome == "error"
    assert reason in (result.reason or "")


def test_a_reference_cannot_change_what_the_kernel_gets(tmp_path: Path, engine: Engine) -> None:
    """It works on copies."""
    text = "def reference(inputs, attrs, outputs):\n    x = inputs['x']\n    x *= 2\n    return {'y': x}\n"
    assert only(doubling_kernel(tmp_path / "p", reference=text), engine).outcome == "passed"


def test_a_reference_of_the_hub_is_never_run(tmp_path: Path) -> None:
    """Even if it lies there."""
    kernel = doubling_kernel(tmp_path / "p")
    package = kernel.package
    assert reference_path(package) == tmp_path / "p" / "reference.py"
    of_hub = type(package)(package.root, package.manifest, where="hub", revision="0" * 40)
    assert reference_path(of_hub) is None


def test_a_reference_is_given_defaults_and_arguments(tmp_path: Path, engine: Engine) -> None:
    """So that it need not repeat the contract."""
    text = "def reference(inputs, attrs, outputs):\n    return {'y': inputs['x'] * attrs['two']}\n"
    kernel = doubling_kernel(tmp_path / "p", reference=text, manifest={"attributes": {"two": {"default": 2}}})
    assert only(kernel, engine).outcome == "passed"


def test_a_case_too_large_for_the_device_is_skipped(tmp_path: Path, engine: Engine) -> None:
    """With the limit that it passes."""

    class Small:
        capabilities = replace(engine.capabilities, limits={"maxStorageBufferBindingSize": 16})
        run = engine.run

    result = only(doubling_kernel(tmp_path / "p"), Small())  # type: ignore[arg-type]  # as much as is used
    assert result.outcome == "skipped"
    assert "maxStorageBufferBindingSize" in (result.reason or "")


def test_patterns_choose_cases(tmp_path: Path) -> None:
    """Shell patterns, of which one has to match."""
    cases = [case(name=name) for name in ("one", "two", "three")]
    suite = suite_of(doubling_kernel(tmp_path / "p", None, cases).package)
    assert [c.name for c in suite.matching(["t*e", "one"])] == ["one", "three"]
    assert len(suite.matching([])) == 3


def test_a_package_without_a_suite_is_one_clear_error(tmp_path: Path) -> None:
    """It names the file."""
    root = write_doubling(tmp_path / "p")
    (root / "build" / "webgpu" / "test.json").write_text("{}")
    with pytest.raises(SuiteError, match=r"test\.json has 1 defect\n  cases: is missing: list the cases"):
        suite_of(wk.load_kernel(root).package)


def test_the_published_suite_runs_unmodified(tmp_path: Path, engine: Engine) -> None:
    """Its 51 cases: 48 pass on every variant of ours that takes them, 3 are not for GPUs."""
    suite = FOLDERS["ai.onnx.Add"] / "test.json"
    folder = published_folder("ai.onnx.Add", tmp_path)
    shutil.copyfile(suite, folder / "test.json")
    shutil.copyfile(KERNELS / "ai.onnx.Add" / "reference.py", folder / "reference.py")
    results = ran(wk.load_kernel(folder), engine, jobs=2)
    assert len({r.case for r in results if r.outcome == "passed"}) == 48
    assert len([r for r in results if r.outcome == "skipped"]) == 3
    assert [r for r in results if r.outcome not in {"passed", "skipped"}] == []
    assert len(results) > 80
