"""Which variant is chosen, and why the others are not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from sample_manifests import a_pass, scale_manifest, variant

from webgpu_kernels.errors import (
    AttributeValueError,
    NoVariantError,
    PlanError,
    RequestError,
    ShapeError,
    UnknownNameError,
)
from webgpu_kernels.planning.capabilities import Capabilities
from webgpu_kernels.planning.spec import TensorSpec

if TYPE_CHECKING:
    from sample_manifests import Planner, Select

    from webgpu_kernels.planning.selection import Selection


def verdicts(selection: Selection) -> list[tuple[str, bool, bool, str]]:
    return [(c.id, c.accepted, c.demoted, c.reason) for c in selection.candidates]


def chosen(selection: Selection) -> str | None:
    return selection.variant.id if selection.variant is not None else None


def test_the_highest_priority_wins(select: Select) -> None:
    """Candidates are tried by priority, ties in the manifest's order."""
    variants = [variant("a"), variant("b", priority=5), variant("c", priority=5), variant("d", priority=-1)]
    selection = select(scale_manifest(variants=variants))
    assert chosen(selection) == "b"
    assert [candidate.id for candidate in selection.candidates] == ["b", "c", "a", "d"]


@pytest.mark.parametrize("clause", ["1", "ranks.x", "'yes'", "false", "none", "true and 1", "shapes.x"])
def test_a_clause_must_be_exactly_true(select: Select, clause: str) -> None:
    """A truthy value is not true."""
    assert chosen(select(scale_manifest(variants=[variant("a", when=[clause])]))) is None


def test_a_failing_clause_rejects_only_its_variant(select: Select) -> None:
    """An error in ``when`` is a rejection that carries the error."""
    selection = select(scale_manifest(variants=[variant("a", when=["1 < none"]), variant("b")]))
    assert chosen(selection) == "b"
    assert not selection.candidates[0].accepted
    assert selection.candidates[0].kind == "whenError"
    assert selection.candidates[0].reason.startswith("when `1 < none` fails: ")


def test_a_failing_demotion_rejects(select: Select) -> None:
    """An error in ``demoteWhen`` is a rejection too."""
    selection = select(scale_manifest(variants=[variant("a", demoteWhen=["1 < none"]), variant("b")]))
    assert chosen(selection) == "b"
    assert selection.candidates[0].kind == "demoteError"


def test_a_demoted_variant_is_the_fallback(select: Select) -> None:
    """It is accepted, loses to any that is not demoted, and wins where there is none."""
    low = variant("low", priority=-5)
    high = variant("high", demoteWhen=["numel(shapes.x) < 100"])
    assert chosen(select(scale_manifest(variants=[high, low]))) == "low"
    selection = select(scale_manifest(variants=[high]))
    assert chosen(selection) == "high"
    assert verdicts(selection) == [("high", True, True, "demoted: `numel(shapes.x) < 100`")]


def test_the_first_demoted_one_is_the_fallback(select: Select) -> None:
    """Rank decides among demoted ones."""
    variants = [variant("a", demoteWhen=["true"]), variant("b", demoteWhen=["true"], priority=1)]
    assert chosen(select(scale_manifest(variants=variants))) == "b"


def test_a_superseded_variant_is_rejected(select: Select) -> None:
    """Where its superseder is eligible without demotion."""
    better = variant("better", priority=2, when=["numel(shapes.x) > 1"])
    plain = variant("plain", supersededBy=["better"])
    assert verdicts(select(scale_manifest(variants=[plain, better])))[1] == (
        "plain",
        False,
        False,
        "superseded by better",
    )
    one = {"x": TensorSpec((1,), "float32")}
    assert chosen(select(scale_manifest(variants=[plain, better]), one)) == "plain"


def test_a_demoted_superseder_does_not_supersede(select: Select) -> None:
    """Both stay eligible, and the one that is not demoted wins."""
    better = variant("better", priority=2, demoteWhen=["true"])
    plain = variant("plain", supersededBy=["better"])
    assert chosen(select(scale_manifest(variants=[plain, better]))) == "plain"


def test_missing_features_and_limits_reject(select: Select) -> None:
    """The reason names what the device lacks."""
    needs: list[dict[str, Any]] = [
        {"features": ["shader-f16", "subgroups"]},
        {"limits": {"maxComputeInvocationsPerWorkgroup": 1024}},
        {"subgroupMinSize": 8},
    ]
    variants = [variant(f"v{index}", requires=entry) for index, entry in enumerate(needs)]
    device = Capabilities(features={"subgroups"}, adapter_info={"subgroupMinSize": 4})
    assert [reason for *_, reason in verdicts(select(scale_manifest(variants=variants), capabilities=device))] == [
        "needs the feature shader-f16",
        "needs maxComputeInvocationsPerWorkgroup 1024, the device has 256",
        "needs subgroupMinSize 8, the device reports 4",
    ]


