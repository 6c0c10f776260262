# SPDX-License-Identifier: GPL-2.0-or-later
"""Saves a picture of each page in `.rig/tests/pages/`, at the widths of a phone and a desktop."""

from pathlib import Path

import pytest
from delayrig.base.paths import find_paths
from playwright.sync_api import Error, Page

from tests.browser.conftest import WIDTH_AND_SCHEME, Opener

BYTES_MIN = 10_000
"""The size of an empty page's picture is below this."""
ATTEMPTS = 3
"""On a busy machine Chromium may fail to draw while its processes start."""


@pytest.fixture(scope="module")
def pictures() -> Path:
    folder = find_paths().state / "tests" / "pages"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def take_picture(page: Page, picture: Path) -> None:
    for attempt in range(ATTEMPTS):
        try:
            page.screenshot(path=picture, full_page=True)
        except Error as error:
            if "Unable to capture" not in str(error) or attempt == ATTEMPTS - 1:
                raise
        else:
            return


@pytest.mark.parametrize(("width", "scheme"), WIDTH_AND_SCHEME)
def test_picture_of_each_page_is_not_empty(
    open_page: Opener, pages: dict[str, Path], pictures: Path, width: int, scheme: str
) -> None:
    for name in pages:
        page = open_page(name, width=width, scheme=scheme).page
        picture = pictures / f"{name}-{width}-{scheme}.png"
        take_picture(page, picture)
        assert picture.stat().st_size > BYTES_MIN, name
        page.close()
