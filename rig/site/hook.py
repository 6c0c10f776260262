# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes MkDocs show this checkout's documents: where they are, and as CommonMark reads them.

Each page has the path of its source below the checkout, so that links work as they are written.
The navigation is that of rig/docs/README.md: a section for each bold word, a page for each link.
Other files that pages link to are copied. A link that leads to nothing fails the build.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from markdown import Markdown
from markdown.blockparser import BlockParser
from markdown.extensions import Extension
from markdown_it import MarkdownIt
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

CHECKOUT = Path(__file__).resolve().parents[2]
REFERENCE = "rig/docs/reference"
HELP_PAGE = f"{REFERENCE}/command-line.md"
START, INDEX = "README.md", "rig/docs/README.md"
SECTION = re.compile(r"^\*\*([^*]+)\*\*", re.MULTILINE)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
LINK = re.compile(r"\]\(([^)\s#:]+)")


class CommonMark(BlockParser):  # type: ignore[misc]
    """Markdown-It in place of Python-Markdown's parser, which reads lists in another way."""

    def parseDocument(self, lines: list[str]) -> ET.ElementTree:  # noqa: N802
        """Returns the tree for the later stages of Python-Markdown and MkDocs."""
        parser = MarkdownIt("commonmark", {"xhtmlOut": True, "html": False}).enable("table")
        root = ET.fromstring(f"<div>{parser.render(chr(10).join(lines))}</div>")
        let_scroll(root)
        return ET.ElementTree(root)


def let_scroll(root: ET.Element) -> None:
    """Makes wide tables and listings scroll by themselves, by keys too."""
    for parent in list(root.iter()):
        for place, child in enumerate(list(parent)):
            if child.tag == "pre":
                child.set("tabindex", "0")
            if child.tag == "table":
                box = ET.Element("div", {"class": "wide", "tabindex": "0"})
                box.append(child)
                parent[place] = box


class AsCommonMark(Extension):  # type: ignore[misc]
    """An extension that replaces Python-Markdown's own syntax, except tables of contents."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802
        """Replaces Python-Markdown's own parts, after it has set them up."""
        md.parser = CommonMark(md)
        for name in ("html_block", "fenced_code_block"):
            if name in md.preprocessors:
                md.preprocessors.deregister(name)
        for name in ("inline", "prettify"):
            md.treeprocessors.deregister(name)


def slug_of(title: str, _separator: str) -> str:
    """Returns a heading's anchor, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Sets the parser to CommonMark, and makes the navigation from the index."""
    config.nav = navigation()
    config.markdown_extensions.append(AsCommonMark())
    config.mdx_configs["toc"]["slugify"] = slug_of
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Returns the pages of the navigation, wherever they are, and the files that they link to."""
    ours = [file for file in files if file.src_dir != config.docs_dir]
    pages = [path for path in paths_in(config.nav or []) if path != HELP_PAGE]
    ours.append(File.generated(config, HELP_PAGE, content=help_texts()))
    for path in (*pages, *config.extra_css, *linked_files(pages)):
        ours.append(File.generated(config, path, abs_src_path=str(CHECKOUT / path)))
    return Files(ours)


def navigation() -> list[Any]:
    """Returns the sections of the index with their pages; help texts are in `Reference`."""
    _, *parts = SECTION.split((CHECKOUT / INDEX).read_text(encoding="utf-8"))
    sections = {title: pages_in(text) for title, text in zip(parts[::2], parts[1::2], strict=True)}
    sections["Reference"].insert(1, HELP_PAGE)
    sections["Project"].append(INDEX)
    return [{"Start": START}, *({title: pages} for title, pages in sections.items())]


def pages_in(text: str) -> list[str]:
    """Returns the pages that the text links to and that exist, by paths in the checkout."""
    links = (link for link in LINK.findall(text) if link.endswith(".md"))
    targets = [(CHECKOUT / INDEX).parent.joinpath(link).resolve() for link in links]
    return [str(target.relative_to(CHECKOUT)) for target in targets if target.is_file()]


def paths_in(nav: Any) -> Iterator[str]:
    """Yields the paths of a navigation, in its order."""
    for entry in nav.values() if isinstance(nav, dict) else nav:
        if isinstance(entry, str):
            yield entry
        else:
            yield from paths_in(entry)


def linked_files(pages: list[str]) -> list[str]:
    """Returns the files of the checkout, except pages, that pages link to."""
    found = set()
    for page in pages:
        for link in LINK.findall((CHECKOUT / page).read_text(encoding="utf-8")):
            target = (CHECKOUT / page).parent.joinpath(link).resolve()
            if target.is_file() and target.suffix != ".md" and target.is_relative_to(CHECKOUT):
                found.add(str(target.relative_to(CHECKOUT)))
    return sorted(found)


def help_texts() -> str:
    """Returns a page with the output of `--help`, so that the search finds options."""
    whole = (CHECKOUT / REFERENCE / "command-line.txt").read_text(encoding="utf-8")
    texts = re.split(r"^(?=Usage:)", whole, flags=re.MULTILINE)[1:]
    parts = [f"## {title_of(text)}\n\n```text\n{text.rstrip()}\n```" for text in texts]
    return "\n\n".join(["# Help texts", "What `--help` prints.", *parts]) + "\n"


def title_of(text: str) -> str:
    """Returns the command that a help text is of."""
    words = text.removeprefix("Usage: ").partition("[OPTIONS]")[0].strip()
    return f"`{words}`"


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Removes comments, such as the licence's."""
    del page, config, files
    return COMMENT.sub("", markdown).lstrip()