def test_an_unreported_subgroup_size_rejects(select: Select) -> None:
    """A device that reports none cannot promise one."""
    manifest = scale_manifest(variants=[variant("a", requires={"subgroupMinSize": 8})])
    assert verdicts(select(manifest))[0][3] == "needs subgroupMinSize 8, the device reports none"


def test_matrix_configs_are_checked_only_where_reported(select: Select) -> None:
    """A device that does not report its configs is given the benefit of the doubt."""
    config = {"componentType": "f16", "resultComponentType": "f32", "M": 8, "N": 8, "K": 8}
    manifest = scale_manifest(variants=[variant("a", requires={"subgroupMatrixConfigs": [config]})])
    assert chosen(select(manifest)) == "a"
    other = Capabilities(adapter_info={"subgroupMatrixConfigs": [{**config, "M": 16}]})
    assert chosen(select(manifest, capabilities=other)) is None
    same = Capabilities(adapter_info={"subgroupMatrixConfigs": [config]})
    assert chosen(select(manifest, capabilities=same)) == "a"


def test_too_many_buffers_in_one_pass_reject(select: Select) -> None:
    """Storage bindings of each pass are counted against the device."""
    tight = Capabilities(limits={"maxStorageBuffersPerShaderStage": 1})
    selection = select(scale_manifest(), capabilities=tight)
    assert selection.candidates[0].kind == "bufferBudget"
    assert selection.candidates[0].reason == (
        "pass main binds 2 buffers, the device's maxStorageBuffersPerShaderStage is 1"
    )


def test_when_does_not_see_a_variants_own_names(select: Select) -> None:
    """Variant tunables do not reach its clauses: those see the manifest's."""
    manifest = scale_manifest(
        tunables={"N": {"default": 4}},
        variants=[variant("a", tunables={"N": {"default": 8}}, when=["tunables.N == 4"])],
    )
    assert chosen(select(manifest)) == "a"
    assert chosen(select(manifest, tunables={"N": 5})) is None


def test_outputs_are_visible_to_clauses(select: Select) -> None:
    """Output shapes are known when variants are judged."""
    manifest = scale_manifest(variants=[variant("a", when=["sameShape(shapes.y, shapes.x)", "ranks.y == 2"])])
    assert chosen(select(manifest)) == "a"


def test_a_failing_manifest_derive_fails_the_call(select: Select) -> None:
    """It is no rejection of one variant; the message shows the request."""
    manifest = scale_manifest(derive={"last": "1 + none"})
    with pytest.raises(
        RequestError, match=r"^test.Scale: the contract cannot be evaluated for this call: .*"
    ) as caught:
        select(manifest)
    assert caught.value.got == "x float32[2, 3]"


def test_a_reason_follows_names_to_the_condition(select: Select) -> None:
    """A clause that only names a derive is no explanation."""
    manifest = scale_manifest(
        derive={"columns": "dim(shapes.x, 1)", "wide": "ranks.x == 2 and columns >= 8", "fine": "wide"}, when=["fine"]
    )
    assert verdicts(select(manifest))[0][3] == "fine → wide → `columns >= 8` is false (columns = 3)"


def test_a_broken_contract_is_a_shape_error(plan: Planner) -> None:
    """Where every variant fails on the same condition over shapes, that is what is wrong."""
    manifest = scale_manifest(derive={"ok": "dim(shapes.x, 0) == 4"}, when=["ok"])
    with pytest.raises(ShapeError) as caught:
        plan(manifest)
    assert str(caught.value) == (
        "test.Scale: the request breaks the contract: ok → `dim(shapes.x, 0) == 4` is false (shapes.x = [2, 3])"
    )


def test_a_broken_contract_is_an_attribute_error(plan: Planner) -> None:
    """The same for a condition over attributes."""
    manifest = scale_manifest(attributes={"n": {"default": 1}}, derive={"n2": "attrs.n"}, when=["n2 > 0"])
    with pytest.raises(
        AttributeValueError,
        match=r"^test.Scale: attribute 'n': value not allowed: expected `n2 > 0` \(attrs.n = -1, n2 = -1\), got -1$",
    ):
        plan(manifest, attrs={"n": -1})


