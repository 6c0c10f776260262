# SPDX-License-Identifier: GPL-2.0-or-later
"""Documents: links have targets, named files exist, and retired words are gone."""

import re
from pathlib import Path

import pytest

from tests.rig.builders import CHECKOUT
from tests.rig.documents import (
    Document,
    broken_links,
    missing_files,
    retired_words,
    used_words,
)
from tests.rig.test_lint import our_files

GLOSSARY = CHECKOUT / "rig" / "docs" / "glossary.md"
DOCUMENTS = [path for path in our_files() if path.suffix == ".md"]
NAMES = {path.name for path in our_files()}


def named(path: Path) -> str:
    return str(path.relative_to(CHECKOUT))


@pytest.mark.parametrize("path", DOCUMENTS, ids=named)
def test_links_and_anchors_lead_somewhere(path: Path) -> None:
    assert broken_links(Document(path)) == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=named)
def test_files_that_a_document_names_are_there(path: Path) -> None:
    assert missing_files(Document(path), CHECKOUT, NAMES) == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=named)
def test_retired_words_are_gone(path: Path) -> None:
    assert used_words(Document(path), retired_words(Document(GLOSSARY))) == []


def test_every_page_is_linked_from_the_index() -> None:
    readme = CHECKOUT / "rig" / "docs" / "README.md"
    linked = {(readme.parent / link.partition("#")[0]).resolve() for link in Document(readme).links}
    pages = {path for path in DOCUMENTS if path.is_relative_to(CHECKOUT / "rig" / "docs")}
    assert [named(path) for path in sorted(pages - linked - {readme})] == []


@pytest.mark.parametrize("folder", ["ci", "emulators", "flashrom", "images", "rig", "tests"])
def test_readme_of_a_folder_is_one_page(folder: str) -> None:
    assert len(Document(CHECKOUT / folder / "README.md").text.splitlines()) <= 120


def test_map_of_the_code_has_every_room() -> None:
    page = CHECKOUT / "rig" / "README.md"
    told = set(re.findall(r"(?m)^\| `(\w+)` \|", Document(page).text))
    folders = (CHECKOUT / "rig" / "delayrig").iterdir()
    assert told == {path.name for path in folders if (path / "__init__.py").is_file()}


def a_document(folder: Path, text: str) -> Document:
    path = folder / "page.md"
    path.write_text(text, encoding="utf-8")
    return Document(path)


def test_link_to_nothing_and_anchor_of_nothing_are_found(tmp_path: Path) -> None:
    page = a_document(tmp_path, "# A `title`, twice\n\n[a](gone.md) [b](#a-title-twice) [c](#no)\n")
    assert broken_links(page) == ["gone.md", "#no"]


def test_links_in_code_and_addresses_are_left_alone(tmp_path: Path) -> None:
    assert broken_links(a_document(tmp_path, "`[a](b)` [c](https://e.org)\n\n    [d](e)\n")) == []


def test_second_heading_of_the_same_name_has_an_anchor_of_its_own(tmp_path: Path) -> None:
    assert a_document(tmp_path, "# Debug\n\n## Debug\n").anchors == {"debug", "debug-1"}


@pytest.mark.parametrize(
    "text",
    ["`judge/gone.py`", "`judge/gone/`", "`gone_for_good.py`", "    rig/delayrig/verdict/trust.py"],
)
def test_file_that_is_not_there_is_found(tmp_path: Path, text: str) -> None:
    assert len(missing_files(a_document(tmp_path, text), CHECKOUT, NAMES)) == 1


def test_files_of_the_tree_and_placeholders_are_no_fault(tmp_path: Path) -> None:
    page = a_document(tmp_path, "`judge/judge.py` `rig/delayrig/judge/` `test_MODULE.c` `out/`")
    assert missing_files(page, CHECKOUT, NAMES) == []


def test_retired_word_is_found_outside_code_alone(tmp_path: Path) -> None:
    words = retired_words(Document(GLOSSARY))
    assert "agenda" in words
    assert used_words(a_document(tmp_path, "The Agenda, `lanes/scheduler.py`"), words) == ["agenda"]
    assert used_words(a_document(tmp_path, "`lanes/scheduler.py`"), words) == []
