"""Calls go by a profile of their device and package, and by none else; warm calls do not look for one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from doubling_package import RIGHT, doubling_kernel, write_doubling

import webgpu_kernels as wk
from webgpu_kernels.errors import OutputError, RequestError
from webgpu_kernels.tuning import places
from webgpu_kernels.tuning.profile import Entry, Profile, profile_text

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.device

EIGHT = wk.TensorSpec((8,), "float32")
BODIES = {"first": RIGHT, "second": "y[i] = x[i] + x[i]; // the second"}


def entry(**changes: Any) -> Entry:
    usual = {
        "case": "eight",
        "inputs": {"x": EIGHT},
        "outputs": ("y",),
        "variant": "second",
        "untuned_variant": "first",
        "untuned_us": 30.0,
        "tuned_us": 20.0,
    }
    return Entry(**{**usual, **changes})


def keep(kernel: wk.Kernel, *entries: Entry, **changes: Any) -> Path:
    """Keep a profile of a kernel on the default device."""
    capabilities = wk.default_device().capabilities
    made = Profile(
        op_id=kernel.op_id,
        digest=places.package_digest(kernel.package),
        device=places.device_facts(capabilities),
        created="2026-11-30T05:00:00Z",
        entries=entries,
    )
    return places.keep_profile(replace(made, **changes), kernel.package, capabilities)


@pytest.fixture
def kernel(tmp_path: Path) -> wk.Kernel:
    """A package with two variants, of which a call takes the first."""
    return doubling_kernel(tmp_path / "p", BODIES)


def test_a_call_goes_by_the_profile(kernel: wk.Kernel, profiles: Path) -> None:
    """And so do prepare, explain and render; explain says so."""
    assert kernel.prepare(x=EIGHT).variant == "first"
    path = keep(kernel, entry())
    assert path.parent == profiles / "test.Double"
    again = wk.Kernel(kernel.package)
    assert again.prepare(x=EIGHT).variant == "second"
    assert np.array_equal(again(x=np.ones(8, np.float32))["y"], np.full(8, 2, np.float32))
    explanation = again.explain(x=EIGHT)
    assert explanation.variant == "second"
    assert explanation.tuned == "second comes from the profile of 2026-11-30, case eight: 1.50 times as fast there"
    assert "tuned\n  second comes from the profile" in str(explanation)
    assert "// the second" in str(again.render(x=EIGHT))


def test_tunables_of_a_profile_reach_the_plan(tmp_path: Path, profiles: Path) -> None:
    """Beside the variant."""
    manifest = {"tunables": {"SIZE": {"default": 8}}}
    kernel = doubling_kernel(tmp_path / "p", BODIES, manifest=manifest)
    keep(kernel, entry(tunables={"SIZE": 4}))
    prepared = kernel.prepare(x=EIGHT)
    assert (prepared.variant, dict(prepared.plan.request.tunables)) == ("second", {"SIZE": 4})
    assert "second with SIZE=4 comes from the profile" in str(kernel.explain(x=EIGHT).tuned)


def test_what_the_caller_forces_counts_more(tmp_path: Path, profiles: Path) -> None:
    """A variant, or a tunable."""
    kernel = doubling_kernel(tmp_path / "p", BODIES, manifest={"tunables": {"SIZE": {"default": 8}}})
    keep(kernel, entry())
    assert kernel.prepare(x=EIGHT, variant="first").variant == "first"
    assert kernel.prepare(x=EIGHT, tunables={"SIZE": 4}).variant == "first"
    assert kernel.explain(x=EIGHT, variant="first").tuned is None


def test_other_calls_are_as_ever(kernel: wk.Kernel, profiles: Path) -> None:
    """Far from what was measured nothing is known."""
    keep(kernel, entry())
    assert kernel.prepare(x=wk.TensorSpec((64,), "float32")).variant == "first"
    assert kernel.prepare(x=wk.TensorSpec((8,), "int32")).variant == "first"


def test_off_is_off(kernel: wk.Kernel, profiles: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However it is written."""
    keep(kernel, entry())
    monkeypatch.setenv("WEBGPU_KERNELS_TUNING", "OFF")
    assert kernel.prepare(x=EIGHT).variant == "first"
    with pytest.raises(OutputError) as caught:
        keep(kernel, entry())
    assert str(caught.value) == (
        "there is no place for profiles. Let WEBGPU_KERNELS_TUNING name a folder, or do not set it to off."
    )


