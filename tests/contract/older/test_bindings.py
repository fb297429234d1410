"""Binding sets of the older dialect."""

from __future__ import annotations

from typing import Any

import pytest
from older_manifests import first_pass, of_pass, older_defects, older_manifest, older_pass, older_variant, says, tensor

from webgpu_kernels.contract import read_manifest

READS = tensor("x", "input")
WRITES = tensor("y", "output", access="storage")


def uniform(**changes: Any) -> dict[str, Any]:
    """Return a uniform of one field."""
    struct = {"name": "Params", "fields": [{"name": "count", "type": "u32", "value": "numel(shapes.output)"}]}
    return {"name": "params", "semantic": "kernel.params", "buffer": {"type": "uniform"}, "struct": struct, **changes}


def with_set(entries: Any, **changes: Any) -> dict[str, Any]:
    """Return a manifest whose only pass uses a set of these entries."""
    return of_pass(bindings="io") | {"bindingSets": {"io": entries}, **changes}


def test_a_pass_names_a_set() -> None:
    """Every fact of an entry is kept."""
    entry = tensor("x", "input", elementType="$vector", length=4)
    manifest = read_manifest(with_set([entry, WRITES, uniform()], constants={"vector": '"vec4<f32>"'}))
    source, target, params = first_pass(manifest).bindings
    assert (source.name, source.resource, source.target, source.access) == ("x", "tensor", "x", "read-only-storage")
    assert (source.element_type, source.length) == ("$vector", 4)
    assert (target.target, target.access, target.element_type) == ("y", "storage", "$T")
    assert (params.resource, params.access, params.name) == ("uniform", "uniform", "params")
    assert params.struct is not None
    assert [field.name for field in params.struct.fields] == ["count"]


def test_a_variants_bindings_are_those_of_its_passes() -> None:
    """Unless a pass has its own."""
    passes = [
        older_pass(id="one", bindings=None),
        older_pass(id="two", bindings=[READS, tensor("y", "output", name="z")]),
    ]
    manifest = read_manifest(
        older_manifest(bindingSets={"io": [READS, WRITES]}, variants=[older_variant(bindings="io", passes=passes)])
    )
    names = [[binding.name for binding in step.bindings] for step in manifest.variants[0].passes]  # type: ignore[union-attr]  # no groups here
    assert names == [["x", "y"], ["x", "z"]]


def test_a_tensor_is_named_by_its_argument_or_its_semantic() -> None:
    """The shader's name is the given one, else the semantic, else the argument; access follows from the side."""
    manifest = read_manifest(of_pass(bindings=[{"arg": "x"}, {"semantic": "output"}]))
    assert [(b.name, b.target, b.access) for b in first_pass(manifest).bindings] == [
        ("x", "x", "read-only-storage"),
        ("output", "y", "storage"),
    ]


def test_an_intermediate_is_named_by_scratch_or_semantic() -> None:
    """It is written unless the entry says otherwise."""
    entries = [
        READS,
        WRITES,
        {"name": "s", "scratch": "sums"},
        {"semantic": "sums", "buffer": {"type": "read-only-storage"}},
    ]
    variant = older_variant(
        intermediates=[{"id": "sums", "dtype": "float32", "shape": "[4]"}], passes=[older_pass(bindings=entries)]
    )
    bindings = first_pass(read_manifest(older_manifest(variants=[variant]))).bindings
    assert [(b.name, b.resource, b.target, b.access, b.element_type) for b in bindings[2:]] == [
        ("s", "scratch", "sums", "storage", "f32"),
        ("sums", "scratch", "sums", "read-only-storage", "f32"),
    ]


def test_a_uniform_has_names_by_default() -> None:
    """``params`` of struct ``Params``."""
    fields = [{"name": "n", "type": "i32", "value": 3}]
    (params,) = first_pass(read_manifest(of_pass(bindings=[{"struct": {"fields": fields}}]))).bindings
    assert params.struct is not None
    assert (params.name, params.struct.name) == ("params", "Params")


