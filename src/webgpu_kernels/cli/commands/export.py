r"""Render a call ahead of time, as WGSL and JSON, with a page that runs it.

The page runs in any browser with WebGPU, opened straight from the disk; the
JSON document says how to run the call from any language.

Without --capabilities the call is planned for WebGPU's default limits, so that
it runs almost everywhere. docs/export.md describes program.json.

  webgpu-kernels export ai.onnx.Add --input 'a=float32[64,128]' \
    --input 'b=float32[128]' -o add
  webgpu-kernels export com.microsoft.SkipGroupNorm --case NAME -o norm
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from webgpu_kernels.cli.arguments import Usage
from webgpu_kernels.cli.calls import add_call, call_of
from webgpu_kernels.cli.devices import capabilities_of
from webgpu_kernels.cli.exits import Exit
from webgpu_kernels.cli.packages import add_package, located
from webgpu_kernels.errors import PackageError
from webgpu_kernels.tools.capabilities import known_capabilities
from webgpu_kernels.tools.export.exporting import export_call, portable_capabilities
from webgpu_kernels.tools.export.fields import as_json
from webgpu_kernels.tools.suites.reading import suite_of
from webgpu_kernels.tools.writing import write_files

if TYPE_CHECKING:
    import argparse

    from webgpu_kernels.cli.screen import Screen
    from webgpu_kernels.kernel import Kernel
    from webgpu_kernels.tools.calls import CallDescription
    from webgpu_kernels.tools.export.exporting import Export
    from webgpu_kernels.tools.suites.model import Case


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_package(parser)
    parser.add_argument("-o", "--output-dir", metavar="DIR", required=True, help="the folder to write")
    add_call(parser)
    parser.add_argument(
        "--capabilities",
        metavar="NAME|FILE",
        help=f"plan for this device: {', '.join(known_capabilities())}, or a JSON file",
    )
    data = parser.add_argument_group("data to try it with")
    data.add_argument("--seed", type=int, default=0, metavar="N", help="which data to draw; a case has its own")
    data.add_argument("--no-data", action="store_true", help="write none; the page draws its own")


def run(arguments: argparse.Namespace, screen: Screen) -> Exit:
    """Export one call."""
    if arguments.seed < 0:
        raise Usage("--seed takes a number from 0 on.")
    kernel = located(arguments.package, arguments)
    call = call_of(arguments, kernel)
    capabilities = capabilities_of(arguments) or portable_capabilities(call)
    case = _case(arguments.case, call, kernel)
    made = export_call(kernel, call, capabilities, case=case, seed=arguments.seed, with_data=not arguments.no_data)
    files = [str(path) for path in write_files(arguments.output_dir, {**made.texts, **made.data})]
    _show(made, arguments.output_dir, screen)
    screen.result({"files": files, "program": as_json(made.document)})
    return Exit.GOOD


def _case(name: str | None, call: CallDescription, kernel: Kernel) -> Case | None:
    """Return the case of test.json whose data fit the call: of this name, its tensors not replaced by options."""
    if name is None:
        return None
    try:
        cases = suite_of(kernel.package).cases
    except PackageError:  # it is a case of bench.json
        return None
    found = next((case for case in cases if case.name == name), None)
    if found is None or dict(found.call.inputs) != dict(call.inputs) or dict(found.call.attrs) != dict(call.attrs):
        return None
    return found


def _show(made: Export, folder: str, screen: Screen) -> None:
    document = made.document
    passes = len(document.passes)
    screen.text(f"{document.operator}: {document.variant}, {passes} pass{'es'[: 2 * (passes != 1)]}, in {folder}")
    screen.text("  program.json  how to run it: docs/export.md")
    for name in dict.fromkeys(step.shader for step in document.passes):
        screen.text(f"  {name}")
    if made.data:
        example = document.example
        assert example is not None
        told = f"and what it must give, by {example.source}" if example.expected else "without expected values"
        screen.text(f"  data/  {example.description}, {told}")
    screen.text("  index.html  open it in a browser")
    if not made.inlined:
        screen.note("The data are too large for the page, which draws its own.")
