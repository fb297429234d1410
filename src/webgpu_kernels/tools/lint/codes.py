"""Every code of lint with a sentence and a remedy; docs/lint.md lists the same."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class Code(NamedTuple):
    """What a code stands for.

    Attributes:
        severity: of its findings.
        meaning: one sentence.
        remedy: what to do about it.
    """

    severity: Literal["error", "warning"]
    meaning: str
    remedy: str


FAMILIES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "L0": "files",
        "L1": "names",
        "L2": "templates and plans",
        "L3": "what nothing uses",
        "L4": "selection and tests",
        "L5": "devices",
        "L6": "descriptions",
    }
)

CODES: Final[Mapping[str, Code]] = MappingProxyType(
    {
        "L001": Code("error", "The manifest breaks the format.", "Correct the manifest."),
        "L002": Code("error", "A file of the package cannot be read, or disagrees with another.", "Correct the file."),
        "L003": Code(
            "warning", "No pass uses this template, and no template includes it.", "Delete it, or name it in a pass."
        ),
        "L004": Code(
            "error",
            "metadata.json does not describe the files: a digest, the id or the table of variants is out of date.",
            "Run webgpu-kernels pack.",
        ),
        "L005": Code("error", "README.md is not the card of this manifest.", "Run webgpu-kernels card."),
        "L006": Code("warning", "There is no card, README.md.", "Run webgpu-kernels card."),
        "L007": Code(
            "error",
            "The tests cannot call reference.py.",
            "Write reference.py as docs/suites.md says: def reference(inputs, attrs, outputs).",
        ),
        "L008": Code(
            "warning",
            "A case of test.json has no values to expect, and there is no reference.py that gives them.",
            "Give its outputs data, or write reference.py: docs/suites.md says how.",
        ),
        "L101": Code(
            "error",
            "A formula or template asks for a tensor, attribute, argument, tunable or type that the contract has not;"
            " it is silently undefined.",
            "Write the name as the contract has it.",
        ),
        "L102": Code(
            "error",
            "A formula or template asks for a device limit that WebGPU has not; it is silently undefined.",
            "Use WebGPU's name of the limit.",
        ),
        "L103": Code(
            "warning",
            "A formula, a template or requires names a feature or a fact of the adapter that WebGPU does not know.",
            "Use WebGPU's name.",
        ),
        "L104": Code(
            "error",
            "A template uses a name that no pass which renders it has; it is silently undefined.",
            "Derive the name, or write it as it is derived.",
        ),
        "L105": Code(
            "warning",
            "A line // kept: x of a rendered shader names no intermediate with zeroInit that the pass binds; it says"
            " nothing.",
            "Write the id alone, as the manifest has it, and give the intermediate zeroInit.",
        ),
        "L201": Code("error", "A template is missing or cannot be read.", "Add the file."),
        "L202": Code("error", "A template does not parse.", "Correct the template."),
        "L203": Code("error", "A template fails while it is rendered.", "Correct the template, or guard the variant."),
        "L204": Code(
            "error",
            "A variant takes a request that it cannot plan: a derived name, shape, uniform, binding or dispatch fails.",
            "Correct the formula, or reject the request in when.",
        ),
        "L205": Code("error", "A rendered shader does not compile.", "Correct the template."),
        "L301": Code("warning", "No pass uses this handle of bindings.", "Delete it."),
        "L302": Code(
            "warning",
            "No rendered shader of the pass mentions this binding, nor does another branch of the template.",
            "Leave it out of the pass's bindings, or use it.",
        ),
        "L303": Code("warning", "No pass binds this intermediate.", "Delete it."),
        "L304": Code("warning", "Nothing uses this derived name.", "Delete it."),
        "L305": Code("warning", "Nothing uses this tunable.", "Delete it."),
        "L306": Code("warning", "Nothing uses this attribute or argument.", "Use it, or delete it."),
        "L307": Code(
            "warning", "No pass binds this tensor, and no formula looks at it.", "Bind it in the passes that need it."
        ),
        "L401": Code(
            "warning",
            "No sampled request selects this variant on any sampled device.",
            "Give test.json or bench.json a case that takes it, or delete the variant.",
        ),
        "L402": Code(
            "error",
            "A case of test.json or bench.json is refused on a device that has everything.",
            "Correct the case, or let a variant take it.",
        ),
        "L403": Code(
            "warning",
            "A request that meets every clause which all variants share is taken by no variant.",
            "Add a general variant, or say in the manifest's own when what is not supported.",
        ),
        "L404": Code("warning", "No case of test.json reaches this variant.", "Add a case."),
        "L405": Code("warning", "There is no test.json.", "Write cases: docs/suites.md says how."),
        "L406": Code(
            "warning",
            "No request could be made up that a variant takes, so that little was checked.",
            "Give test.json cases: they are sampled first.",
        ),
        "L501": Code(
            "error",
            "A variant takes float16 on a device without shader-f16, and its shader needs it.",
            "Add f16Ok(dtypes.T) to when, or shader-f16 to requires.features.",
        ),
        "L502": Code(
            "error",
            "A workgroup has more threads than a device allows that the variant accepts.",
            "Compute the size from device.limits, or say in requires.limits or when what it needs.",
        ),
        "L503": Code(
            "error",
            "A workgroup takes more memory than a device has that the variant accepts.",
            "Compute the size from device.limits, or say in requires.limits or when what it needs.",
        ),
        "L504": Code(
            "warning",
            "A pass binds more buffers than WebGPU's defaults allow, and requires.limits does not say so.",
            "Say it in requires.limits.",
        ),
        "L505": Code(
            "error",
            "dispatch.workgroupSize is not the number of threads of the shader's @workgroup_size.",
            "Take both from one derived name.",
        ),
        "L506": Code(
            "error",
            "A dispatch is larger than the device allows, and the variant accepts the request.",
            "Dispatch by workgroups or threads, which fold, or bound the count in when.",
        ),
        "L507": Code(
            "error",
            "A buffer or binding of the plan is larger than the device allows, and the variant accepts the request.",
            "Bound its size in when, by device.limits.maxStorageBufferBindingSize.",
        ),
        "L508": Code(
            "warning",
            "A lane's loops make more than 65,535 rounds, where software Vulkan ends them silently.",
            "Spread the work over more lanes, or unroll the loop.",
        ),
        "L509": Code(
            "error",
            "A variant is accepted on a device that lacks a feature which its shader enables.",
            "Add the feature to requires.features, or ask device.features.has(…) in when.",
        ),
        "L601": Code("warning", "The operator has no description.", "Describe it: the card shows it."),
        "L602": Code(
            "warning",
            "Ports, attributes, arguments or tunables have no description.",
            "Describe them: the card shows it.",
        ),
        "L603": Code("warning", "Variants have no description.", "Describe them: the card shows it."),
    }
)
