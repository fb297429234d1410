"""For each code of lint a package that provokes it, and one that is nearly the same and right."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from lint_packages import LOOPING, TEMPLATE, TESTS, Manifest

if TYPE_CHECKING:
    from collections.abc import Callable


def unchanged(_: Manifest) -> None:
    """Change nothing."""


class Spoiled(NamedTuple):
    """A package.

    Attributes:
        change: what is done to the manifest.
        place: where the finding is; empty for a package without one.
        message: part of what it says.
        template: the template's text.
        files: further files.
        device: whether it takes a device to find it.
    """

    change: Callable[[Manifest], object] = unchanged
    place: str = ""
    message: str = ""
    template: str = TEMPLATE
    files: dict[str, str | None] | None = None
    device: bool = False


def derive(**formulas: object) -> Callable[[Manifest], object]:
    """Add derived names."""
    return lambda manifest: manifest["derive"].update(formulas)


def when(clause: str, at: int = 1) -> Callable[[Manifest], object]:
    """Add a clause to a variant."""
    return lambda manifest: manifest["variants"][at]["when"].append(clause)


def both(**members: Any) -> Callable[[Manifest], object]:
    """Set members of both variants."""

    def change(manifest: Manifest) -> None:
        for each in manifest["variants"]:
            each.update(members)

    return change


def passes(**members: Any) -> Callable[[Manifest], object]:
    """Set members of both passes."""

    def change(manifest: Manifest) -> None:
        for each in manifest["variants"]:
            each["passes"][0].update(members)

    return change


def without(*keys: str) -> Callable[[Manifest], object]:
    """Remove a member, by its path."""

    def change(manifest: Manifest) -> None:
        owner: Any = manifest
        for key in keys[:-1]:
            owner = owner[int(key) if isinstance(owner, list) else key]
        del owner[keys[-1]]

    return change


def requires(**members: object) -> Callable[[Manifest], object]:
    """Set what the package requires of a device."""
    return lambda manifest: manifest.update(requires=members)


def every(*changes: Callable[[Manifest], object]) -> Callable[[Manifest], object]:
    """Make several changes."""

    def change(manifest: Manifest) -> None:
        for each in changes:
            each(manifest)

    return change


def without_f16(manifest: Manifest) -> None:
    """Remove every f16Ok."""
    for each in manifest["variants"]:
        each["when"] = [clause for clause in each["when"] if not clause.startswith("f16Ok")] or ["true"]


def one_variant_takes(*clauses: str) -> Callable[[Manifest], object]:
    """Leave one variant, with these clauses, and another that takes only one element."""

    def change(manifest: Manifest) -> None:
        manifest["variants"][0]["when"] = ["f16Ok(dtypes.T)", "numel(shapes.x) % 4 == 0", "numel(shapes.x) > 0"]
        manifest["variants"][1]["when"] = ["f16Ok(dtypes.T)", *clauses]

    return change


def bindings(count: int, **members: object) -> Callable[[Manifest], object]:
    """Bind so many more intermediates."""

    def change(manifest: Manifest) -> None:
        names = [f"scratch{index}" for index in range(count)]
        both(intermediates=[{"id": name, "dtype": "float32", "shape": [4], **members} for name in names])(manifest)
        for each in manifest["variants"]:
            each["passes"][0]["bindings"] += names

    return change


def metadata(digest: str) -> str:
    """Return a metadata.json with this digest of manifest and template."""
    return json.dumps(
        {
            "name": "test.Scale",
            "id": "_test_scale_webgpu_0000000",
            "version": 1,
            "license": "Apache-2.0",
            "backend": {"type": "webgpu"},
            "digest": {"algorithm": "sha256", "files": dict.fromkeys(("manifest.json", "scale.wgsl.jinja"), digest)},
            "webgpu": {"manifestSpec": "2.1"},
        }
    )


def with_line(line: str) -> str:
    """Return the template with a line in the entry point."""
    return TEMPLATE.replace("    let i =", f"    {line}\n    let i =")


KEEPING = "// kept: scratch0\n" + with_line("scratch0[lane % 4u] = 1.0;")
TESTS_OF_VECTORS = json.dumps({"cases": [{**TESTS["cases"][0], "force": ["vectors"]}]})
REFUSED_CASE = json.dumps(
    {"cases": [*TESTS["cases"], {**TESTS["cases"][0], "name": "refused", "attrs": {"factors": 3}}]}
)

PROVOKING: dict[str, Spoiled] = {
    "L001": Spoiled(lambda m: m.update(inputz={}), "manifest.json: inputz", "is not a key of a manifest"),
    "L002": Spoiled(place="test.json", message="test.json", files={"test.json": "{"}),
    "L003": Spoiled(place="other.wgsl", message="no pass renders it", files={"other.wgsl": "fn f() {}"}),
    "L004": Spoiled(
        place="metadata.json: digest.files",
        message="scale.wgsl.jinja is not what its digest says",
        files={"metadata.json": metadata("A" * 43 + "=")},
    ),
    "L005": Spoiled(place="README.md:1", message="differs", files={"../../README.md": "# Another\n"}),
    "L006": Spoiled(place="README.md", message="there is no card", files={"../../README.md": None}),
    "L007": Spoiled(
        place="reference.py:1",
        message="the function reference does not take (inputs, attrs, outputs)",
        files={"../../reference.py": "def reference(inputs): ...\n"},
    ),
    "L008": Spoiled(
        place="reference.py",
        message="is not there, and the case of_8 has no values to expect",
        files={"test.json": json.dumps({"cases": [{**TESTS["cases"][0], "outputs": {"y": {"tolerance": 0}}}]})},
    ),
    "L101": Spoiled(
        derive(rows="numel(shapes.X)", size="64 + 0 * rows"), "manifest.json: derive.rows", "shapes.X is not there"
    ),
    "L102": Spoiled(
        when("device.limits.maxComputeWorkgroupSize == 0 or true"),
        "manifest.json: variants[1].when[1]",
        "device.limits.maxComputeWorkgroupSize is not there",
    ),
    "L103": Spoiled(
        when("device.features.has('shader-f32') or true"), "manifest.json: variants[1].when[1]", "'shader-f32'"
    ),
    "L104": Spoiled(place="scale.wgsl.jinja:5", message="'sise'", template=with_line("// {{ sise }}")),
    "L105": Spoiled(
        bindings(1), "scale.wgsl.jinja:1", "// kept: scratch0 is of no intermediate with zeroInit", template=KEEPING
    ),
    "L201": Spoiled(passes(shader="gone.wgsl.jinja"), "manifest.json: variants[0].passes[0].shader", "is missing"),
    "L202": Spoiled(place="scale.wgsl.jinja:11", message="endif", template=with_line("{% if size %}")),
    "L203": Spoiled(
        place="scale.wgsl.jinja:5", message="too wide", template=with_line('{{ raise_exception("too wide") }}')
    ),
    "L204": Spoiled(
        passes(dispatch={"workgroups": "items - 100"}), "manifest.json: variants[0].passes[0]", "dispatch.workgroups"
    ),
    "L205": Spoiled(
        place="scale.wgsl.jinja:5", message="does not compile", template=with_line("let j = k;"), device=True
    ),
    "L301": Spoiled(lambda m: m["bindings"].update(twice={"arg": "x"}), "manifest.json: bindings.twice", "'twice'"),
    "L302": Spoiled(bindings(1), "manifest.json: variants[0].passes[0].bindings", "never mentions 'scratch0'"),
    "L303": Spoiled(
        both(intermediates=[{"id": "spare", "dtype": "float32", "shape": [4]}]),
        "manifest.json: variants[0].intermediates[0]",
        "'spare'",
    ),
    "L304": Spoiled(derive(spare="1"), "manifest.json: derive.spare", "'spare'"),
    "L305": Spoiled(
        lambda m: m["tunables"].update(SPARE={"default": 1, "description": "?"}),
        "manifest.json: tunables.SPARE",
        "'SPARE'",
    ),
    "L306": Spoiled(
        lambda m: m["attributes"].update(spare={"default": 1, "description": "?"}),
        "manifest.json: attributes.spare",
        "'spare'",
    ),
    "L307": Spoiled(
        lambda m: m["inputs"].update(z={"dtype": "T", "optional": True, "description": "?"}),
        "manifest.json: inputs.z",
        "'z'",
    ),
    "L401": Spoiled(when("numel(shapes.x) < 0", 0), "manifest.json: variants[0]", "nothing selects 'vectors'"),
    "L402": Spoiled(
        place="test.json: case 'refused'", message="unknown attribute 'factors'", files={"test.json": REFUSED_CASE}
    ),
    "L403": Spoiled(
        one_variant_takes("numel(shapes.x) == 1"), "manifest.json: variants", "no variant takes x float32["
    ),
    "L404": Spoiled(
        place="manifest.json: variants[1]", message="reaches 'elements'", files={"test.json": TESTS_OF_VECTORS}
    ),
    "L405": Spoiled(place="test.json", message="there is no test.json", files={"test.json": None}),
    "L406": Spoiled(
        lambda m: m.update(when=["numel(shapes.x) == 123457"]), "manifest.json: inputs", "made-up requests is taken"
    ),
    "L501": Spoiled(without_f16, "manifest.json: variants[0].passes[0]", "the shader needs shader-f16"),
    "L502": Spoiled(
        derive(size="512"), "manifest.json: variants[0].passes[0]", "too many threads in a workgroup: needs 512"
    ),
    "L503": Spoiled(
        place="manifest.json: variants[0].passes[0]",
        message="too many bytes of workgroup memory: needs 20000",
        template="var<workgroup> shared: array<f32, 5000>;\n" + with_line("shared[lane] = 0.0;"),
    ),
    "L504": Spoiled(bindings(7), "manifest.json: variants[0].passes[0].bindings", "9 bindings"),
    "L505": Spoiled(
        passes(dispatch={"threads": "items", "workgroupSize": 32}),
        "manifest.json: variants[0].passes[0].dispatch",
        "workgroupSize is 32, the shader has 64 threads",
    ),
    "L506": Spoiled(
        passes(dispatch={"x": "ceilDiv(items, size)"}),
        "manifest.json: variants[0].passes[0]",
        "too many workgroups along x: needs",
    ),
    "L507": Spoiled(
        every(bindings(1), both(intermediates=[{"id": "scratch0", "dtype": "float32", "shape": [2**26]}])),
        "manifest.json: variants[0]",
        "is too large: needs 268435456",
    ),
    "L508": Spoiled(place="scale.wgsl.jinja:5", message="rounds in one lane", template=LOOPING),
    "L509": Spoiled(
        place="manifest.json: variants[0].passes[0]",
        message="the shader needs subgroups",
        template=with_line("let all = subgroupAdd(lane);"),
    ),
    "L601": Spoiled(without("description"), "manifest.json: description", "test.Scale has no description"),
    "L602": Spoiled(without("inputs", "x", "description"), "manifest.json: inputs", "no description: x"),
    "L603": Spoiled(without("variants", "0", "description"), "manifest.json: variants", "no description: vectors"),
}

SILENT: dict[str, Spoiled] = {
    "L001": Spoiled(lambda m: m.update({"$comment": "Anything may be said."})),
    "L002": Spoiled(files={"test.json": json.dumps(TESTS, indent=4)}),
    "L003": Spoiled(files={"other.wgsl": "// more"}, template=TEMPLATE + '{% include "other.wgsl" %}\n'),
    "L004": Spoiled(),
    "L005": Spoiled(),
    "L006": Spoiled(),
    "L007": Spoiled(files={"../../reference.py": "def reference(inputs, attrs, outputs, more=1): ...\n"}),
    "L008": Spoiled(),
    "L101": Spoiled(
        derive(rows="numel(shapes.x) if attrs.other is defined else 0", size="64 + 0 * rows"),
    ),
    "L102": Spoiled(when("device.limits.maxComputeWorkgroupSizeX >= 0")),
    "L103": Spoiled(when("device.features.has('shader-f16') or device.adapterInfo.vendor is defined or true")),
    "L104": Spoiled(template=with_line("// {{ sise if sise is defined else size }}")),
    "L105": Spoiled(bindings(1, zeroInit=True), template=KEEPING),
    "L201": Spoiled(),
    "L202": Spoiled(template=with_line("{% if size %}{% endif %}")),
    "L203": Spoiled(template=with_line('{% if size > 9999 %}{{ raise_exception("too wide") }}{% endif %}')),
    "L204": Spoiled(passes(dispatch={"workgroups": "ceilDiv(items, size)"})),
    "L205": Spoiled(template=with_line("let j = lane;"), device=True),
    "L301": Spoiled(
        every(
            without("bindings", "x"),
            lambda m: m["bindings"].update(source={"arg": "x", "name": "x", "elementType": "$element"}),
            passes(bindings=["source", "y", "params"]),
        )
    ),
    "L302": Spoiled(
        bindings(1), template=with_line("{% if size > 9999 %}let j = {{ size // 2 }}u; scratch0[j] = 1.0;{% endif %}")
    ),
    "L303": Spoiled(bindings(1), template=with_line("scratch0[lane % 4u] = 1.0;")),
    "L304": Spoiled(derive(spare="1"), template=with_line("// {{ derive.spare }}")),
    "L305": Spoiled(
        lambda m: m["tunables"].update(SPARE={"default": 1, "description": "?"}),
        template=with_line("// {{ tunables.SPARE }}"),
    ),
    "L306": Spoiled(
        lambda m: m["attributes"].update(spare={"default": 1, "description": "?"}),
        template=with_line("// {{ attrs.spare }}"),
    ),
    "L307": Spoiled(
        every(
            lambda m: m["inputs"].update(z={"dtype": "T", "optional": True, "description": "?"}),
            when("not present.z or ranks.z > 0"),
        )
    ),
    "L401": Spoiled(when("numel(shapes.x) >= 0", 0)),
    "L402": Spoiled(),
    "L403": Spoiled(one_variant_takes("numel(shapes.x) >= 0")),
    "L404": Spoiled(),
    "L405": Spoiled(),
    "L406": Spoiled(lambda m: m.update(when=["numel(shapes.x) < 123457"])),
    "L501": Spoiled(every(without_f16, requires(features=["shader-f16"]))),
    "L502": Spoiled(
        every(
            derive(size="512"),
            requires(limits={"maxComputeInvocationsPerWorkgroup": 512, "maxComputeWorkgroupSizeX": 512}),
        )
    ),
    "L503": Spoiled(
        requires(limits={"maxComputeWorkgroupStorageSize": 20000}),
        template="var<workgroup> shared: array<f32, 5000>;\n" + with_line("shared[lane] = 0.0;"),
    ),
    "L504": Spoiled(every(bindings(7), requires(limits={"maxStorageBuffersPerShaderStage": 9}))),
    "L505": Spoiled(passes(dispatch={"threads": "items", "workgroupSize": "min(64, size)"})),
    "L506": Spoiled(
        every(
            passes(dispatch={"x": "ceilDiv(items, size)"}),
            lambda m: m.update(when=["ceilDiv(numel(shapes.x), size) <= DISPATCH_FOLD_WIDTH"]),
        )
    ),
    "L507": Spoiled(bindings(1)),
    "L508": Spoiled(lambda m: m.update(when=["numel(shapes.x) < 1000000"]), template=LOOPING),
    "L509": Spoiled(requires(features=["subgroups"]), template=with_line("let all = subgroupAdd(lane);")),
    "L601": Spoiled(),
    "L602": Spoiled(),
    "L603": Spoiled(),
}
