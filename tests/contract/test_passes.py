"""Passes, repeat groups, dispatch forms, view aliases."""

from __future__ import annotations

from typing import Any

import pytest
from manifest_defects import defects
from sample_manifests import a_pass, scale_manifest, variant

from webgpu_kernels.contract import Pass, RepeatGroup, ViewAlias, read_manifest

FILE = "must be a file's name inside the package: no '..', no leading slash, no backslash, no control characters"


def with_steps(*steps: Any) -> dict[str, Any]:
    return scale_manifest(variants=[variant("a", passes=list(steps))])


def read_pass(**changes: Any) -> Pass:
    step = read_manifest(with_steps(a_pass(**changes))).variants[0].passes[0]
    assert isinstance(step, Pass)
    return step


def group(**changes: Any) -> dict[str, Any]:
    return {"id": "g", "repeat": {"count": 2, "index": "i"}, "passes": [a_pass()], **changes}


def lacking(key: str) -> dict[str, Any]:
    return {name: value for name, value in a_pass().items() if name != key}


@pytest.mark.parametrize(
    ("step", "defect"),
    [
        (
            3,
            (
                "variants[0].passes[0]: must be an object with the keys id, name, shader, derive, bindings, dispatch, "
                "profile, "
                "subgroupCollectivesWidth, submitAfter, viewAlias, not the number 3"
            ),
        ),
        (
            a_pass(id="a/b"),
            "variants[0].passes[0].id: is not a pass id: use letters, digits, underscores, dots and dashes",
        ),
        (a_pass(name=1), "variants[0].passes[0].name: must be a string, not the number 1"),
        (a_pass(submitAfter="no"), 'variants[0].passes[0].submitAfter: must be true or false, not the string "no"'),
        (
            a_pass(subgroupCollectivesWidth=3),
            (
                "variants[0].passes[0].subgroupCollectivesWidth: must be 'portable' or a power of two from 4 to 128, "
                "not the number 3"
            ),
        ),
        (
            a_pass(subgroupCollectivesWidth=256),
            (
                "variants[0].passes[0].subgroupCollectivesWidth: must be 'portable' or a power of two from 4 to 128, "
                "not the number 256"
            ),
        ),
        (
            a_pass(subgroupCollectivesWidth="any"),
            (
                "variants[0].passes[0].subgroupCollectivesWidth: must be 'portable' or a power of two from 4 to 128, "
                'not the string "any"'
            ),
        ),
        (
            a_pass(derive=[]),
            (
                "variants[0].passes[0].derive: must be an object of formulas, name to expression or literal, not a "
                "list of 0"
            ),
        ),
        (a_pass(bindings="x"), 'variants[0].passes[0].bindings: must be a list of bindings, not the string "x"'),
        (lacking("shader"), "variants[0].passes[0].shader: is missing: name the template file"),
        (lacking("bindings"), "variants[0].passes[0].bindings: is missing: list what the shader reads and writes"),
        (
            lacking("dispatch"),
            "variants[0].passes[0].dispatch: is missing: give {x, y, z}, {threads, workgroupSize} or {workgroups}",
        ),
        (a_pass(source={}), "variants[0].passes[0].source: is not a key of a pass: use 'shader' and 'derive'"),
    ],
)
def test_a_pass_is_checked(step: Any, defect: str) -> None:
    """Each key by its own rule."""
    assert defects(with_steps(step)) == [defect]


@pytest.mark.parametrize(
    "name",
    ["../x.wgsl", "a/../x.wgsl", "/x.wgsl", "a\\x.wgsl", "x\0.wgsl", "", ".", "a//b.wgsl", "c:x.wgsl", "a/./b.wgsl"],
)
def test_a_shader_lies_in_the_package(name: str) -> None:
    """The name alone must not lead out of it."""
    assert defects(with_steps(a_pass(shader=name))) == [f"variants[0].passes[0].shader: {FILE}"]


@pytest.mark.parametrize("name", ["x.glsl", "x.jinja", "wgsl"])
def test_a_shader_has_a_known_suffix(name: str) -> None:
    """Both kinds are rendered."""
    assert defects(with_steps(a_pass(shader=name))) == [
        "variants[0].passes[0].shader: must end in .wgsl or .wgsl.jinja"
    ]


