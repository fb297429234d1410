r"""Print the WGSL that a call runs, or write it into a folder, one file a pass.

The device is the one of this machine, or one that is described: then no GPU is
needed.

  webgpu-kernels render ai.onnx.Add \
    --input 'a=float16[8,1]' --input 'b=float16[4]'
  webgpu-kernels render com.microsoft.SkipGroupNorm --case NAME \
    --capabilities h200 -o wgsl
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from webgpu_kernels.cli.arguments import Usage
from webgpu_kernels.cli.calls import add_call, call_of
from webgpu_kernels.cli.devices import add_adapter, add_capabilities, asked_device
from webgpu_kernels.cli.exits import Exit
from webgpu_kernels.cli.packages import add_package, located
from webgpu_kernels.contract import closest
from webgpu_kernels.tools.calls import call_json
from webgpu_kernels.tools.writing import write_files

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from webgpu_kernels.cli.screen import Screen


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_package(parser)
    parser.add_argument("-o", "--output-dir", metavar="DIR", help="write a file a pass, numbered in their order")
    parser.add_argument("--pass", dest="step", metavar="ID", help="only this pass")
    add_call(parser)
    add_adapter(parser)
    add_capabilities(parser)


def run(arguments: argparse.Namespace, screen: Screen) -> Exit:
    """Render one call."""
    kernel = located(arguments.package, arguments)
    call = call_of(arguments, kernel)
    device = asked_device(arguments)
    program = call.program(kernel, device.capabilities, here=device.here)
    shaders = _asked_for({step.id: step.wgsl for step in program.passes}, arguments.step)
    grids = {step.id: list(step.grid) for step in program.passes}
    files: dict[str, str] = {}
    if arguments.output_dir is not None:
        files = _written(shaders, arguments.output_dir, screen)
    else:
        _show(shaders, screen)
    if not program.passes:
        screen.note("Every output is empty: nothing runs.")
    screen.result(
        {
            "opId": kernel.op_id,
            "device": device.name,
            "call": call_json(call),
            "passes": [
                {"id": id_, "workgroups": grids[id_], "wgsl": wgsl, **({"file": files[id_]} if files else {})}
                for id_, wgsl in shaders.items()
            ],
        }
    )
    return Exit.GOOD


def _asked_for(shaders: Mapping[str, str], step: str | None) -> Mapping[str, str]:
    if step is None:
        return shaders
    if step not in shaders:
        near = closest(step, shaders)
        hint = f"Did you mean {near!r}?" if near else f"The passes are {', '.join(shaders)}."
        raise Usage(f"The call runs no pass {step!r}. {hint}")
    return {step: shaders[step]}


def _show(shaders: Mapping[str, str], screen: Screen) -> None:
    for number, (name, wgsl) in enumerate(shaders.items()):
        head = f"// pass {name}\n" if len(shaders) > 1 else ""
        screen.raw(f"{chr(10) if number else ''}{head}{wgsl.rstrip()}\n")


def _written(shaders: Mapping[str, str], folder: str, screen: Screen) -> dict[str, str]:
    digits = len(str(len(shaders)))
    names = {id_: f"{number:0{digits}}-{id_}.wgsl" for number, id_ in enumerate(shaders, 1)}
    paths = write_files(folder, {names[id_]: f"{wgsl.rstrip()}\n" for id_, wgsl in shaders.items()})
    for path in paths:
        screen.text(f"wrote {path}")
    return {id_: str(path) for id_, path in zip(shaders, paths, strict=True)}
