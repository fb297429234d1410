r"""Say which variant a call takes, and why not the others.

The device is the one of this machine, or one that is described: then no GPU is
needed.

  webgpu-kernels explain ai.onnx.Add \
    --input 'a=float16[8,1]' --input 'b=float16[4]'
  webgpu-kernels explain com.microsoft.SkipGroupNorm --case NAME \
    --capabilities h200

Exits with 1 where no variant takes the call.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from webgpu_kernels.cli.calls import add_call, call_of
from webgpu_kernels.cli.devices import add_adapter, add_capabilities, asked_device
from webgpu_kernels.cli.exits import Exit
from webgpu_kernels.cli.packages import add_package, located
from webgpu_kernels.errors import KernelError, NoVariantError
from webgpu_kernels.tools.calls import call_json

if TYPE_CHECKING:
    import argparse

    from webgpu_kernels.cli.screen import Screen
    from webgpu_kernels.kernel import Kernel
    from webgpu_kernels.planning.capabilities import Capabilities
    from webgpu_kernels.planning.explanation import Explanation
    from webgpu_kernels.tools.calls import CallDescription

_WIDTH = 80
_STYLES = {"  * ": "bold green", "  - ": "dim", "    ": "dim"}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_package(parser)
    add_call(parser)
    add_adapter(parser)
    add_capabilities(parser)


def run(arguments: argparse.Namespace, screen: Screen) -> Exit:
    """Explain one call."""
    kernel = located(arguments.package, arguments)
    call = call_of(arguments, kernel)
    device = asked_device(arguments)
    explanation = call.explain(kernel, device.capabilities, here=device.here)
    first, *rest = str(explanation).splitlines()
    screen.text((first, "bold"))
    screen.text(("  on ", "dim"), device.name)
    refusal = _refusal(call, kernel, device.capabilities) if explanation.variant is None else None
    if refusal is not None:
        for line in textwrap.wrap(refusal, _WIDTH, initial_indent="  ", subsequent_indent="  "):
            screen.text((line, "red"))
    _show(rest, screen)
    document = {"device": device.name, "call": call_json(call), **explanation_json(explanation)}
    screen.result(document | ({"refusal": refusal} if refusal is not None else {}))
    return Exit.GOOD if explanation.variant is not None else Exit.FOUND


def _refusal(call: CallDescription, kernel: Kernel, capabilities: Capabilities) -> str | None:
    """Return what a call would be told where one thing is to blame; each candidate's own reason follows anyway."""
    try:
        call.program(kernel, capabilities)
    except NoVariantError as error:
        return None if error.reasons and "\n" in str(error) else str(error)
    except KernelError as error:
        return str(error)
    return None


def _show(lines: list[str], screen: Screen) -> None:
    """Print the explanation's text, in colours: what was chosen stands out, what was not is dim."""
    within = ""
    for line in lines:
        heading = not line.startswith(" ")
        within = line if heading else within
        style = "bold" if heading else _STYLES.get(line[:4], "") if within == "candidates" else ""
        screen.text((line, style))


def explanation_json(explanation: Explanation) -> dict[str, Any]:
    """Return an explanation as plain JSON.

    Args:
        explanation: of a call.

    Returns:
        The operator, the choice, every candidate, passes with grids and bindings, and scratch buffers.
    """
    return {
        "opId": explanation.op_id,
        "request": explanation.request,
        "variant": explanation.variant,
        "tuned": explanation.tuned,
        "candidates": [
            {
                "id": candidate.id,
                "chosen": candidate.id == explanation.variant,
                "accepted": candidate.accepted,
                "demoted": candidate.demoted,
                "kind": candidate.kind,
                "reason": candidate.reason or None,
            }
            for candidate in explanation.candidates
        ],
        "passes": [
            {
                "id": step.id,
                "shader": step.shader,
                "workgroups": list(step.dispatch),
                "bindings": [
                    {
                        "name": binding.name,
                        "target": binding.target,
                        "access": binding.access,
                        "elementType": binding.element_type,
                        "length": binding.length,
                    }
                    for binding in step.bindings
                ],
            }
            for step in explanation.passes
        ],
        "intermediates": [
            {"id": scratch.id, "dtype": scratch.dtype, "shape": list(scratch.shape), "sizeBytes": scratch.size_bytes}
            for scratch in explanation.intermediates
        ],
    }
