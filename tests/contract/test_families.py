"""Variant families: placeholders, cases, axes."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest
from manifest_defects import defects
from sample_manifests import a_pass, scale_manifest, variant

from webgpu_kernels.contract import Variant, families, read_manifest

TEMPLATE = {
    "id": "v_{kind}",
    "priority": "{rank}",
    "when": ["ranks.x > {rank}"],
    "passes": [a_pass(shader="{kind}.wgsl")],
}


TOO_MUCH = "variants: expands to too much: 4,096 variants, 200,000 values and 4 MiB of text are the most"


def expand(*families: Any) -> tuple[Variant, ...]:
    return read_manifest(scale_manifest(variants=list(families))).variants


def axes(**changes: Any) -> dict[str, Any]:
    rows = [{"$key": "nhwc", "rank": 1}, {"$key": "nchw", "rank": 2}]
    columns = [{"$key": "vec", "width": 4}, {"$key": "scalar", "width": 1}]
    template = variant("{layout}_{kind}", priority="{rank}", derive={"w": "{width}"})
    return {"axes": {"layout": rows, "kind": columns}, "variants": [template], **changes}


def test_each_case_gives_each_template() -> None:
    """In order, between the plain variants."""
    family = {
        "cases": [{"kind": "fast", "rank": 2}, {"kind": "slow", "rank": 1}],
        "variants": [TEMPLATE],
        "description": "Two.",
    }
    variants = expand(variant("first"), family, variant("last"))
    assert [found.id for found in variants] == ["first", "v_fast", "v_slow", "last"]
    assert [found.priority for found in variants] == [0, 2, 1, 0]
    assert variants[1].when[0].source == "ranks.x > 2"
    assert variants[2].passes[0].shader == "slow.wgsl"  # type: ignore[union-attr]


def test_null_deletes_the_key() -> None:
    """Where it is the whole value; in a list it drops the entry."""
    template = variant("v_{id}", when="{when}", demoteWhen=["{more}", "true"])
    cases = [{"id": "a", "when": ["true"], "more": "false"}, {"id": "b", "when": None, "more": None}]
    first, second = expand({"cases": cases, "variants": [template]})
    assert ([clause.source for clause in first.when], len(first.demote_when)) == (["true"], 2)
    assert (second.when, len(second.demote_when)) == ((), 1)


def test_a_list_is_spliced_into_a_list() -> None:
    """A whole-value placeholder among entries."""
    template = variant("v", when=["ranks.x > 0", "{clauses}", "ranks.x < 9"])
    (found,) = expand({"cases": [{"clauses": ["ranks.x > 1", "ranks.x > 2"]}], "variants": [template]})
    assert [clause.source for clause in found.when] == ["ranks.x > 0", "ranks.x > 1", "ranks.x > 2", "ranks.x < 9"]


def test_an_object_is_a_whole_value() -> None:
    """Such as a dispatch."""
    (found,) = expand(
        {"cases": [{"grid": {"workgroups": 7}}], "variants": [variant("v", passes=[a_pass(dispatch="{grid}")])]}
    )
    assert found.passes[0].dispatch.form == "workgroups"  # type: ignore[union-attr]


def test_values_inside_a_text_are_written_as_in_javascript() -> None:
    """Numbers and booleans."""
    template = variant("v", derive={"a": "[{n}, {flag}, '{text}']"})
    (found,) = expand({"cases": [{"n": 4, "flag": True, "text": "x"}], "variants": [template]})
    assert found.derive[0].expression.evaluate({}) == [4, True, "x"]


def test_axes_make_a_grid_of_cells() -> None:
    """The first axis is the outer one; both records and both keys fill the template."""
    variants = expand(axes())
    assert [found.id for found in variants] == ["nhwc_vec", "nhwc_scalar", "nchw_vec", "nchw_scalar"]
    assert [found.priority for found in variants] == [1, 1, 2, 2]
    assert [found.derive[0].expression.evaluate({}) for found in variants] == [4, 1, 4, 1]


def test_cells_may_be_excluded() -> None:
    """By both axes, or a whole row by one."""
    assert [found.id for found in expand(axes(exclude=[{"layout": "nhwc", "kind": "vec"}]))] == [
        "nhwc_scalar",
        "nchw_vec",
        "nchw_scalar",
    ]
    assert [found.id for found in expand(axes(exclude=[{"layout": "nhwc"}]))] == ["nchw_vec", "nchw_scalar"]


def test_cases_override_cells() -> None:
    """They select cells by their axes and replace values."""
    variants = expand(axes(cases=[{"layout": "nchw", "kind": "vec", "width": 2}, {"kind": "scalar", "rank": 9}]))
    assert [found.derive[0].expression.evaluate({}) for found in variants] == [4, 1, 2, 1]
    assert [found.priority for found in variants] == [1, 9, 2, 9]


@pytest.mark.parametrize(
    ("family", "defect"),
    [
        ({"cases": [], "variants": [variant("v")]}, "variants[0].cases: must not be empty: give cases"),
        ({"cases": [{}]}, "variants[0].variants: is missing: give the templates to expand"),
        ({"cases": [{}], "variants": []}, "variants[0].variants: must not be empty: give variants"),
        (
            {"cases": [1], "variants": [variant("v")]},
            "variants[0].cases[0]: must be an object of placeholders, name to value, not the number 1",
        ),
        (
            {"cases": [{"1": 2}], "variants": [variant("v")]},
            (
                'variants[0].cases[0]["1"]: is not a name: use letters, digits and underscores, no digit first and '
                "no two underscores first"
            ),
        ),
        (
            {"cases": [{}], "variants": [variant("v")], "extra": 1},
            (
                "variants[0].extra: is not a key of a variant family: the keys of a variant family are "
                "cases, axes, exclude, variants, description"
            ),
        ),
        (
            {"cases": [{}], "variants": [variant("v")], "exclude": []},
            "variants[0].exclude: is for families with 'axes': drop the case",
        ),
        (
            {"cases": [{"a": 1}], "variants": [variant("v_{b}")]},
            "variants[0].variants[0].id: has the unknown placeholder {b}: the placeholders are a",
        ),
        (
            {"cases": [{"a": [1]}], "variants": [variant("v_{a}")]},
            "variants[0].variants[0].id: has the placeholder {a} inside a text, and its value is no text or number",
        ),
        (
            {"cases": [{}], "variants": [{"cases": [{}], "variants": [variant("v")]}]},
            "variants[0].variants[0]: is a family inside a family: list all cases in one",
        ),
        (
            axes(axes={"a": [{"$key": "k"}]}),
            "variants[0].axes: must name exactly two axes, not 1: use 'cases' for one list",
        ),
        (
            axes(axes={"layout": [{"rank": 1}], "kind": [{"$key": "k"}]}),
            "variants[0].axes.layout[0]: must have a '$key' of its own, a string",
        ),
        (
            axes(exclude=[{"layout": "x"}]),
            "variants[0].exclude[0].layout: \"x\" is no '$key' of the axis: the keys of layout are nhwc, nchw",
        ),
        (axes(exclude=[{"rank": 1}]), "variants[0].exclude[0]: selects nothing: give layout or kind"),
        (
            axes(exclude=[{"layout": "nhwc"}, {"layout": "nchw"}]),
            "variants[0]: expands to nothing: give a case that is not excluded",
        ),
    ],
)
def test_a_family_is_checked(family: Any, defect: str) -> None:
    """Before and while it is expanded."""
    assert defect in [found.split(" (in the case")[0] for found in defects(scale_manifest(variants=[family]))]


def test_a_defect_of_a_template_names_the_case() -> None:
    """The first one that has it; its path is the template's."""
    family = {
        "cases": [{"x": 1}, {"x": -1}, {"x": -1}],
        "variants": [variant("v", passes=[a_pass(dispatch={"x": "{x}"})])],
    }
    found = defects(scale_manifest(variants=[family]))
    assert found[-1] == (
        "variants[0].variants[0].passes[0].dispatch.x: must be an expression or an integer of at least 0, not the "
        "number -1 "
        "(in the case 1)"
    )


