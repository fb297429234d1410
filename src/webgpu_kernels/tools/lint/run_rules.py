"""What plans and rendered shaders show: failures, limits that nothing guards, features that nothing asks for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from webgpu_kernels.device.shader_bounds import check_nesting
from webgpu_kernels.device.shader_check import check_memory, check_workgroup, workgroup_needs
from webgpu_kernels.device.wgsl_text import strip_comments
from webgpu_kernels.errors import KernelError, LanguageError, LimitError, PackageError, ShaderError
from webgpu_kernels.planning.bindings import tensor_bytes
from webgpu_kernels.planning.capabilities import DEFAULT_LIMITS
from webgpu_kernels.planning.quantities import as_count
from webgpu_kernels.planning.wgsl import enabled_features, kept_names
from webgpu_kernels.tools.lint.findings import Place
from webgpu_kernels.tools.lint.invocations import array_lengths
from webgpu_kernels.tools.lint.loops import longest_loops
from webgpu_kernels.tools.lint.subject import in_manifest
from webgpu_kernels.tools.lint.templates import place_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from webgpu_kernels.contract import Binding, Pass, Variant
    from webgpu_kernels.planning.plan import PlannedPass
    from webgpu_kernels.planning.program import ProgramPass
    from webgpu_kernels.tools.lint.findings import Findings
    from webgpu_kernels.tools.lint.runs import Run
    from webgpu_kernels.tools.lint.subject import Subject
    from webgpu_kernels.tools.lint.templates import Parsed

MAX_SHADER_CHARS: Final = 120_000
"""Longer texts are not looked into: nobody writes them, and looking takes long."""
_ROUND: Final = re.compile(r"\[\d+\]")
_REMARK: Final = re.compile(r"\{#.*?#\}", re.DOTALL)
_TAG: Final = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)
_SAYS_KEPT: Final = re.compile(r"^[ \t]*//[ \t]*kept:.*$", re.MULTILINE)
"""What was meant to say that an intermediate is kept, also where it does not."""


class RunRules:
    """Looks at runs, one after another, and remembers what only all of them together show.

    Args:
        subject: the package.
        templates: those that parse, by file name.
        findings: where defects are reported.
    """

    def __init__(self, subject: Subject, templates: Mapping[str, Parsed], findings: Findings) -> None:
        self._findings = findings
        self._templates = templates
        self._paths = {variant.id: subject.paths.variant(variant) for variant in subject.manifest.variants}
        self._steps = {
            variant.id: {name: (path, step) for path, name, step in subject.paths.steps(variant)}
            for variant in subject.manifest.variants
        }
        self._silent: dict[tuple[str, str], set[str]] = {}
        self._seen: set[tuple[str, int]] = set()

    def take(self, run: Run) -> None:
        """Look at a run.

        Args:
            run: planned, perhaps rendered, perhaps failed.
        """
        if run.error is not None:
            self._report_failure(run, run.error)
        if run.program is None or run.plan is None:
            return
        for step, planned in zip(run.program.passes, run.plan.passes, strict=True):
            path, declared = self._steps[run.variant.id][_ROUND.sub("", step.id)]
            self._take_mentions(path, declared, step.wgsl)
            if len(step.wgsl) > MAX_SHADER_CHARS:
                continue
            self._check_shader(run, step, planned, path, declared)

    def path_of(self, variant: Variant, step: ProgramPass) -> str:
        """Return the JSON path of a pass.

        Args:
            variant: its variant.
            step: the pass as it was planned.

        Returns:
            The path.
        """
        return self._steps[variant.id][_ROUND.sub("", step.id)][0]

    def finish(self) -> None:
        """Report what no run mentioned, and no branch of the template either: a sample does not take them all."""
        for (path, key), names in self._silent.items():
            for name in sorted(names):
                text = _without_comments(self._templates[key].source.text) if key in self._templates else ""
                if not re.search(rf"\b{re.escape(name)}\b", text):
                    self._findings.add("L302", in_manifest(f"{path}.bindings"), f"{key} never mentions {name!r}")

    def _report_failure(self, run: Run, error: KernelError) -> None:
        place = in_manifest(self._path_in(run.variant, error.where or ""))
        if isinstance(error, LimitError):
            code = "L506" if error.limit == "maxComputeWorkgroupsPerDimension" else "L507"
            if not self._findings.has(code, place):
                self._findings.add(code, place, f"{error.message} {run.where}")
        elif isinstance(error, LanguageError):
            line = place_of(error, "")
            at = line if line.line else place
            known = self._findings.has("L202", at if line.line else None)
            if not (known or self._findings.has("L203", at)):
                self._findings.add("L203", at, f"{error.message} {run.where}")
        elif isinstance(error, PackageError):
            if not self._findings.has("L201"):
                self._findings.add("L201", place, error.message, error.hint or "")
        elif not self._findings.has("L204", place):
            self._findings.add("L204", place, f"{_told(error)} {run.where}")

    def _path_in(self, variant: Variant, where: str) -> str:
        """Return the path of the pass that a message names, else of its variant."""
        found = re.search(r"pass ([^:]+)", where)
        known = self._steps[variant.id].get(_ROUND.sub("", found[1])) if found else None
        return known[0] if known else self._paths[variant.id]

    def _take_mentions(self, path: str, declared: Pass, wgsl: str) -> None:
        """Remember the bindings that no shader of the pass has mentioned yet."""
        text = strip_comments(wgsl)
        key = (path, declared.shader)
        silent = self._silent.setdefault(key, {binding.name for binding in declared.bindings})
        for binding in declared.bindings:
            if binding.name in silent and _mentions(text, binding) > 0:
                silent.discard(binding.name)

    def _check_shader(self, run: Run, step: ProgramPass, planned: PlannedPass, path: str, declared: Pass) -> None:
        place = in_manifest(path)
        capabilities = run.judged.device.capabilities
        for feature in sorted(enabled_features(step.wgsl) - frozenset(capabilities.features)):
            code = "L501" if feature == "shader-f16" else "L509"
            if not self._findings.has(code, place):
                self._findings.add(code, place, f"the shader needs {feature} {run.where}")
        try:
            check_workgroup(step.wgsl, capabilities.limits, where="")
        except LimitError as error:
            code = "L503" if "Storage" in error.limit else "L502"
            if not self._findings.has(code, place):
                self._findings.add(code, place, f"{error.message} {run.where}")
        self._check_size(run, step, planned, path, declared)
        self._check_text(run, step, planned, path)

    def _check_size(self, run: Run, step: ProgramPass, planned: PlannedPass, path: str, declared: Pass) -> None:
        if (
            declared.dispatch.form != "threads"
            or "@workgroup_size" not in step.wgsl
            or self._findings.has("L505", in_manifest(f"{path}.dispatch"))
        ):
            return
        stated = as_count(declared.dispatch.workgroup_size.evaluate(planned.scope))
        threads = workgroup_needs(step.wgsl).invocations
        if stated != threads:
            message = f"workgroupSize is {stated}, the shader has {threads} threads {run.where}"
            self._findings.add("L505", in_manifest(f"{path}.dispatch"), message)

    def _check_text(self, run: Run, step: ProgramPass, planned: PlannedPass, path: str) -> None:
        """Look at each text and its uniforms once."""
        key = (step.wgsl, hash((step.grid, tuple(slot.contents for slot in step.slots))))
        if key in self._seen:
            return
        self._seen.add(key)
        try:
            check_nesting(step, where="")
            check_memory(step, where="")
        except ShaderError as error:
            self._findings.add("L205", shader_place(error, path), f"{error.message} {run.where}")
        self._check_kept(run, step, path)
        loop = longest_loops(step, planned.bindings, array_lengths(planned.bindings, _sizes(run)))
        if loop is not None:
            place = line_place(step, loop.line, path)
            if not self._findings.has("L508", place):
                message = f"{loop.rounds:,} rounds in one lane {run.where}"
                self._findings.add("L508", place, message)

    def _check_kept(self, run: Run, step: ProgramPass, path: str) -> None:
        """Look for lines that mean to say of an intermediate that it is kept and do not."""
        assert run.plan is not None
        bound = {slot.name for slot in step.slots if slot.source == "scratch"}
        cleared = {entry.id for entry in run.plan.intermediates if entry.zero_init} & bound
        for line in _SAYS_KEPT.finditer(step.wgsl):
            if not kept_names(line[0]) & cleared:
                place = line_place(step, step.wgsl.count("\n", 0, line.start()) + 1, path)
                if not self._findings.has("L105", place):
                    message = f"{line[0].strip()} is of no intermediate with zeroInit that the pass binds"
                    self._findings.add("L105", place, message)


def _without_comments(template: str) -> str:
    """Return a template without its remarks and WGSL's comments; a division within a tag begins none."""
    tags = _TAG.sub(lambda tag: tag[0].replace("/", " "), _REMARK.sub("", template))
    return strip_comments(tags)


