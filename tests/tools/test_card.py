"""Cards: what the manifest says, in the published layout, with calls that run."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from lint_packages import CLEAN, TESTS, write_package
from own_packages import copy_of, inner
from published_packages import SHARED

from webgpu_kernels.contract import bundled_names, open_package
from webgpu_kernels.tools.card import card_text
from webgpu_kernels.tools.own import own_package

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
JAVASCRIPT = re.compile(r"^```js\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXAMPLE_IN_PYTHON = """\
import numpy as np
import webgpu_kernels as wk

kernel = wk.get_kernel("webgpu-kernels/com.microsoft.Scale", version=1)
inputs = {
    "x": np.full((8,), 1.0, np.float32),
}
out = kernel(inputs, attrs={"factor": 2.5})
print(out["y"].shape, out["y"].dtype)  # (8,) float32
"""
EXAMPLE_IN_JAVASCRIPT = """\
import { getKernel } from "@huggingface/kernels";

const kernel = await getKernel("webgpu-kernels/com.microsoft.Scale", { version: 1 });
const { y } = await kernel({
  x: { data: xData, shape: [8] },
}, {
  attrs: { factor: 2.5 },
});
"""
SEED = SHARED / "seeds" / "com.microsoft.SkipGroupNorm"


def card(folder: Path, change: Callable[[Any], object] = lambda _: None, *, tests: object = TESTS, **said: Any) -> str:
    """Return the card of the small package of lint's tests, changed."""
    files = {"test.json": json.dumps(tests) if tests else None, "../../README.md": None}
    return card_text(open_package(write_package(folder, change, files=files)), **said)


def section(text: str, title: str) -> str:
    """Return what stands under a heading."""
    return text.partition(f"\n## {title}\n\n")[2].partition("\n\n## ")[0]


def row(text: str, first: str) -> list[str]:
    """Return the cells of a table's row."""
    (line,) = [line for line in text.splitlines() if line.startswith(f"| {first} |")]
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


@pytest.mark.parametrize("op_id", bundled_names())
def test_bundled_cards_are_up_to_date(op_id: str) -> None:
    """Run ``make pack`` where this fails."""
    own = own_package(op_id)
    assert own.card.read_text(encoding="utf-8") == card_text(own.package, metadata=own.stated)


@pytest.mark.device
@pytest.mark.parametrize("op_id", bundled_names())
def test_the_python_example_of_a_bundled_card_runs(op_id: str, tmp_path: Path) -> None:
    """It prints what its comments say, and nothing else."""
    (program,) = PYTHON.findall(own_package(op_id).card.read_text(encoding="utf-8"))
    file = tmp_path / "example.py"
    file.write_text(program, encoding="utf-8")
    environment = {"XDG_RUNTIME_DIR": str(tmp_path), **os.environ}
    ran = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, check=False, env=environment)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.splitlines() == re.findall(r"^print\(.*\)  # (.*)$", program, re.MULTILINE) != []


def test_a_card_has_the_sections_of_published_ones() -> None:
    """In their order, with Python beside JavaScript."""
    text = card_text(own_package("com.microsoft.SkipGroupNorm").package)
    assert re.findall(r"^#+ (.*)$", text, re.MULTILINE) == [
        "com.microsoft.SkipGroupNorm",
        "Description",
        "Inputs",
        "Outputs",
        "Attributes",
        "Type constraints",
        "Implementation variants",
        "Files",
        "Use with Python",
        "Use with `@huggingface/kernels`",
    ]


