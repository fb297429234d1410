"""From a plan to a program: templates rendered, declarations generated, directives put in front."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from webgpu_kernels.contract import wgsl_scalar
from webgpu_kernels.errors import PlanError, WorkLimitExceeded
from webgpu_kernels.language import MAX_WORK, Meter, Rendered
from webgpu_kernels.planning.bindings import PlannedBinding, tensor_bytes
from webgpu_kernels.planning.program import Program, ProgramPass, Scratch, Slot, TensorUse
from webgpu_kernels.planning.request import layout_of
from webgpu_kernels.planning.wgsl import check_opaque_int64, kept_names, missing_directives

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from webgpu_kernels.language import Template, Value
    from webgpu_kernels.planning.plan import Plan, PlannedIntermediate, PlannedPass
    from webgpu_kernels.planning.request import Request

WORK_A_PASS: Final = 50
"""Units of work that each pass may add to what one rendering may spend."""
MAX_PROGRAM_CHARS: Final = 2**22
"""Characters of all shaders of a program that differ."""
MAX_KEPT_BYTES: Final = 2**20
"""Of an intermediate that stays: each compiled call holds its own while it lives, so larger ones are cleared."""

# What going through a text costs, whose lines are counted and whose comments and directives are looked for.
_KNOWN_CHARS_A_UNIT: Final = 512
_CHARS_A_UNIT: Final = 64
_EDGE: Final = 2
_EDGES: Final = ("\n", "/*", "*/", "//")


class Templates(Protocol):
    """Where templates come from: a package, or a test's dictionary."""

    def template(self, name: str) -> Template:
        """Return the compiled template of that file name."""


def build_program(templates: Templates, plan: Plan) -> Program:
    """Render every pass of a plan.

    Args:
        templates: the package.
        plan: the evaluated variant.

    Returns:
        The program a device compiles and runs.

    Raises:
        PackageError: a template is missing.
        LanguageError: a template fails, naming template and line.
        PlanError: a shader computes on the words of an int64 tensor.

    Source: FORMAT, sections 6 and 7.
    """
    passes = _Rendering(templates, plan).passes()
    texts: dict[str, set[str]] = {}
    for step in passes:
        for slot in step.slots:
            if slot.source == "scratch":
                texts.setdefault(slot.name, set()).add(step.wgsl)
    return Program(
        where=plan.where,
        passes=passes,
        scratch=tuple(_scratch(entry, texts[entry.id]) for entry in plan.intermediates if entry.id in texts),
        inputs=tuple(_use(plan, name, is_output=False) for name in plan.request.inputs),
        outputs=tuple(_use(plan, name, is_output=True) for name in plan.request.outputs),
    )


def _scratch(entry: PlannedIntermediate, texts: AbstractSet[str]) -> Scratch:
    small = entry.size_bytes <= MAX_KEPT_BYTES
    kept = entry.zero_init and small and all(entry.id in kept_names(text) for text in texts)
    return Scratch(id=entry.id, size_bytes=entry.size_bytes, zero_init=entry.zero_init, kept=kept)


def _use(plan: Plan, name: str, *, is_output: bool) -> TensorUse:
    request, manifest = plan.request, plan.request.manifest
    port = (manifest.outputs if is_output else manifest.inputs)[name]
    spec = (request.outputs if is_output else request.inputs)[name]
    return TensorUse(
        name=name,
        shape=spec.shape,
        dtype=spec.dtype,
        storage=port.storage or spec.dtype,
        layout=layout_of(port, spec.dtype),
        narrowing=port.narrowing,
        size_bytes=tensor_bytes(request, name),
        is_output=is_output,
        value_range=None if is_output else plan.value_ranges.get(name),
    )


