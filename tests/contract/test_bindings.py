"""Binding entries: what they bind, and every default."""

from __future__ import annotations

from typing import Any

import pytest
from manifest_defects import defects
from sample_manifests import a_pass, scale_manifest, variant

from webgpu_kernels.contract import Binding, read_manifest

SCRATCH = {"id": "s", "dtype": "float16", "shape": "[4]"}
FIELDS = [{"name": "n", "type": "u32", "value": "ranks.x"}]


def manifest_of(*uses: Any, handles: Any = None, **changes: Any) -> dict[str, Any]:
    step = a_pass(bindings=list(uses), derive={"wide": "'vec4<f32>'", "length": 4})
    return scale_manifest(bindings=handles, variants=[variant("a", intermediates=[SCRATCH], passes=[step])], **changes)


def read(*uses: Any, handles: Any = None, **changes: Any) -> list[Binding]:
    step = read_manifest(manifest_of(*uses, handles=handles, **changes)).variants[0].passes[0]
    return list(step.bindings)  # type: ignore[union-attr]


def facts(binding: Binding) -> tuple[str, str, str, str, str | None]:
    return binding.name, binding.resource, binding.target, binding.access, binding.element_type


@pytest.mark.parametrize(
    ("use", "handles", "expected"),
    [
        ("x", None, ("x", "tensor", "x", "read-only-storage", "$T")),
        ("y", None, ("y", "tensor", "y", "storage", "$T")),
        ("s", None, ("s", "scratch", "s", "storage", "f16")),
        ({"name": "s", "elementType": "f32"}, None, ("s", "scratch", "s", "storage", "f32")),
        ({"arg": "x"}, None, ("x", "tensor", "x", "read-only-storage", "$T")),
        ({"scratch": "s"}, None, ("s", "scratch", "s", "storage", "f16")),
        ({"name": "src", "arg": "x"}, None, ("src", "tensor", "x", "read-only-storage", "$T")),
        (
            {"name": "tmp", "scratch": "s", "buffer": "read-only-storage"},
            None,
            ("tmp", "scratch", "s", "read-only-storage", "f16"),
        ),
        ({"arg": "y", "buffer": "read-only-storage"}, None, ("y", "tensor", "y", "read-only-storage", "$T")),
        ({"arg": "x", "buffer": "storage"}, None, ("x", "tensor", "x", "storage", "$T")),
        ("h", {"h": {"name": "x"}}, ("x", "tensor", "x", "read-only-storage", "$T")),
        ("h", {"h": {"arg": "x"}}, ("h", "tensor", "x", "read-only-storage", "$T")),
        ("h", {"h": {"arg": "x", "name": "src"}}, ("src", "tensor", "x", "read-only-storage", "$T")),
        ("h", {"h": {"scratch": "s"}}, ("h", "scratch", "s", "storage", "f16")),
        ("x", {"x": {"elementType": "$wide"}}, ("x", "tensor", "x", "read-only-storage", "$wide")),
        ("x", {"x": {"name": "input"}}, ("input", "tensor", "x", "read-only-storage", "$T")),
        ("p", {"p": {"struct": FIELDS}}, ("p", "uniform", "p", "uniform", None)),
        ({"name": "p", "struct": FIELDS, "buffer": "uniform"}, None, ("p", "uniform", "p", "uniform", None)),
    ],
)
def test_an_entry_is_completed(use: Any, handles: Any, expected: tuple[str, str, str, str, str | None]) -> None:
    """Name, resource, target, access and element type follow from little."""
    assert facts(read(use, handles=handles)[0]) == expected


@pytest.mark.parametrize(
    ("port", "element_type"),
    [
        ({"dtype": "int64"}, "vec2<u32>"),
        ({"dtype": "int64", "storage": "int32", "narrowing": "checked"}, "i32"),
        ({"dtype": "I", "storage": "uint32", "narrowing": "checked"}, "u32"),
        ({"dtype": "I"}, "$I"),
        ({"dtype": "uint8", "layout": "packed"}, "u32"),
        ({"dtype": "bool"}, "u32"),
        ({"dtype": "float16"}, "f16"),
        ({}, "f32"),
    ],
)
def test_the_element_type_defaults_to_what_the_port_stores(port: dict[str, Any], element_type: str) -> None:
    """The storage dtype's WGSL scalar; a type variable is looked up."""
    inputs = {"x": {"dtype": "T"}, "i": port}
    (binding,) = read("i", inputs=inputs, typeConstraints={"T": ["float32"], "I": ["int64"]})
    assert binding.element_type == element_type


