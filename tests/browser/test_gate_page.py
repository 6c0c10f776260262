# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of a gate: its headline, its layout on a phone and a desktop, and in print."""

import re
from pathlib import Path

from tests.browser.conftest import PHONE, WIDE, Opener
from tests.rig.reported import LARGE

PAGE = "gate-24"
SHEETS_MAX = 6
SHEET = re.compile(rb"/Type\s*/Page\b")


def test_headline_states_the_verdict_and_the_baseline_is_named_below(open_page: Opener) -> None:
    page = open_page(PAGE).page
    assert page.locator("h1").inner_text() == (
        "Unsafe: PP (0x02) comes 1 ns before the part is ready"
    )
    assert page.title() == page.locator("h1").inner_text()
    assert "against debian:bookworm" in page.locator(".summary").inner_text()
    limits = page.locator("#decision ~ p").first.inner_text()
    assert "50 ms of time" in limits
    assert "50 ms of CPU time" in limits


def test_text_of_the_summary_is_as_wide_as_the_summary(open_page: Opener) -> None:
    page = open_page(PAGE, width=WIDE).page
    text, summary = (
        page.locator(name).first.evaluate("e => e.getBoundingClientRect().width")
        for name in (".summary > p", ".summary")
    )
    assert text == summary


def test_chart_wider_than_a_phone_scrolls_and_has_shadows_at_its_edges(open_page: Opener) -> None:
    page = open_page(PAGE, width=PHONE).page
    chart = page.locator("figure .scroll").first
    assert chart.evaluate("e => e.scrollWidth > e.clientWidth")
    chart.evaluate("e => { e.scrollLeft = 999 }")
    assert chart.evaluate("e => e.scrollLeft") > 0
    attachments = chart.evaluate("e => getComputedStyle(e).backgroundAttachment").split(", ")
    assert attachments == ["local", "local", "scroll", "scroll"]


def test_outcome_of_a_cell_with_a_long_name_is_visible_on_a_phone(open_page: Opener) -> None:
    page = open_page(PAGE, width=PHONE).page
    outcomes = page.locator(".scroll[aria-label^='Each cell'] td:nth-child(2) .badge")
    assert outcomes.count() > LARGE
    for outcome in outcomes.all()[:9]:
        box = outcome.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= PHONE


def test_printed_gate_has_few_sheets_and_names_omitted_parts(
    open_page: Opener, tmp_path: Path
) -> None:
    page = open_page(PAGE).page
    page.emulate_media(media="print")
    assert page.locator(".paper").inner_text().startswith("Not printed")
    rows = page.locator("#decision ~ .scroll tbody tr")
    assert rows.count() == LARGE + 2 + 2  # a canary, a control; two faults
    assert rows.last.is_visible()
    assert page.locator("#timelines").is_hidden()
    page.pdf(path=tmp_path / "gate.pdf", format="A4")
    sheets = len(SHEET.findall((tmp_path / "gate.pdf").read_bytes()))
    assert 1 < sheets <= SHEETS_MAX
