"""What changed between two packages, and whether it breaks callers of the same version."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from sample_manifests import a_pass, scale_manifest, variant

import webgpu_kernels as wk
from webgpu_kernels.contract import file_digest, package_id, read_manifest
from webgpu_kernels.tools.diff import compare_kernels, compare_manifests

if TYPE_CHECKING:
    from pathlib import Path

    from webgpu_kernels.tools.diff import Comparison

Json = dict[str, Any]

X: Json = {"x": {"dtype": "T"}}
Y: Json = {"y": {"dtype": "T", "shape": "shapes.x"}}
WIDE: Json = {"x": {"dtype": "T"}, "z": {"dtype": "T", "optional": True}}


def compared(old: Json, new: Json) -> list[tuple[str, str, bool]]:
    """Return the changes between two manifests, each of which differs from the sample in these keys."""
    return changes_of(compare_manifests(read_manifest(scale_manifest(**old)), read_manifest(scale_manifest(**new))))


def changes_of(comparison: Comparison) -> list[tuple[str, str, bool]]:
    return [(change.path, change.what, change.breaking) for change in comparison.changes]


def test_a_manifest_does_not_differ_from_itself() -> None:
    """Nor from one with other spaces in its formulas, other handles and other comments."""
    assert compared({}, {}) == []
    old = {"derive": {"n": "numel( shapes.x )"}, "variants": [variant("only", when=["n<4 and present.x"])]}
    new = {
        "$comment": "same",
        "derive": {"n": "numel(shapes.x)"},
        "variants": [variant("only", when=["n < 4", "(present.x)"])],
    }
    changes = compared(old, new)
    assert [change for change in changes if change[2]] == []
    assert [path for path, _, _ in changes] == ["variants.only"]


INPUTS = [
    pytest.param({}, {"inputs": {**X, "z": {"dtype": "T"}}}, ("inputs.z", "is new, and needed", True), id="needed"),
    pytest.param({}, {"inputs": WIDE}, ("inputs.z", "is new, and may be left out", False), id="optional"),
    pytest.param({"inputs": WIDE}, {}, ("inputs.z", "is gone", True), id="gone"),
    pytest.param(
        {"inputs": WIDE},
        {"inputs": {**X, "z": {"dtype": "T"}}},
        ("inputs.z", "must be given now", True),
        id="needed now",
    ),
    pytest.param(
        {"inputs": {**X, "z": {"dtype": "T"}}},
        {"inputs": WIDE},
        ("inputs.z", "may be left out now", False),
        id="optional now",
    ),
    pytest.param(
        {}, {"typeConstraints": {"T": ["float32", "int32"]}}, ("typeConstraints.T", "no longer float16", True), id="T"
    ),
    pytest.param(
        {},
        {"typeConstraints": {"T": ["float32", "float16", "int32", "bool"]}},
        ("typeConstraints.T", "also bool", False),
        id="T wider",
    ),
    pytest.param(
        {"inputs": {**X, "i": {"dtype": "int64", "storage": "int32", "narrowing": "saturating"}}},
        {"inputs": {**X, "i": {"dtype": "int64", "storage": "int32", "narrowing": "checked"}}},
        ("inputs.i.narrowing", "was saturating, is checked", True),
        id="checked now",
    ),
    pytest.param(
        {"inputs": {**X, "i": {"dtype": "int64", "storage": "int32", "narrowing": "checked"}}},
        {"inputs": {**X, "i": {"dtype": "int64", "storage": "int32", "narrowing": "saturating"}}},
        ("inputs.i.narrowing", "was checked, is saturating", False),
        id="saturating now",
    ),
    pytest.param(
        {"inputs": {**X, "i": {"dtype": "int64"}}},
        {"inputs": {**X, "i": {"dtype": "int64", "storage": "int32", "narrowing": "checked"}}},
        ("inputs.i.storage", "was as the dtype, is int32", True),
        id="storage",
    ),
    pytest.param(
        {"inputs": {**X, "p": {"dtype": "uint8"}}},
        {"inputs": {**X, "p": {"dtype": "uint8", "layout": "packed"}}},
        ("inputs.p.layout", "was plain, is packed", True),
        id="layout",
    ),
    pytest.param(
        {"inputs": {**X, "p": {"dtype": "uint8"}}},
        {"inputs": {**X, "p": {"dtype": "int32"}}},
        ("inputs.p.dtype", "no longer uint8", True),
        id="dtype",
    ),
    pytest.param(
        {"inputs": {"x": {"dtype": "T", "rank": 4}}},
        {"inputs": {"x": {"dtype": "T", "rank": 3}}},
        ("inputs.x.rank", "was 4, is 3; ranks are documentation", False),
        id="rank",
    ),
    pytest.param(
        {}, {"inputs": {"x": {"dtype": "T", "onnx": "X"}}}, ("inputs.x.onnx", "was absent, is X", False), id="onnx"
    ),
]


@pytest.mark.parametrize(("old", "new", "change"), INPUTS)
def test_inputs(old: Json, new: Json, change: tuple[str, str, bool]) -> None:
    """What a caller gives may be taken still, or not."""
    assert change in compared(old, new)
    assert any(breaking for _, _, breaking in compared(old, new)) == change[2]


def test_the_order_of_inputs_breaks_nobody() -> None:
    """Calls are by name."""
    old = {"inputs": {"x": {"dtype": "T"}, "z": {"dtype": "T"}}}
    new = {"inputs": {"z": {"dtype": "T"}, "x": {"dtype": "T"}}}
    assert ("inputs", "in another order: z, x", False) in compared(old, new)


def test_inputs_that_must_agree_now_break_callers_whose_inputs_differ() -> None:
    """Two dtypes that were free of each other are bound."""
    types = {"T": ["float32", "float16"], "U": ["float32", "float16"]}
    old = {"typeConstraints": types, "inputs": {**X, "z": {"dtype": "U"}}}
    new = {"typeConstraints": types, "inputs": {**X, "z": {"dtype": "T"}}}
    assert ("inputs.z.dtype", "must be that of 'x' now", True) in compared(old, new)
    assert [change for change in compared(new, old) if change[2]] == [
        ("outputs.y.dtype", "was that of x, z, is that of x", True)
    ]


def test_inputs_that_had_one_dtype_may_be_bound() -> None:
    """Both were float32, so every call that was taken has them alike."""
    old = {"inputs": {"x": {"dtype": "float32"}, "z": {"dtype": "float32"}}, "outputs": {"y": {"shape": "shapes.x"}}}
    new = {"inputs": {**X, "z": {"dtype": "T"}}, "outputs": {"y": {"dtype": "float32", "shape": "shapes.x"}}}
    assert [change for change in compared(old, new) if change[2]] == []


def ranged(least: Any, most: Any) -> Json:
    return {
        "extensions": ["valueRange"],
        "inputs": {**X, "i": {"dtype": "int32", "range": {"min": least, "max": most}}},
    }


def test_a_range_of_values_may_widen_only() -> None:
    """Where both bounds are numbers it is known; formulas that differ count as narrower."""
    plain = {"extensions": ["valueRange"], "inputs": {**X, "i": {"dtype": "int32"}}}
    path = "inputs.i.range"
    assert compared(plain, ranged(0, 4)) == [(path, "values must be 0 to 4 now", True)]
    assert compared(ranged(0, 4), plain) == [(path, "values are no longer checked", False)]
    assert compared(ranged(0, 4), ranged(0, 5)) == [(path, "the most was 4, is 5", False)]
    assert compared(ranged(0, 4), ranged(1, 4)) == [(path, "the least was 0, is 1", True)]
    assert compared(ranged(0, "dim(shapes.x, 0)"), ranged(0, "dim(shapes.x, 1)")) == [
        (path, "the most was dim(shapes.x, 0), is dim(shapes.x, 1)", True)
    ]


TWO: Json = {**Y, "s": {"dtype": "T", "shape": "shapes.x", "optional": True}}
OUTPUTS = [
    pytest.param({}, {"outputs": TWO}, ("outputs.s", "is new, and computed where a call names it", False), id="new"),
    pytest.param({"outputs": TWO}, {}, ("outputs.s", "is gone", True), id="gone"),
    pytest.param(
        {}, {"outputs": {**Y, "s": {"dtype": "T", "shape": "[1]"}}}, ("outputs.s", "is new", False), id="always"
    ),
    pytest.param(
        {},
        {"outputs": {**Y, "s": {"dtype": "T"}}},
        ("outputs.s", "is new, and every call must give its shape", True),
        id="shapeless",
    ),
    pytest.param(
        {"outputs": TWO},
        {"outputs": {**Y, "s": {"dtype": "T", "shape": "shapes.x"}}},
        ("outputs.s", "is always computed now", False),
        id="always now",
    ),
    pytest.param(
        {"outputs": {**Y, "s": {"dtype": "T", "shape": "shapes.x"}}},
        {"outputs": TWO},
        ("outputs.s", "is computed only where a call names it", True),
        id="optional now",
    ),
    pytest.param(
        {},
        {"outputs": {"y": {"dtype": "T", "shape": "[1]"}}},
        ("outputs.y.shape", "was shapes.x, is [1]", True),
        id="shape",
    ),
    pytest.param(
        {},
        {"outputs": {"y": {"dtype": "T"}}},
        ("outputs.y.shape", "is no longer inferred: every call must give it", True),
        id="not inferred",
    ),
    pytest.param(
        {"outputs": {"y": {"dtype": "T"}}}, {}, ("outputs.y.shape", "is inferred now: shapes.x", False), id="inferred"
    ),
    pytest.param(
        {},
        {"outputs": {"y": {"dtype": "float32", "shape": "shapes.x"}}},
        ("outputs.y.dtype", "was that of x, is float32", True),
        id="dtype",
    ),
]


@pytest.mark.parametrize(("old", "new", "change"), OUTPUTS)
def test_outputs(old: Json, new: Json, change: tuple[str, str, bool]) -> None:
    """What a caller gets is there still, in the same shape and dtype, or not."""
    assert change in compared(old, new)
    assert any(breaking for _, _, breaking in compared(old, new)) == change[2]


def test_a_shape_is_compared_with_all_that_it_is_derived_from() -> None:
    """Its own text may be the same; another name for the same formula is no difference."""
    outputs = {"y": {"dtype": "T", "shape": "out"}}
    old = {"outputs": outputs, "derive": {"n": "dim(shapes.x, 0)", "out": "[n]"}}
    other = {"outputs": outputs, "derive": {"n": "dim(shapes.x, 1)", "out": "[n]"}}
    renamed = {
        "outputs": {"y": {"dtype": "T", "shape": "result"}},
        "derive": {"rows": "dim(shapes.x,0)", "result": "[rows]"},
    }
    assert compared(old, other) == [("outputs.y.shape", "out: what it is derived from reads differently", True)]
    assert compared(old, renamed) == []


def test_a_shape_as_a_list_is_compared_entry_by_entry() -> None:
    """Spaces inside of its formulas are none of it."""
    old = {"outputs": {"y": {"dtype": "T", "shape": ["dim(shapes.x, 0)", 4]}}}
    assert compared(old, {"outputs": {"y": {"dtype": "T", "shape": ["dim(shapes.x,0)", 4]}}}) == []
    assert compared(old, {"outputs": {"y": {"dtype": "T", "shape": ["dim(shapes.x, 0)", 5]}}}) == [
        ("outputs.y.shape", 'was ["dim(shapes.x, 0)", 4], is ["dim(shapes.x, 0)", 5]', True)
    ]


def test_the_dtype_of_an_unbound_output_follows_its_constraint() -> None:
    """With one entry it is that; with more it is that of an input."""
    outputs = {"y": {"dtype": "V", "shape": "shapes.x"}}
    old = {"outputs": outputs, "typeConstraints": {"T": ["float32", "float16"], "V": ["float32"]}}
    new = {"outputs": outputs, "typeConstraints": {"T": ["float32", "float16"], "V": ["float32", "float16"]}}
    assert ("outputs.y.dtype", "was float32, is that of the first input that is float16 or float32", True) in compared(
        old, new
    )


ATTRIBUTES = [
    ({}, {"a": {"default": 1}}, ("attributes.a", "is new, and may be left out", False)),
    ({"a": {"default": 1}}, {}, ("attributes.a", "is gone", True)),
    ({"a": {"default": 1}}, {"a": {"default": 2}}, ("attributes.a.default", "was 1, is 2", True)),
    ({"a": {"default": [1, 2]}}, {"a": {"default": [1, 3]}}, ("attributes.a.default", "was [1, 2], is [1, 3]", True)),
    ({"a": {}}, {"a": {"default": 0}}, ("attributes.a.default", "was none, is 0", True)),
]


@pytest.mark.parametrize(("old", "new", "change"), ATTRIBUTES)
def test_attributes(old: Json, new: Json, change: tuple[str, str, bool]) -> None:
    """A default is what a call means that leaves the attribute out."""
    assert compared({"attributes": old}, {"attributes": new}) == [change]


def test_numbers_are_the_same_attribute_where_float32_holds_them_alike() -> None:
    """As a call compares them."""
    old, new = {"attributes": {"e": {"default": 0.1}}}, {"attributes": {"e": {"default": 0.10000000149011612}}}
    assert compared(old, new) == []


CONSTRAINTS = [
    (None, {"a": {"required": True}}, ("attributes.a", "must be given now", True)),
    ({"a": {"required": True}}, None, ("attributes.a", "may be left out now", False)),
    (None, {"a": {"values": [1, 2]}}, ("attributes.a.values", "must be one of 1, 2 now", True)),
    ({"a": {"values": [1, 2]}}, None, ("attributes.a.values", "may be any value now", False)),
    ({"a": {"values": [1, 2]}}, {"a": {"values": [2, 1, 3]}}, ("attributes.a.values", "also 3", False)),
    ({"a": {"values": [1, 2]}}, {"a": {"values": [1]}}, ("attributes.a.values", "no longer 2", True)),
]


@pytest.mark.parametrize(("old", "new", "change"), CONSTRAINTS)
def test_attribute_constraints(old: Json | None, new: Json | None, change: tuple[str, str, bool]) -> None:
    """Fewer values, or one that must be given, break; more do not."""
    attributes: Json = {"attributes": {"a": {}}}
    assert compared({**attributes, "attributeConstraints": old}, {**attributes, "attributeConstraints": new}) == [
        change
    ]


ARGS = [
    ({}, {"k": {"kind": "u32"}}, ("args.k", "is new, and needed", True)),
    ({}, {"k": {"kind": "u32", "required": False}}, ("args.k", "is new, and may be left out", False)),
    ({"k": {"kind": "u32"}}, {}, ("args.k", "is gone", True)),
    ({"k": {"kind": "u32"}}, {"k": {"kind": "i32"}}, ("args.k.kind", "was u32, is i32", True)),
    (
        {"k": {"kind": "u32", "required": False}},
        {"k": {"kind": "u32"}},
        ("args.k", "must be given now", True),
    ),
    (
        {"k": {"kind": "string", "oneOf": ["a", "b"]}},
        {"k": {"kind": "string", "oneOf": ["a"]}},
        ("args.k.oneOf", 'no longer "b"', True),
    ),
    (
        {"k": {"kind": "string", "oneOf": ["a"]}},
        {"k": {"kind": "string"}},
        ("args.k.oneOf", "may be any value now", False),
    ),
    ({"k": {"kind": "u32"}}, {"k": {"kind": "u32", "onnx": "K"}}, ("args.k.onnx", "was absent, is K", False)),
]


@pytest.mark.parametrize(("old", "new", "change"), ARGS)
def test_scalar_arguments(old: Json, new: Json, change: tuple[str, str, bool]) -> None:
    """Like inputs and attributes."""
    assert compared({"args": old}, {"args": new}) == [change]


def test_tunables_may_be_added_and_tuned() -> None:
    """Callers may override them by name; a default changes speed, not results."""
    old = {"tunables": {"W": {"default": 64}, "GONE": {"default": 1}, "KIND": {"default": 1}}}
    new = {"tunables": {"W": {"default": 128}, "KIND": {"default": "a"}, "NEW": {"default": True}}}
    assert compared(old, new) == [
        ("tunables.GONE", "is gone", True),
        ("tunables.KIND", "was a number, is a string", True),
        ("tunables.W.default", "was 64, is 128", False),
        ("tunables.NEW", "is new", False),
    ]


def test_a_tunable_of_a_variant_is_a_name_for_callers_too() -> None:
    """It goes with its variant."""
    old = {"variants": [variant("fast", tunables={"W": {"default": 4}}), variant("only")]}
    assert compared(old, {}) == [("tunables.W", "is gone", True), ("variants.fast", "is gone", False)]


def test_a_variant_breaks_nobody() -> None:
    """Added, removed or changed: how an operator is computed is not its contract."""
    old = {"variants": [variant("fast", priority=1, when=["ranks.x == 2"]), variant("only")]}
    new = {
        "variants": [
            variant("faster", priority=2, when=["ranks.x == 2"]),
            {"id": "only", "passes": [a_pass(dispatch={"x": 2})]},
        ]
    }
    assert compared(old, new) == [
        ("variants.fast", "is gone", False),
        ("variants.only", "other passes", False),
        ("variants.faster", "is new", False),
    ]


def test_what_every_variant_needs_breaks_where_one_did_without() -> None:
    """It does not matter whether the manifest says so or each variant."""
    old = {"variants": [variant("a", requires={"features": ["shader-f16"]}), variant("b")]}
    new = {"requires": {"features": ["shader-f16"], "limits": {"maxBufferSize": 2**29}}, "variants": old["variants"]}
    assert [change for change in compared(old, new) if change[0] == "requires"] == [
        ("requires", "every variant needs the feature shader-f16 now", True),
        ("requires", "every variant needs maxBufferSize 536,870,912 now", True),
    ]
    assert [change for change in compared(new, old) if change[0] == "requires"] == [
        ("requires", "no longer does every variant need the feature shader-f16", False),
        ("requires", "no longer does every variant need maxBufferSize 536,870,912", False),
    ]


def test_more_of_the_same_need_breaks() -> None:
    """Of an alignment less is more."""
    old = {
        "requires": {"limits": {"maxBufferSize": 2**29, "minStorageBufferOffsetAlignment": 128}, "subgroupMinSize": 4}
    }
    new = {
        "requires": {"limits": {"maxBufferSize": 2**30, "minStorageBufferOffsetAlignment": 64}, "subgroupMinSize": 8}
    }
    assert [change[:2] for change in compared(old, new) if change[2]] == [
        ("requires", "every variant needs maxBufferSize 1,073,741,824 now"),
        ("requires", "every variant needs minStorageBufferOffsetAlignment 64 now"),
        ("requires", "every variant needs subgroupMinSize 8 now"),
    ]
    assert [change for change in compared(new, old) if change[2]] == []


def test_a_condition_of_every_variant_breaks_where_one_did_without() -> None:
    """Wherever it is written, and as a part of a longer one."""
    old = {"variants": [variant("a", when=["ranks.x == 2"]), variant("b")]}
    new = {"variants": [variant("a", when=["ranks.x == 2"]), variant("b", when=["ranks.x == 2 and present.x"])]}
    assert ("when", "every variant asks for `ranks.x == 2` now", True) in compared(old, new)
    assert ("when", "no longer does every variant ask for `ranks.x == 2`", False) in compared(new, old)


HEADINGS = [
    ({"name": "Other"}, [("name", "another operator: was test.Scale, is test.Other", True)]),
    ({"sinceVersion": 9}, [("sinceVersion", "was absent, is 9", False)]),
    ({"conformance": "internal-lowering"}, [("conformance", "was absent, is internal-lowering", False)]),
    (
        {"extensions": ["split"]},
        [("extensions", "loaders that do not know split refuse the package", True)],
    ),
    (
        {"description": "Scales.", "inputs": {"x": {"dtype": "T", "description": "What is scaled."}}},
        [("descriptions", "other words: description, inputs.x", False)],
    ),
]


@pytest.mark.parametrize(("new", "changes"), HEADINGS)
def test_headings(new: Json, changes: list[tuple[str, str, bool]]) -> None:
    """Which operator it is, what a loader must know, and what is only told."""
    assert compared({}, new) == changes


def test_another_definition_of_the_operator_breaks() -> None:
    """Whoever asks for the old one must not get the new one; nor where it is not said any more."""
    assert compared({"sinceVersion": 9}, {"sinceVersion": 13}) == [("sinceVersion", "was 9, is 13", True)]
    assert compared({"sinceVersion": 9}, {}) == [("sinceVersion", "was 9, is absent", True)]
    assert compared({"extensions": ["split"]}, {}) == [("extensions", "no longer needs split", False)]


def test_what_breaks_stands_first() -> None:
    """The rest keeps the manifest's order."""
    found = compare_manifests(
        read_manifest(scale_manifest(attributes={"a": {"default": 1}})),
        read_manifest(scale_manifest(description="x", attributes={"a": {"default": 2}})),
    )
    assert [change.path for change in found.changes] == ["attributes.a.default", "descriptions"]
    assert found.breaking