def test_a_tensor_that_is_read_and_written_is_writable() -> None:
    """By default."""
    outputs = {"y": {"dtype": "T", "shape": "shapes.x"}, "x": {"dtype": "T"}}
    assert facts(read("x", outputs=outputs)[0]) == ("x", "tensor", "x", "storage", "$T")


def test_an_intermediate_hides_a_tensor_of_its_name() -> None:
    """``arg`` still means the tensor."""
    manifest = scale_manifest(
        variants=[
            variant(
                "a",
                intermediates=[{**SCRATCH, "id": "x"}],
                passes=[a_pass(bindings=["x", {"name": "t", "arg": "x"}])],
            )
        ]
    )
    bindings = read_manifest(manifest).variants[0].passes[0].bindings  # type: ignore[union-attr]
    assert [(binding.resource, binding.target) for binding in bindings] == [("scratch", "x"), ("tensor", "x")]


def test_lengths_and_structs_are_kept() -> None:
    """A number, or a value of the pass; fields in order with their defaults."""
    fields = [*FIELDS, {"name": "k", "type": "f32", "default": 0.5, "required": False, "internal": True}]
    fixed, looked_up, uniform = read(
        {"arg": "x", "length": 16},
        {"arg": "y", "length": "$length"},
        {"name": "p", "struct": fields, "structName": "Sizes"},
    )
    assert (fixed.length, looked_up.length) == (16, "$length")
    assert uniform.struct is not None
    assert uniform.struct.name == "Sizes"
    assert [
        (f.name, f.type, f.value and f.value.source, f.default, f.required, f.internal) for f in uniform.struct.fields
    ] == [
        ("n", "u32", "ranks.x", None, True, False),
        ("k", "f32", None, 0.5, False, True),
    ]


def test_a_struct_is_called_params() -> None:
    """Unless ``structName`` says otherwise."""
    (binding,) = read({"name": "p", "struct": FIELDS})
    assert binding.struct is not None
    assert binding.struct.name == "Params"


@pytest.mark.parametrize(
    ("use", "defect"),
    [
        (1, ": must be a string, not the number 1"),
        ("z", ": binds 'z', which is not there: the handles, tensors and intermediates of this variant are x, y, s"),
        ({"elementType": "f32"}, ": has no name: give 'name', 'arg' or 'scratch'"),
        ({"struct": FIELDS}, ": has no name: give 'name', 'arg' or 'scratch'"),
        ({"arg": "z"}, ".arg: 'z' is no input or output: the tensors are x, y"),
        ({"arg": "s"}, ".arg: 's' is no input or output: it is an intermediate, use 'scratch'"),
        ({"scratch": "z"}, ": binds 'z', which is not there: the intermediates of this variant are s"),
        ({"arg": "x", "scratch": "s"}, ": has 'arg' and 'scratch': keep one of them"),
        ({"arg": "x", "name": "fn"}, ".name: 'fn' is a word of WGSL: choose another name"),
        (
            {"arg": "x", "buffer": "readonly"},
            '.buffer: must be "uniform" or "read-only-storage" or "storage", not the string "readonly"',
        ),
        ({"arg": "x", "buffer": "uniform"}, ".buffer: 'uniform' is for a binding with 'struct'"),
        (
            {"arg": "x", "elementType": "vec4<f32"},
            ".elementType: must be a WGSL type such as f32 or vec4<f32>, or '$' and a name of the pass",
        ),
        (
            {"arg": "x", "elementType": "f32; evil"},
            ".elementType: must be a WGSL type such as f32 or vec4<f32>, or '$' and a name of the pass",
        ),
        (
            {"arg": "x", "elementType": "$1"},
            (
                ".elementType: must be '$' and a name; '1' is not a name: use letters, digits and underscores, "
                "no digit first and no two underscores first"
            ),
        ),
        (
            {"arg": "x", "elementType": "$wdie"},
            ".elementType: refers to '$wdie', which is no derived name or type variable: did you mean 'wide'?",
        ),
        ({"arg": "x", "length": 0}, ".length: must be a positive integer, or '$' and a derived name, not the number 0"),
        (
            {"arg": "x", "length": "4"},
            ".length: must be a positive integer, or '$' and a derived name, not the string \"4\"",
        ),
        ({"arg": "x", "length": True}, ".length: must be a positive integer, or '$' and a derived name, not true"),
        (
            {"arg": "x", "length": "$n"},
            (
                ".length: refers to '$n', which is no derived name or type variable: the values of this pass are T, "
                "length, wide"
            ),
        ),
        ({"arg": "x", "structName": "P"}, ".structName: names a struct that the binding does not have: give 'struct'"),
        (
            {"name": "p", "struct": FIELDS, "structName": "1"},
            (
                ".structName: is not a WGSL identifier: use letters, digits and underscores, "
                "no digit first and no two underscores first"
            ),
        ),
        (
            {"name": "p", "struct": FIELDS, "buffer": "storage"},
            ".buffer: must be 'uniform' beside 'struct', not 'storage'",
        ),
        (
            {"name": "p", "struct": FIELDS, "arg": "x"},
            ".arg: stands beside 'struct': a uniform has no tensor, element type or length",
        ),
        (
            {"name": "p", "struct": FIELDS, "length": 4},
            ".length: stands beside 'struct': a uniform has no tensor, element type or length",
        ),
        ({"name": "p", "struct": []}, ".struct: must not be empty: give fields"),
        (
            {"name": "p", "struct": {"fields": []}},
            ".struct: must be a list of fields; an object {name, fields} is the older dialect: use 'structName'",
        ),
        (
            {"arg": "x", "semantic": "x"},
            ".semantic: is not a key of a binding: use 'arg' for a tensor, 'scratch' for an intermediate",
        ),
    ],
)
def test_an_inline_entry_is_checked(use: Any, defect: str) -> None:
    """Where it stands in the pass."""
    assert defects(manifest_of(use)) == [f"variants[0].passes[0].bindings[0]{defect}"]


