# SPDX-License-Identifier: GPL-2.0-or-later
"""Pages of latency, threshold, survey and proposal: at any width, in both colour schemes."""

import pytest

from tests.browser.conftest import (
    ANSWERS,
    NARROW,
    OPEN_ALL,
    SCHEMES,
    WIDTH_AND_SCHEME,
    Opener,
    grave_faults,
)

CHARTS = {"latency": 7, "latency-live": 9, "threshold": 1, "survey": 1, "proposal": 1}
COLOURS = """[...document.querySelectorAll('svg path, svg text')]
    .map((each) => getComputedStyle(each).fill + getComputedStyle(each).stroke)"""


@pytest.mark.parametrize(("width", "scheme"), WIDTH_AND_SCHEME)
@pytest.mark.parametrize("name", ANSWERS)
def test_checker_of_accessibility_finds_nothing_grave_in_answers(
    open_page: Opener, name: str, width: int, scheme: str
) -> None:
    page = open_page(name, scheme=scheme, width=width).page
    page.evaluate(OPEN_ALL)
    assert grave_faults(page) == {}


@pytest.mark.parametrize("name", ANSWERS)
def test_answer_is_whole_without_javascript(open_page: Opener, name: str) -> None:
    page = open_page(name, script=False).page
    assert page.locator("svg.chart").count() == CHARTS[name]
    assert page.locator("main table").count() >= 1
    folded = page.locator("details").first
    inside = folded.locator("table").first
    assert inside.is_hidden()
    folded.locator("summary").click()
    assert inside.is_visible()


@pytest.mark.parametrize("name", ANSWERS)
def test_every_chart_of_an_answer_has_a_name_a_description_and_a_table(
    open_page: Opener, name: str
) -> None:
    page = open_page(name).page
    count = CHARTS[name]
    assert page.locator("svg.chart").count() == count
    assert page.locator("svg.chart > title").count() == count
    assert page.locator("svg.chart > desc").count() == count
    assert page.locator("figure figcaption").count() == count
    assert page.locator("figure details table").count() == count
    described = page.locator("svg.chart > desc")
    said = described.evaluate_all("all => all.map((each) => each.textContent.trim())")
    assert all(said)


@pytest.mark.parametrize("name", ANSWERS)
def test_charts_of_an_answer_follow_the_scheme(open_page: Opener, name: str) -> None:
    light, dark = (
        sorted(open_page(name, scheme=scheme).page.evaluate(COLOURS)) for scheme in SCHEMES
    )
    assert light != dark


@pytest.mark.parametrize("name", ANSWERS)
def test_links_of_an_answer_lead_through_it(open_page: Opener, name: str) -> None:
    page = open_page(name).page
    hrefs = page.locator("a").evaluate_all("all => all.map((a) => a.getAttribute('href'))")
    ids = page.locator("[id]").evaluate_all("all => all.map((e) => e.id)")
    assert hrefs
    assert {href for href in hrefs if href[0] != "#" or href[1:] not in ids} == set()
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("name", ANSWERS)
def test_wide_tables_of_an_answer_scroll_by_keys_on_a_narrow_screen(
    open_page: Opener, name: str
) -> None:
    page = open_page(name, width=NARROW).page
    page.evaluate(OPEN_ALL)
    stuck = page.evaluate(
        """[...document.querySelectorAll('main *')].filter((each) =>
            each.scrollWidth > each.clientWidth + 1
            && ['auto', 'scroll'].includes(getComputedStyle(each).overflowX)
            && each.tabIndex < 0).map((each) => each.outerHTML.slice(0, 80))"""
    )
    assert stuck == []


@pytest.mark.parametrize("name", ANSWERS)
def test_on_paper_an_answer_is_unfolded(open_page: Opener, name: str) -> None:
    page = open_page(name).page
    page.emulate_media(media="print")
    assert page.locator("nav").is_hidden()
    assert page.locator("figure details table").first.is_visible()


@pytest.mark.parametrize("name", ANSWERS)
def test_headings_in_charts_do_not_cover_each_other(open_page: Opener, name: str) -> None:
    page = open_page(name).page
    covered = page.evaluate(
        """() => {
            const words = [...document.querySelectorAll("svg text")].map((text) => (
                {text: text.textContent.trim(), high: text.getBBox().height,
                 at: text.getBoundingClientRect()}));
            const tallest = Math.max(...words.map((word) => word.high));
            const heads = words.filter((word) => word.text && word.high > 0.9 * tallest);
            const cover = (one, two) => one.left < two.right - 1 && two.left < one.right - 1
                && one.top < two.bottom - 1 && two.top < one.bottom - 1;
            return heads.flatMap((one, number) => heads.slice(number + 1)
                .filter((two) => cover(one.at, two.at)).map((two) => [one.text, two.text]));
        }"""
    )
    assert covered == []