def _sizes(run: Run) -> dict[str, int]:
    """Return the bytes of every tensor and intermediate."""
    assert run.plan is not None
    sizes = {name: tensor_bytes(run.plan.request, name) for name in run.plan.request.tensors}
    return sizes | {entry.id: entry.size_bytes for entry in run.plan.intermediates}


def _mentions(text: str, binding: Binding) -> int:
    """Count mentions of a variable beside its declaration; of a split one in any of its windows."""
    suffix = r"\d+" if binding.split is not None else ""
    every = len(re.findall(rf"\b{re.escape(binding.name)}{suffix}\b", text))
    declared = len(re.findall(rf"\bvar\s*<[^<>]*>\s*{re.escape(binding.name)}{suffix}\b", text))
    return every - declared


def shader_place(error: ShaderError, path: str) -> Place:
    """Return the template line of a shader error, else the pass.

    Args:
        error: the error.
        path: the pass's JSON path.

    Returns:
        The place.
    """
    if error.template and error.template_line:
        return Place(error.template, line=error.template_line)
    return in_manifest(path)


def line_place(step: ProgramPass, wgsl_line: int, path: str) -> Place:
    """Return the template line of a line of a shader, else the pass.

    Args:
        step: the pass.
        wgsl_line: counted from 1.
        path: the pass's JSON path.

    Returns:
        The place.
    """
    template, line = step.lines[wgsl_line - 1] if 0 < wgsl_line <= len(step.lines) else ("", 0)
    return Place(template, line=line) if template else in_manifest(path)