@pytest.mark.parametrize(
    ("entry", "defect"),
    [
        ({"arg": "z"}, "bindings.h.arg: 'z' is no input or output: the tensors are x, y"),
        ({"arg": "s"}, "bindings.h.arg: 's' is no input or output: it is an intermediate, use 'scratch'"),
        ({"scratch": "z"}, "bindings.h.scratch: 'z' is no intermediate of any variant: the intermediates are s"),
        ({"name": "z"}, "bindings.h: binds no tensor or intermediate: the tensors and intermediates are x, y, s"),
        ({}, "bindings.h: binds no tensor or intermediate: the tensors and intermediates are x, y, s"),
        (
            {"name": "x", "elementType": "$nope"},
            (
                "bindings.h.elementType: refers to '$nope', which is no derived name or type variable: the values of "
                "this pass are T, length, wide (in variants[0].passes[0])"
            ),
        ),
        (
            {"struct": [{"name": "n", "type": "u32", "value": "nope"}]},
            (
                "bindings.h.struct[0].value: uses the unknown name 'nope': there are derived names, "
                "repeat, tunables, derive, DISPATCH_FOLD_WIDTH, dtypes, logicalDtypes, tensorDtypes, ranks, shapes, "
                "present, args, attrs, device and "
                "functions (in variants[0].passes[0])"
            ),
        ),
    ],
)
def test_a_handle_is_reported_where_it_is_declared(entry: Any, defect: str) -> None:
    """Once, however many passes use it."""
    assert defects(manifest_of("h", {"name": "again", "arg": "x"}, handles={"h": entry})) == [defect]


def test_a_handle_that_another_variant_has_the_buffer_for_is_reported_at_its_use() -> None:
    """The handle is good, this variant lacks its intermediate."""
    variants = [
        variant("a", intermediates=[SCRATCH], passes=[a_pass(bindings=["h"])]),
        variant("b", passes=[a_pass(bindings=["h"])]),
    ]
    assert defects(scale_manifest(bindings={"h": {"scratch": "s"}}, variants=variants)) == [
        "variants[1].passes[0].bindings[0]: binds 's', which is not there: there are no intermediates of this variant"
    ]


def test_an_unused_handle_may_stand() -> None:
    """Expanded manifests keep handles that only other variants used."""
    assert read("x", handles={"unused": {"name": "y", "elementType": "$elsewhere"}})


