"""The page is complete, harmless and of a bearable size."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest
from fabricated_results import HOSTILE, hostile_results, read, results

from webgpu_kernels.errors import ExtraMissing
from webgpu_kernels.tools.report import content_of, figures_of, page_of, report_page
from webgpu_kernels.tools.report import page as page_module
from webgpu_kernels.tools.report.drawing import drawn
from webgpu_kernels.tools.report.look import plot

ADD = ("ai.onnx.Add",)


class Elements(HTMLParser):
    """Every element with its attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep an element."""
        self.found.append((tag, dict(attrs)))

    def values(self, name: str) -> list[str]:
        """Return an attribute of all elements that have it."""
        return [attributes[name] or "" for _, attributes in self.found if name in attributes]


@pytest.fixture(scope="module")
def page() -> str:
    return report_page(content_of([read(results("h200", cases=3, benches=2, packages=ADD))]))


@pytest.fixture(scope="module")
def hostile() -> str:
    document = hostile_results()
    return report_page(content_of([read(document)], title=HOSTILE[1], bases=[read(document)]))


def test_the_page_needs_nothing_else(page: str) -> None:
    """No address of anything: neither script nor style nor picture nor font comes from elsewhere."""
    elements = Elements(page)
    assert not [
        tag
        for tag, attributes in elements.found
        if tag != "a" and {"src", "href"} & attributes.keys() and attributes.get("href") != "data:,"
    ]
    assert all(link.startswith("#") for link in elements.values("href") if link != "data:,")
    assert "http" not in re.sub(r"http-equiv", "", page)


def test_only_our_script_may_run(page: str) -> None:
    """The policy knows it by its digest, and no element has a handler."""
    policy = next(attributes["content"] or "" for _, attributes in Elements(page).found if "http-equiv" in attributes)
    script = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert len(script) == 1
    digest = base64.b64encode(hashlib.sha256(script[0].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'; ")
    assert not [name for _, attributes in Elements(page).found for name in attributes if name.startswith("on")]


def test_every_link_has_a_target(page: str) -> None:
    """Points of plots lead to their benchmark, and every id is there once."""
    elements = Elements(page)
    ids = elements.values("id")
    assert len(ids) == len(set(ids))
    assert {link[1:] for link in elements.values("href") if link.startswith("#")} <= set(ids)
    assert {name for text in elements.values("aria-labelledby") for name in text.split()} <= set(ids)


def test_hostile_names_are_text(hostile: str) -> None:
    """No element, handler or address of theirs comes to be; the data stays one block of JSON."""
    elements = Elements(hostile)
    tags = [tag for tag, _ in elements.found]
    assert (tags.count("script"), tags.count("img")) == (2, 0)
    assert all(link.startswith("#") or link == "data:," for link in elements.values("href"))
    assert "&lt;script&gt;window.hurt = 1&lt;/script&gt;" in hostile
    assert "49" not in re.findall(r"<h1>(.*?)</h1>", hostile)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202e\u2028\u2066]", hostile)
    block = re.findall(r'<script type="application/json" id="data">(.*?)</script>', hostile, re.DOTALL)
    assert len(json.loads(block[0])["cells"]) == 13 * 13


def test_plots_keep_hostile_names_as_text() -> None:
    """Vega is given them as data, never as expressions, and nothing that it would choke on."""
    mark = {"mark": "text", "encoding": {"text": {"field": "name"}, "description": {"field": "name"}}}
    values = [{"name": name[:50]} for name in (*HOSTILE, "\ud800 \uffff")]
    svg = drawn(plot(100, 100, fit="pad", data={"values": values}, **mark), label=HOSTILE[0])
    assert svg.startswith('<svg role="group" aria-label="&lt;script&gt;')
    assert "<script" not in svg
    assert "<img" not in svg


def test_a_page_without_benchmarks_has_no_empty_sections() -> None:
    """And one without tests neither."""
    tests = report_page(content_of([read(results(cases=2, benches=0, packages=ADD))]))
    assert ('id="tests"' in tests, 'id="speed"' in tests, 'id="peers"' in tests) == (True, False, False)
    speed = report_page(content_of([read(results(cases=0, benches=1, packages=ADD))]))
    assert ('id="tests"' in speed, 'id="speed"' in speed, 'id="peers"' in speed) == (False, True, True)
    nothing = report_page(content_of([read(results(cases=0, benches=0))]))
    assert "These results hold neither tests nor benchmarks." in nothing


def test_a_page_of_two_thousand_tests_is_below_six_megabytes() -> None:
    """Plots aside, which come to 12 KB each."""
    content = content_of([read(results(device, cases=100, benches=0)) for device in ("lavapipe", "h200", "chromium")])
    assert content.tests > 2000
    assert len(page_of(content, {}).encode()) < 1_500_000
    figures = figures_of(content_of([read(results("h200", cases=3, benches=2, packages=ADD))]))
    assert max(len(drawn(figure.spec, label=figure.label)) for figure in figures) < 25_000


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the extra that brings it."""
    monkeypatch.setattr(page_module, "_LIBRARIES", ("jinja2", "no_such_library"))
    with pytest.raises(ExtraMissing) as caught:
        report_page(content_of([read(results(cases=1, benches=0))]))
    assert str(caught.value) == (
        "a report needs no_such_library. They come with: pip install 'webgpu-kernels[report]'."
    )


def test_each_verdict_of_a_comparison_is_drawn_and_told() -> None:
    """Slower, faster, within the noise, and as the copy."""
    now, base = (results("h200", cases=1, benches=4, packages=ADD) for _ in range(2))
    for bench, factor, copied in zip(now["benches"], (1.5, 0.5, 1, 1.5), (1, 1, 1, 1.5), strict=True):
        bench["copy"]["medianUs"] *= copied
        for time in bench["variants"].values():
            time["medianUs"] *= factor
    page = report_page(content_of([read(now)], bases=[read(base)]))
    assert "1 benchmark slower, 1 faster, 1 within the noise; 1 changed as the copy did" in page
    for words in ("▲ slower", "▼ faster", "within the noise</span>", "as the copy</span>"):
        assert words in page
    assert "Every test ends as it did in the base." in page


def test_text_can_be_read_in_both_themes() -> None:
    """Each colour of text stands out from what it is written on by 4.5 to 1, WCAG's level AA."""
    found = re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", page_module.style_text())
    colors = {name: pair for name, *pair in found}
    written = {"ink": ("paper", "soft"), "muted": ("paper", "soft"), "link": ("paper", "soft"), "copy": ("paper",),
               "alarm-ink": ("paper", "soft", "alarm-soft"), "good-ink": ("paper", "good-soft")}  # fmt: skip
    drawn_on_paper = ("chosen", "alarm", "other", "peer", "edge", *(f"series-{index}" for index in range(6)))
    for theme in (0, 1):
        for text, grounds in written.items():
            assert all(contrast(colors[text][theme], colors[ground][theme]) >= 4.5 for ground in grounds), text
        for mark in drawn_on_paper:
            assert contrast(colors[mark][theme], colors["paper"][theme]) >= 2.9, mark


def contrast(one: str, other: str) -> float:
    """Return WCAG's contrast ratio of two colours."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(color: str) -> float:
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
