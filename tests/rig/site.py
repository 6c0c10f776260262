# SPDX-License-Identifier: GPL-2.0-or-later
"""The site of all documents, built as CONTRIBUTING says, and the links of its pages."""

import shutil
import sys
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tests.rig.builders import CHECKOUT
from tests.rig.running import run

CONFIG = "rig/mkdocs.yml"
SOURCES = {".md", ".txt", ".svg", ".html", ".yml", ".css"}


def build_site(site: Path, checkout: Path = CHECKOUT) -> tuple[int, str]:
    """Builds the site; returns the exit code of MkDocs and its output.

    With `-q`, MkDocs would not count its warnings.
    """
    program = Path(sys.executable).parent / "mkdocs"
    command = [str(program), "build", "-f", str(checkout / CONFIG), "-d", str(site)]
    done = run(*command)
    return done.returncode, done.stdout + done.stderr


def copy_documents(files: list[Path], folder: Path) -> None:
    """Copies the sources of the site, so that a test may damage them."""
    for path in files:
        kept = path.relative_to(CHECKOUT)
        if path.suffix in SOURCES or kept.parts[:2] == ("rig", "site"):
            (folder / kept).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, folder / kept)


@dataclass
class Built(HTMLParser):
    """A page of the site: its anchors, its links, and the files that a browser fetches for it."""

    path: Path
    ids: set[str] = field(default_factory=set)
    links: set[str] = field(default_factory=set)
    fetched: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collects the ids, links and fetched files of the tag."""
        said = {key: value or "" for key, value in attrs}
        if "id" in said:
            self.ids.add(said["id"])
        if tag == "a" and "href" in said:
            self.links.add(said["href"])
        self.fetched |= {said["href"]} if tag == "link" else set()
        self.fetched |= {said["src"]} if "src" in said else set()


@cache
def page_at(path: Path) -> Built:
    return Built(path)


def leads(page: Built, link: str) -> bool:
    """Returns True if the site has the linked file, and the file the anchor."""
    there = urlsplit(link)
    target = (page.path.parent / unquote(there.path)).resolve() if there.path else page.path
    if not target.is_file():
        return False
    if not there.fragment or target.suffix != ".html":
        return True
    return unquote(there.fragment) in page_at(target).ids


def is_local(link: str) -> bool:
    return not urlsplit(link).scheme and not urlsplit(link).netloc