def test_expansion_is_bounded() -> None:
    """A short text cannot ask for a million variants."""
    row = [{"$key": f"k{number}"} for number in range(100)]
    family = {"axes": {"a": row, "b": row}, "variants": [variant("{a}_{b}")]}
    assert defects(scale_manifest(variants=[family])) == [TOO_MUCH]


def test_splicing_cannot_double_without_end() -> None:
    """Values count, not only variants."""
    big = ["true"] * 1000
    family = {"cases": [{"all": big}] * 50, "variants": [variant("v", when=["{all}"] * 1000)]}
    assert defects(scale_manifest(variants=[family])) == [TOO_MUCH]


def test_axes_are_counted_before_they_are_crossed() -> None:
    """A short text may not name a million cells, nor compare each with thousands of selections."""
    long_axes = {name: [{"$key": f"{name}{number}"} for number in range(1000)] for name in ("x", "y")}
    family = {"axes": long_axes, "variants": [variant("{x}_{y}")]}
    assert_refused_early(family)
    assert_refused_early({**family, "exclude": [{"x": f"x{number}"} for number in range(999)]})


def test_records_are_counted_before_cells_copy_them() -> None:
    """A long record of one axis stands in each cell of its row."""
    row = {"$key": "a", **{f"n{number}": number for number in range(10_000)}}
    cells = {"x": [row], "y": [{"$key": f"y{number}"} for number in range(1000)]}
    assert_refused_early({"axes": cells, "variants": [variant("{x}_{y}")]})