@pytest.mark.parametrize("name", ["x.wgsl", "x.wgsl.jinja", "lib/x.wgsl"])
def test_a_shader_may_lie_in_a_folder(name: str) -> None:
    """Names are relative to build/webgpu."""
    assert read_pass(shader=name).shader == name


@pytest.mark.parametrize(
    ("dispatch", "defect"),
    [
        ({}, "dispatch: must be one of {x, y, z}, {threads, workgroupSize} and {workgroups}"),
        ({"x": 1, "workgroups": 1}, "dispatch: must be one of {x, y, z}, {threads, workgroupSize} and {workgroups}"),
        ({"y": 1}, "dispatch.x: is missing: give an expression or an integer"),
        ({"threads": 4}, "dispatch.workgroupSize: is missing: give an expression or an integer"),
        ({"workgroupSize": 4}, "dispatch.threads: is missing: give an expression or an integer"),
        (
            {"threads": 4, "workgroupSize": 0},
            "dispatch.workgroupSize: must be an expression or an integer of at least 1, not the number 0",
        ),
        ({"x": -1}, "dispatch.x: must be an expression or an integer of at least 0, not the number -1"),
        ({"x": 1.5}, "dispatch.x: must be an expression or an integer of at least 0, not the number 1.5"),
        ({"x": None}, "dispatch.x: must be an expression or an integer of at least 0, not null"),
        ({"x": [1]}, "dispatch.x: must be an expression or an integer of at least 0, not a list of 1"),
        ({"x": True}, "dispatch.x: must be an expression or an integer of at least 0, not true"),
        ([1], "dispatch: must be an object with the keys x, y, z, threads, workgroupSize, workgroups, not a list of 1"),
    ],
)
def test_a_dispatch_has_one_form(dispatch: Any, defect: str) -> None:
    """Explicit, by threads, or by workgroups."""
    assert defects(with_steps(a_pass(dispatch=dispatch))) == [f"variants[0].passes[0].{defect}"]


def test_the_older_dispatch_says_what_replaced_it() -> None:
    """GridStride looped in the shader."""
    assert defects(with_steps(a_pass(dispatch={"gridStride": "4", "workgroupSize": 4})))[0] == (
        "variants[0].passes[0].dispatch.gridStride: is not a key of 'dispatch': use {threads, workgroupSize}, and "
        "loop no "
        "more in the shader"
    )


def test_the_three_dispatch_forms() -> None:
    """What is absent is 1."""
    grid = read_pass(dispatch={"x": "ranks.x", "z": 3}).dispatch
    assert (grid.form, grid.x.source, grid.y.evaluate({}), grid.z.evaluate({})) == ("grid", "ranks.x", 1, 3)
    threads = read_pass(dispatch={"threads": "numel(shapes.x)", "workgroupSize": 64}).dispatch
    assert (threads.form, threads.threads.source, threads.workgroup_size.evaluate({})) == (
        "threads",
        "numel(shapes.x)",
        64,
    )
    workgroups = read_pass(dispatch={"workgroups": "ranks.x"}).dispatch
    assert (workgroups.form, workgroups.workgroups.source) == ("workgroups", "ranks.x")


def test_a_pass_is_read_whole() -> None:
    """Every key."""
    step = read_pass(name="Scale.main", profile={"kind": "copy"}, subgroupCollectivesWidth=32, submitAfter=True)
    assert (step.id, step.label, step.profile, step.subgroup_collectives_width, step.submit_after) == (
        "main",
        "Scale.main",
        {"kind": "copy"},
        32,
        True,
    )
    assert read_pass(subgroupCollectivesWidth="portable").subgroup_collectives_width == "portable"
    assert (read_pass().label, read_pass().submit_after, read_pass().view_aliases) == ("main", False, ())


def test_passes_have_different_ids() -> None:
    """Among siblings."""
    assert defects(with_steps(a_pass(), a_pass())) == [
        "variants[0].passes[1].id: is taken: another pass here is called 'main'"
    ]


