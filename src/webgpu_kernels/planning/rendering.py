"""From a plan to a program: templates rendered, declarations generated, directives put in front."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from webgpu_kernels.contract import wgsl_scalar
from webgpu_kernels.errors import PlanError
from webgpu_kernels.language import MAX_WORK, Meter
from webgpu_kernels.planning.bindings import PlannedBinding, tensor_bytes
from webgpu_kernels.planning.program import Program, ProgramPass, Scratch, Slot, TensorUse
from webgpu_kernels.planning.request import layout_of
from webgpu_kernels.planning.wgsl import check_opaque_int64, missing_directives

if TYPE_CHECKING:
    from webgpu_kernels.language import Rendered, Template, Value
    from webgpu_kernels.planning.plan import Plan, PlannedPass
    from webgpu_kernels.planning.request import Request

WORK_A_PASS: Final = 100
"""Units of work that each pass may add to what one rendering may spend."""
MAX_PROGRAM_CHARS: Final = 2**24
"""Characters of all shaders of a program that differ."""


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
    used = {b.target for step in plan.passes for b in step.bindings if b.resource == "scratch"}
    return Program(
        where=plan.where,
        passes=_Rendering(templates, plan).passes(),
        scratch=tuple(
            Scratch(id=entry.id, size_bytes=entry.size_bytes, zero_init=entry.zero_init)
            for entry in plan.intermediates
            if entry.id in used
        ),
        inputs=tuple(_use(plan, name, is_output=False) for name in plan.request.inputs),
        outputs=tuple(_use(plan, name, is_output=True) for name in plan.request.outputs),
    )


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
        self._seen: dict[Rendered, Rendered] = {}

    def passes(self) -> tuple[ProgramPass, ...]:
        return tuple(_program_pass(self._plan, step, self._rendered(step)) for step in self._plan.passes)

    def _rendered(self, step: PlannedPass) -> Rendered:
        work = min(MAX_WORK, self._work_left)
        meter = Meter(work)
        rendered = self._templates.template(step.shader).render(_template_scope(self._plan.request, step), meter)
        self._work_left -= work - meter.left
        kept = self._seen.setdefault(rendered, rendered)
        if kept is rendered:
            self._chars_left -= len(rendered.text)
        if self._chars_left < 0:
            raise PlanError(
                "the shaders of all passes together are too long",
                where=self._plan.where,
                expected=f"at most {MAX_PROGRAM_CHARS:,} characters",
            )
        return kept


def _program_pass(plan: Plan, step: PlannedPass, rendered: Rendered) -> ProgramPass:
    check_opaque_int64(rendered.text, _int64_names(plan.request, step), f"{plan.where}: pass {step.id}")
    directives = missing_directives(rendered.text)
    return ProgramPass(
        id=step.id,
        label=step.label,
        wgsl="".join(f"{line}\n" for line in directives) + rendered.text,
        lines=(("", 0),) * len(directives) + rendered.lines,
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
