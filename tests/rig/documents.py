# SPDX-License-Identifier: GPL-2.0-or-later
"""References in a Markdown document: links, headings, files of the tree, words."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

PLACEHOLDER = re.compile(r"MODULE|NAME|FILE|TOPIC|VENDOR|PART")
"""Placeholders, as in `test_MODULE.py`."""
SOURCE = re.compile(r"[\w.-]+(/[\w.-]+)*\.(py|c|h|toml|md)")
FOLDER = re.compile(r"([\w-]+/)+")
MODULE_PATH = re.compile(r"delayrig(?:/[\w-]+)+(?:\.\w+)*/?")


@dataclass(frozen=True)
class Document:
    """A Markdown file, parsed as GitHub does."""

    path: Path

    @cached_property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def tokens(self) -> list[Token]:
        return MarkdownIt("commonmark").enable("table").parse(self.text)

    def inline(self) -> Iterator[Token]:
        for token in self.tokens:
            yield from token.children or ()

    @property
    def links(self) -> list[str]:
        """Returns the targets of links and images."""
        targets = (token.attrGet("href") or token.attrGet("src") for token in self.inline())
        return [str(target) for target in targets if target]

    @property
    def code_spans(self) -> list[str]:
        return [token.content for token in self.inline() if token.type == "code_inline"]

    @property
    def words(self) -> str:
        """Returns the text without code."""
        return " ".join(token.content for token in self.inline() if token.type == "text")

    @cached_property
    def anchors(self) -> set[str]:
        """Returns the anchors of its headings, as GitHub makes them."""
        pairs = zip(self.tokens, self.tokens[1:], strict=False)
        titles = [inside.content for token, inside in pairs if token.type == "heading_open"]
        seen: Counter[str] = Counter()
        anchors = set()
        for slug in map(slug_of, titles):
            anchors.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
            seen[slug] += 1
        return anchors


def slug_of(title: str) -> str:
    shown = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title)
    return re.sub(r"[^\w\- ]", "", shown.lower()).replace(" ", "-")


def broken_links(document: Document) -> list[str]:
    """Returns the relative links to no file, or to no heading of their page."""
    return [link for link in document.links if is_relative(link) and not leads(document, link)]


def is_relative(link: str) -> bool:
    return re.match(r"[a-z][a-z0-9+.-]*:", link) is None


def leads(document: Document, link: str) -> bool:
    file, _, anchor = link.partition("#")
    target = (document.path.parent / file).resolve() if file else document.path
    if not target.exists():
        return False
    return not anchor or target.suffix != ".md" or anchor in Document(target).anchors


def missing_files(document: Document, checkout: Path, names: set[str]) -> list[str]:
    """Returns our files and folders that the document names and that do not exist."""
    package = checkout / "rig" / "delayrig"
    bases = (document.path.parent, checkout, checkout / "rig", package)
    spans = [span for span in document.code_spans if not PLACEHOLDER.search(span)]
    files = {span for span in spans if SOURCE.fullmatch(span)}
    folders = {span for span in spans if FOLDER.fullmatch(span) and is_ours(span, checkout)}
    modules = {path for path in MODULE_PATH.findall(document.text) if not PLACEHOLDER.search(path)}
    missing = [path for path in files | folders if "/" in path and not exists_in(bases, path)]
    missing += [name for name in files - names if "/" not in name and name.endswith(".py")]
    return sorted({*missing, *(path for path in modules if not (checkout / "rig" / path).exists())})


def is_ours(folder: str, checkout: Path) -> bool:
    """Returns True for a folder of the checkout or of the package, not of a run's output."""
    first = folder.split("/")[0]
    return any((base / first).is_dir() for base in (checkout, checkout / "rig" / "delayrig"))


def exists_in(bases: tuple[Path, ...], path: str) -> bool:
    return any((base / path).exists() for base in bases)


def retired_words(glossary: Document) -> list[str]:
    """Returns the first column of the table below "Retired words"."""
    _, _, table = glossary.text.partition("## Retired words")
    return re.findall(r"(?m)^\| `([^`]+)` \|", table)


def used_words(document: Document, words: list[str]) -> list[str]:
    return [word for word in words if re.search(rf"(?i)\b{re.escape(word)}\b", document.words)]
