"""``wk explain``: which variant a call takes, and why not the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from command_line import Wk

ADD = ("ai.onnx.Add", "--input", "a=float16[8,1]", "--input", "b=float16[4]")
WIDTH = 80


def test_the_choice_is_told_with_every_candidate(wk: Wk) -> None:
    """The call, the device, verdicts with reasons, passes with grids and bindings, within 80 columns."""
    code, out, err = wk("explain", *ADD, "--capabilities", "h200")
    assert (code, err) == (0, "")
    assert out.splitlines()[:5] == [
        "ai.onnx.Add: rows_vec4",
        "  on h200 (described)",
        "  a float16[8, 1], b float16[4]",
        "candidates",
        "  - flat_vec4  rejected",
    ]
    assert "  * rows_vec4  chosen" in out.splitlines()
    assert "    2 storage           c: array<vec4<f16>>" in out.splitlines()
    assert max(map(len, out.splitlines())) <= WIDTH


def test_a_case_with_many_candidates_fits_the_terminal(wk: Wk) -> None:
    """Long reasons wrap."""
    ran = wk("explain", "com.microsoft.SkipGroupNorm", "--case", "float32_float32_gamma_nhwc", "--capabilities", "h200")
    assert ran.code == 0
    assert max(map(len, ran.out.splitlines())) <= WIDTH


def test_programs_get_the_same_as_a_document(wk: Wk) -> None:
    """The call among it, as --request reads it."""
    ran = wk("explain", *ADD, "--capabilities", "h200", "--json")
    document = ran.document
    assert (ran.code, ran.err) == (0, "")
    assert (document["opId"], document["variant"], document["device"]) == (
        "ai.onnx.Add",
        "rows_vec4",
        "h200 (described)",
    )
    assert [candidate["id"] for candidate in document["candidates"] if candidate["chosen"]] == ["rows_vec4"]
    rejected = document["candidates"][0]
    assert (rejected["id"], rejected["accepted"], rejected["kind"]) == ("flat_vec4", False, "whenFailed")
    assert document["passes"][0]["workgroups"] == [1, 1, 1]
    assert document["passes"][0]["bindings"][2] == {
        "name": "c",
        "target": "c",
        "access": "storage",
        "elementType": "vec4<f16>",
        "length": None,
    }
    again = wk("explain", "ai.onnx.Add", "--request", _text(document["call"]), "--capabilities", "h200", "--json")
    assert again.document == document


def _text(value: object) -> str:
    import json  # noqa: PLC0415

    return json.dumps(value)


def test_a_call_that_no_variant_takes_ends_with_1(wk: Wk) -> None:
    """The answer is no, with each reason."""
    code, out, err = wk("explain", *ADD, "--capabilities", "webgpu-defaults")
    assert (code, err) == (1, "")
    assert out.splitlines()[0] == "ai.onnx.Add: no variant fits"
    document = wk("explain", *ADD, "--capabilities", "webgpu-defaults", "--json").document
    assert document["variant"] is None
    assert document["passes"] == []
    assert all(not candidate["accepted"] and candidate["reason"] for candidate in document["candidates"])


def test_one_reason_for_many_candidates_is_told_once(wk: Wk) -> None:
    """Each of them keeps its line; the document has the reason with all of them."""
    ran = wk("explain", *ADD, "--capabilities", "webgpu-defaults")
    assert ran.out[ran.out.index("candidates") :].splitlines() == [
        "candidates",
        "  - flat_vec4  rejected",
        "      float16 needs the feature shader-f16, which the device lacks",
        "  - rows_vec4  rejected likewise",
        "  - elements   rejected likewise",
    ]
    document = wk("explain", *ADD, "--capabilities", "webgpu-defaults", "--json").document
    assert len({candidate["reason"] for candidate in document["candidates"]}) == 1


def test_what_is_to_blame_alone_is_told_first(wk: Wk) -> None:
    """As a call would be told, before the same reason stands with every candidate."""
    words = ("explain", "com.microsoft.SkipGroupNorm", "--capabilities", "h200", "--case", "float32_float32_gamma_nhwc")
    ran = wk(*words, "--attr", "groups=1.5")
    said = "com.microsoft.SkipGroupNorm: attribute 'groups': wrong kind of value: expected an integer, got 1.5"
    assert ran.code == 1
    assert said in " ".join(ran.out.split())
    assert max(map(len, ran.out.splitlines())) <= WIDTH
    assert wk(*words, "--attr", "groups=1.5", "--json").document["refusal"] == said
    assert "refusal" not in wk(*words, "--json").document


def test_a_variant_may_be_forced(wk: Wk) -> None:
    """Whatever ranks above it."""
    ran = wk("explain", *ADD, "--capabilities", "h200", "--variant", "elements", "--json")
    assert ran.document["variant"] == "elements"
    assert wk("explain", *ADD, "--capabilities", "h200", "--variant", "flat_vec4").code == 1


def test_a_call_that_does_not_fit_the_contract_is_an_error(wk: Wk) -> None:
    """Whatever the device."""
    ran = wk("explain", "ai.onnx.Add", "--input", "A=float16[8]", "--capabilities", "h200")
    assert ran == (3, "", "error: ai.onnx.Add: unknown input 'A'. The contract has inputs: a, b.\n")
    ran = wk("explain", *ADD[:3], "--capabilities", "h200")
    assert ran == (3, "", "error: ai.onnx.Add: missing input 'b'. Required are: a, b.\n")


@pytest.mark.device
def test_without_a_description_the_device_is_this_machines(wk: Wk) -> None:
    """Its name is said."""
    document = wk("explain", "ai.onnx.Add", "--input", "a=float32[8]", "--input", "b=float32[8]", "--json").document
    assert document["variant"] == "flat_vec4"
    assert document["device"] not in {"", "h200 (described)"}


def test_the_choice_stands_out_in_colours(wk: Wk) -> None:
    """What was not chosen is dim."""
    out = wk("explain", *ADD, "--capabilities", "h200", "--color", "always").out
    assert "\x1b[1;32m  * rows_vec4  chosen\x1b[0m" in out
    assert "\x1b[2m  - flat_vec4  rejected\x1b[0m" in out
