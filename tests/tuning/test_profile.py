"""Profiles as values: which entry a call goes by, and their JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import webgpu_kernels as wk
from webgpu_kernels.errors import ResultsError
from webgpu_kernels.invocation import Invocation
from webgpu_kernels.tuning.profile import Entry, Profile, profile_text, read_profile

if TYPE_CHECKING:
    from webgpu_kernels.planning.request import Request

KERNEL = wk.get_kernel("com.microsoft.SkipGroupNorm")
DEVICE = wk.Capabilities(features={"shader-f16"})


def request(n: int = 2, side: int = 16, *, dtype: str = "float32", **options: Any) -> Request:
    x, c = wk.TensorSpec((n, side, side, 64), dtype), wk.TensorSpec((64,), "float32")
    attrs = {"groups": 8, "activation": 1, **options.pop("attrs", {})}
    outputs = dict.fromkeys(options.pop("outputs", ()))
    asked = Invocation({"X": x, "gamma": c, "beta": c, "skip": x}, attrs, {}, outputs, {}, None, {})
    return asked.select(KERNEL.manifest, DEVICE).request


def entry(case: str = "one", *given: Any, tunables: dict[str, Any] | None = None, **options: Any) -> Entry:
    bound = request(*given, **options)
    return Entry(
        case=case,
        inputs=dict(bound.inputs),
        attrs={**bound.attrs},
        outputs=tuple(bound.outputs),
        variant="split_plain",
        tunables=tunables or {},
        untuned_variant="fused_plain",
        untuned_us=30.0,
        tuned_us=20.0,
    )


def profile(*entries: Entry) -> Profile:
    return Profile(op_id="o", digest="d", device={"device": "GPU"}, created="2026-11-30T05:00:00Z", entries=entries)


def test_the_same_call_goes_by_its_entry() -> None:
    """And so does a near one, whose every dimension is less than twice as much or less."""
    kept = profile(entry())
    assert kept.entry_for(request()) is kept.entries[0]
    assert kept.entry_for(request(3, 20)) is kept.entries[0]
    assert kept.entries[0].gain == 1.5


@pytest.mark.parametrize(
    "other",
    [
        request(4),
        request(2, 32),
        request(dtype="float16"),
        request(attrs={"activation": 0}),
        request(attrs={"epsilon": 0.5}),
        request(outputs=["S"]),
    ],
)
def test_other_calls_go_by_nothing(other: Request) -> None:
    """Twice as large, another dtype, other attributes, other outputs: nobody measured those."""
    assert profile(entry()).entry_for(other) is None


def test_the_nearest_counts() -> None:
    """In powers of two, over all dimensions."""
    kept = profile(entry("small", 2, 16), entry("large", 2, 24))
    found = kept.entry_for(request(2, 22))
    assert found is not None
    assert found.case == "large"


def test_a_profile_is_read_as_it_was_written() -> None:
    """Every member."""
    kept = profile(entry(tunables={"WORKGROUP_SIZE": 128, "FLAG": True, "RATIO": 0.5}), entry("two", 4))
    text = profile_text(kept)
    again = read_profile(text, where="f")
    assert profile_text(again) == text
    assert again.entries[0].tunables == {"WORKGROUP_SIZE": 128, "FLAG": True, "RATIO": 0.5}
    assert again.entry_for(request()) is again.entries[0]


def test_all_defects_are_told() -> None:
    """With what to do about them."""
    document = json.loads(profile_text(profile(entry())))
    document["version"] = 9
    document["entries"][0]["inputs"]["X"]["dtype"] = "float31"
    del document["entries"][0]["variant"]
    with pytest.raises(ResultsError) as caught:
        read_profile(json.dumps(document), where="f.json")
    lines = str(caught.value).splitlines()
    assert lines[0] == "f.json: the profile is broken"
    assert lines[1] == "  version: is 9: this version of the library reads up to 1; update it"
    assert lines[2].startswith("  entries[0].inputs.X: is no tensor: ")
    assert lines[3] == (
        "  entries[0].variant: is missing: name the variant. Tune again, or remove it: tune PACKAGE --reset."
    )


def test_what_is_no_json_is_one_error() -> None:
    """Of the same class."""
    with pytest.raises(ResultsError, match="is not JSON"):
        read_profile("{", where="f")
