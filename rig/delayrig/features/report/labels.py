# SPDX-License-Identifier: GPL-2.0-or-later
"""Names of cells, verdicts and figures on a page."""

from functools import cache, partial
from pathlib import Path

from markupsafe import Markup

from delayrig.features.report.source import RunSource
from delayrig.model.result import CellResult, Verdict
from delayrig.present.notable import CLASSES
from delayrig.present.pages.page import anchor, render_page

TEMPLATES = Path(__file__).parent / "templates"
STYLE, SCRIPT = (
    (TEMPLATES / f"report.{kind}").read_text(encoding="utf-8") for kind in ("css", "js")
)
report_page = partial(render_page, style=STYLE, script=SCRIPT)
CALM = "none"
HOST_SPEED = "this machine"


def speed_of(cell: CellResult) -> str:
    """Returns the speeds of the cores in MIPS, or `HOST_SPEED` for a cell of the host lane."""
    return "/".join(dict.fromkeys(f"{round(each)}" for each in cell.guest.mips)) or HOST_SPEED


def speed_rank(speed: str) -> float:
    return 0 if speed == HOST_SPEED else -float(speed.partition("/")[0])


def hazards_of(cell: CellResult) -> str:
    return "+".join(cell.hazards) or CALM


def badge(css: str, text: str) -> Markup:
    """Returns a word in the colour of the CSS class."""
    return Markup('<span class="badge {}">{}</span>').format(css, text)


def verdict_html(cell: CellResult) -> Markup:
    return _verdict_html(cell.verdict, cell.is_expected)


def expectation_note(verdict: Verdict, expected: bool) -> str:
    """Returns a note if a pass was not expected, or if another verdict was; else an empty text."""
    if expected:
        return "" if verdict is Verdict.PASS else "expected"
    return "not expected" if verdict is Verdict.PASS else ""


@cache
def _verdict_html(verdict: Verdict, expected: bool) -> Markup:
    note = expectation_note(verdict, expected)
    return badge(CLASSES[verdict], verdict) + (
        Markup(' <span class="soft">{}</span>').format(note) if note else ""
    )


def cell_anchor(run: RunSource, cell: CellResult) -> str:
    return f"cell-{run.prefix}{anchor(cell.id)}"


def with_line_below(text: str | Markup, more: str | Markup) -> Markup:
    """Returns the text of a table's cell with a softer line below it."""
    return Markup('{}<br><span class="soft">{}</span>').format(text, more)


def call_stack(text: str) -> Markup:
    """Returns a call stack with one line for each caller, the nearest first."""
    return Markup("<br>").join(Markup("<code>{}</code>").format(one) for one in text.split(" < "))


def cell_link(run: RunSource, cell: CellResult, text: str = "") -> Markup:
    return Markup('<a href="#{}">{}</a>').format(cell_anchor(run, cell), text or cell.id)


def marks_of(cell: CellResult) -> dict[str, str]:
    """Returns the values that the page's filters compare."""
    hazards = " ".join(cell.hazards) or CALM
    return {"subject": cell.subject_label, "verdict": cell.verdict, "hazards": hazards}
