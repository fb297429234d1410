"""The exported page, opened from the disk in headless Chromium: what a person clicks, and what is then shown."""

from __future__ import annotations

import base64
import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import webgpu_kernels as wk
from webgpu_kernels.tools.calls import CallDescription
from webgpu_kernels.tools.export.exporting import export_call, portable_capabilities

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from webgpu_kernels.tools.export.exporting import Export

pytestmark = pytest.mark.browser

Opened = "Callable[..., Any]"
WIDE, PHONE = {"width": 1200, "height": 900}, {"width": 390, "height": 844}


@pytest.fixture
def opened(chromium: Any) -> Iterator[Callable[..., Any]]:
    """Open a page from the disk and wait until it has a device, or none; nothing may fail or be asked of a network."""
    contexts: list[Any] = []
    complaints: list[str] = []
    requests: list[str] = []

    def open_page(file: Path, *, script: str = "", **options: Any) -> Any:
        context = chromium.new_context(**{"viewport": WIDE, **options})
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        if script:
            page.add_init_script(script)
        page.goto(file.as_uri())
        page.wait_for_selector("body[data-state=ready], body[data-state=absent]")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []


def run(page: Any) -> str:
    """Click Run and return what came of it."""
    page.get_by_role("button", name="Run").click()
    page.wait_for_selector("body[data-state=done], body[data-state=failed]", timeout=60_000)
    return str(page.locator("body").get_attribute("data-state"))


def test_a_case_runs_and_is_right(opened: Callable[..., Any], norm_case: Export, written: Callable[..., Path]) -> None:
    """The verdict is by the case's tolerance, the values are the outputs'."""
    page = opened(written(norm_case) / "index.html")
    assert page.inner_text("h1") == "com.microsoft.SkipGroupNorm"
    assert page.inner_text("#variant") == norm_case.document.variant
    assert "swiftshader" in page.inner_text("#device-name")
    assert run(page) == "done"
    results = page.inner_text("#results")
    assert re.search(r"outputs\s+right", results)
    assert re.search(r"GPU time, median of 20\s+[\d.]+ [µm]s", results)
    shown = page.locator("[data-output=Y] td").first.inner_text()
    expected = np.frombuffer(norm_case.data["data/Y.expected.bin"], np.float32)[0]
    assert float(shown) == pytest.approx(float(expected), abs=1e-4)


def test_every_pass_is_shown_with_its_time(
    opened: Callable[..., Any], split_norm: Export, written: Callable[..., Path]
) -> None:
    """Grid, bindings and WGSL of each; times after the run."""
    page = opened(written(split_norm) / "index.html")
    assert page.locator("summary h3").all_inner_texts() == ["stats", "combine", "apply"]
    page.locator("summary").nth(1).click()
    assert "var<storage, read_write>" in page.locator("#pass-1 pre").inner_text()
    assert page.locator("#pass-1 pre .line").count() == split_norm.texts["combine.wgsl"].rstrip("\n").count("\n") + 1
    assert run(page) == "done"
    assert all(re.fullmatch(r"[\d.]+ [µm]s", text) for text in page.locator("summary .time").all_inner_texts())


def test_a_wrong_output_is_called_wrong(
    opened: Callable[..., Any], norm_case: Export, written: Callable[..., Path]
) -> None:
    """With how many elements, the worst one, and marks on those that are shown."""
    folder = written(norm_case)
    page_file = folder / "index.html"
    truth = norm_case.data["data/Y.expected.bin"]
    lie = np.frombuffer(truth, np.float32).copy()
    lie[1] += 1
    text = page_file.read_text("utf-8")
    page_file.write_text(
        text.replace(base64.b64encode(truth).decode(), base64.b64encode(lie.tobytes()).decode()), "utf-8"
    )
    page = opened(page_file)
    assert run(page) == "done"
    assert re.search(r"outputs\s+wrong", page.inner_text("#results"))
    assert "1 of " in page.inner_text("[data-output=Y] p")
    assert "at [0, 0, 0, 1]: got" in page.inner_text("[data-output=Y] p")
    assert page.locator("[data-output=Y] td.wrong").count() == 1


def test_data_may_be_drawn_in_the_page(
    opened: Callable[..., Any], split_norm: Export, written: Callable[..., Path]
) -> None:
    """Another seed gives other outputs; nothing is expected of them."""
    page = opened(written(split_norm) / "index.html")
    assert not page.locator("#seed").is_visible()
    page.select_option("#data", "drawn")
    seen = []
    for seed in ("1", "2", "1"):
        page.fill("#seed", seed)
        assert run(page) == "done"
        assert "No expected values" in page.inner_text("[data-output=Y] p")
        seen.append(page.locator("[data-output=Y] td").first.inner_text())
    assert seen[0] == seen[2] != seen[1]


def test_float16_elements_are_drawn_and_decoded_as_numpy_does(
    opened: Callable[..., Any], written: Callable[..., Path]
) -> None:
    """Half precision is made of plain numbers: old browsers have no Float16Array."""
    call = CallDescription(inputs={name: wk.TensorSpec((8,), "float32") for name in "ab"})
    page = opened(written(export_call(wk.get_kernel("ai.onnx.Add"), call, portable_capabilities(call))) / "index.html")
    values = [0.0, -0.0, 1.0, -2.5, 65504.0, 65520.0, 1e-7, 6e-8, 3e-8, 6.1e-5, 0.1, 2049.0, 2051.0, 1e9, -1e-9]
    tensor = {"dtype": "float16", "storage": "float16", "shape": [len(values)], "sizeBytes": 32}
    code = """([tensor, values]) => {
      const bytes = WebGPUKernels.encode(tensor, values);
      return [[...bytes], [...WebGPUKernels.decode(tensor, bytes)].map(String)];
    }"""
    encoded, decoded = page.evaluate(code, [tensor, values])
    with np.errstate(over="ignore"):
        wanted = np.array(values, np.float16)
    assert np.array_equal(np.array(encoded, np.uint8).view(np.uint16)[: len(values)], wanted.view(np.uint16))
    assert [float(text.replace("Infinity", "inf")) for text in decoded] == wanted.astype(np.float64).tolist()