def package(folder: Path, files: dict[str, Any], *, metadata: Json | None = None) -> wk.Kernel:
    """Write a package and load it."""
    folder.mkdir()
    texts = {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in {"manifest.json": scale_manifest(), "main.wgsl.jinja": "fn main() {}", **files}.items()
    }
    if metadata is not None:
        digests = {name: file_digest(text.encode()) for name, text in texts.items()}
        texts["metadata.json"] = json.dumps(
            {
                "name": "test.Scale",
                "id": package_id("test.Scale", digests),
                "backend": {"type": "webgpu"},
                "digest": {"algorithm": "sha256", "files": digests},
                "webgpu": {"manifestSpec": "2.1"},
                **metadata,
            }
        )
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return wk.load_kernel(folder)


def suite(*shapes: list[int]) -> Json:
    return {
        "cases": [
            {
                "name": "x".join(map(str, shape)),
                "inputs": {"x": {"dtype": "float32", "shape": shape, "data": {"kind": "fill", "value": 1}}},
                "outputs": {"y": {"dtype": "float32", "shape": shape, "tolerance": 0}},
            }
            for shape in shapes
        ]
    }


def test_files_that_differ_are_named(tmp_path: Path) -> None:
    """Templates and suites; none of them is the contract."""
    old = package(tmp_path / "old", {"part.wgsl": "// a", "test.json": suite()})
    new = package(tmp_path / "new", {"main.wgsl.jinja": "fn main() { }", "other.wgsl": "// b", "test.json": suite()})
    assert changes_of(compare_kernels(old, new)) == [
        ("files", "gone: part.wgsl", False),
        ("files", "new: other.wgsl", False),
        ("files", "changed: main.wgsl.jinja", False),
    ]