@pytest.mark.parametrize(
    "template",
    [
        {"description": "{n}" * 1000},
        {"derive": {f"d{number}": "{n}" for number in range(1000)}},
        {"derive": {"d": "'" + "x" * 100_000 + "'"}},
    ],
    ids=["inside a text", "as whole values", "without a placeholder"],
)
def test_text_is_bounded(template: dict[str, Any]) -> None:
    """However it is multiplied."""
    cases = [{"name": f"c{number}", "n": f"'{'x' * 20_000}'"} for number in range(100)]
    assert_refused_early({"cases": cases, "variants": [{**variant("a{name}"), **template}]})


def test_templates_are_counted_with_the_cases() -> None:
    """Also those that are families themselves and expand to nothing."""
    assert_refused_early({"cases": [{}] * 5000, "variants": [{"cases": []}] * 5000})


def test_a_repeated_fault_is_looked_at_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """An unknown placeholder in each of many cases is one defect; after some hundred times nobody looks for a hint."""
    asked = []

    def hint(name: str, _known: object, *, what: str) -> str:
        asked.append(name)
        return f"see the {what}"

    monkeypatch.setattr(families, "alternatives", hint)
    family = {"cases": [{"name": 1}] * 4000, "variants": [variant("v", description="{nome}" * 10)]}
    assert defects(scale_manifest(variants=[family])) == [
        "variants[0].variants[0].description: has the unknown placeholder {nome}: see the placeholders"
    ]
    assert 0 < len(asked) < 300


def test_a_long_key_is_shortened_in_messages() -> None:
    """Each variant carries the name of its case."""
    cases = {"x": [{"$key": "a" * 1000}], "y": [{"$key": "b"}]}
    (found,) = defects(scale_manifest(variants=[{"axes": cases, "variants": [variant("v", priority="{y}")]}]))
    assert found.endswith(f"(in the case {'a' * 59}…, b)")


def assert_refused_early(family: dict[str, Any]) -> None:
    """Refusing takes a small part of the memory that expanding would take, and so of the time."""
    manifest = scale_manifest(variants=[family])
    tracemalloc.start()
    try:
        assert defects(manifest) == [TOO_MUCH]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 40 * 2**20
