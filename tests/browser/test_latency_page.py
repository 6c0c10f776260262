# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of latencies as a browser shows it: alone, at any width, in both schemes."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.browser.conftest import NARROW, SCHEMES, WIDE, Opener

GRAVE = ("serious", "critical")
OPEN_ALL = "document.querySelectorAll('details').forEach((each) => each.open = true)"


def test_page_of_latencies_asks_for_nothing_else(open_page: Opener) -> None:
    opened = open_page("latency")
    opened.page.wait_for_load_state("networkidle")
    assert opened.complaints == []
    assert len(opened.requests) == 1


@pytest.mark.parametrize("scheme", SCHEMES)
def test_checker_of_accessibility_finds_nothing_grave_in_latencies(
    open_page: Opener, scheme: str
) -> None:
    page = open_page("latency", scheme=scheme).page
    page.evaluate(OPEN_ALL)
    found = Axe().run(page).response["violations"]
    grave = {each["id"]: each["nodes"][0]["html"] for each in found if each["impact"] in GRAVE}
    assert grave == {}


@pytest.mark.parametrize("width", [NARROW, WIDE])
def test_page_of_latencies_never_scrolls_sideways(open_page: Opener, width: int) -> None:
    page = open_page("latency", width=width).page
    page.evaluate(OPEN_ALL)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_every_chart_of_latencies_says_what_it_shows(open_page: Opener) -> None:
    page = open_page("latency").page
    charts = page.locator("svg.chart")
    assert charts.count() == 7
    assert page.locator("svg.chart > desc").count() == 7
    assert page.locator("figure figcaption").count() == 7
