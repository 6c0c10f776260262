# SPDX-License-Identifier: GPL-2.0-or-later
"""Pages of latency, threshold, survey and proposal: at any width, in both colour schemes."""

import pytest

from tests.browser.conftest import (
    ANSWERS,
    NARROW,
    OPEN_ALL,
    WIDTH_AND_SCHEME,
    Opener,
    axe_faults,
)

CHARTS = {"latency": 7, "latency-live": 9, "threshold": 1, "survey": 1, "proposal": 1}


@pytest.mark.parametrize(("width", "scheme"), WIDTH_AND_SCHEME)
@pytest.mark.parametrize("name", ANSWERS)
def test_axe_finds_no_serious_fault_in_an_answer(
    open_page: Opener, name: str, width: int, scheme: str
) -> None:
    page = open_page(name, scheme=scheme, width=width).page
    page.evaluate(OPEN_ALL)
    assert axe_faults(page) == {}


@pytest.mark.parametrize("name", ANSWERS)
def test_answer_works_without_javascript(open_page: Opener, name: str) -> None:
    page = open_page(name, script=False).page
    assert page.locator("svg.chart").count() == CHARTS[name]
    assert page.locator("main table").count() >= 1
    folded = page.locator("details").first
    inside = folded.locator("table").first
    assert inside.is_hidden()
    folded.locator("summary").click()
    assert inside.is_visible()


@pytest.mark.parametrize("name", ANSWERS)
def test_each_chart_has_a_name_a_description_and_a_table(open_page: Opener, name: str) -> None:
    page = open_page(name).page
    count = CHARTS[name]
    assert page.locator("svg.chart").count() == count
    assert page.locator("svg.chart > title").count() == count
    assert page.locator("svg.chart > desc").count() == count
    assert page.locator("figure figcaption").count() == count
    assert page.locator("figure details table").count() == count
    descriptions = page.locator("svg.chart > desc").evaluate_all(
        "all => all.map((each) => each.textContent.trim())"
    )
    assert all(descriptions)


@pytest.mark.parametrize("name", ANSWERS)
def test_keyboard_scrolls_a_table_on_a_narrow_screen(open_page: Opener, name: str) -> None:
    page = open_page(name, width=NARROW).page
    page.evaluate(OPEN_ALL)
    not_focusable = page.evaluate(
        """[...document.querySelectorAll('main *')].filter((each) =>
            each.scrollWidth > each.clientWidth + 1
            && ['auto', 'scroll'].includes(getComputedStyle(each).overflowX)
            && each.tabIndex < 0).map((each) => each.outerHTML.slice(0, 80))"""
    )
    assert not_focusable == []


@pytest.mark.parametrize("name", ANSWERS)
def test_printed_answer_is_unfolded_and_has_no_navigation(open_page: Opener, name: str) -> None:
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
