"""The page in a browser: what it shows, and what happens when one clicks, types, sorts, prints or holds a phone."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from fabricated_results import hostile_results, read, results

from webgpu_kernels.tools.report import content_of, page_of, report_page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

PHONE = {"width": 360, "height": 740}
WIDTH = "document.documentElement.scrollWidth"


@pytest.fixture(scope="module")
def browser(chromium: Browser) -> Browser:
    """Chromium, opened once for all tests of a process: a thread can drive only one."""
    return chromium


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A page of two devices beside an earlier run, two of its tests failed."""
    runs = [results("h200", cases=6, benches=3), results("lavapipe", cases=6, benches=3)]
    for run in runs:
        for test in run["tests"]:
            test |= {"outcome": "passed", "reason": None, "worst": None}
    worst = {"output": "Y", "index": [1, 7, 3], "got": 0.5, "expected": 0.25, "difference": 0.25, "allowed": 2e-5}
    runs[0]["tests"][0] |= {"outcome": "failed", "reason": "3 of 9 are wrong", "errorOfAllowed": 12500, "worst": worst}
    runs[1]["tests"][4] |= {"outcome": "skipped", "reason": "no float16 here"}
    base = results("h200", cases=0, benches=3, slower=0.5)
    page = report_page(content_of([read(run) for run in runs], title="Nightly", bases=[read(base)]))
    return written(tmp_path_factory, page)


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Open a page, and check in the end that it neither complained nor asked anybody for anything."""
    heard: list[str] = []
    contexts = []

    def opened(address: str, **options: Any) -> Page:
        context = browser.new_context(**{"viewport": {"width": 1200, "height": 900}, **options})
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: heard.append(message.text))
        page.on("pageerror", lambda error: heard.append(str(error)))
        page.on("request", lambda request: heard.append(request.url) if not request.url.startswith("file:") else None)
        page.goto(address)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert [line for line in heard if line != "data:,"] == []


def written(folder: pytest.TempPathFactory, page: str) -> str:
    path: Path = folder.mktemp("report") / "report.html"
    path.write_text(page, "utf-8")
    return path.as_uri()


def shown(page: Page, selector: str) -> int:
    """Return how many elements one can see."""
    return page.locator(selector).filter(visible=True).count()


def test_the_page_shows_what_was_found(visit: Callable[..., Page], address: str) -> None:
    """Sums, devices, matrices, benchmarks, peers, comparison."""
    page = visit(address)
    assert page.title() == "Nightly"
    sums = dict(
        zip(page.locator(".sums dt").all_inner_texts(), page.locator(".sums dd").all_inner_texts(), strict=True)
    )
    tests = int(sums["tests"])
    assert (sums["passed"], sums["failed"], sums["skipped"]) == (str(tests - 2), "1", "1")
    assert (sums["benchmarks"], sums["slower than the base"]) == ("18", "3")
    assert shown(page, ".device") == 2
    assert shown(page, ".matrix") == 6
    assert page.locator(".matrix button.c").count() == tests
    assert page.locator("details.bench").count() == 18
    assert shown(page, "#attention li") >= 4
    assert shown(page, ".plot.wide svg") == 5
    assert page.locator("#compare tbody tr").count() >= 9


def test_a_cell_opens_what_is_known_of_it(visit: Callable[..., Page], address: str) -> None:
    """The worst element and the command that runs it alone; Escape closes it and goes back to the cell."""
    page = visit(address)
    page.locator("button.c.failed").first.click()
    told = page.locator("#detail").inner_text()
    for words in (
        "sd15_float32_000",
        "3 of 9 are wrong",
        "Y[1, 7, 3]",
        "0.25",
        "split_bias_sum, chosen",
        "NVIDIA H200",
    ):
        assert words in told
    assert "webgpu-kernels test com.microsoft.SkipGroupNorm --filter sd15_float32_000 --variant split_bias_sum" in told
    page.keyboard.press("Escape")
    assert not page.locator("#detail").is_visible()
    assert page.evaluate("document.activeElement.className") == "c failed k"


def test_the_command_can_be_copied(visit: Callable[..., Page], address: str) -> None:
    """Or is selected, where a browser refuses the clipboard."""
    page = visit(address)
    page.locator("button.c.failed").first.click()
    page.get_by_role("button", name="Copy", exact=True).click()
    page.locator(".command button").filter(has_text=re.compile("Copied|Selected")).wait_for()


def test_filters_narrow_everything(visit: Callable[..., Page], address: str) -> None:
    """And say how much is left; what is empty says so; Clear brings all back."""
    page = visit(address)
    cases = shown(page, ".matrix tbody tr")
    page.select_option("select[name=outcome]", "failed")
    page.locator("#shown:not(:empty)").wait_for()
    assert page.locator("#shown").inner_text() == f"1 of {cases} cases, 0 of 18 benchmarks"
    assert (shown(page, ".matrix"), shown(page, ".matrix tbody tr"), shown(page, "details.bench")) == (1, 1, 0)
    assert page.get_by_text("No benchmark matches the filter.").first.is_visible()
    page.get_by_role("button", name="Clear").click()
    page.locator("#shown:empty").wait_for(state="attached")
    assert (shown(page, ".matrix tbody tr"), shown(page, "details.bench")) == (cases, 18)
    page.get_by_label("Text").fill("VAE_")
    page.locator("#shown").filter(has_text=re.compile("^6 of ")).wait_for()
    names = page.locator(".matrix tbody tr:not([hidden]) .name").all_inner_texts()
    assert {name[:4] for name in names} == {"vae_"}


def test_a_package_a_device_and_a_variant_can_be_picked(visit: Callable[..., Page], address: str) -> None:
    """One matrix is left, with one column."""
    page = visit(address)
    page.select_option("select[name=package]", label="ai.onnx.Add")
    page.select_option("select[name=run]", label="NVIDIA H200")
    page.select_option("select[name=variant]", label="rows_vec4")
    page.locator("#shown").filter(has_text=re.compile("^4 of ")).wait_for()
    assert shown(page, ".matrix") == 1
    assert page.locator(".matrix thead th.v").filter(visible=True).all_inner_texts() == ["rows_vec4"]
    assert shown(page, ".matrix tbody tr") == 4
    assert shown(page, ".device") == 1
    links = page.eval_on_selector_all(".plot.wide a", "all => all.filter(one => one.style.display !== 'none').length")
    assert 0 < links < page.locator(".plot.wide a").count()


def test_tables_sort_by_any_column(visit: Callable[..., Page], address: str) -> None:
    """Numbers as numbers, either way, and what has none last."""
    page = visit(address)
    table = page.locator("#speed .sortable")
    button = table.get_by_role("button", name="time")
    values = "rows => rows.map(row => Number(row.cells[3].dataset.v))"
    button.click()
    times = table.locator("tbody tr").evaluate_all(values)
    assert times == sorted(times)
    assert table.locator("th[aria-sort]").get_attribute("aria-sort") == "ascending"
    button.click()
    assert table.locator("tbody tr").evaluate_all(values) == times[::-1]
    table.get_by_role("button", name="benchmark").click()
    names = table.locator("tbody .name").all_inner_texts()
    assert names == sorted(names)


def test_matrices_can_start_with_the_worst(visit: Callable[..., Page], address: str) -> None:
    """And go back to the order of the run."""
    page = visit(address)
    rows = page.locator(".matrix").nth(1).locator("tbody .name")
    before = rows.all_inner_texts()
    page.select_option("#order", "rank")
    ranks = (
        page.locator(".matrix").nth(1).locator("tbody tr").evaluate_all("rows => rows.map(row => +row.dataset.rank)")
    )
    assert ranks == sorted(ranks)
    assert ranks[0] < ranks[-1]
    page.select_option("#order", "")
    assert rows.all_inner_texts() == before


def test_the_theme_follows_the_system_until_it_is_switched(visit: Callable[..., Page], address: str) -> None:
    """And stays switched when the page is opened again."""
    colour = "getComputedStyle(document.body).backgroundColor"
    page = visit(address, color_scheme="dark")
    button = page.get_by_role("button", name="Dark")
    assert (button.get_attribute("aria-pressed"), page.evaluate(colour)) == ("true", "rgb(21, 24, 28)")
    button.click()
    assert (button.get_attribute("aria-pressed"), page.evaluate(colour)) == ("false", "rgb(255, 255, 255)")
    page.reload()
    assert page.evaluate(colour) == "rgb(255, 255, 255)"
    assert page.evaluate("getComputedStyle(document.querySelector('.plot text')).stroke") == "rgb(255, 255, 255)"


def test_the_keyboard_reaches_everything(visit: Callable[..., Page], address: str) -> None:
    """A skip link first; a matrix is one stop of Tab, with arrows inside; Enter opens a cell."""
    page = visit(address)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the results"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"
    matrix = page.locator(".matrix").nth(4)
    assert matrix.locator('button[tabindex="0"]').count() == 1
    matrix.locator('button[tabindex="0"]').focus()
    where = "[document.activeElement.closest('tr').rowIndex, document.activeElement.closest('td').cellIndex]"
    found = [page.evaluate(where)]
    for key in ("ArrowRight", "ArrowDown", "End", "ArrowUp", "ArrowUp", "Home"):
        page.keyboard.press(key)
        found.append(page.evaluate(where))
    # Add's cases are taken by all three variants, by the last two, by the last, and again.
    assert found == [[1, 1], [1, 2], [2, 2], [2, 3], [1, 3], [1, 3], [1, 1]]
    page.keyboard.press("Enter")
    assert page.locator("#detail").is_visible()
    assert page.evaluate("document.activeElement.id") == "detail-title"


def test_points_lead_to_their_benchmark(visit: Callable[..., Page], address: str) -> None:
    """They tell what they are, and open it."""
    page = visit(address)
    point = page.locator(".plot.wide a").filter(visible=True).nth(1)
    point.focus()
    assert page.locator("#tip").inner_text() == point.locator("path").get_attribute("aria-label")
    target = page.locator(point.get_attribute("href") or "")
    target.evaluate("one => { one.open = false; }")
    page.keyboard.press("Enter")
    page.locator(f"{point.get_attribute('href')}[open]").wait_for()
    assert target.locator(".plot svg").is_visible()


def test_all_benchmarks_unfold_at_once(visit: Callable[..., Page], address: str) -> None:
    """And fold."""
    page = visit(address)
    page.get_by_role("button", name="Open all").click()
    assert page.locator("details.bench[open]").count() == 18
    page.get_by_role("button", name="Close all").click()
    assert page.locator("details.bench[open]").count() == 0


def test_a_phone_needs_no_sideways_scrolling(visit: Callable[..., Page], address: str) -> None:
    """Tables scroll in themselves, plots have another shape, and filters are folded."""
    page = visit(address, viewport=PHONE, has_touch=True)
    assert page.evaluate(WIDTH) == 360
    page.get_by_role("button", name="Open all").click()
    assert page.evaluate(WIDTH) == 360
    assert (shown(page, ".plot.wide"), shown(page, ".plot.narrow")) == (0, 5)
    assert not page.get_by_label("Text").is_visible()
    page.locator("#filters summary").click()
    assert page.get_by_label("Text").is_visible()
    page.locator(".matrix button.c").first.click()
    box = page.locator("#detail").bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 360


def test_paper_is_light_and_holds_everything(visit: Callable[..., Page], address: str) -> None:
    """Whatever the theme: no controls, all details open, nothing cut off."""
    page = visit(address, color_scheme="dark")
    assert page.pdf(format="A4").startswith(b"%PDF")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(27, 31, 36)"
    assert (shown(page, "#filters"), shown(page, "#theme"), shown(page, "nav")) == (0, 0, 0)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details:not([open])").count() == 0
    assert page.evaluate("getComputedStyle(document.querySelector('.scroll:has(.matrix)')).maxHeight") == "none"
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details:not([open])").count() > 0


def test_without_scripts_the_page_can_be_read(visit: Callable[..., Page], address: str) -> None:
    """Controls that need them are not shown."""
    page = visit(address, java_script_enabled=False)
    assert page.get_by_role("heading", name="Correctness").is_visible()
    assert not page.locator("#filters").is_visible()
    assert not page.locator("#theme").is_visible()


@pytest.mark.parametrize("viewport", [PHONE, {"width": 1200, "height": 900}])
def test_hostile_names_do_nothing(
    visit: Callable[..., Page], tmp_path_factory: pytest.TempPathFactory, viewport: dict[str, int]
) -> None:
    """Neither when the page opens nor when a cell is opened; they are shown, and the page keeps its width."""
    document = hostile_results()
    page = visit(written(tmp_path_factory, page_of(content_of([read(document)]), {})), viewport=viewport)
    assert page.evaluate(WIDTH) == viewport["width"]
    page.locator("button.c").first.click()
    assert "<script>window.hurt = 1</script>" in page.locator("#detail").inner_text()
    assert page.evaluate("[window.hurt, document.images.length, document.scripts.length]") == [None, 0, 2]
    assert page.evaluate(WIDTH) == viewport["width"]


def test_two_thousand_tests_are_there_in_a_second(
    visit: Callable[..., Page], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """And a filter of them answers in a fifth of that; twice as long here, as machines are loaded."""
    runs = [read(results(device, cases=100, benches=10)) for device in ("lavapipe", "h200", "chromium")]
    page = visit(written(tmp_path_factory, page_of(content_of(runs), {})))
    ready = page.evaluate("performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd")
    assert page.locator(".matrix button.c").count() > 2000
    assert ready < 2000
    took = page.evaluate(
        """() => new Promise(done => {
            const start = performance.now();
            document.addEventListener('filtered', () => done(performance.now() - start), { once: true });
            const text = document.querySelector('[name=text]');
            text.value = 'qwen';
            text.dispatchEvent(new Event('input', { bubbles: true }));
        })"""
    )
    assert took < 400
    assert re.match(r"\d+ of 900 cases", page.locator("#shown").inner_text())