class _Rendering:
    """Renders passes one by one, and bounds what all of them take together."""

    def __init__(self, templates: Templates, plan: Plan) -> None:
        self._templates = templates
        self._plan = plan
        self._work_left = MAX_WORK + WORK_A_PASS * len(plan.passes)
        self._chars_left = MAX_PROGRAM_CHARS
        self._known: dict[str, Rendered] = {}
        self._shaders: dict[tuple[str, frozenset[str]], Rendered] = {}

    def passes(self) -> tuple[ProgramPass, ...]:
        return tuple(_program_pass(step, self._shader(step)) for step in self._plan.passes)

    def _shader(self, step: PlannedPass) -> Rendered:
        """Return the complete shader of a pass; rounds of a repeat group mostly share one, and its checks."""
        meter = Meter(min(MAX_WORK, self._work_left))
        before, differing = meter.left, len(self._known)
        rendered = self._templates.template(step.shader).render(
            _template_scope(self._plan.request, step), meter, self._known
        )
        self._charge(rendered.text, step, meter, is_new=len(self._known) > differing)
        self._work_left -= before - meter.left
        key = rendered.text, _int64_names(self._plan.request, step)
        if key not in self._shaders:
            check_opaque_int64(*key, f"{self._plan.where}: pass {step.id}")
            self._shaders[key] = _completed(rendered)
        return self._shaders[key]

    def _charge(self, text: str, step: PlannedPass, meter: Meter, *, is_new: bool) -> None:
        where = f"{self._plan.where}: pass {step.id}"
        units = len(text) // _KNOWN_CHARS_A_UNIT
        if is_new:
            self._chars_left -= len(text)
            units += len(text) // _CHARS_A_UNIT + _EDGE * sum(map(text.count, _EDGES))
        if self._chars_left < 0:
            raise PlanError(
                "the shaders of all passes together are too long",
                where=where,
                expected=f"at most {MAX_PROGRAM_CHARS:,} characters",
            )
        try:
            meter.spend(units)
        except WorkLimitExceeded as error:
            raise PlanError(
                "the shaders of all passes together are too much work",
                where=where,
                expected=f"at most {MAX_WORK:,} units of work, and {WORK_A_PASS} more for each pass",
                hint="Give what differs from pass to pass as a uniform.",
            ) from error


def _completed(rendered: Rendered) -> Rendered:
    """Put the directives in front that the shader needs and lacks."""
    directives = missing_directives(rendered.text)
    if not directives:
        return rendered
    return Rendered(
        text="".join(f"{line}\n" for line in directives) + rendered.text,
        lines=(("", 0),) * len(directives) + rendered.lines,
    )


def _program_pass(step: PlannedPass, shader: Rendered) -> ProgramPass:
    return ProgramPass(
        id=step.id,
        label=step.label,
        wgsl=shader.text,
        lines=shader.lines,
        slots=tuple(_slot(binding) for binding in step.bindings),
        grid=step.dispatch,
        submit_after=step.submit_after,
        view_aliases=step.view_aliases,
    )


def _template_scope(request: Request, step: PlannedPass) -> dict[str, Value]:
    scope = dict(step.scope)
    scope.update({variable: wgsl_scalar(dtype) for variable, dtype in request.dtypes.items()})
    scope["env"] = {"device": scope["device"], "wgsl": {"resourceDeclarations": declarations(step.bindings)}}
    return scope


def declarations(bindings: tuple[PlannedBinding, ...]) -> str:
    """Return the WGSL text of ``env.wgsl.resourceDeclarations``.

    Args:
        bindings: a pass's bindings in order.

    Returns:
        Uniform structs first, then one line a binding; no trailing newline.

    Source: FORMAT, section 6.
    """
    structs = dict.fromkeys(binding.struct.declaration for binding in bindings if binding.struct is not None)
    variables = [f"@group(0) @binding({index}) {binding.declaration}" for index, binding in enumerate(bindings)]
    return "\n".join([*structs, *variables])


def _slot(binding: PlannedBinding) -> Slot:
    return Slot(
        access=binding.access,
        source=binding.resource,
        name=binding.target if binding.struct is None else binding.name,
        min_bytes=binding.min_bytes,
        offset_bytes=binding.offset_bytes,
        size_bytes=binding.size_bytes,
        contents=binding.struct.contents if binding.struct is not None else None,
    )


def _int64_names(request: Request, step: PlannedPass) -> frozenset[str]:
    tensors = request.tensors
    return frozenset(
        binding.name
        for binding in step.bindings
        if binding.resource == "tensor"
        and tensors[binding.target].dtype == "int64"
        and binding.element_type == wgsl_scalar("int64")
    )
