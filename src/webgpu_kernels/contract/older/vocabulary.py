"""Every key of a manifest of spec 1.0, as far as it differs from spec 2.1."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

from webgpu_kernels.contract import vocabulary as current
from webgpu_kernels.contract.kinds import (
    Anything,
    Branch,
    Either,
    Entries,
    Filled,
    Flag,
    Formula,
    Key,
    Later,
    Members,
    Some,
    Table,
    Text,
    Whole,
    Words,
)

Side: TypeAlias = Literal["input", "output"]
SIDES: Final[tuple[Side, ...]] = get_args(Side)
CONSTANTS: Final = "constants"
SOURCE: Final = "source"
LEVEL_KEYS: Final = (CONSTANTS, "derive")
TENSOR: Final = "tensor"
_SHADER_MISSING: Final = "name the template file"

_TEXT: Final = Text()
_CLAUSES: Final = Either((_TEXT, Entries(_TEXT, 1)))
_DESCRIPTION: Final = Key("description", _TEXT, "What it is, for readers.")
_ROLE: Final = Key("role", current.WGSL_NAMES, "The tensor's name in formulas.", "name the tensor")
_CONSTANTS: Final = Key(CONSTANTS, current.DERIVE, "Names for formulas, also as constants.<name>.")
_SEMANTIC: Final = Key("semantic", _TEXT, "The role of the port that it is.")
_TUNABLES: Final = Key(
    "tunables", Members(current.TUNABLE_VALUE, current.NAMES), "Values that change speed and not results."
)
_TUNABLE_DESCRIPTIONS: Final = Key("tunableDescriptions", Members(_TEXT, current.NAMES), "What the tunables are.")

_DROPPED: Final = ("storage", "narrowing", "range")
INPUT_PORT: Final = current.INPUT.without(*_DROPPED).changed(_ROLE)
OUTPUT_PORT: Final = current.OUTPUT.without(*_DROPPED).changed(_ROLE)
TENSOR_ARGUMENT: Final = Table(
    "a tensor argument",
    Key("kind", Words((TENSOR,)), "That it is a tensor."),
    _SEMANTIC,
    Key("role", Words(SIDES), "In which list its port stands."),
    Key("dtype", _TEXT, "How the tensor is stored."),
    Key("narrowing", Words(current.NARROWINGS), "How int64 values become int32 or uint32."),
    Key("required", Flag(), "Whether every call must give it; by default as its port says."),
    _DESCRIPTION,
)
SCALAR_ARGUMENT: Final = current.SCALAR.changed(_SEMANTIC, Key("role", Words(SIDES), "Always 'input'."))
ARGUMENT: Final = Branch(("kind",), TENSOR_ARGUMENT, SCALAR_ARGUMENT, TENSOR)
REQUIREMENTS: Final = (
    current.MANIFEST.keys["requires"],
    Key("requiredFeatures", Entries(_TEXT), "WebGPU features."),
    Key("requiredLimits", current.LIMITS, "The least value of each WebGPU limit."),
    Key("requiredSubgroupMinSize", Whole(1), "The least that the adapter's subgroupMinSize may be."),
)
BUFFER: Final = Table(
    "'buffer'", Key("type", Words(current.ACCESS), "How the shader uses it.", f"give {', '.join(current.ACCESS)}")
)
STRUCT: Final = Table(
    "a struct",
    Key("name", current.WGSL_NAMES, "The struct's name in WGSL, by default Params."),
    Key("fields", Entries(current.FIELD, 1), "Its fields, each a 32-bit word.", "list the uniform's fields"),
)
ENTRY: Final = Table(
    "a binding",
    Key("name", current.WGSL_NAMES, "The WGSL variable."),
    Key("arg", _TEXT, "The tensor that it binds, by its name in calls."),
    Key("semantic", _TEXT, "The role of the tensor, or kernel.params for the uniform."),
    Key("scratch", _TEXT, "The intermediate that it binds."),
    Key("buffer", BUFFER, "How the shader uses it."),
    Key("elementType", current.ELEMENT_TYPE, "A WGSL type such as vec4<f32>, or '$' and a name of the pass."),
    Key("length", current.LENGTH, "Elements of an array of fixed size, or '$' and a name."),
    Key("struct", STRUCT, "The uniform."),
)
BINDINGS: Final = Either((_TEXT, Entries(ENTRY)))
SOURCE_TABLE: Final = Table(
    "'source'",
    Key("shader", current.TEMPLATE, "The template's file.", _SHADER_MISSING),
    Key("inputs", Members(Anything(), current.NAMES), "What the template knows as source.<name>."),
)
GRID_STRIDE: Final = Table(
    "a dispatch with 'gridStride'",
    Key("gridStride", Formula(0), "Elements; the shader loops over those beyond the grid."),
    Key("workgroupSize", Formula(1), "Invocations of a workgroup.", "give an expression or an integer"),
)
DISPATCH: Final = Branch(("gridStride",), GRID_STRIDE, current.DISPATCH)
PASS: Final = current.PASS.changed(
    Key("shader", current.TEMPLATE, "The template's file; its entry point is main."),
    Key("bindings", BINDINGS, "A set's name, or entries; by default those of the variant."),
    Key(
        "dispatch",
        DISPATCH,
        "How many workgroups.",
        "give {x, y, z}, {threads, workgroupSize} or {gridStride, workgroupSize}",
    ),
    Key(SOURCE, SOURCE_TABLE, "The template's file, and what only it knows."),
    _CONSTANTS,
    some=(Some(("shader", SOURCE), _SHADER_MISSING),),
)
STEP: Final[Branch] = Branch(("repeat",), Later(lambda: GROUP), PASS)
GROUP: Final[Table] = current.GROUP.changed(
    Key("passes", Entries(STEP, 1), "What runs in each round.", current.GROUP.keys["passes"].missing)
)
VARIANT: Final = current.VARIANT.changed(
    Key("when", _CLAUSES, "Formulas that must all be exactly true, or the variant is rejected."),
    Key("demoteWhen", _CLAUSES, "Formulas; where one is true the variant is taken only if no other is."),
    *REQUIREMENTS,
    _TUNABLES,
    Key("passes", Entries(STEP, 1), "Dispatches in order, and groups of them.", current.VARIANT.keys["passes"].missing),
    _CONSTANTS,
    Key("selectAbove", _CLAUSES, "Formulas; where one is not true the variant is taken only if no other is."),
    _TUNABLE_DESCRIPTIONS,
    Key("bindings", BINDINGS, "Those of its passes that have none."),
)
FAMILY: Final = current.FAMILY.changed(
    Key("variants", Entries(Filled(VARIANT), 1), "Variants with {name} in their texts.", "give the templates to expand")
)
ANY_VARIANT: Final = Branch(current.ANY_VARIANT.keys, FAMILY, VARIANT)
MANIFEST: Final = Table(
    "a manifest of spec 1.0",
    *(
        current.MANIFEST.keys[key]
        for key in ("$schema", "domain", "name", "description", "conformance", "sinceVersion")
    ),
    Key("inputs", Entries(INPUT_PORT), "The tensors that a call gives, in order."),
    Key("outputs", Entries(OUTPUT_PORT, 1), "The tensors that are computed.", "declare what the kernel computes"),
    Key(
        "args",
        Members(ARGUMENT, Text(current.WGSL_NAMES.pattern)),
        "What calls name: tensors, each with the role of its port, and scalars.",
    ),
    Key("attributes", Members(Anything(objects=False), current.NAMES), "Attributes with their defaults."),
    Key("attributeNames", Entries(_TEXT), "Attributes that have no default."),
    Key("attributeDescriptions", Members(_TEXT, current.NAMES), "What the attributes are."),
    *(current.MANIFEST.keys[key] for key in ("attributeConstraints", "typeConstraints")),
    _TUNABLES,
    _TUNABLE_DESCRIPTIONS,
    _CONSTANTS,
    current.MANIFEST.keys["derive"],
    Key("when", _CLAUSES, "Formulas that are put before those of every variant."),
    *REQUIREMENTS,
    Key("bindingSets", Members(Entries(ENTRY)), "Bindings that passes name."),
    Key("variants", Entries(ANY_VARIANT, 1), "The implementations."),
    Key("variantFamilies", Entries(ANY_VARIANT, 1), "Families of variants."),
    current.MANIFEST.keys["onnx"],
    some=(Some(("variants", "variantFamilies"), "give at least one implementation"),),
)
