# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports in a browser: in both colour schemes, without JavaScript, by keyboard, on paper."""

import re

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import OPEN_ALL, PHONE, REPORTS, SCHEMES, WIDE, Opener, axe_faults


def visible_rows(page: Page) -> int:
    return page.locator("tr[data-cell]:visible").count()


def choose(page: Page, name: str, value: str) -> None:
    page.locator(f"select[data-filter={name}]").select_option(value)


OTHER_SCHEME = pytest.mark.long("each page in both schemes; quick: in one of them")


@pytest.mark.parametrize(
    ("name", "scheme"),
    [
        pytest.param(name, scheme, marks=[OTHER_SCHEME] if (page + other) % 2 else [])
        for page, name in enumerate(REPORTS)
        for other, scheme in enumerate(SCHEMES)
    ],
)
def test_axe_finds_no_serious_fault_in_a_report(open_page: Opener, name: str, scheme: str) -> None:
    page = open_page(name, scheme=scheme).page
    page.evaluate(OPEN_ALL)
    assert axe_faults(page) == {}


@pytest.mark.parametrize("name", ["run", "runs", "results"])
def test_no_table_is_cut_on_a_wide_screen(open_page: Opener, name: str) -> None:
    page = open_page(name, width=WIDE).page
    cut = page.evaluate(
        "[...document.querySelectorAll('.scroll')].filter((e) => e.clientWidth > 0"
        " && e.scrollWidth > e.clientWidth + 1).map((e) => e.getAttribute('aria-label'))"
    )
    assert cut == []


def test_address_in_a_table_stays_on_one_line(open_page: Opener) -> None:
    page = open_page("stripped", width=PHONE).page
    page.evaluate(OPEN_ALL)
    line_counts = page.locator("td code").evaluate_all(
        "(all) => all.filter((e) => /^0x[0-9a-f]+$/.test(e.innerText))"
        ".map((e) => e.getClientRects().length)"
    )
    assert set(line_counts) == {1}


def test_filters_hide_other_cells_and_show_how_many_are_left(open_page: Opener) -> None:
    page = open_page("run").page
    assert visible_rows(page) == 7
    choose(page, "subject", "debian:bookworm")
    assert visible_rows(page) == 2
    choose(page, "verdict", "too_short")
    assert visible_rows(page) == 1
    assert page.locator("#shown").inner_text() == "1 of 7 cells"
    choose(page, "hazards", "none")
    assert visible_rows(page) == 0
    page.get_by_role("button", name="Show all").click()
    assert visible_rows(page) == 7
    assert page.locator("#shown").inner_text() == "7 of 7 cells"


def test_filter_by_a_hazard_shows_each_cell_whose_hazards_include_it(open_page: Opener) -> None:
    page = open_page("run").page
    choose(page, "hazards", "busy-siblings")
    assert visible_rows(page) == 2


def test_link_to_a_cell_opens_it_even_if_a_filter_hides_it(open_page: Opener) -> None:
    page = open_page("run").page
    link = page.locator(".findings a").first
    target = page.locator(f"[id='{(link.get_attribute('href') or '')[1:]}']")
    assert not target.is_visible()
    link.click()
    assert target.is_visible()
    assert "rig/rig run --plan smoke" in target.inner_text()
    page.go_back()
    choose(page, "verdict", "pass")
    page.locator("details.cell").evaluate_all("all => all.forEach((cell) => cell.open = false)")
    page.evaluate("hash => { location.hash = hash }", link.get_attribute("href"))
    target.wait_for(state="visible")
    assert visible_rows(page) == 7


def test_fragment_of_an_address_opens_its_cell(open_page: Opener) -> None:
    page = open_page("run").page
    key = page.locator("details.cell > div").nth(2).get_attribute("id")
    opened = open_page("run", at=f"#{key}").page
    assert opened.locator(f"[id='{key}']").is_visible()


def test_without_javascript_all_content_is_shown_and_filters_are_hidden(open_page: Opener) -> None:
    page = open_page("run", script=False).page
    assert page.locator("form").is_hidden()
    assert visible_rows(page) == 7
    assert page.locator("svg.chart").count() == 7
    first = page.locator("details.cell").first
    assert first.locator("pre").is_hidden()
    first.locator("summary").click()
    assert first.locator("pre").is_visible()


def test_without_javascript_a_link_opens_the_cell(open_page: Opener) -> None:
    page = open_page("run", script=False).page
    link = page.locator(".findings a").first
    key = (link.get_attribute("href") or "")[1:]
    link.click()
    assert page.locator(f"[id='{key}']").is_visible()


def test_keys_reach_the_skip_link_first_and_then_the_content(open_page: Opener) -> None:
    page = open_page("run").page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    assert page.evaluate("document.activeElement.getBoundingClientRect().left") >= 0
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('main') !== null")


def test_each_element_that_the_tab_key_reaches_has_a_visible_outline(open_page: Opener) -> None:
    page = open_page("run").page
    reached = []
    for _ in range(30):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.tagName"))
        width = page.evaluate("parseFloat(getComputedStyle(document.activeElement).outlineWidth)")
        style = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert width >= 2, reached
        assert style != "none", reached
    assert {"A", "SELECT", "BUTTON", "DIV"} <= set(reached)


def test_filters_and_cells_work_with_the_keyboard(open_page: Opener) -> None:
    page = open_page("run").page
    page.locator("select[data-filter=verdict]").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert visible_rows(page) < 7
    summary = page.locator("details.cell:visible summary").first
    summary.focus()
    page.keyboard.press("Enter")
    assert page.locator("details.cell:visible pre").first.is_visible()


def test_each_chart_has_the_role_of_an_image_a_name_and_a_table(open_page: Opener) -> None:
    page = open_page("run").page
    named = page.get_by_role("img", name=re.compile("Programming time|Timeline of"))
    assert named.count() == page.locator("svg.chart").count() == 7
    page.locator("figure details summary").first.click()
    assert page.locator("figure table").first.is_visible()


def test_printed_report_is_unfolded_and_has_no_controls(open_page: Opener) -> None:
    page = open_page("run").page
    page.emulate_media(media="print")
    assert page.locator("form").is_hidden()
    assert page.locator("nav").is_hidden()
    assert page.locator("details.cell pre").first.is_visible()


@pytest.mark.parametrize("script", [True, False])
def test_count_in_a_large_report_links_to_its_cells(open_page: Opener, script: bool) -> None:
    opened = open_page("many", script=script)
    page = opened.page
    number = page.locator("table.matrix a[href*='many.cells/']").first
    text = number.inner_text()
    number.click()
    page.wait_for_url("**/many.cells/*.html#cell-*")
    row = page.locator(f"[id='{page.url.partition('#')[2]}']")
    assert row.is_visible()
    assert row.locator("xpath=ancestor::tr").get_attribute("data-verdict") == text.split()[1]
    page.get_by_role("link", name="Back to the report").click()
    page.wait_for_url("**/many.html")
    assert opened.messages == []
