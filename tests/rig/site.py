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
    """Copies the sources of the site, so that a test can damage the copies."""
    for path in files:
        name = path.relative_to(CHECKOUT)
        if path.suffix in SOURCES or name.parts[:2] == ("rig", "site"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, folder / name)


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
        values = {key: value or "" for key, value in attrs}
        if "id" in values:
            self.ids.add(values["id"])
        if tag == "a" and "href" in values:
            self.links.add(values["href"])
        self.fetched |= {values["href"]} if tag == "link" else set()
        self.fetched |= {values["src"]} if "src" in values else set()


@cache
def page_at(path: Path) -> Built:
    return Built(path)


def leads(page: Built, link: str) -> bool:
    """Returns True if the linked file exists and has the anchor of the link."""
    parts = urlsplit(link)
    target = (page.path.parent / unquote(parts.path)).resolve() if parts.path else page.path
    if not target.is_file():
        return False
    if not parts.fragment or target.suffix != ".html":
        return True
    return unquote(parts.fragment) in page_at(target).ids


def is_local(link: str) -> bool:
    return not urlsplit(link).scheme and not urlsplit(link).netloc
