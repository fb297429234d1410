"""What the values of an input must lie in, for a request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from table_package import table_manifest, table_pass

from webgpu_kernels.errors import PlanError
from webgpu_kernels.language import compile_template
from webgpu_kernels.planning.program import ValueRange
from webgpu_kernels.planning.rendering import build_program
from webgpu_kernels.planning.spec import TensorSpec

if TYPE_CHECKING:
    from sample_manifests import Planner

    from webgpu_kernels.language import Template

TABLE = {"table": TensorSpec((7, 3), "uint8"), "rows": TensorSpec((2,), "int64")}


class NoText:
    """Templates that render nothing."""

    @staticmethod
    def template(name: str) -> Template:
        """Compile nothing."""
        return compile_template("", name=name)


def ranged(**allowed: Any) -> dict[str, Any]:
    inputs = table_manifest()["inputs"]
    return table_manifest(inputs={**inputs, "rows": {**inputs["rows"], "range": allowed}})


def test_a_range_follows_shapes_and_derives(plan: Planner) -> None:
    """Seven rows: from -7 to 6."""
    planned = plan(table_manifest(), TABLE)
    assert planned.value_ranges == {"rows": ValueRange(least=-7, most=6, what="a row of the table")}


def test_the_program_carries_the_range_to_whoever_holds_arrays(plan: Planner) -> None:
    """Beside shape and dtype of the input."""
    program = build_program(NoText(), plan(table_manifest(), TABLE))
    assert [use.value_range for use in program.inputs] == [
        None,
        ValueRange(least=-7, most=6, what="a row of the table"),
    ]


def test_numbers_stand_for_themselves(plan: Planner) -> None:
    """And need no words."""
    assert plan(ranged(min=-1, max=255), TABLE).value_ranges["rows"] == ValueRange(least=-1, most=255, what=None)


def test_a_range_may_be_empty(plan: Planner) -> None:
    """An empty table has no rows."""
    empty = {**TABLE, "table": TensorSpec((0, 3), "uint8")}
    assert plan(table_manifest(), empty).value_ranges["rows"] == ValueRange(least=0, most=-1, what="a row of the table")


def test_a_range_counts_where_nothing_is_computed(plan: Planner) -> None:
    """Rows of no columns: the result is empty, a wrong row number is wrong all the same."""
    planned = plan(table_manifest(), {**TABLE, "table": TensorSpec((7, 0), "uint8")})
    assert planned.passes == ()
    assert planned.value_ranges["rows"].most == 6


def test_the_range_of_an_absent_input_is_not_evaluated(plan: Planner) -> None:
    """It may name what is not there."""
    manifest = ranged(min=0, max="shapes.rows[0] + none")
    manifest["inputs"]["rows"]["optional"] = True
    manifest["outputs"]["y"]["shape"] = [3]
    manifest["variants"] = [{"id": "only", "passes": [table_pass(bindings=["table", "y", "params"])]}]
    assert plan(manifest, {"table": TABLE["table"]}).value_ranges == {}


@pytest.mark.parametrize(
    ("bound", "message"),
    [
        ("rowCount / 2", "max: wrong bound: expected an integer, got 3.5"),
        ("true", "max: wrong bound: expected an integer, got True"),
        ("shapes.table", "max: wrong bound: expected an integer, got [7, 3]"),
        ("none - 1", "max: the expression fails: none - 1: an operand of '-' is none"),
    ],
)
def test_a_bound_is_an_integer(plan: Planner, bound: str, message: str) -> None:
    """Anything else is the manifest's fault."""
    with pytest.raises(PlanError) as caught:
        plan(ranged(min=0, max=bound), TABLE)
    assert str(caught.value).startswith(f"test.TakeRows: range of 'rows': {message}")
