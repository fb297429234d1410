"""Every key of a manifest of spec 2.1: what it is, and what it is for.

The readers go by these tables, and the JSON Schema is made of them.
"""

from __future__ import annotations

from typing import Final, get_args

from webgpu_kernels.contract.dtypes import LOGICAL_DTYPES, NIBBLE_DTYPES
from webgpu_kernels.contract.extensions import EXTENSIONS
from webgpu_kernels.contract.kinds import (
    Anything,
    Branch,
    Either,
    Entries,
    Filled,
    Flag,
    Form,
    Formula,
    Key,
    Later,
    Members,
    Never,
    Number,
    Table,
    Text,
    Whole,
    Words,
)
from webgpu_kernels.contract.model import ArgKind, BufferAccess, FieldType, Narrowing
from webgpu_kernels.contract.words import (
    DOMAIN,
    NAME,
    PASS_ID,
    RESERVED,
    VALUE,
    VARIANT_ID,
    WGSL_TYPE,
    WGSL_WORDS,
)

MAX_ROUNDS: Final = 65_535
CONFORMANCE: Final = ("internal-lowering", "legacy-default-domain")
LAYOUTS: Final = ("packed",)
NARROWINGS: Final[tuple[Narrowing, ...]] = get_args(Narrowing)
ARG_KINDS: Final[tuple[ArgKind, ...]] = get_args(ArgKind)
FIELD_TYPES: Final[tuple[FieldType, ...]] = get_args(FieldType)
ACCESS: Final[tuple[BufferAccess, ...]] = get_args(BufferAccess)
COMPONENT_TYPES: Final = ("f32", "f16", "u32", "i32", "u8", "i8")
SCRATCH_DTYPES: Final = tuple(dtype for dtype in LOGICAL_DTYPES if dtype != "int64")
WIDTHS: Final = (4, 8, 16, 32, 64, 128)
PORTABLE: Final = "portable"
REPEAT_RESERVED: Final = frozenset({"count", "index_count"})

NAMES: Final = Text(NAME.pattern)
# No less than WGSL's identifiers: which other letters Unicode has no pattern says shortly.
_SEGMENT: Final = r"(?!\.{1,2}(?:/|$))[^\\:/\x00-\x1f\x7f]+"
PATH: Final = rf"{_SEGMENT}(?:/{_SEGMENT})*"
"""A file's name inside a package: nothing leads out of it."""
WGSL_NAMES: Final = Text(r"(?!__)(?!_$)[^\x00-@\[-^`{-\x7f][^\x00-/:-@\[-^`{-\x7f]*", WGSL_WORDS)
TEMPLATE: Final = Text(rf"(?=.*\.wgsl(?:\.jinja)?$){PATH}")
ELEMENT_TYPE: Final = Text(f"{VALUE.pattern}|{WGSL_TYPE.pattern}")
LENGTH: Final = Either((Whole(1), Text(VALUE.pattern)))
_TEXT: Final = Text()
_CLAUSES: Final = Entries(_TEXT, 1)
_DESCRIPTION: Final = Key("description", _TEXT, "What it is, for readers.")
DERIVE: Final = Members(Anything(), Text(NAME.pattern, RESERVED))
SHAPE: Final = Either((_TEXT, Entries(Formula(0))))
LIMITS: Final = Members(Whole(0))
TUNABLE_VALUE: Final = Either((Number(), _TEXT, Flag()))

