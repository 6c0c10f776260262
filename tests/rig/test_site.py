# SPDX-License-Identifier: GPL-2.0-or-later
"""The site of all documents: it builds, its links have targets, and it fetches nothing."""

import re
from pathlib import Path

import pytest
from delayrig.setup.layout import find_layout
from delayrig.setup.reference import help_texts

from tests.rig.builders import CHECKOUT
from tests.rig.site import build_site, copy_documents, is_local, leads, page_at
from tests.rig.test_lint import our_files

HELP = "rig/docs/reference/command-line"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    code, output = build_site(folder)
    assert code == 0, output
    assert "WARNING" not in output
    return folder


def page_of(document: Path) -> str:
    page = document.relative_to(CHECKOUT).with_suffix(".html")
    return str(page.with_name("index.html") if page.stem == "README" else page)


def test_every_document_is_a_page(site: Path) -> None:
    wanted = {page_of(path) for path in our_files() if path.suffix == ".md"}
    assert sorted(page for page in wanted if not (site / page).is_file()) == []


def test_every_link_and_anchor_has_a_target(site: Path) -> None:
    pages = [page_at(path) for path in site.rglob("*.html") if path.name != "404.html"]
    links = {(page.path, link) for page in pages for link in page.links if is_local(link)}
    assert len(links) > 1000
    assert [pair for pair in sorted(links) if not leads(page_at(pair[0]), pair[1])] == []


def test_pages_fetch_nothing_from_elsewhere(site: Path) -> None:
    fetched = {link for path in site.rglob("*.html") for link in page_at(path).fetched}
    assert "js/bootstrap.bundle.min.js" in fetched
    assert [link for link in fetched if not is_local(link) and not link.startswith("data:")] == []
    styles = {path: path.read_text(encoding="utf-8") for path in site.rglob("*.css")}
    assert styles
    remote = re.compile(r"url\(['\"]?(?:https?:)?//|@import")
    assert [str(path) for path, text in styles.items() if remote.search(text)] == []


def test_nested_lists_and_bars_in_tables_look_as_on_github(site: Path) -> None:
    gate = (site / "rig/docs/how-to/gate-a-change.html").read_text(encoding="utf-8")
    assert re.search(
        r"is as before\.</li>\s*</ul>\s*</li>\s*<li>.*?<ul>\s*<li><em>Virtual time", gate, re.DOTALL
    )
    plugin = (site / "rig/docs/reference/cpu-plugin.html").read_text(encoding="utf-8")
    assert "<td><code>machine=x86_64|i386|arm64|armhf|riscv64</code></td>" in plugin


def test_help_of_every_command_is_on_one_page(site: Path) -> None:
    text = (site / f"{HELP}.html").read_text(encoding="utf-8")
    titles = set(re.findall(r'<h2 id="[^"]*"><code>rig/(rig[^<]*)</code></h2>', text))
    assert {title.removeprefix("rig").strip() for title in titles} == set(
        help_texts(find_layout({}))
    )
    assert "--baseline" in text


SECURITY = "[security](../../SECURITY.md), "


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("", "[gone](gone.md)", "the target 'rig/docs/gone.md' is not found"),
        ("", "[gone](glossary.md#gone)", "does not contain an anchor '#gone'"),
        ("", "[gone](#nowhere)", "there is no such anchor on this page"),
        (SECURITY, "", "'SECURITY.md', but the target is not found"),
    ],
)
def test_dead_link_or_page_that_the_index_lacks_fails_the_build(
    tmp_path: Path, old: str, new: str, complaint: str
) -> None:
    copy_documents(our_files(), tmp_path / "copy")
    index = tmp_path / "copy" / "rig" / "docs" / "README.md"
    text = index.read_text(encoding="utf-8")
    assert old in text
    index.write_text(f"{text.replace(old, '')}\n{new}\n", encoding="utf-8")
    code, output = build_site(tmp_path / "site", tmp_path / "copy")
    assert code != 0
    assert complaint in output