@pytest.mark.parametrize(
    ("uses", "defect"),
    [
        (["x", {"name": "x", "arg": "y"}], "[1]: gives the shader a second variable 'x': set 'name' of one of them"),
        (
            [{"name": "p", "struct": FIELDS}, {"name": "q", "struct": [{"name": "m", "type": "u32", "value": 1}]}],
            "[1]: gives the shader a second struct 'Params': set 'structName' of one of them",
        ),
        (
            [{"name": "p", "struct": FIELDS, "structName": "p"}],
            "[0]: gives the shader a struct and a variable of the same name: set 'structName'",
        ),
        (
            [{"name": "p", "struct": FIELDS, "structName": "x"}, "x"],
            "[1]: gives the shader a struct and a variable of the same name: set 'structName'",
        ),
        (
            ["x", {"name": "p", "struct": FIELDS, "structName": "x"}],
            "[1]: gives the shader a struct and a variable of the same name: set 'structName'",
        ),
    ],
)
def test_names_of_a_shader_are_different(uses: list[Any], defect: str) -> None:
    """Variables and structs share one scope in WGSL."""
    assert defects(manifest_of(*uses)) == [f"variants[0].passes[0].bindings{defect}"]


def test_two_uniforms_may_share_one_struct() -> None:
    """It is declared once."""
    assert len(read({"name": "p", "struct": FIELDS}, {"name": "q", "struct": FIELDS})) == 2


@pytest.mark.parametrize(
    ("field", "defect"),
    [
        ({"type": "u32", "value": 1}, ".name: is missing: name the field"),
        ({"name": "n", "value": 1}, ".type: is missing: give u32, i32, f32"),
        ({"name": "n", "type": "f16", "value": 1}, '.type: must be "u32" or "i32" or "f32", not the string "f16"'),
        ({"name": "if", "type": "u32", "value": 1}, ".name: is a word of WGSL: choose another name"),
        ({"name": "_pad0", "type": "u32", "value": 1}, ".name: is kept for padding: choose another name"),
        ({"name": "n", "type": "u32"}, ": has no value: give 'value' or 'default', or declare the scalar argument 'n'"),
        ({"name": "n", "type": "u32", "value": None}, ".value: must be an expression or a number, not null"),
        ({"name": "n", "type": "u32", "value": "1 +"}, None),
        ({"name": "n", "type": "u32", "default": "1"}, '.default: must be a number, not the string "1"'),
        ({"name": "n", "type": "u32", "default": -1}, ".default: must be a value of u32, not the number -1"),
        (
            {"name": "n", "type": "i32", "default": 2147483648},
            ".default: must be a value of i32, not the number 2147483648",
        ),
        ({"name": "n", "type": "u32", "default": 0.5}, ".default: must be a value of u32, not the number 0.5"),
        (
            {"name": "n", "type": "f32", "default": 1e39},
            ".default: must be a value of f32, not the number 1e+39",
        ),
        ({"name": "n", "type": "u32", "value": 1, "required": 1}, ".required: must be true or false, not the number 1"),
        ({"name": "n", "type": "u32", "value": 1, "internal": 1}, ".internal: must be true or false, not the number 1"),
        (
            {"name": "n", "type": "u32", "value": 1, "size": 4},
            (
                ".size: is not a key of a struct field: the keys of a struct field are name, type, value, "
                "required, internal, default"
            ),
        ),
    ],
)
def test_a_struct_field_is_checked(field: Any, defect: str | None) -> None:
    """Each key by its own rule."""
    (found,) = defects(manifest_of({"name": "p", "struct": [field]}))
    start = "variants[0].passes[0].bindings[0].struct[0]"
    assert found == f"{start}{defect}" if defect else found.startswith(f"{start}.value: is not an expression: ")


def test_fields_have_different_names() -> None:
    """WGSL asks for it."""
    assert defects(manifest_of({"name": "p", "struct": [*FIELDS, *FIELDS]})) == [
        "variants[0].passes[0].bindings[0].struct[1].name: is taken: the struct has another field 'n'"
    ]


def test_a_field_may_take_its_value_from_a_scalar_argument() -> None:
    """That has its name."""
    (binding,) = read({"name": "p", "struct": [{"name": "k", "type": "u32"}]}, args={"k": {"kind": "u32"}})
    assert binding.struct is not None
    assert binding.struct.fields[0].value is None
