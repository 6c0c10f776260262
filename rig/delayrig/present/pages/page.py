# SPDX-License-Identifier: GPL-2.0-or-later
"""A page that is one file: no network, light and dark, readable without JavaScript.

    page = render_page(
        title="Latency of this machine",
        summary=paragraph("Nothing was too short."),
        sections=[Section(key="worst", title="The worst", body=table_html(table) + chart)],
    )
    write_atomically(path, page)

Characters that a document must not contain are replaced. All text is escaped, except `Markup`: the
values of `table_html()`, `paragraph()`, `Chart.html()` and the like, and those of `rendered()`, for
templates of other packages.
"""

import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from delayrig import __version__
from delayrig.base.text import plain
from delayrig.present.tables import Table

TEMPLATES = Path(__file__).parent / "templates"
KEY = re.compile(r"[a-z][a-z0-9-]*")
NO_ANCHOR = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A part of the page with a heading (h2) of its own; headings in `body` begin with h3.

    `key` is its anchor: lower-case letters, digits and dashes, unique on the page.
    """

    key: str
    title: str
    body: Markup
    is_printed: bool = True
    """False if the section is only for the screen. Then the printed page says that it exists."""

    def __post_init__(self) -> None:
        if not KEY.fullmatch(self.key):
            raise ValueError(f"section key {self.key!r} is no anchor")


def render_page(
    *, title: str, summary: Markup, sections: Sequence[Section], style: str = "", script: str = ""
) -> bytes:
    """Returns the whole file. `summary` comes first, for readers who read nothing else.

    Additional CSS follows the page's own; JavaScript stands at the page's end.
    """
    keys = [section.key for section in sections]
    if len(set(keys)) != len(keys):
        raise ValueError(f"section keys are not unique: {keys}")
    page = rendered(
        TEMPLATES,
        "page.html",
        title=title,
        summary=summary,
        sections=sections,
        style=Markup(_style() + style),
        script=Markup(script),
        version=__version__,
    )
    return plain(page).encode()


def rendered(folder: Path, template: str, **values: object) -> Markup:
    """Renders a template of a folder. Every value is escaped; a missing one is an error."""
    return Markup(_environment(folder).get_template(template).render(values))


def table_html(table: Table, *, is_titled: bool = False) -> Markup:
    """Returns a table that scrolls by itself if it is wider than the page.

    Its caption is not shown if a heading above says the same.
    """
    return rendered(TEMPLATES, "table.html", table=table, is_titled=is_titled)


def paragraph(*parts: str | Markup) -> Markup:
    return Markup("<p>{}</p>").format(Markup("").join(parts))


def paragraphs(lines: Iterable[str | Markup]) -> Markup:
    return Markup("").join(map(paragraph, lines))


def bullets(items: Iterable[str | Markup]) -> Markup:
    return Markup("<ul>{}</ul>").format(Markup("").join(map(Markup("<li>{}</li>").format, items)))


def details(summary: str, body: Markup) -> Markup:
    """Returns a section that is folded until it is opened. It is printed unfolded."""
    return Markup("<details><summary>{}</summary>{}</details>").format(summary, body)


def code(text: str) -> Markup:
    """Returns a command or a name, marked as code."""
    return Markup("<code>{}</code>").format(text)


def anchor(text: str) -> str:
    """Returns the text as part of an id. Equal texts give equal ids."""
    return NO_ANCHOR.sub("-", text.lower()).strip("-") or "x"


@functools.cache
def _environment(folder: Path) -> Environment:
    return Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@functools.cache
def _style() -> str:
    text = (TEMPLATES / "page.css").read_text(encoding="utf-8")
    return re.sub(r"\n\s+", "\n", re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)).strip() + "\n"