def test_metadata_that_differs_is_told(tmp_path: Path) -> None:
    """A manifest in another spec is not read by the loaders of the first."""
    old = package(tmp_path / "old", {}, metadata={"version": 1, "license": "MIT"})
    new = package(tmp_path / "new", {}, metadata={"version": 2})
    assert changes_of(compare_kernels(old, new)) == [
        ("metadata.version", "was 1, is 2: another version of the contract", False),
        ("metadata.license", "was MIT, is absent", False),
    ]


def test_a_call_of_the_suite_that_no_variant_takes_any_more_breaks(tmp_path: Path) -> None:
    """Each variant alone may go, and the conditions of all may differ: what counts is that a call finds one."""
    two = [variant("flat", when=["ranks.x == 1"]), variant("rows", when=["ranks.x == 2"])]
    old = package(
        tmp_path / "old",
        {"manifest.json": scale_manifest(variants=two), "test.json": suite([4], [2, 2], [3, 2], [1, 1, 1])},
    )
    new = package(tmp_path / "new", {"manifest.json": scale_manifest(variants=two[:1])})
    broken = [change for change in changes_of(compare_kernels(old, new)) if change[2]]
    assert broken == [
        ("when", "every variant asks for `ranks.x == 1` now", True),
        ("suites", "no variant takes it: 2 of 4 calls, such as test.json: 2x2 on every device", True),
    ]