def test_a_shape_that_a_contract_compares_is_said_plainly(plan: Planner) -> None:
    """Where the condition is that a port has one of some shapes, the error lists them."""
    manifest = scale_manifest(
        inputs={"x": {"dtype": "T"}, "k": {"dtype": "T", "optional": True}},
        derive={
            "same": "sameShape(shapes.k, shapes.x)",
            "fits": "not present.k or same or sameShape(shapes.k, [dim(shapes.x, 1)])",
        },
        when=["fits"],
    )
    x, k = TensorSpec((2, 3), "float32"), TensorSpec((2,), "float32")
    with pytest.raises(ShapeError) as caught:
        plan(manifest, {"x": x, "k": k})
    assert str(caught.value) == (
        "test.Scale: 'k': wrong shape: expected [2, 3] or [3], got [2]. The contract asks for fits."
    )
    assert (caught.value.expected, caught.value.got) == ("[2, 3] or [3]", "[2]")


def test_a_wrong_rank_is_said_first(plan: Planner) -> None:
    """A port's rank speaks once nothing takes the request."""
    manifest = scale_manifest(inputs={"x": {"dtype": "T", "rank": 3}}, when=["ranks.x == 3"])
    with pytest.raises(ShapeError, match=r"^test.Scale: 'x': wrong rank: expected rank 3, got rank 2, shape \[2, 3\]$"):
        plan(manifest)


def test_a_variant_that_the_device_rules_out_hides_no_broken_contract(plan: Planner) -> None:
    """Every variant would fail the clause, whatever else is against it."""
    needy = variant("needy", priority=5, requires={"features": ["subgroups"]})
    manifest = scale_manifest(variants=[needy, variant("plain")], when=["sameShape(shapes.x, [3, 3])"])
    with pytest.raises(ShapeError, match=r"^test.Scale: 'x': wrong shape: expected \[3, 3\], got \[2, 3\]"):
        plan(manifest)


def test_a_variant_that_the_device_rules_out_is_listed_where_it_might_have_taken_the_request(plan: Planner) -> None:
    """Its own clauses would have passed."""
    needy = variant("needy", priority=5, requires={"features": ["subgroups"]})
    manifest = scale_manifest(variants=[needy, variant("plain", when=["ranks.x == 1"])])
    with pytest.raises(NoVariantError) as caught:
        plan(manifest)
    assert str(caught.value) == (
        "test.Scale: no variant takes this request; rejected\n"
        "  needy: needs the feature subgroups\n"
        "  plain: `ranks.x == 1` is false (ranks.x = 2)"
    )


def test_different_reasons_are_listed(plan: Planner) -> None:
    """One line a candidate."""
    manifest = scale_manifest(variants=[variant("a", when=["ranks.x == 1"]), variant("b", when=["ranks.x == 5"])])
    with pytest.raises(NoVariantError) as caught:
        plan(manifest)
    assert str(caught.value) == (
        "test.Scale: no variant takes this request; rejected\n"
        "  a: `ranks.x == 1` is false (ranks.x = 2)\n"
        "  b: `ranks.x == 5` is false (ranks.x = 2)"
    )
    assert set(caught.value.reasons) == {"a", "b"}


def test_a_missing_f16_is_said_in_words(plan: Planner) -> None:
    """f16Ok is the format's guard; its failure names the feature."""
    manifest = scale_manifest(when=["f16Ok(dtypes.T)"])
    with pytest.raises(NoVariantError, match="float16 needs the feature shader-f16, which the device lacks"):
        plan(manifest, {"x": TensorSpec((4,), "float16")})


def test_a_forced_variant_runs_though_demoted_or_superseded(select: Select) -> None:
    """Forcing overrides preference, not ability."""
    variants = [variant("best", priority=3), variant("other", demoteWhen=["true"], supersededBy=["best"])]
    assert chosen(select(scale_manifest(variants=variants), variant="other")) == "other"


def test_a_forced_variant_that_cannot_run_says_why(plan: Planner) -> None:
    """The reason is the candidate's."""
    manifest = scale_manifest(variants=[variant("a", when=["ranks.x == 1"]), variant("b")])
    with pytest.raises(NoVariantError) as caught:
        plan(manifest, variant="a")
    assert str(caught.value) == (
        "test.Scale: variant 'a' does not take this request: `ranks.x == 1` is false (ranks.x = 2)"
    )


def test_an_unknown_variant_is_named(plan: Planner) -> None:
    """With the closest one."""
    with pytest.raises(UnknownNameError, match=r"^test.Scale: unknown variant 'onyl'. Did you mean only\?$"):
        plan(scale_manifest(), variant="onyl")


def test_a_group_that_repeats_never_leaves_no_pass(plan: Planner) -> None:
    """A variant without any pass is an error of the manifest."""
    group = {"id": "g", "repeat": {"count": "0", "index": "i"}, "passes": [a_pass()]}
    with pytest.raises(PlanError, match="every repeat group expands to no pass"):
        plan(scale_manifest(variants=[{"id": "a", "passes": [group]}]))
