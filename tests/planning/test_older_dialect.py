"""A call of the older dialect is planned as any other: callers' names outside, the contract's names in formulas."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from older_manifests import of_pass, of_variant, older_manifest, older_pass, older_variant, tensor

from webgpu_kernels.errors import UnknownNameError
from webgpu_kernels.planning.spec import TensorSpec

if TYPE_CHECKING:
    from sample_manifests import Planner, Select

X = {"x": TensorSpec((2, 3), "float32")}


def test_formulas_know_shapes_by_role_and_presence_by_argument(plan: Planner) -> None:
    """And ``tensorDtypes`` says how a tensor is stored."""
    manifest = older_manifest(
        inputs=[{"role": "input", "dtype": "T"}, {"role": "indices", "dtype": "int64", "optional": True}],
        args={
            "x": {"kind": "tensor", "semantic": "input"},
            "i": {"kind": "tensor", "semantic": "indices", "dtype": "uint32", "narrowing": "checked"},
            "y": {"kind": "tensor", "semantic": "output"},
        },
        derive={
            "rows": "dim(shapes.input, 0)",
            "rank": "ranks.output",
            "stored": "tensorDtypes.indices if present.i else tensorDtypes.input",
            "other": 'has(shapes, "x") or has(present, "input")',
        },
    )
    values = plan(manifest, X).passes[0].values
    assert (values["rows"], values["rank"], values["stored"], values["other"]) == (2, 2, "float32", False)
    both = plan(manifest, {**X, "i": TensorSpec((4,), "int64")})
    assert both.passes[0].values["stored"] == "uint32"


def test_calls_know_arguments_only(plan: Planner) -> None:
    """A role is not the name of an input."""
    with pytest.raises(UnknownNameError, match="'input'"):
        plan(older_manifest(), {"input": TensorSpec((2,), "float32")})


def test_constants_reach_formulas_lengths_and_templates(plan: Planner) -> None:
    """By their names and as ``constants``; what only a template sees, as ``source``."""
    manifest = of_pass(
        shader=None,
        source={"shader": "main.wgsl.jinja", "inputs": {"count": "constants.n * 2"}},
        constants={"n": "numel(shapes.output)", "kind": "dtypes.T"},
        bindings=[tensor("x", "input", elementType="$kind", length="$n"), tensor("y", "output", "storage")],
    )
    step = plan(manifest, X).passes[0]
    assert (step.scope["source"], step.scope["constants"]) == ({"count": 12}, {"n": 6, "kind": "f32"})
    assert (step.bindings[0].element_type, step.bindings[0].length) == ("f32", 6)


def test_output_shapes_may_use_constants(plan: Planner) -> None:
    """By their names and as ``constants``, though only what a shape reaches is evaluated for it."""
    manifest = older_manifest(
        constants={"rows": "dim(shapes.input, 0)"},
        outputs=[{"role": "output", "dtype": "T", "shape": "[rows, 7]"}],
    )
    assert plan(manifest, X).request.outputs["y"].shape == (2, 7)
    manifest["outputs"][0]["shape"] = "[constants.rows, 7]"
    assert plan(manifest, X).request.outputs["y"].shape == (2, 7)


@pytest.mark.parametrize(("elements", "grid"), [(1, 1), (64, 1), (65, 2), (64 * 65_535, 65_535), (2**25, 65_535)])
def test_a_grid_stride_stays_within_one_row(plan: Planner, elements: int, grid: int) -> None:
    """The shader loops over what is left."""
    manifest = of_pass(dispatch={"gridStride": "numel(shapes.output)", "workgroupSize": "tunables.WG"}) | {
        "tunables": {"WG": 64}
    }
    assert plan(manifest, {"x": TensorSpec((elements,), "float32")}).passes[0].dispatch == (grid, 1, 1)


def test_a_floor_is_a_preference(select: Select) -> None:
    """A variant below it is taken where nothing else serves."""
    small = older_variant(id="large", priority=10, selectAbove="numel(shapes.input) > 100")
    both = select(older_manifest(variants=[small, older_variant(id="any")]), X)
    assert both.variant is not None
    assert both.variant.id == "any"
    alone = select(of_variant(selectAbove="numel(shapes.input) > 100"), X)
    assert alone.variant is not None
    assert alone.candidates[0].demoted


def test_a_variants_constant_hides_a_derived_name_of_the_manifest(plan: Planner) -> None:
    """And may be made of it."""
    manifest = older_manifest(
        derive={"size": 4},
        variants=[older_variant(constants={"size": "size * 2"}, passes=[older_pass(dispatch={"x": "constants.size"})])],
    )
    assert plan(manifest, X).passes[0].dispatch == (8, 1, 1)