def _told(error: KernelError) -> str:
    """Return an error's text without the operator and the variant, which the place says."""
    where = re.sub(r"^.*?variant [^:]+(: )?", "", error.where or "")
    facts = [f"{word} {fact}" for word, fact in (("expected", error.expected), ("got", error.got)) if fact]
    return f"{where}{': ' if where else ''}{error.message}{': ' if facts else ''}{', '.join(facts)}"


def check_budget(subject: Subject, findings: Findings) -> None:
    """Report passes that bind more than WebGPU's defaults allow without a word in ``requires``.

    Args:
        subject: the package.
        findings: where it is reported.
    """
    for variant in subject.manifest.variants:
        for path, _, step in subject.paths.steps(variant):
            for limit, count in _counts(step):
                allowed = max(DEFAULT_LIMITS[limit], variant.requires.limits.get(limit, 0))
                if count > allowed:
                    message = f"{count} bindings, WebGPU's default of {limit} is {DEFAULT_LIMITS[limit]}"
                    findings.add("L504", in_manifest(f"{path}.bindings"), message)


def _counts(step: Pass) -> Iterator[tuple[str, int]]:
    uniforms = sum(binding.struct is not None for binding in step.bindings)
    yield "maxStorageBuffersPerShaderStage", len(step.bindings) - uniforms
    yield "maxUniformBuffersPerShaderStage", uniforms