@pytest.mark.skipif(not SEED.is_dir(), reason="the published card is not beside the repository")
def test_the_contract_is_told_as_the_published_card_tells_it() -> None:
    """Front matter, origin, tables but for their prose, and variants are those of the published card."""
    published = (SEED / "README.md").read_text(encoding="utf-8")
    ours = card_text(open_package(SEED))

    def facts(text: str) -> object:
        tables = [
            [cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("| `")
        ]
        described = [[*cells[:4], *cells[5:]] if len(cells) == 6 else cells[:2] for cells in tables]
        return text.partition("\n## Description")[0], described, re.findall(r"^- `(\w+)`", text, re.MULTILINE)

    assert facts(ours) == facts(published)


def test_a_card_of_the_older_dialect_says_that_the_loader_refuses_it() -> None:
    """All else is told of it as of any."""
    folder = SHARED / "published" / "ai.onnx.Identity"
    if not folder.is_dir():
        pytest.skip("the published packages are not beside the repository")
    text = card_text(open_package(folder))
    assert "The manifest is of spec 1.0, and so that loader" in section(text, "Use with `@huggingface/kernels`")
    assert row(section(text, "Outputs"), "`y`")[:4] == ["`y`", "`T`", "same as `x`", "same as `x`"]
    assert 'out = kernel(inputs)\nprint(out["y"].shape, out["y"].dtype)  # (4, 8) float32\n' in text


def test_extensions_are_named_and_the_loader_refuses_them() -> None:
    """So there is no example for it."""
    text = card_text(own_package("com.microsoft.GatherBlockQuantized").package)
    assert section(text, "Extensions").endswith("misreading it: `int4`, `split`, `valueRange`.")
    assert JAVASCRIPT.findall(text) == []
    assert "The manifest declares extensions of the format, and so that loader" in text


def test_a_description_may_have_paragraphs(tmp_path: Path) -> None:
    """In the description of the operator they stay; in tables and lists everything is one line."""

    def change(manifest: Any) -> None:
        manifest["description"] = "One.\n\nTwo."
        manifest["inputs"]["x"]["description"] = "One.\n\nTwo | three."
        manifest["variants"][0]["description"] = "One.\nTwo."

    text = card(tmp_path, change)
    assert section(text, "Description") == "One.\n\nTwo."
    assert row(section(text, "Inputs"), "`x`")[4] == "One. Two \\| three."
    assert "- `vectors` — One. Two.\n" in text


def test_attributes_tell_values_and_defaults(tmp_path: Path) -> None:
    """By name, numbers as JavaScript writes them."""

    def change(manifest: Any) -> None:
        attributes = manifest["attributes"]
        attributes["epsilon"] = {"default": 1e-5, "description": "Small."}
        attributes["mode"] = {"description": "How."}
        manifest["attributeConstraints"] = {"mode": {"required": True, "values": ["up", "down"]}}

    rows = [line for line in section(card(tmp_path, change), "Attributes").splitlines() if line.startswith("| `")]
    assert rows == [
        "| `epsilon` | `0.00001` | Small. |",
        "| `factor` | `2.5` | What it is multiplied by. |",
        '| `mode` | — | How. One of `"up"`, `"down"`. Every call gives it. |',
    ]


def test_formulas_of_known_names_are_shown(tmp_path: Path) -> None:
    """One that needs the manifest's own names says nothing to a caller."""

    def change(manifest: Any) -> None:
        manifest["outputs"]["y"] |= {"rank": "max(ranks.x, 1)", "shape": "[items2]"}
        manifest["derive"]["items2"] = "numel(shapes.x)"

    assert row(section(card(tmp_path, change), "Outputs"), "`y`")[2:4] == ["`max(ranks.x, 1)`", "computed"]


@pytest.mark.parametrize(
    ("domain", "line", "link"),
    [
        ("ai.onnx", "`ai.onnx`  ·  ONNX operator  ·  since_version 7", "onnx.ai/onnx/operators/onnx__Scale.html"),
        ("ai.onnx.ml", "`ai.onnx.ml`  ·  operator  ·  since_version 7", "operators/onnx_aionnxml_Scale.html"),
        (
            "com.microsoft",
            "`com.microsoft`  ·  ONNX Runtime contrib operator  ·  contrib since_version 7",
            "ContribOperators.md#com.microsoft.Scale",
        ),
        ("org.example", "`org.example`  ·  operator  ·  since_version 7", None),
    ],
)
def test_the_domain_says_where_an_operator_is_specified(
    tmp_path: Path, domain: str, line: str, link: str | None
) -> None:
    """Of others nobody knows."""
    text = card(tmp_path, lambda manifest: manifest.update(domain=domain, sinceVersion=7))
    assert f"\n\n{line}\n\n" in text
    assert (link in text) if link else ("is specified by" not in text)


def test_the_example_is_the_first_case(tmp_path: Path) -> None:
    """In Python with its values, in JavaScript with a placeholder of each."""
    text = card(tmp_path, lambda manifest: manifest.update(domain="com.microsoft"))
    assert PYTHON.findall(text) == [EXAMPLE_IN_PYTHON]
    assert JAVASCRIPT.findall(text) == [EXAMPLE_IN_JAVASCRIPT]


def test_outputs_are_told_where_the_contract_does_not_infer_them(tmp_path: Path) -> None:
    """Shape and dtype, in both languages."""
    text = card(tmp_path, lambda manifest: manifest["outputs"]["y"].pop("shape"))
    assert 'outputs={"y": wk.TensorSpec((8,), "float32")})\n' in text
    assert '  outputs: { y: { shape: [8], dtype: "float32" } },\n' in text
    assert row(section(text, "Outputs"), "`y`")[3] == "given by the call"


def test_cases_that_fit_no_card_are_passed_over(tmp_path: Path) -> None:
    """Empty and large tensors, errors, and cases that are skipped."""
    good = {**TESTS["cases"][1], "name": "good"}
    size = {"dtype": "float32", "data": {"kind": "fill", "value": 1}}
    cases: list[Any] = [
        {**good, "name": "empty", "inputs": {"x": {**size, "shape": [0]}}, "outputs": {"y": {}}},
        {**good, "name": "large", "inputs": {"x": {**size, "shape": [100_000]}}, "outputs": {"y": {}}},
        {**good, "name": "skipped", "skipGpu": {"category": "todo", "reason": "x"}},
        {"name": "bad", "inputs": good["inputs"], "attrs": {"q": 1}, "error": {"kind": "RequestError", "message": "q"}},
        good,
    ]
    cases[2]["inputs"] = {"x": {**size, "shape": [9]}}
    cases[2]["outputs"] = {"y": {}}
    assert "np.full((7,), 1.0, np.float32)" in card(tmp_path, tests={"cases": cases})


@pytest.mark.parametrize("tests", [None, {"cases": []}, {"cases": 1}])
def test_without_a_case_a_call_is_made_up(tmp_path: Path, tests: object) -> None:
    """Of the contract; what is wrong with a suite is for others to say."""
    text = card(tmp_path, tests=tests)
    assert '    "x": draw.standard_normal((4, 8), np.float32),\n' in text
    assert "# (4, 8) float32\n" in text


def test_the_owner_is_kept(tmp_path: Path) -> None:
    """Who says it once finds it in the next card; until then a word stands for it."""
    text = card(tmp_path)
    assert 'wk.get_kernel("OWNER/test.Scale", version=1, trust_remote_code=["OWNER"])' in text
    assert 'getKernel("OWNER/test.Scale", { version: 1, trustRemoteCode: true })' in text
    package = open_package(tmp_path)
    named = card_text(package, owner="ann")
    (tmp_path / "README.md").write_text(named, encoding="utf-8")
    assert 'wk.get_kernel("ann/test.Scale", version=1, trust_remote_code=["ann"])' in named
    assert card_text(package) == named


def test_version_and_licence_are_those_of_the_metadata(tmp_path: Path) -> None:
    """As ``pack`` wrote them."""
    root = inner(copy_of("ai.onnx.Add", tmp_path, packed=True))
    document = json.loads((root / "metadata.json").read_text(encoding="utf-8"))
    (root / "metadata.json").write_text(json.dumps({**document, "version": 3, "license": "MIT"}), encoding="utf-8")
    text = card_text(open_package(root))
    assert "\nlicense: mit\n" in text
    assert "{ version: 3 }" in text


def test_every_template_is_listed(tmp_path: Path) -> None:
    """After the documents, in alphabetical order; metadata.json also before there is one."""
    copy = copy_of("com.microsoft.SkipGroupNorm", tmp_path)
    templates = sorted(path.name for path in copy.rglob("*.wgsl.jinja"))
    assert len(templates) > 2
    listed = re.findall(r"^- \[`(.*?)`\]\(build/webgpu/\1\)", card_text(open_package(copy)), re.MULTILINE)
    assert listed == ["metadata.json", "manifest.json", "test.json", "bench.json", *templates]


def test_the_clean_package_has_what_the_card_shows() -> None:
    """These tests change it: it must have a description, an attribute and two variants."""
    assert CLEAN["description"]
    assert len(CLEAN["attributes"]) == 1
    assert len(CLEAN["variants"]) == 2