@pytest.mark.parametrize(
    ("entry", "defect"),
    [
        (
            3,
            "must be an object with the keys name, arg, semantic, scratch, buffer, elementType, length, struct, …",
        ),
        ({}, "has no name: give 'name', 'arg' or 'scratch'"),
        ({"arg": "input"}, ".arg: is no tensor argument: the tensor arguments are x, y"),
        (tensor("x", "output"), ".semantic: must be 'input', as the argument 'x' has it, not 'output'"),
        ({"semantic": "sums"}, "binds 'sums', which is not there: there are no intermediates of this variant"),
        ({"arg": "x", "buffer": "storage"}, '.buffer: must be an object with the keys type, not the string "storage"'),
        ({"arg": "x", "buffer": {}}, ".buffer.type: is missing: give uniform, read-only-storage, storage"),
        ({"arg": "x", "buffer": {"type": "uniform"}}, ".buffer: 'uniform' is for a binding with 'struct'"),
        ({"arg": "x", "scratch": "s"}, "has 'arg' and 'scratch': keep one of them"),
        ({"arg": "x", "elementType": "$none"}, ".elementType: refers to '$none', which is no derived name or type…"),
        ({"arg": "x", "length": 0}, ".length: must be a positive integer, or '$' and a derived name, not the number 0"),
        ({"name": "params", "semantic": "kernel.params"}, ".struct: is missing: a uniform has fields"),
        (uniform(semantic="params"), ".semantic: must be 'kernel.params' beside 'struct', not 'params'"),
        (uniform(arg="x"), ".arg: stands beside 'struct': a uniform has no tensor, element type or length"),
        (uniform(struct=[]), ".struct: must be an object with the keys name, fields, not a list of 0"),
        (uniform(struct={}), ".struct.fields: is missing: list the uniform's fields"),
        (uniform(struct={"fields": []}), ".struct.fields: must not be empty: give fields"),
        (uniform(struct={"name": "fn", "fields": []}), ".struct.name: is a word of WGSL: choose another name"),
        (
            uniform(struct={"fields": [{"name": "n", "type": "u32", "value": "nowhere"}]}),
            ".struct.fields[0].value: uses the unknown name 'nowhere'…",
        ),
    ],
)
def test_an_entry_is_checked(entry: Any, defect: str) -> None:
    """Inline and in a set, where the message says for which pass."""
    inline = older_defects(of_pass(bindings=[entry]))
    glue = "" if defect.startswith(".") else ": "
    assert says(inline[0], f"variants[0].passes[0].bindings[0]{glue}{defect}"), inline
    shared = older_defects(with_set([entry]))
    # Of a set in use, the message says which pass showed the fault.
    assert says(shared[0].removesuffix(" (in variants[0].passes[0])"), f"bindingSets.io[0]{glue}{defect}"), shared


def test_a_fault_that_depends_on_the_pass_names_it() -> None:
    """A set may be right for one pass and wrong for another."""
    entry = tensor("x", "input", elementType="$kind")
    passes = [older_pass(id="one", bindings="io", constants={"kind": '"f32"'}), older_pass(id="two", bindings="io")]
    found = older_defects(older_manifest(bindingSets={"io": [entry]}, variants=[older_variant(passes=passes)]))
    assert len(found) == 1
    assert found[0].startswith("bindingSets.io[0].elementType: refers to '$kind', which is no derived name")
    assert found[0].endswith("(in variants[0].passes[1])")


def test_sets_that_no_pass_uses_are_checked_too() -> None:
    """As far as that can be done without a pass."""
    found = older_defects(older_manifest(bindingSets={"unused": [{"arg": "input"}], "worse": 3}))
    assert found == [
        "bindingSets.unused[0].arg: is no tensor argument: the tensor arguments are x, y",
        "bindingSets.worse: must be a list of bindings, not the number 3",
    ]


@pytest.mark.parametrize(
    ("bindings", "defect"),
    [
        ("oi", "variants[0].passes[0].bindings: is no binding set: the binding sets are io"),
        (None, "variants[0].passes[0].bindings: is missing: list what the shader uses"),
        (
            [READS, READS],
            "variants[0].passes[0].bindings[1]: gives the shader a second variable 'x': set 'name' of…",
        ),
    ],
)
def test_a_passes_list_is_checked(bindings: Any, defect: str) -> None:
    """A set must be there, and names must differ."""
    found = older_defects(of_pass(bindings=bindings) | {"bindingSets": {"io": [READS, WRITES]}})
    assert len(found) == 1
    assert says(found[0], defect), found