def test_a_device_that_is_not_enough_is_said(opened: Callable[..., Any], written: Callable[..., Path]) -> None:
    """Before the run, and by the run's failure; and no traceback."""
    call = CallDescription(inputs={name: wk.TensorSpec((8,), "float16") for name in "ab"})
    page = opened(written(export_call(wk.get_kernel("ai.onnx.Add"), call, portable_capabilities(call))) / "index.html")
    assert page.inner_text("#unfit") == ("This device is not enough for the program: see shader-f16 under Device.")
    assert page.locator("#device-table .lacking").inner_text() == "lacking"
    assert run(page) == "failed"
    assert "the device lacks shader-f16, which the program needs" in page.inner_text("#failure")


def test_a_shader_that_is_refused_is_shown_at_its_line(
    opened: Callable[..., Any], split_norm: Export, written: Callable[..., Path]
) -> None:
    """The pass opens, and the line is marked."""
    file = written(split_norm) / "index.html"
    before, mark, after = file.read_text("utf-8").partition('id="inlined">')
    inlined, end, rest = after.partition("</script>")
    parts = json.loads(inlined)
    parts["shaders"]["apply.wgsl"] = "// here\nfn main() { nowhere(); }\n"
    file.write_text(before + mark + json.dumps(parts).replace("<", "\\u003c") + end + rest, "utf-8")
    page = opened(file)
    assert run(page) == "failed"
    assert "The browser refuses the shader of apply." in page.inner_text("#failure")
    assert "2:13 unresolved call target 'nowhere'" in page.inner_text("#failure")
    assert page.locator("#pass-2").get_attribute("open") is not None
    assert page.locator(".line.blamed").all_inner_texts() == ["fn main() { nowhere(); }"]


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("delete Navigator.prototype.gpu", "No WebGPU here: this browser has no WebGPU."),
        (
            "GPU.prototype.requestAdapter = async () => null",
            "No WebGPU here: the browser has WebGPU and found no adapter for it.",
        ),
    ],
)
def test_a_browser_without_webgpu_is_told_so(
    opened: Callable[..., Any], split_norm: Export, written: Callable[..., Path], script: str, message: str
) -> None:
    """With what to do, and the passes can be read all the same."""
    page = opened(written(split_norm) / "index.html", script=script)
    assert page.inner_text("#absent strong") == message
    assert "Safari" in page.inner_text("#absent")
    assert page.get_by_role("button", name="Run").is_disabled()
    assert page.locator("summary h3").all_inner_texts() == ["stats", "combine", "apply"]


@pytest.mark.parametrize(("viewport", "scheme"), [(WIDE, "light"), (WIDE, "dark"), (PHONE, "light"), (PHONE, "dark")])
def test_the_page_fits_its_window(
    opened: Callable[..., Any],
    norm_case: Export,
    written: Callable[..., Path],
    viewport: dict[str, int],
    scheme: str,
) -> None:
    """Wide or narrow, light or dark: it never scrolls sideways, and its ground is as the system wants it."""
    page = opened(written(norm_case) / "index.html", viewport=viewport, color_scheme=scheme)
    assert run(page) == "done"
    assert page.evaluate("() => document.documentElement.scrollWidth") <= viewport["width"]
    ground = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    assert ground == {"light": "rgb(255, 255, 255)", "dark": "rgb(21, 24, 28)"}[scheme]


def test_the_theme_can_be_chosen(opened: Callable[..., Any], norm_case: Export, written: Callable[..., Path]) -> None:
    """By a button whose label says which it is."""
    page = opened(written(norm_case) / "index.html", color_scheme="dark")
    button = page.locator("#theme")
    labels = []
    for _ in range(3):
        labels.append(button.get_attribute("aria-label"))
        button.click()
    assert labels == ["Theme: as the system. Change", "Theme: light. Change", "Theme: dark. Change"]


def test_the_keyboard_is_enough(opened: Callable[..., Any], norm_case: Export, written: Callable[..., Path]) -> None:
    """Skip to the run, through its fields, and Enter runs."""
    page = opened(written(norm_case) / "index.html")
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.textContent") == "Skip to the run"
    page.keyboard.press("Enter")
    names = []
    for _ in range(3):
        page.keyboard.press("Tab")
        names.append(page.evaluate("() => document.activeElement.id"))
    assert names == ["data", "repeat", "go"]
    page.keyboard.press("Enter")
    page.wait_for_selector("body[data-state=done]", timeout=60_000)
    assert page.evaluate("() => document.activeElement.id") == "go"


def test_an_empty_output_is_shown(opened: Callable[..., Any], written: Callable[..., Path]) -> None:
    """A call whose outputs have no elements runs nothing, and says so."""
    call = CallDescription(inputs={"a": wk.TensorSpec((0, 3), "float32"), "b": wk.TensorSpec((3,), "float32")})
    page = opened(written(export_call(wk.get_kernel("ai.onnx.Add"), call, portable_capabilities(call))) / "index.html")
    assert page.inner_text("#pass-list") == "Every output is empty: nothing runs."
    assert run(page) == "done"
    assert page.inner_text("[data-output=c] p") == "It has no elements."
