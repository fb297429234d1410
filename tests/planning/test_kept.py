"""Which intermediates a program keeps from one run to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sample_manifests import a_pass, scale_manifest

from webgpu_kernels.language import Template, compile_template
from webgpu_kernels.planning.rendering import MAX_KEPT_BYTES, build_program

if TYPE_CHECKING:
    from sample_manifests import Planner

    from webgpu_kernels.planning.program import Scratch

KEPT = "// kept: board\nfn main() {}"
CLEARED = "fn main() {}"


class Texts:
    """Templates by name."""

    def __init__(self, **texts: str) -> None:
        self._texts = texts

    def template(self, name: str) -> Template:
        """Return the compiled template."""
        return compile_template(self._texts[name], name=name)


def board(plan: Planner, *texts: str, zero_init: bool = True, binders: int | None = None, words: int = 4) -> Scratch:
    """Return what a program of these shaders makes of its intermediate; the first ones bind it."""
    steps = [
        a_pass(
            id=f"p{index}",
            shader=f"s{index}.wgsl.jinja",
            bindings=["x", "y", "board"] if binders is None or index < binders else ["x", "y"],
        )
        for index in range(len(texts))
    ]
    entry = {"id": "board", "dtype": "uint32", "shape": [words], "zeroInit": zero_init}
    variant = {"id": "only", "intermediates": [entry], "passes": steps}
    manifest = scale_manifest(bindings={"board": {"scratch": "board"}}, variants=[variant])
    program = build_program(Texts(**{f"s{index}.wgsl.jinja": text for index, text in enumerate(texts)}), plan(manifest))
    (found,) = program.scratch
    return found


@pytest.mark.parametrize(
    ("texts", "kept"),
    [((KEPT,), True), ((CLEARED,), False), ((KEPT, KEPT), True), ((KEPT, CLEARED), False), ((CLEARED, KEPT), False)],
)
def test_all_shaders_that_bind_it_have_to_say_so(plan: Planner, texts: tuple[str, ...], kept: bool) -> None:
    """One that expects zeros is enough to clear it."""
    found = board(plan, *texts)
    assert (found.zero_init, found.kept) == (True, kept)


def test_a_shader_that_does_not_bind_it_has_no_say(plan: Planner) -> None:
    """It sees nothing of it."""
    assert board(plan, KEPT, CLEARED, binders=1).kept
    assert not board(plan, CLEARED, KEPT, binders=1).kept


def test_what_may_hold_anything_is_not_kept(plan: Planner) -> None:
    """Without zeroInit the first run would see anything, and not zeros."""
    found = board(plan, KEPT, zero_init=False)
    assert (found.zero_init, found.kept) == (False, False)


def test_what_is_large_is_not_kept(plan: Planner) -> None:
    """Every compiled call would hold as much, whoever wrote the package."""
    assert board(plan, KEPT, words=MAX_KEPT_BYTES // 4).kept
    assert not board(plan, KEPT, words=MAX_KEPT_BYTES // 4 + 1).kept


def test_another_name_is_not_meant(plan: Planner) -> None:
    """The line names the intermediate, as the manifest does."""
    assert not board(plan, "// kept: boards\nfn main() {}").kept


def test_a_template_may_say_it_of_some_calls_only(plan: Planner) -> None:
    """What counts is the rendered text."""
    text = "{% if ranks.x == RANK %}\n// kept: board\n{% endif %}\nfn main() {}"
    assert board(plan, text.replace("RANK", "2")).kept
    assert not board(plan, text.replace("RANK", "3")).kept
