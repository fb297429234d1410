"""Passes of the older dialect: dispatch, aliases, groups."""

from __future__ import annotations

from typing import Any

import pytest
from older_manifests import first_pass, of_pass, of_variant, older_defects, older_pass, says, tensor

from webgpu_kernels.contract import RepeatGroup, ViewAlias, read_manifest


def test_a_grid_stride_becomes_one_row_of_workgroups() -> None:
    """No more than a row may have: the shader loops over the rest."""
    manifest = read_manifest(of_pass(dispatch={"gridStride": "numel(shapes.output) / 4", "workgroupSize": "64 + 64"}))
    dispatch = first_pass(manifest).dispatch
    assert (dispatch.form, dispatch.y.source, dispatch.z.source) == ("grid", "1", "1")
    assert dispatch.x.source == "min(ceilDiv((numel(shapes.output) / 4), (64 + 64)), 65535)"
    literal = first_pass(read_manifest(of_pass(dispatch={"gridStride": 1000, "workgroupSize": 64}))).dispatch
    assert literal.x.source == "min(ceilDiv((1000), (64)), 65535)"


@pytest.mark.parametrize(
    ("dispatch", "form"),
    [({"x": 1, "y": 2}, "grid"), ({"threads": 5, "workgroupSize": 64}, "threads"), ({"workgroups": 3}, "workgroups")],
)
def test_the_forms_of_spec_2_1_are_there_too(dispatch: Any, form: str) -> None:
    """With the same meaning."""
    assert first_pass(read_manifest(of_pass(dispatch=dispatch))).dispatch.form == form


def test_a_view_alias_names_shader_variables_arguments_or_roles() -> None:
    """All become the names of calls."""
    bindings = [tensor("x", "input", name="src"), tensor("y", "output", access="storage", name="dst")]
    for source, target in (("src", "dst"), ("x", "y"), ("input", "output")):
        step = first_pass(read_manifest(of_pass(bindings=bindings, viewAlias=[{"input": source, "output": target}])))
        assert step.view_aliases == (ViewAlias(input="x", output="y"),)


def test_what_else_a_pass_has_is_as_in_spec_2_1() -> None:
    """Label, profile, width and submission."""
    step = first_pass(
        read_manifest(of_pass(name="Scale", profile={"flops": 1}, submitAfter=True, subgroupCollectivesWidth=32))
    )
    assert (step.label, step.profile, step.submit_after) == ("Scale", {"flops": 1}, True)
    assert step.subgroup_collectives_width == 32


def test_groups_repeat_passes() -> None:
    """Their passes are the older dialect's too."""
    group = {"id": "rounds", "repeat": {"count": 3, "index": "r"}, "passes": [older_pass(constants={"n": "repeat.r"})]}
    (step,) = read_manifest(of_variant(passes=[group])).variants[0].passes
    assert isinstance(step, RepeatGroup)
    assert (step.index, step.count.source) == ("r", "3")


@pytest.mark.parametrize(
    ("change", "defect"),
    [
        ({"dispatch": {"gridStride": 4}}, ".dispatch.workgroupSize: is missing: give an expression or an integer"),
        ({"dispatch": {"gridStride": True, "workgroupSize": 1}}, ".dispatch.gridStride: must be an expression or an…"),
        ({"dispatch": {"gridStride": 1, "workgroupSize": 0}}, ".dispatch.workgroupSize: must be an expression or an…"),
        (
            {"dispatch": {"gridStride": 4, "workgroupSize": 1, "x": 1}},
            ".dispatch.x: is not a key of a dispatch with 'gridStride': …",
        ),
        ({"dispatch": {"gridStride": "n", "workgroupSize": 1}}, ".dispatch.gridStride: uses the unknown name 'n'…"),
        ({"dispatch": None}, ".dispatch: is missing: give {x, y, z}, {threads, workgroupSize} or {gridStride, …"),
        ({"shader": "../a.wgsl"}, ".shader: must be a file's name inside the package…"),
        ({"viewAlias": [{"input": "x", "output": "z"}]}, ".viewAlias[0].output: is no output: the outputs are y"),
        ({"shaders": 1}, ".shaders: is not a key of a pass: did you mean 'shader'?"),
    ],
)
def test_a_pass_is_checked(change: dict[str, Any], defect: str) -> None:
    """Each fault has its path."""
    found = older_defects(of_pass(**change))
    assert says(found[0], f"variants[0].passes[0]{defect}"), found
