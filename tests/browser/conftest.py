# SPDX-License-Identifier: GPL-2.0-or-later
"""A real browser without a window, and pages opened in it from disk."""

import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from delayrig.features.latency.page import latency_page
from delayrig.features.proposal.page import proposal_page
from delayrig.features.report.document import document_of, write_document
from delayrig.features.report.source import read_sources, with_facts
from delayrig.features.survey.page import survey_page
from delayrig.features.threshold.page import threshold_page
from playwright.sync_api import Browser, Page, sync_playwright

from tests.rig.answered import make_answer, make_proposal, make_survey
from tests.rig.many_cells import keep_many
from tests.rig.measured import full_machine, live_machine, make_report
from tests.rig.reported import keep_calls, keep_gate, keep_large_gate, keep_run

SCHEMES = ("light", "dark")
REPORTS = ("run", "runs", "gate", "gate-24", "results", "many")
ANSWERS = ("latency", "latency-live", "threshold", "survey", "proposal")
SERIOUS = ("serious", "critical")
OPEN_ALL = "document.querySelectorAll('details').forEach((details) => details.open = true)"
MANY = 5200
"""More cells than one page lists."""
NARROW, PHONE, WIDE = 320, 400, 1280
HEIGHT = 900
_BOTH_SCHEMES = pytest.mark.long("both widths in both schemes; quick: each of them once")
WIDTH_AND_SCHEME = (
    (PHONE, SCHEMES[0]),
    (WIDE, SCHEMES[1]),
    pytest.param(PHONE, SCHEMES[1], marks=_BOTH_SCHEMES),
    pytest.param(WIDE, SCHEMES[0], marks=_BOTH_SCHEMES),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """An opened page, its requests, and the messages on its console."""

    page: Page
    requests: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Yields the distribution's Chromium. Nothing is downloaded."""
    program = shutil.which("chromium")
    assert program, "chromium is missing: `rig/rig setup --tests` installs it"
    with sync_playwright() as playwright:
        # Chromium's sandbox needs a user other than root, and the /dev/shm of containers is small.
        options = ["--no-sandbox", "--disable-dev-shm-usage"]
        started = playwright.chromium.launch(executable_path=program, args=options)
        yield started
        started.close()


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Writes pages of reports and of answers; returns their files by name."""
    top = tmp_path_factory.mktemp("pages")
    keep_run(top / "one")
    keep_run(top / "two", seed=2)
    keep_run(top / "stripped")
    keep_calls(top / "stripped", ["0x680a8", "0x365fe"])
    keep_gate(top / "gate")
    keep_large_gate(top / "gate-24")
    keep_many(top / "many", MANY)
    reports = {
        "run": [top / "one"],
        "runs": [top / "one", top / "two"],
        "stripped": [top / "stripped"],
        "gate": [top / "gate"],
        "gate-24": [top / "gate-24"],
        "results": [top / "one" / "results.json"],
        "many": [top / "many" / "results.json"],
    }
    for name, paths in reports.items():
        sources = with_facts(read_sources(paths), jobs=1, done=lambda: None)
        place = top / f"{name}.html"
        write_document(document_of(sources, name=place.name), place)
    machines = full_machine("host"), full_machine("x86_64/250/highres=off", high=False)
    live = latency_page(make_report(*machines, live_machine("mt8173/ondemand")))
    answers = {
        "latency": latency_page(make_report(*machines)),
        "latency-live": live,
        "threshold": threshold_page(make_answer()),
        "survey": survey_page(make_survey()),
        "proposal": proposal_page(make_proposal()),
    }
    for name, content in answers.items():
        (top / f"{name}.html").write_bytes(content)
    return {name: top / f"{name}.html" for name in (*reports, *answers)}


Opener = Callable[..., Opened]


@pytest.fixture
def open_page(browser: Browser, pages: dict[str, Path]) -> Iterator[Opener]:
    """Yields a function that opens a page in a scheme and a width, with or without JavaScript."""
    contexts = []

    def opener(
        name: str, *, scheme: str = "light", width: int = WIDE, script: bool = True, at: str = ""
    ) -> Opened:
        context = browser.new_context(
            color_scheme="dark" if scheme == "dark" else "light",
            viewport={"width": width, "height": HEIGHT},
            java_script_enabled=script,
        )
        contexts.append(context)
        opened = Opened(page=context.new_page())
        opened.page.on("request", lambda request: opened.requests.append(request.url))
        opened.page.on("console", lambda message: opened.messages.append(message.text))
        opened.page.on("pageerror", lambda error: opened.messages.append(str(error)))
        opened.page.goto(pages[name].as_uri() + at)
        return opened

    yield opener
    for context in contexts:
        context.close()


def axe_faults(page: Page) -> dict[str, str]:
    """Returns the serious violations that axe finds: each rule with an element that breaks it."""
    found = Axe().run(page).response["violations"]
    return {fault["id"]: fault["nodes"][0]["html"] for fault in found if fault["impact"] in SERIOUS}


def too_wide_at(page: Page, widths: Iterable[int]) -> list[tuple[int, int]]:
    """Returns the widths at which the page scrolls sideways, each with the width that it needs."""
    found = []
    for width in widths:
        page.set_viewport_size({"width": width, "height": HEIGHT})
        needed = page.evaluate("document.documentElement.scrollWidth")
        if needed > width:
            found.append((width, needed))
    return found
