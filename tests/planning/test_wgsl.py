"""What the runtime reads out of WGSL text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webgpu_kernels.errors import PlanError
from webgpu_kernels.planning.wgsl import check_opaque_int64, kept_names, missing_directives, without_comments


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("var x: f32 = 1.0;", ()),
        ("var x: f16;", ("enable f16;",)),
        ("let x = 1h;", ("enable f16;",)),
        ("let x = 1.5h;", ("enable f16;",)),
        ("let x = .5h;", ("enable f16;",)),
        ("let x = 2e-3h;", ("enable f16;",)),
        ("let ah = bh;", ()),
        ("let x = xf16;", ()),
        ("enable f16;\nvar x: f16;", ()),
        ("enable f16, subgroups;\nlet x = subgroupAdd(1h);", ()),
        ("let x = subgroupAdd(y);", ("enable subgroups;",)),
        ("let x = subgroupShuffleXor(y, 1u);", ("enable subgroups;",)),
        ("let x = subgroupAddition(y);", ()),
        ("let x = quadSwapX(y);", ("enable subgroups;",)),
        ("fn main(@builtin(subgroup_size) n: u32) {}", ("enable subgroups;",)),
        ("@subgroup_size(32) fn main() {}", ("enable subgroup_size_control;",)),
        ("let x: f16 = subgroupMax(1h);", ("enable f16;", "enable subgroups;")),
    ],
)
def test_a_directive_is_put_in_front_where_its_feature_is_used(text: str, lines: tuple[str, ...]) -> None:
    """f16, subgroups and subgroup_size_control, in this order, unless they stand there already."""
    assert missing_directives(text) == lines


@pytest.mark.parametrize("text", ["// f16\n", "/* f16 */", "/* /* f16 */ f16 */", "// /* \nlet x = 1.0; // f16"])
def test_comments_enable_nothing(text: str) -> None:
    """A word in a comment, nested or not, is not a use."""
    assert missing_directives(text) == ()


def test_a_line_comment_does_not_open_a_block() -> None:
    """Code after a line comment that contains the opening of a block comment is still code."""
    assert missing_directives("// /*\nvar x: f16;") == ("enable f16;",)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("// kept: board\nvar x: f32;", {"board"}),
        ("var x: f32;\n// kept: board\n// kept: flags_2", {"board", "flags_2"}),
        ("// kept: board\n// kept: board\n", {"board"}),
        ("var x: f32; // kept: board", set()),
        (" // kept: board", set()),
        ("//kept: board", set()),
        ("// kept: board and flags", set()),
        ("// kept:", set()),
        ("", set()),
    ],
)
def test_a_line_of_its_own_says_what_is_kept(text: str, names: set[str]) -> None:
    """One name a line, and nothing beside it: what is said by accident would not be cleared."""
    assert kept_names(text) == names


@given(st.text(alphabet="/*\n fx1", max_size=40))
def test_blanking_comments_keeps_every_position(text: str) -> None:
    """Lines and columns of code stay where they were, so errors can be traced."""
    blanked = without_comments(text)
    assert len(blanked) == len(text)
    assert all(new in {old, " "} for old, new in zip(text, blanked, strict=True))
    assert blanked.count("\n") == text.count("\n")


@pytest.mark.parametrize("text", ["y[i] = x[i];", "y[x2[i]] = x[n[i]];", "let v = x[i];", "f(x[i], x[i + 1]);"])
def test_whole_int64_elements_may_be_copied(text: str) -> None:
    """Assignments, arguments and lets of a whole element pass."""
    check_opaque_int64(text, ["x", "y"], "op")


@pytest.mark.parametrize(
    "text", ["let v = x[i].x;", "let v = x[i] + 1;", "let v = a - x[i];", "if (x[i] == y[i]) {}", "let v = x[i][0];"]
)
def test_int64_elements_are_opaque(text: str) -> None:
    """Arithmetic, comparison and extraction of words are refused with the line."""
    with pytest.raises(PlanError) as caught:
        check_opaque_int64(f"\n{text}", ["x", "y"], "op: variant v: pass p")
    assert str(caught.value) == (
        "op: variant v: pass p: line 2 computes with an element of the int64 buffer 'x'. "
        "Elements of int64 buffers can only be copied whole; project the port to int32 or uint32."
    )
