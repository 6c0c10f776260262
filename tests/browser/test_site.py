# SPDX-License-Identifier: GPL-2.0-or-later
"""The site of all documents: its layout, both colour schemes, its menu and its search."""

from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.conftest import (
    HEIGHT,
    PHONE,
    WIDE,
    WIDTH_AND_SCHEME,
    axe_faults,
    too_wide_at,
)
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
    code, output = build_site(folder)
    assert code == 0, output
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
    too_wide = {}
    for path in sorted(site.rglob("*.html")):
        name = path.relative_to(site)
        page.goto(f"{address}/{name}")
        too_wide[str(name)] = too_wide_at(page, [PHONE, WIDE])
    page.close()
    assert {name: widths for name, widths in too_wide.items() if widths} == {}


@pytest.mark.parametrize(("width", "scheme"), WIDTH_AND_SCHEME)
def test_axe_finds_no_serious_fault(
    browser: Browser, address: str, width: int, scheme: str
) -> None:
    page = open_site(browser, width=width, scheme=scheme)
    found = {}
    for name in SAMPLES:
        page.goto(f"{address}/{name}")
        found[name] = axe_faults(page)
    page.close()
    assert {name: faults for name, faults in found.items() if faults} == {}


@pytest.mark.parametrize("width", [PHONE, WIDE])
def test_search_result_leads_to_the_page(browser: Browser, address: str, width: int) -> None:
    page = open_site(browser, width=width)
    with page.expect_console_message(lambda message: "search ready" in message.text):
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


def test_pages_use_no_other_server_and_log_no_error(browser: Browser, address: str) -> None:
    page = open_site(browser)
    requests: list[str] = []
    messages: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: messages.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: messages.append(str(error)))
    for name in SAMPLES:
        page.goto(f"{address}/{name}")
        page.wait_for_load_state("networkidle")
    page.close()
    assert requests
    assert [url for url in requests if not url.startswith((address, "data:"))] == []
    # The search logs that it is ready.
    assert [message for message in messages if not message.startswith("log: ")] == []


def test_menu_leads_to_a_page(browser: Browser, address: str) -> None:
    page = open_site(browser)
    page.goto(f"{address}/index.html")
    page.get_by_role("button", name="Tutorial").click()
    page.get_by_role("link", name="A first run").first.click()
    page.wait_for_url("**/rig/docs/tutorial/first-run.html")
    page.close()
