# SPDX-License-Identifier: GPL-2.0-or-later
"""Pages of reports and answers: without other files, in any window, with links that work."""

import re
from functools import cache
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.browser.conftest import (
    ANSWERS,
    NARROW,
    OPEN_ALL,
    PHONE,
    REPORTS,
    SCHEMES,
    WIDE,
    Opener,
    too_wide_at,
)

PAGES = (*REPORTS, *ANSWERS)
DRAWN_WITH = dict.fromkeys(["run", *ANSWERS], "fill") | dict.fromkeys(
    ["latency", "latency-live", "threshold"], "stroke"
)
"""The property that colours the paths of a page's charts."""
COLOURS = """(drawnWith) => {
    const of = (selector, property) => [...new Set([...document.querySelectorAll(selector)]
        .map((element) => getComputedStyle(element)[property]))].sort().join(' ');
    return [of('body', 'backgroundColor'), of('svg text', 'fill'), of('svg path', drawnWith)];
}"""


@pytest.mark.parametrize("name", PAGES)
def test_page_makes_no_request_and_logs_no_message(open_page: Opener, name: str) -> None:
    opened = open_page(name)
    opened.page.wait_for_load_state("networkidle")
    assert opened.messages == []
    assert len(opened.requests) == 1
    assert opened.requests[0].startswith("file://")
    assert "<script>alert" not in opened.page.content()


@pytest.mark.parametrize("name", PAGES)
def test_page_never_scrolls_sideways(open_page: Opener, name: str) -> None:
    page = open_page(name).page
    page.evaluate(OPEN_ALL)
    assert too_wide_at(page, [NARROW, PHONE, 768, WIDE]) == []


@pytest.mark.parametrize("name", PAGES)
def test_headings_skip_no_level(open_page: Opener, name: str) -> None:
    page = open_page(name).page
    tags = page.locator("h1,h2,h3,h4").evaluate_all("all => all.map((h) => h.tagName)")
    levels = [int(tag[1]) for tag in tags]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(lower - upper <= 1 for upper, lower in pairwise(levels))


@pytest.mark.parametrize(("name", "drawn_with"), DRAWN_WITH.items())
def test_colours_follow_the_scheme(open_page: Opener, name: str, drawn_with: str) -> None:
    light, dark = (
        open_page(name, scheme=scheme).page.evaluate(COLOURS, drawn_with) for scheme in SCHEMES
    )
    assert all(one != other for one, other in zip(light, dark, strict=True)), (light, dark)


@cache
def ids_of(page: Path) -> frozenset[str]:
    """Returns the ids in the page; none if the file does not exist."""
    if not page.is_file():
        return frozenset()
    return frozenset(re.findall(r'\bid="([^"]+)"', page.read_text(encoding="utf-8")))


def has_target(href: str, here: Path) -> bool:
    """Returns True if the link leads to a page beside `here`, or to an id on that or this page."""
    beside, _, key = href.partition("#")
    known = ids_of(here.parent / beside if beside else here)
    return key in known or (not key and bool(known))


@pytest.mark.parametrize("name", PAGES)
def test_each_link_has_a_target(open_page: Opener, name: str) -> None:
    page = open_page(name).page
    hrefs = page.locator("a").evaluate_all("all => all.map((a) => a.getAttribute('href'))")
    here = Path(unquote(urlsplit(page.url).path))
    assert hrefs
    assert [href for href in hrefs if not has_target(href, here)] == []


@pytest.mark.parametrize("name", PAGES)
def test_each_id_is_unique(open_page: Opener, name: str) -> None:
    ids = open_page(name).page.locator("[id]").evaluate_all("all => all.map((e) => e.id)")
    assert len(ids) == len(set(ids))
