# SPDX-License-Identifier: GPL-2.0-or-later
"""Each page of a report and of an answer: it needs no other file, and fits any window."""

from itertools import pairwise

import pytest

from tests.browser.conftest import (
    ANSWERS,
    NARROW,
    OPEN_ALL,
    PHONE,
    REPORTS,
    WIDE,
    Opener,
    too_wide_at,
)

PAGES = (*REPORTS, *ANSWERS)


@pytest.mark.parametrize("name", PAGES)
def test_page_opens_from_disk_and_asks_for_nothing_else(open_page: Opener, name: str) -> None:
    opened = open_page(name)
    opened.page.wait_for_load_state("networkidle")
    assert opened.complaints == []
    assert len(opened.requests) == 1
    assert opened.requests[0].startswith("file://")
    assert "<script>alert" not in opened.page.content()


@pytest.mark.parametrize("name", PAGES)
def test_page_itself_never_scrolls_sideways(open_page: Opener, name: str) -> None:
    page = open_page(name).page
    page.evaluate(OPEN_ALL)
    assert too_wide_at(page, [NARROW, PHONE, 768, WIDE]) == []


@pytest.mark.parametrize("name", PAGES)
def test_headings_go_down_one_step_at_a_time(open_page: Opener, name: str) -> None:
    page = open_page(name).page
    tags = page.locator("h1,h2,h3,h4").evaluate_all("all => all.map((h) => h.tagName)")
    levels = [int(tag[1]) for tag in tags]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))