RANGE: Final = Table(
    "'range'",
    Key("min", Formula(), "The least value.", "give the least value, an expression or an integer"),
    Key("max", Formula(), "The greatest value.", "give the greatest value, an expression or an integer"),
    Key("what", _TEXT, "What the values are, in words that an error ends with."),
)
_PORT: Final = Table(
    "a port",
    _DESCRIPTION,
    Key("onnx", _TEXT, "The tensor's name in the ONNX operator."),
    Key("dtype", NAMES, "A logical dtype or a type variable; float32 where it is absent."),
    Key("rank", Formula(0), "How many dimensions the tensor has; consulted only for messages."),
    Key("optional", Flag(False), "Whether a call may leave the tensor out."),
)
_STORAGE: Final = Key(
    "storage", Words((*LOGICAL_DTYPES, *NIBBLE_DTYPES)), "The dtype that it is stored in: int32 or uint32 for int64."
)
INPUT: Final = _PORT.changed(
    Key("layout", Words(LAYOUTS), "'packed': four uint8 to a 32-bit word."),
    Key("shape", Never("is for outputs: the call gives an input's shape, check it in 'derive' or 'when'"), ""),
    _STORAGE,
    Key("narrowing", Words(NARROWINGS), "How int64 values become int32 or uint32: refused or clamped out of range."),
    Key("range", RANGE, "What the values of a host array must lie in.", extension="valueRange"),
)
OUTPUT: Final = _PORT.changed(
    Key("layout", Never("is for inputs: leave it out"), ""),
    Key("shape", SHAPE, "A formula that gives a list, or a list of formulas, one a dimension."),
    _STORAGE,
    Key("narrowing", Words(NARROWINGS), "Kept for tensors that are inputs too."),
    Key("range", Never("is for inputs: leave it out"), "", extension="valueRange"),
)
TYPE_CONSTRAINTS: Final = Members(
    Entries(Words((*LOGICAL_DTYPES, *NIBBLE_DTYPES)), 1), Text(NAME.pattern, RESERVED | {*LOGICAL_DTYPES})
)
SCALAR: Final = Table(
    "a scalar argument",
    Key("kind", Words(ARG_KINDS), "What a call gives.", f"give {', '.join(ARG_KINDS)}"),
    _DESCRIPTION,
    Key("onnx", _TEXT, "The argument's name in the ONNX operator."),
    Key("required", Flag(True), "Whether every call must give it."),
    Key("oneOf", Entries(_TEXT, 1), "The strings that it may be, for the kind 'string'."),
)
ATTRIBUTE: Final = Table("an attribute", Key("default", Anything(), "Its value where a call gives none."), _DESCRIPTION)
CONSTRAINT: Final = Table(
    "an attribute constraint",
    Key("required", Flag(False), "Whether every call must give it."),
    Key("values", Entries(Anything(), 1), "What it may be; numbers are compared as float32."),
)
TUNABLE: Final = Table(
    "a tunable",
    Key("default", TUNABLE_VALUE, "Its value where a call gives none.", "give a number, a string, true or false"),
    _DESCRIPTION,
)
MATRIX_CONFIG: Final = Table(
    "a subgroup matrix config",
    Key("componentType", Words(COMPONENT_TYPES), "Of both factors.", f"give {', '.join(COMPONENT_TYPES)}"),
    Key("resultComponentType", Words(COMPONENT_TYPES), "Of the product."),
    Key("M", Whole(1, 1), "Rows of the product.", "give a number of elements"),
    Key("N", Whole(1, 1), "Columns of the product.", "give a number of elements"),
    Key("K", Whole(1, 1), "Columns of the first factor.", "give a number of elements"),
)
REQUIRES: Final = Table(
    "'requires'",
    Key("features", Entries(_TEXT), "WebGPU features, such as shader-f16."),
    Key("limits", LIMITS, "The least value of each WebGPU limit, such as maxComputeInvocationsPerWorkgroup."),
    Key("subgroupMinSize", Whole(1), "The least that the adapter's subgroupMinSize may be."),
    Key("subgroupMatrixConfigs", Entries(MATRIX_CONFIG, 1), "Subgroup matrices, of which one must be supported."),
)
FIELD: Final = Table(
    "a struct field",
    Key("name", WGSL_NAMES, "The field's name in WGSL.", "name the field"),
    Key("type", Words(FIELD_TYPES), "Its type in WGSL.", f"give {', '.join(FIELD_TYPES)}"),
    Key("value", Either((_TEXT, Number(), Flag())), "A formula; else it is the scalar argument of that name."),
    Key("required", Flag(True), "Whether it must have a value."),
    Key("internal", Flag(False), "Whether it is the kernel's own business."),
    Key("default", Either((Number(), Flag())), "Its value where there is none."),
)
ENTRY: Final = Table(
    "a binding",
    Key("buffer", Words(ACCESS), "How the shader uses it; by default as what it binds suggests."),
    Key("name", WGSL_NAMES, "The WGSL variable; by default the handle, the tensor or the intermediate."),
    Key("arg", _TEXT, "The input or output that it binds."),
    Key("scratch", _TEXT, "The intermediate that it binds."),
    Key("elementType", ELEMENT_TYPE, "A WGSL type such as vec4<f32>, or '$' and a name of the pass."),
    Key("length", LENGTH, "Elements of an array of fixed size, or '$' and a name."),
    Key("structName", WGSL_NAMES, "The struct's name in WGSL, by default Params."),
    Key("struct", Entries(FIELD, 1), "The fields of a uniform, each a 32-bit word."),
    Key("split", Formula(1), "How many windows of a large tensor are bound.", extension="split"),
)
_FORMS: Final = (
    Form("grid", ("x", "y", "z"), ("x",)),
    Form("threads", ("threads", "workgroupSize"), ("threads", "workgroupSize")),
    Form("workgroups", ("workgroups",), ("workgroups",)),
)
DISPATCH: Final = Table(
    "'dispatch'",
    Key("x", Formula(0), "Workgroups along x."),
    Key("y", Formula(0), "Workgroups along y, by default 1."),
    Key("z", Formula(0), "Workgroups along z, by default 1."),
    Key("threads", Formula(0), "Invocations; workgroups are as many as it takes, folded into x and y."),
    Key("workgroupSize", Formula(1), "Invocations of a workgroup."),
    Key("workgroups", Formula(0), "Workgroups, folded into x and y."),
    forms=_FORMS,
)
ALIAS: Final = Table(
    "a view alias",
    Key("input", _TEXT, "The input's variable or name.", "name an input that the pass binds"),
    Key("output", _TEXT, "The output's variable or name.", "name an output that the pass binds"),
)
PASS: Final = Table(
    "a pass",
    Key("id", Text(PASS_ID.pattern), "What it is called; by default by its position, pass_0."),
    Key("name", _TEXT, "What tools show, by default the id."),
    Key("shader", TEMPLATE, "The template's file; its entry point is main.", "name the template file"),
    Key("derive", DERIVE, "Names for this pass and its template: expressions or literals."),
    Key(
        "bindings",
        Entries(Either((_TEXT, ENTRY))),
        "Handles, tensors, intermediates or entries, in the order of @binding.",
        "list what the shader reads and writes",
    ),
    Key("dispatch", DISPATCH, "How many workgroups.", "give {x, y, z}, {threads, workgroupSize} or {workgroups}"),
    Key("profile", Anything(), "For readers."),
    Key("subgroupCollectivesWidth", Words((PORTABLE, *WIDTHS)), "The subgroup size that the shader is written for."),
    Key("submitAfter", Flag(False), "Whether to submit and wait after it."),
    Key("viewAlias", Entries(ALIAS, 1), "Skip the pass where input and output of each pair are the same memory."),
)
REPEAT: Final = Table(
    "'repeat'",
    Key("count", Formula(0, MAX_ROUNDS), "How many times.", "give how many times the passes run"),
    Key("index", Text(NAME.pattern, REPEAT_RESERVED), "What repeat.<index> is called besides, by default index."),
)
STEP: Final[Branch] = Branch(("repeat",), Later(lambda: GROUP), PASS)
GROUP: Final[Table] = Table(
    "a repeat group",
    Key("id", Text(PASS_ID.pattern), "What it is called; by default by its position, pass_0."),
    Key("repeat", REPEAT, "How often its passes run.", "give {count}"),
    Key("passes", Entries(STEP, 1), "What runs in each round.", "give the passes to repeat"),
)
INTERMEDIATE: Final = Table(
    "an intermediate",
    Key("id", WGSL_NAMES, "What bindings call it.", "name the intermediate"),
    Key("dtype", Words(SCRATCH_DTYPES), "What it is stored in.", f"give {', '.join(SCRATCH_DTYPES)}"),
    Key("shape", SHAPE, "A formula that gives a list, or a list of formulas.", "give its dimensions"),
    Key("zeroInit", Flag(False), "Whether it is cleared before the first pass."),
)
VARIANT: Final = Table(
    "a variant",
    Key("id", Text(VARIANT_ID.pattern), "What it is called; by default by its position, variant_0."),
    _DESCRIPTION,
    Key("priority", Number(), "The highest is tried first; 0 where it is absent."),
    Key("when", _CLAUSES, "Formulas that must all be exactly true, or the variant is rejected."),
    Key("demoteWhen", _CLAUSES, "Formulas; where one is true the variant is taken only if no other is."),
    Key("supersededBy", Entries(_TEXT, 1), "Ids of variants; where one of them can be taken, this one is rejected."),
    Key("requires", REQUIRES, "What the device must have, beside what the manifest asks for."),
    Key("tunables", Members(TUNABLE, NAMES), "Values that change speed and not results, for this variant."),
    Key("derive", DERIVE, "Names for this variant: expressions or literals."),
    Key("intermediates", Entries(INTERMEDIATE), "Scratch tensors that its passes share."),
    Key("passes", Entries(STEP, 1), "Dispatches in order, and groups of them.", "give what the variant runs"),
)
_RECORD: Final = Members(Anything(), Text(rf"\$key|{NAME.pattern}"))
_KEYED: Final = Table("a record", Key("$key", _TEXT, "What the axis's name stands for.", "name it"), open=True)
FAMILY: Final = Table(
    "a variant family",
    Key("cases", Entries(_RECORD, 1), "Records that fill the templates; with 'axes', changes of some cells."),
    Key("axes", Members(Entries(_KEYED, 1), least=2), "Two lists of records; each pair of them is a case."),
    Key("exclude", Entries(_RECORD, 1), "Pairs to leave out."),
    Key("variants", Entries(Filled(VARIANT), 1), "Variants with {name} in texts.", "give the templates to expand"),
    _DESCRIPTION,
)
ANY_VARIANT: Final = Branch(("cases", "axes"), FAMILY, VARIANT)
MANIFEST: Final = Table(
    "a manifest",
    Key("$schema", _TEXT, "The JSON Schema that an editor holds this file against."),
    Key("domain", Text(DOMAIN.pattern), "The operator's domain, by default ai.onnx."),
    Key("name", NAMES, "The operator's name.", "name the operator"),
    _DESCRIPTION,
    Key("conformance", Words(CONFORMANCE), "How the operator relates to the standard one."),
    Key("sinceVersion", Whole(1), "The version of the operator set that the contract follows."),
    Key("inputs", Members(INPUT, WGSL_NAMES), "The tensors that a call gives, by name, in order."),
    Key(
        "outputs", Members(OUTPUT, WGSL_NAMES, 1), "The tensors that are computed.", "declare what the kernel computes"
    ),
    Key("args", Members(SCALAR, NAMES), "Scalars that are no attributes."),
    Key("attributes", Members(ATTRIBUTE, NAMES), "The operator's attributes."),
    Key("attributeConstraints", Members(CONSTRAINT, NAMES), "What attributes must be."),
    Key("typeConstraints", TYPE_CONSTRAINTS, "Type variables, each with the dtypes that it may be."),
    Key("tunables", Members(TUNABLE, NAMES), "Values that change speed and not results."),
    Key("derive", DERIVE, "Names for every formula after them: expressions or literals."),
    Key("when", _CLAUSES, "Formulas that are put before those of every variant."),
    Key("requires", REQUIRES, "What the device must have for any variant."),
    Key("bindings", Members(ENTRY), "Entries that passes name by their handle."),
    Key("variants", Entries(ANY_VARIANT, 1), "The implementations.", "give at least one implementation"),
    Key("onnx", Anything(), "For readers."),
    Key("extensions", Entries(Words(EXTENSIONS), 1), "What is used beyond the published format."),
)
