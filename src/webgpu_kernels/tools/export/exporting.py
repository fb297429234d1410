"""Renders a call ahead of time: the files of an export, from WGSL to the page that runs it."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Final

from webgpu_kernels.planning.capabilities import DEFAULT_LIMITS, Capabilities
from webgpu_kernels.planning.diagnosis import no_variant_error
from webgpu_kernels.tools.export.data import ExampleData, case_data, drawn_data
from webgpu_kernels.tools.export.describe import describe_program, shader_files
from webgpu_kernels.tools.export.document import Example, Planned, ProgramDocument, Tolerance
from webgpu_kernels.tools.export.fields import as_json
from webgpu_kernels.tools.export.page import compose_page

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webgpu_kernels.kernel import Kernel
    from webgpu_kernels.tools.calls import CallDescription
    from webgpu_kernels.tools.suites.model import Case

INLINED_BYTES_MAX: Final = 32 * 2**20
"""Data beyond this are not put into the page, which then draws its own."""
_NOTHING: Final = ExampleData(description="", inputs={})


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """What is written.

    Attributes:
        document: program.json.
        texts: WGSL files, program.json and index.html: name to text.
        data: files of bytes: name to contents.
        inlined: whether the page holds the data.
    """

    document: ProgramDocument
    texts: Mapping[str, str]
    data: Mapping[str, bytes]
    inlined: bool


def portable_capabilities(call: CallDescription) -> Capabilities:
    """Describe the least device that can run a call: then what is exported runs almost everywhere.

    Args:
        call: the call.

    Returns:
        WebGPU's default limits and no features but shader-f16, where a tensor is float16.

    Source: WebGPU, section 3.6.2 "Limits".
    """
    specs = [*call.inputs.values(), *(spec for spec in call.outputs.values() if spec is not None)]
    half = any(spec.dtype == "float16" for spec in specs)
    return Capabilities(features={"shader-f16"} if half else frozenset())


def export_call(
    kernel: Kernel,
    call: CallDescription,
    capabilities: Capabilities,
    *,
    case: Case | None = None,
    seed: int = 0,
    with_data: bool = True,
) -> Export:
    """Render a call for a device.

    Args:
        kernel: the kernel.
        call: the call.
        capabilities: the device that the variant is chosen and rendered for.
        case: a case of test.json that the call is that of; its data are taken.
        seed: which data are drawn where there is no case.
        with_data: whether data are made at all.

    Returns:
        The files.

    Raises:
        RequestError: the call does not fit the contract, or no variant takes it.
        PlanError: the variant cannot be planned.
        SuiteError: the package's reference fails.

    Source: docs/export.md.
    """
    selection = call.select(kernel, capabilities)
    if selection.variant is None:
        raise no_variant_error(selection)
    explanation = kernel.explain(call.inputs, **call.options(), capabilities=capabilities)
    program = call.program(kernel, capabilities)
    data = _NOTHING
    if case is not None and with_data:
        data = case_data(case, kernel, program, selection.request)
    elif with_data:
        data = drawn_data(call, kernel, program, selection.request, seed)
    files = _data_files(data)
    metadata = kernel.package.metadata
    document = replace(
        describe_program(program, [step.bindings for step in explanation.passes], selection.variant.requires),
        made_by=f"webgpu-kernels {version('webgpu-kernels')}",
        operator=kernel.op_id,
        variant=selection.variant.id,
        request=explanation.request,
        package=metadata.id if metadata is not None else None,
        revision=kernel.package.revision,
        planned=_planned(capabilities),
        example=_example(data) if with_data else None,
    )
    shaders = {name: wgsl for wgsl, name in shader_files(program).items()}
    inlined = data.size_bytes <= INLINED_BYTES_MAX
    page = compose_page(document, shaders, files if inlined else {})
    return Export(
        document=document,
        texts={**shaders, "program.json": document_text(document), "index.html": page},
        data=files,
        inlined=inlined,
    )


def document_text(document: ProgramDocument) -> str:
    """Return program.json's text."""
    return json.dumps(as_json(document), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _planned(capabilities: Capabilities) -> Planned:
    info = {k: v for k, v in capabilities.adapter_info.items() if isinstance(v, str | int)}
    return Planned(
        features=tuple(sorted(capabilities.features)),
        limits={name: value for name, value in capabilities.limits.items() if value != DEFAULT_LIMITS[name]},
        adapter_info=info,
        wgsl_language_features=tuple(sorted(capabilities.wgsl_language_features)),
    )


def _data_files(data: ExampleData) -> dict[str, bytes]:
    return {
        **{_input_file(name): words.tobytes() for name, words in data.inputs.items()},
        **{_expected_file(name): words.tobytes() for name, words in data.expected.items()},
    }


def _example(data: ExampleData) -> Example:
    tolerance = {name: Tolerance(atol=float(t.atol), rtol=float(t.rtol)) for name, t in data.tolerance.items()}
    return Example(
        description=data.description,
        inputs={name: _input_file(name) for name in data.inputs},
        expected={name: _expected_file(name) for name in data.expected} or None,
        tolerance=tolerance or None,
        source=data.source,
    )


def _input_file(name: str) -> str:
    return f"data/{name}.bin"


def _expected_file(name: str) -> str:
    return f"data/{name}.expected.bin"