@pytest.mark.parametrize(
    ("step", "defect"),
    [
        (group(passes=[]), "passes: must not be empty: give passes"),
        (group(repeat={"index": "i"}), "repeat.count: is missing: give how many times the passes run"),
        (
            group(repeat={"count": -1}),
            "repeat.count: must be an expression or an integer of at least 0, not the number -1",
        ),
        (group(repeat={"count": 65536}), "repeat.count: must be at most 65,535"),
        (
            group(repeat={"count": 1.5}),
            "repeat.count: must be an expression or an integer of at least 0, not the number 1.5",
        ),
        (
            group(repeat={"count": 1, "index": "1"}),
            (
                "repeat.index: is not a name: use letters, digits and underscores, no digit first and no two "
                "underscores first"
            ),
        ),
        (group(repeat={"count": 1, "index": "count"}), "repeat.index: would hide repeat.count: choose another name"),
        (
            group(repeat={"count": 1, "step": 2}),
            "repeat.step: is not a key of 'repeat': the keys of 'repeat' are count, index",
        ),
        (group(repeat=3), "repeat: must be an object with the keys count, index, not the number 3"),
        (
            group(dispatch={}),
            "dispatch: is not a key of a repeat group: the keys of a repeat group are id, repeat, passes",
        ),
        (
            group(passes=[group(id="h")]),
            "passes[0].repeat.index: is the index of an outer group: repeat.i could mean either",
        ),
        ({"id": "g", "repeat": {"count": 1}}, "passes: is missing: give the passes to repeat"),
    ],
)
def test_a_repeat_group_is_checked(step: Any, defect: str) -> None:
    """Counts, index names, and what it may hold."""
    assert defects(with_steps(step)) == [f"variants[0].passes[0].{defect}"]


def test_repeat_groups_are_read() -> None:
    """They may hold others; the index has a name."""
    inner = group(id="h", repeat={"count": "repeat.index + 1", "index": "j"})
    steps = read_manifest(with_steps(group(repeat={"count": 3}, passes=[inner, a_pass(id="next")]))).variants[0].passes
    outer = steps[0]
    assert isinstance(outer, RepeatGroup)
    assert (outer.id, outer.index, outer.count.evaluate({})) == ("g", "index", 3)
    assert [type(step) for step in outer.passes] == [RepeatGroup, Pass]


def test_passes_known_to_be_too_many_are_refused() -> None:
    """Constant counts multiply; others are left to the call."""
    inner = group(id="h", repeat={"count": 400, "index": "j"})
    assert defects(with_steps(group(repeat={"count": 400}, passes=[inner]))) == [
        "variants[0].passes: runs 160,000 passes: 131,072 are the most"
    ]
    for count in ("ranks.x * 400", "1 + none", "-400"):
        assert read_manifest(with_steps(group(repeat={"count": count}, passes=[inner])))


@pytest.mark.parametrize(
    ("alias", "defect"),
    [
        ([], "viewAlias: must not be empty: give pairs {input, output}"),
        ([{"input": "x"}], "viewAlias[0].output: is missing: name an output that the pass binds"),
        ([{"input": "z", "output": "y"}], "viewAlias[0].input: is no input: the inputs are x"),
        ([{"input": "x", "output": "x"}], "viewAlias[0].output: is no output: the outputs are y"),
        ({"input": "x"}, "viewAlias: must be a list of pairs {input, output}, not an object"),
    ],
)
def test_a_view_alias_pairs_an_input_with_an_output(alias: Any, defect: str) -> None:
    """Both are tensors."""
    assert defects(with_steps(a_pass(viewAlias=alias))) == [f"variants[0].passes[0].{defect}"]


def test_a_view_alias_names_the_shaders_variables_or_the_ports() -> None:
    """Either way the ports are kept."""
    bindings = [{"name": "src", "arg": "x"}, {"name": "dst", "arg": "y"}]
    expected = (ViewAlias(input="x", output="y"),)
    assert read_pass(bindings=bindings, viewAlias=[{"input": "src", "output": "dst"}]).view_aliases == expected
    assert read_pass(viewAlias=[{"input": "x", "output": "y"}]).view_aliases == expected
