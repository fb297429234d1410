"""Formulas are compiled while the manifest is read, and every name in them is one that their place can know."""

from __future__ import annotations

from typing import Any

import pytest
from manifest_defects import defects
from sample_manifests import a_pass, scale_manifest, variant

from webgpu_kernels.contract import read_manifest

NOWHERE = (
    "there are derived names, repeat, tunables, derive, DISPATCH_FOLD_WIDTH, dtypes, logicalDtypes, tensorDtypes, "
    "ranks, "
    "shapes, present, args, attrs, device and functions"
)


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("shapes", "is a name that expressions reserve: choose another"),
        ("device", "is a name that expressions reserve: choose another"),
        ("env", "is a name that expressions reserve: choose another"),
        ("true", "is a name that expressions reserve: choose another"),
        ("not", "is a name that expressions reserve: choose another"),
        ("f16Ok", "is a name that expressions reserve: choose another"),
        ("T", "is the name of a type variable: choose another"),
        (
            "__class__",
            "is not a name: use letters, digits and underscores, no digit first and no two underscores first",
        ),
        ("a", None),
        ("rows", None),
        ("_x", None),
    ],
)
def test_a_derived_name_hides_no_namespace_and_no_type(name: str, fault: str | None) -> None:
    """It may hide a function: derived names are found first."""
    for manifest, path in (
        (scale_manifest(derive={name: "1"}), ""),
        (scale_manifest(variants=[variant("a", derive={name: "1"})]), "variants[0]."),
        (scale_manifest(variants=[variant("a", passes=[a_pass(derive={name: "1"})])]), "variants[0].passes[0]."),
    ):
        if fault is None:
            assert read_manifest(manifest)
        else:
            assert defects(manifest) == [f"{path}derive.{name}: {fault}"]


@pytest.mark.parametrize(
    "expression",
    [
        "repeat.index",
        "tunables.W",
        "derive.x",
        "DISPATCH_FOLD_WIDTH",
        "dtypes.T",
        "logicalDtypes.T",
        "tensorDtypes.x",
        "ranks.x",
        "shapes.x",
        "present.x",
        "args.k",
        "attrs.a",
        "device.limits.maxBufferSize",
        "f16Ok(dtypes.T)",
        "none",
        "True",
        "ceilDiv(1, 2)",
        "nope is defined",
    ],
)
def test_every_name_of_the_format_is_known(expression: str) -> None:
    """FORMAT section 3; a name that is only asked for need not exist."""
    assert read_manifest(scale_manifest(derive={"d": expression}))


@pytest.mark.parametrize("expression", ["range(3)", "namespace()", "raise_exception('x')", "env.wgsl", "rank(1)"])
def test_names_of_templates_only_are_unknown(expression: str) -> None:
    """Plain expressions lack them."""
    (defect,) = defects(scale_manifest(derive={"d": expression}))
    assert defect.startswith(
        f"derive.d: uses the unknown name '{expression.split('(', maxsplit=1)[0].split('.', maxsplit=1)[0]}': "
    )