def test_a_call_that_some_device_loses_breaks(tmp_path: Path) -> None:
    """The devices that are known here are asked one by one."""
    old = package(tmp_path / "old", {"test.json": suite([4])})
    needy = scale_manifest(variants=[variant("only", requires={"features": ["shader-f16"]})])
    new = package(tmp_path / "new", {"manifest.json": needy})
    said = "no variant takes it: 1 of 1 calls, such as test.json: 4 on chromium-swiftshader, webgpu-defaults"
    assert ("suites", said, True) in changes_of(compare_kernels(old, new))


def test_an_output_of_another_shape_is_told_once(tmp_path: Path) -> None:
    """However many calls ask for it."""
    old = package(tmp_path / "old", {"test.json": suite([4], [5], [6])})
    flat = scale_manifest(outputs={"y": {"dtype": "T", "shape": "[1]"}})
    said = [
        what for path, what, _ in changes_of(compare_kernels(old, package(tmp_path / "new", {"manifest.json": flat})))
    ]
    assert "output 'y' was float32[4], is float32[1]: 3 of 3 calls, such as test.json: 4 on every device" in said
    assert sum(what.startswith("output 'y' was") for what in said) == 1


def test_a_call_that_is_answered_otherwise_breaks(tmp_path: Path) -> None:
    """In another shape, for example."""
    old = package(tmp_path / "old", {"test.json": suite([4])})
    flat = scale_manifest(outputs={"y": {"dtype": "T", "shape": "[1]"}})
    new = package(tmp_path / "new", {"manifest.json": flat})
    said = "output 'y' was float32[4], is float32[1]: 1 of 1 calls, such as test.json: 4 on every device"
    assert ("suites", said, True) in changes_of(compare_kernels(old, new))


def test_what_every_device_has_is_no_need() -> None:
    """Limits within WebGPU's defaults, and a condition that always holds."""
    plain = {"variants": [variant("only")]}
    granted = {
        **plain,
        "requires": {"limits": {"maxBufferSize": 2**28, "minStorageBufferOffsetAlignment": 256}},
        "when": ["true", "1 + 1 == 2"],
    }
    assert not any(breaking for _, _, breaking in compared(plain, granted))
    assert not any(breaking for _, _, breaking in compared(granted, plain))


def test_a_formula_that_doubles_is_compared_at_once() -> None:
    """Each derived name is looked at once, however often it is used."""
    derive = {"n0": "1", **{f"n{i}": f"n{i - 1} + n{i - 1}" for i in range(1, 90)}}
    old = {"derive": derive, "outputs": {"y": {"dtype": "T", "shape": "[n89]"}}}
    assert compared(old, {**old, "derive": {**derive, "n0": "2"}}) == [
        ("outputs.y.shape", "[n89]: what it is derived from reads differently", True)
    ]