def test_an_exported_file_can_be_named(
    kernel: wk.Kernel, profiles: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the place of the folder."""
    file = tmp_path / "mine.json"
    file.write_text(keep(kernel, entry()).read_text())
    monkeypatch.setenv("WEBGPU_KERNELS_TUNING", str(file))
    assert kernel.prepare(x=EIGHT).variant == "second"


@pytest.mark.parametrize(
    "changes", [{"digest": "other"}, {"op_id": "test.Other"}, {"device": {"device": "another one"}}]
)
def test_profiles_of_others_do_not_count(kernel: wk.Kernel, profiles: Path, changes: dict[str, Any]) -> None:
    """Of another package, another version of it, or another device or driver."""
    keep(kernel, entry(), **changes)
    assert kernel.prepare(x=EIGHT).variant == "first"


def test_a_package_that_changed_goes_by_nothing(tmp_path: Path, profiles: Path) -> None:
    """What was measured is no more."""
    root = write_doubling(tmp_path / "p", BODIES)
    keep(wk.load_kernel(root), entry())
    template = root / "build" / "webgpu" / "second.wgsl.jinja"
    template.write_text(template.read_text() + "\n// changed\n")
    assert wk.load_kernel(root).prepare(x=EIGHT).variant == "first"


def test_a_described_device_has_no_profile(kernel: wk.Kernel, profiles: Path) -> None:
    """Explanations for it are the same everywhere."""
    keep(kernel, entry())
    described = wk.default_device().capabilities
    explanation = kernel.explain(x=EIGHT, capabilities=described)
    assert (explanation.variant, explanation.tuned) == ("first", None)


def test_a_variant_that_does_not_take_the_call_is_passed_over(tmp_path: Path, profiles: Path) -> None:
    """It was good for a neighbour; a call that no variant takes fails as ever."""
    manifest = {"when": ["numel(shapes.x) != 9"]}
    kernel = doubling_kernel(tmp_path / "p", BODIES, manifest=manifest)
    keep(kernel, entry(variant="gone"))
    assert kernel.prepare(x=EIGHT).variant == "first"
    with pytest.raises(RequestError):
        kernel.prepare(x=wk.TensorSpec((9,), "float32"))


def test_a_broken_profile_is_warned_of_once(kernel: wk.Kernel, profiles: Path) -> None:
    """Calls go on without it."""
    path = keep(kernel, entry())
    path.write_text(path.read_text().replace('"variant": "second"', '"variant": 3'))
    places.forget_profiles()
    with pytest.warns(RuntimeWarning, match=r"(?s)calls go on without a profile: .*must be a string, not the number 3"):
        assert kernel.prepare(x=EIGHT).variant == "first"
    assert kernel.prepare(x=wk.TensorSpec((9,), "float32")).variant == "first"


def test_a_warm_call_does_not_look_for_a_profile(
    kernel: wk.Kernel, profiles: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only planning does."""
    keep(kernel, entry())
    looked: list[str] = []
    original = places.profile_for

    def counted(*given: Any) -> Any:
        looked.append("once")
        return original(*given)

    monkeypatch.setattr("webgpu_kernels.tuning.profile_for", counted)
    x = wk.default_device().tensor(np.ones(8, np.float32))
    for _ in range(5):
        kernel(x=x)
    assert looked == ["once"]


def test_profiles_lie_where_the_system_keeps_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """XDG's folder, else .local/share in the user's home."""
    monkeypatch.delenv("WEBGPU_KERNELS_TUNING")
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert places.place_of_profiles() == tmp_path / "webgpu-kernels" / "tuning"
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert places.place_of_profiles() == tmp_path / ".local" / "share" / "webgpu-kernels" / "tuning"


def test_a_profile_can_be_dropped(kernel: wk.Kernel, profiles: Path) -> None:
    """Calls are as they were; there is nothing to drop a second time."""
    path = keep(kernel, entry())
    capabilities = wk.default_device().capabilities
    assert places.drop_profile(kernel.package, capabilities) == path
    assert wk.Kernel(kernel.package).prepare(x=EIGHT).variant == "first"
    assert places.drop_profile(kernel.package, capabilities) is None


def test_a_folder_that_cannot_be_written_is_one_error(
    kernel: wk.Kernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It names the file."""
    (tmp_path / "test.Double").write_text("in the way")
    monkeypatch.setenv("WEBGPU_KERNELS_TUNING", str(tmp_path))
    with pytest.raises(OutputError, match=r"test\.Double/[0-9a-f]{16}\.json: cannot be written: "):
        keep(kernel, entry())


def test_text_of_a_profile_ends_with_a_line(kernel: wk.Kernel, profiles: Path) -> None:
    """As files do."""
    assert keep(kernel, entry()).read_text() == profile_text(
        replace(
            Profile(
                op_id="test.Double",
                digest=places.package_digest(kernel.package),
                device=places.device_facts(wk.default_device().capabilities),
                created="2026-11-30T05:00:00Z",
            ),
            entries=(entry(),),
        )
    )