@pytest.mark.parametrize(
    ("changes", "defect"),
    [
        ({"derive": {"n": "nope + 1"}}, f"derive.n: uses the unknown name 'nope': {NOWHERE}"),
        ({"derive": {"count": "1", "m": "cuont"}}, "derive.m: uses the unknown name 'cuont': did you mean 'count'?"),
        (
            {"derive": {"m": 'T == "f32"'}},
            (
                "derive.m: uses the unknown name 'T': write dtypes.T or logicalDtypes.T, type variables are names in "
                "templates only"
            ),
        ),
        (
            {"derive": {"m": "n", "n": "1"}},
            "derive.m: uses the unknown name 'n': it is derived at derive.n, which does not reach here",
        ),
        (
            {"derive": {"n": "n"}},
            "derive.n: uses the unknown name 'n': it is derived at derive.n, which does not reach here",
        ),
        ({"derive": {"n": ["1", {"k": "nope"}]}}, f"derive.n[1].k: uses the unknown name 'nope': {NOWHERE}"),
        ({"when": ["nope"]}, f"when[0]: uses the unknown name 'nope': {NOWHERE}"),
        (
            {"variants": [variant("a", when=["n == 1"], derive={"n": "1"})]},
            (
                "variants[0].when[0]: uses the unknown name 'n': it is derived at variants[0].derive.n, which does not "
                "reach here"
            ),
        ),
        (
            {"variants": [variant("a", demoteWhen=["n == 1"], derive={"n": "1"})]},
            (
                "variants[0].demoteWhen[0]: uses the unknown name 'n': it is derived at variants[0].derive.n, which "
                "does not reach here"
            ),
        ),
        (
            {"variants": [variant("a", passes=[a_pass(dispatch={"x": "nope"})])]},
            f"variants[0].passes[0].dispatch.x: uses the unknown name 'nope': {NOWHERE}",
        ),
        (
            {"variants": [variant("a", intermediates=[{"id": "s", "dtype": "float32", "shape": "nope"}])]},
            f"variants[0].intermediates[0].shape: uses the unknown name 'nope': {NOWHERE}",
        ),
    ],
)
def test_an_unknown_name_is_a_defect(changes: dict[str, Any], defect: str) -> None:
    """With the nearest known one, or with why it is not visible."""
    assert defects(scale_manifest(**changes)) == [defect]


def test_each_level_sees_those_above() -> None:
    """Variant and pass may redefine a name from its earlier value."""
    manifest = scale_manifest(
        derive={"n": "1"},
        when=["n == 1"],
        variants=[
            variant(
                "a",
                derive={"n": "n + 1", "m": "n"},
                passes=[a_pass(derive={"m": "m + n", "k": "m"}, dispatch={"x": "k + m + n"})],
            )
        ],
    )
    assert read_manifest(manifest).variants[0].passes[0].id == "main"


def test_siblings_do_not_see_each_other() -> None:
    """A pass's names end with it, a variant's with it."""
    first = variant("a", derive={"n": "1"}, passes=[a_pass(derive={"k": "1"}), a_pass(id="next", dispatch={"x": "k"})])
    second = variant("b", derive={"m": "n"})
    assert defects(scale_manifest(variants=[first, second])) == [
        f"variants[0].passes[1].dispatch.x: uses the unknown name 'k': {NOWHERE}",
        f"variants[1].derive.m: uses the unknown name 'n': {NOWHERE}",
    ]


def test_all_unknown_names_of_a_formula_are_reported() -> None:
    """In alphabetical order."""
    assert [defect.split("'")[1] for defect in defects(scale_manifest(derive={"n": "zz + aa"}))] == ["aa", "zz"]


@pytest.mark.parametrize("source", ["", "1 +", "1e-5", "'open", "a b", "{{ 1 }}"])
def test_an_expression_that_does_not_parse_is_a_defect(source: str) -> None:
    """With its path, beside the other defects."""
    found = defects(scale_manifest(derive={"n": ["1", source]}, when=[source]))
    assert [defect.split(":")[:2] for defect in found] == [
        ["derive.n[1]", " is not an expression"],
        ["when[0]", " is not an expression"],
    ]


@pytest.mark.parametrize(
    ("value", "result"),
    [
        ('"softmax"', "softmax"),
        ("true", True),
        (True, True),
        (4, 4),
        (0.5, 0.5),
        (["1 + 1", 3], [2, 3]),
        ({"k": "2 * 2"}, {"k": 4}),
        (None, None),
    ],
)
def test_literals_and_expressions_may_be_derived(value: object, result: object) -> None:
    """Strings inside lists and objects are expressions too."""
    (derived,) = read_manifest(scale_manifest(derive={"n": value})).derive
    assert derived.expression.evaluate({}) == result
