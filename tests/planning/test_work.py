"""What a plan may hold in all: passes, rounds, and the work of planning and of rendering them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from sample_manifests import a_pass, scale_manifest

from webgpu_kernels.errors import PlanError
from webgpu_kernels.language import Template, compile_template
from webgpu_kernels.planning.rendering import MAX_PROGRAM_CHARS, build_program
from webgpu_kernels.planning.work import MAX_PASSES

if TYPE_CHECKING:
    from sample_manifests import Planner

TOO_MUCH = (
    "test.Scale: variant only: the passes are too much work to plan: expected at most 500,000 units of work. "
    "Dispatch more workgroups in fewer passes, or derive less in each."
)


@dataclass
class OneTemplate:
    """A package whose every template has the same text."""

    text: str

    def template(self, name: str) -> Template:
        """Compile it under this name."""
        return compile_template(self.text, name=name)


def rounds(count: str, *passes: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Return a manifest of one repeat group."""
    group = {"id": "g", "repeat": {"count": count, "index": "i"}, "passes": list(passes) or [a_pass()]}
    return scale_manifest(variants=[{"id": "only", "passes": [group]}], **changes)


def test_as_many_passes_as_may_be(plan: Planner) -> None:
    """Each of them planned."""
    passes = plan(rounds(f"{MAX_PASSES}")).passes
    assert len(passes) == MAX_PASSES
    assert passes[-1].id == f"g[{MAX_PASSES - 1}].main"


def test_too_many_passes(plan: Planner) -> None:
    """Two in each round."""
    with pytest.raises(PlanError) as caught:
        plan(rounds(f"{MAX_PASSES // 2 + 1}", a_pass(bindings=[]), a_pass(id="other", bindings=[])))
    assert str(caught.value) == "test.Scale: variant only: too many passes: expected at most 8,192 in one call"


def test_too_many_rounds(plan: Planner) -> None:
    """The format's own bound of a group, and of a variant, is higher."""
    with pytest.raises(PlanError) as caught:
        plan(rounds("65535"))
    assert str(caught.value) == (
        "test.Scale: variant only: too many rounds of repeat groups: expected at most 8,192 in one call"
    )


@pytest.mark.parametrize(
    "manifest",
    [
        rounds("4000", a_pass(derive={"d": "1" + " + ranks.x" * 500})),
        rounds("4000", a_pass(derive={f"d{n}": n for n in range(100)})),
        rounds("4000", derive={f"d{n}": n for n in range(1000)}),
        rounds("4000", a_pass(dispatch={"x": "1" + " + 0" * 1000})),
        rounds(
            "4000",
            a_pass(
                bindings=[
                    "x",
                    {"name": "p", "struct": [{"name": f"f{n}", "type": "u32", "value": 1} for n in range(99)]},
                ]
            ),
        ),
        rounds("4000", {"id": "n", "repeat": {"count": "0" + " * ranks.x" * 500, "index": "j"}, "passes": [a_pass()]}),
    ],
    ids=["formula", "derives", "names", "dispatch", "fields", "count"],
)
def test_rounds_multiply_work(plan: Planner, manifest: dict[str, Any]) -> None:
    """It is refused before any of it is done."""
    with pytest.raises(PlanError) as caught:
        plan(manifest)
    assert str(caught.value) == TOO_MUCH


def test_shaders_of_all_rounds_are_too_long(plan: Planner) -> None:
    """Those that differ."""
    text = "{{ repeat.index }}" + "x" * 190_000
    with pytest.raises(PlanError) as caught:
        build_program(OneTemplate(text), plan(rounds("100")))
    assert str(caught.value) == (
        f"test.Scale: variant only: pass g[{MAX_PROGRAM_CHARS // 190_001}].main: "
        "the shaders of all passes together are too long: expected at most 4,194,304 characters"
    )


def test_shaders_of_all_rounds_are_too_much_work(plan: Planner) -> None:
    """Their lines are counted."""
    text = "{{ repeat.index }}" + "\n" * 100_000
    with pytest.raises(PlanError) as caught:
        build_program(OneTemplate(text), plan(rounds("100")))
    assert str(caught.value) == (
        "test.Scale: variant only: pass g[2].main: the shaders of all passes together are too much work: "
        "expected at most 500,000 units of work, and 50 more for each pass. "
        "Give what differs from pass to pass as a uniform."
    )


def test_rounds_share_a_shader(plan: Planner) -> None:
    """One text, and one tuple of where its lines come from."""
    program = build_program(OneTemplate("{{ repeat.count }} f16\n"), plan(rounds("3")))
    first, *others = program.passes
    assert first.wgsl == "enable f16;\n3 f16"
    assert first.lines == (("", 0), ("main.wgsl.jinja", 1))
    assert all(other.wgsl is first.wgsl and other.lines is first.lines for other in others)
