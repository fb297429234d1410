"""Constants, clauses and template inputs of the older dialect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from older_manifests import (
    first_pass,
    of_pass,
    of_variant,
    older_defects,
    older_manifest,
    older_pass,
    older_variant,
    says,
)

from webgpu_kernels.contract import read_manifest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from webgpu_kernels.contract import Derived
    from webgpu_kernels.language import Value


def values(*levels: Iterable[Derived]) -> dict[str, Value]:
    """Evaluate levels of derived names from the outermost in."""
    scope: dict[str, Value] = {}
    for level in levels:
        for entry in level:
            scope[entry.name] = entry.expression.evaluate(scope)
    return scope


def test_constants_are_derived_names_and_a_namespace() -> None:
    """A formula may say ``n`` or ``constants.n``; a later constant may use an earlier one either way."""
    manifest = read_manifest(older_manifest(constants={"n": 2, "m": "n + constants.n", "text": '"a"'}))
    assert values(manifest.derive) == {
        "n": 2,
        "m": 4,
        "text": "a",
        "constants": {"n": 2, "m": 4, "text": "a"},
    }


def test_constants_of_inner_levels_join_those_outside() -> None:
    """A pass sees its variant's and the manifest's under one namespace, each name with its innermost value."""
    step = older_pass(constants={"p": "constants.v + constants.m", "m": 10})
    manifest = read_manifest(
        older_manifest(constants={"m": 1}, variants=[older_variant(constants={"v": "m + 1"}, passes=[step])])
    )
    variant = manifest.variants[0]
    assert values(manifest.derive, variant.derive)["constants"] == {"m": 1, "v": 2}
    assert values(manifest.derive, variant.derive, first_pass(manifest).derive)["constants"] == {
        "m": 10,
        "v": 2,
        "p": 3,
    }


def test_constants_and_derive_are_evaluated_in_the_documents_order() -> None:
    """Whichever stands first is seen by the other."""
    first = read_manifest(older_manifest(constants={"c": 1}, derive={"d": "constants.c + 1"}))
    assert values(first.derive)["d"] == 2
    second = read_manifest(older_manifest(derive={"d": 1}, constants={"c": "d + 1"}))
    assert values(second.derive)["constants"] == {"c": 2}


def test_a_manifest_without_constants_has_no_namespace_for_them() -> None:
    """Nothing is added to what stands there."""
    manifest = read_manifest(older_manifest(derive={"d": 1}))
    assert [entry.name for entry in manifest.derive] == ["d"]
    assert older_defects(older_manifest(derive={"d": "constants.c"}))[0].startswith(
        "derive.d: uses the unknown name 'constants'"
    )


def test_a_source_gives_its_template_names_of_its_own() -> None:
    """Under ``source``; its formulas see the pass's constants."""
    source = {"shader": "copy.wgsl.jinja", "inputs": {"count": "n * 2", "kind": '"flat"'}}
    manifest = read_manifest(of_pass(shader=None, source=source, constants={"n": 4}))
    step = first_pass(manifest)
    assert step.shader == "copy.wgsl.jinja"
    assert values(step.derive)["source"] == {"count": 8, "kind": "flat"}
    bare = first_pass(read_manifest(of_pass(shader=None, source={"shader": "copy.wgsl.jinja"})))
    assert values(bare.derive) == {"source": {}}


def test_a_single_clause_needs_no_list() -> None:
    """For ``when`` and ``demoteWhen``; a list works too."""
    variant = read_manifest(of_variant(when="1 == 1", demoteWhen=["1 == 2", "1 == 3"])).variants[0]
    assert [clause.source for clause in variant.when] == ["1 == 1"]
    assert [clause.source for clause in variant.demote_when] == ["1 == 2", "1 == 3"]


def test_a_floor_demotes_what_is_below_it() -> None:
    """``selectAbove`` came before ``demoteWhen`` and says the contrary."""
    variant = read_manifest(of_variant(selectAbove="numel(shapes.input) > 8 or false", demoteWhen="1 == 2")).variants[0]
    assert [clause.source for clause in variant.demote_when] == ["1 == 2", "not (numel(shapes.input) > 8 or false)"]
    (floor,) = read_manifest(of_variant(selectAbove=["2 > 1"])).variants[0].demote_when
    assert floor.evaluate({}) is False


@pytest.mark.parametrize(
    ("manifest", "defect"),
    [
        (
            older_manifest(constants=[]),
            "constants: must be an object of formulas, name to expression or literal, not a list of 0",
        ),
        (older_manifest(constants={"source": 1}), "constants.source: is a name that spec 1.0 reserves: choose another"),
        (older_manifest(derive={"constants": 1}), "derive.constants: is a name that spec 1.0 reserves: choose another"),
        (
            older_manifest(constants={"shapes": 1}),
            "constants.shapes: is a name that expressions reserve: choose another",
        ),
        (older_manifest(constants={"T": 1}), "constants.T: is the name of a type variable: choose another"),
        (older_manifest(constants={"n": "1 +"}), "constants.n: is not an expression: expected a value, found the end…"),
        (
            of_variant(when="late", constants={"late": True}),
            "variants[0].when: uses the unknown name 'late': it is derived at variants[0].constants.late, which does…",
        ),
        (of_variant(when=3), "variants[0].when: must be a list of clauses, not the number 3"),
        (of_variant(selectAbove="nowhere"), "variants[0].selectAbove: uses the unknown name 'nowhere'…"),
        (of_variant(selectAbove=[]), "variants[0].selectAbove: must not be empty: give clauses"),
        (of_variant(selectAbove=[1]), "variants[0].selectAbove[0]: must be a string, not the number 1"),
        (
            of_pass(source={"shader": "a.wgsl"}),
            "variants[0].passes[0].shader: stands beside 'source': keep one of them",
        ),
        (of_pass(shader=None), "variants[0].passes[0].shader: is missing: name the template file"),
        (
            of_pass(shader=None, source={}),
            "variants[0].passes[0].source.shader: is missing: name the template file",
        ),
        (
            of_pass(shader=None, source={"shader": "a.wgsl", "inputs": {"n": "nowhere"}}),
            "variants[0].passes[0].source.inputs.n: uses the unknown name 'nowhere'…",
        ),
        (
            of_pass(shader=None, source={"shader": "a.wgsl", "inputs": {"a b": 1}}),
            'variants[0].passes[0].source.inputs["a b"]: is not a name: use letters, digits and underscores…',
        ),
        (
            of_pass(shader=None, source={"shader": "a.wgsl", "inputs": [1]}),
            "variants[0].passes[0].source.inputs: must be an object of formulas, name to expression or literal, not a…",
        ),
    ],
)
def test_formulas_are_checked(manifest: dict[str, Any], defect: str) -> None:
    """Each fault has its path."""
    found = older_defects(manifest)
    assert len(found) == 1, found
    assert says(found[0], defect), found
