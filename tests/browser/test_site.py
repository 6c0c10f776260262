# SPDX-License-Identifier: GPL-2.0-or-later
"""The site of all documents in a browser: at any width, in both colour schemes, with its search."""

from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.conftest import HEIGHT, PHONE, WIDE, WIDTH_AND_SCHEME, grave_faults, too_wide_at
from tests.rig.site import build_site

SAMPLES = (
    "index.html",
    "CONTRIBUTING.html",
    "emulators/index.html",
    "rig/docs/how-to/gate-a-change.html",
    "rig/docs/reference/serprog-emulator.html",
)


class Quiet(SimpleHTTPRequestHandler):
    """A server of a folder's files, without a log."""

    def log_message(self, *_: object) -> None:
        """Drops the line that the server would log for each request."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    code, said = build_site(folder)
    assert code == 0, said
    return folder


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """Serves the site over HTTP, since its search cannot read files; yields the address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def open_site(browser: Browser, *, width: int = WIDE, scheme: str = "light") -> Page:
    return browser.new_page(
        viewport={"width": width, "height": HEIGHT},
        color_scheme="dark" if scheme == "dark" else "light",
    )


def test_no_page_scrolls_sideways(browser: Browser, site: Path, address: str) -> None:
    page = open_site(browser)
    page.route("**/search/*", lambda route: route.abort())
    wide = {}
    for path in sorted(site.rglob("*.html")):
        name = path.relative_to(site)
        page.goto(f"{address}/{name}")
        wide[str(name)] = too_wide_at(page, [PHONE, WIDE])
    page.close()
    assert {name: widths for name, widths in wide.items() if widths} == {}


@pytest.mark.parametrize(("width", "scheme"), WIDTH_AND_SCHEME)
def test_checker_of_accessibility_finds_nothing_grave(
    browser: Browser, address: str, width: int, scheme: str
) -> None:
    page = open_site(browser, width=width, scheme=scheme)
    grave = {}
    for name in SAMPLES:
        page.goto(f"{address}/{name}")
        grave[name] = grave_faults(page)
    page.close()
    assert {name: faults for name, faults in grave.items() if faults} == {}


@pytest.mark.parametrize("width", [PHONE, WIDE])
def test_search_finds_a_word_and_leads_to_its_page(
    browser: Browser, address: str, width: int
) -> None:
    page = open_site(browser, width=width)
    with page.expect_console_message(lambda said: "search ready" in said.text):
        page.goto(f"{address}/index.html")
    if width == PHONE:
        page.get_by_role("button", name="Toggle navigation").click()
        page.locator(".navbar-collapse.show:not(.collapsing)").wait_for()
    page.locator("[data-bs-target='#mkdocs_search_modal']").click()
    # The input field gets the focus only when the animation of the dialog has ended.
    page.wait_for_function("document.activeElement.id === 'mkdocs-search-query'")
    page.locator("#mkdocs-search-query").press_sequentially("vserprog")
    found = page.locator("#mkdocs-search-results a[href*='serprog-emulator']").first
    found.wait_for()
    found.click()
    page.wait_for_url("**/rig/docs/reference/serprog-emulator.html*")
    assert "serprog emulator" in page.locator("h1").inner_text()
    page.close()


def test_pages_ask_this_server_alone_and_complain_of_nothing(
    browser: Browser, address: str
) -> None:
    page = open_site(browser)
    asked: list[str] = []
    complaints: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda said: complaints.append(f"{said.type}: {said.text}"))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    for name in SAMPLES:
        page.goto(f"{address}/{name}")
        page.wait_for_load_state("networkidle")
    page.close()
    assert asked
    assert [url for url in asked if not url.startswith((address, "data:"))] == []
    # The search logs that it is ready.
    assert [said for said in complaints if not said.startswith("log: ")] == []


def test_menu_leads_to_a_page(browser: Browser, address: str) -> None:
    page = open_site(browser)
    page.goto(f"{address}/index.html")
    page.get_by_role("button", name="Tutorial").click()
    page.get_by_role("link", name="A first run").first.click()
    page.wait_for_url("**/rig/docs/tutorial/first-run.html")
    page.close()
