# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables on terminals of every width: no broken word, and the deciding columns always there."""

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from delayrig.decision.decision import read_decision
from delayrig.features.survey.terminal import print_survey
from delayrig.features.threshold.terminal import print_answer
from delayrig.model.result import read_results
from delayrig.present.comparison import decision_table
from delayrig.present.console import FittedTable, plain_table
from delayrig.present.results import cell_table
from rich.console import Console

from tests.rig.answered import make_answer, make_survey
from tests.rig.reported import keep_gate, keep_run

WIDTHS = (80, 120, 200)
LONG = "low-res-timers+busy-siblings"


def printed(table: FittedTable, width: int) -> list[str]:
    """Returns the lines of the table without trailing spaces."""
    console = Console(file=io.StringIO(), width=width, no_color=True)
    console.print(table)
    assert isinstance(console.file, io.StringIO)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def table_of(*, least: tuple[str, ...] = ()) -> FittedTable:
    table = plain_table(("subject", "hazards"), ("total s", "for nothing s"), least=least)
    table.add_row("bundled", LONG, "1.250", "0.001")
    table.add_row("bundled", LONG, "12.500", "0.002")
    table.add_row("bundled (control)", "-", "-", "-")
    return table


def test_table_that_fits_has_a_line_a_row() -> None:
    assert printed(table_of(), 80) == [
        "subject            hazards                       total s  for nothing s",
        f"bundled            {LONG}    1.250          0.001",
        f"bundled            {LONG}   12.500          0.002",
        "bundled (control)  -                                   -              -",
    ]


def test_headings_are_wrapped_before_words_are() -> None:
    *head, one, _, control = printed(table_of(), 66)
    assert " ".join(" ".join(line.split()) for line in head).startswith("for nothing ")
    assert (one.split()[0], control.split()[1]) == ("bundled", "(control)")
    *_, control, rest = printed(table_of(), 59)
    assert (control.split()[0], rest.split()) == ("bundled", ["(control)"])


def test_column_that_decides_least_goes_before_rows_are_parted() -> None:
    lines = printed(table_of(least=("for nothing s",)), 50)
    assert [line.split()[-1] for line in lines[-4:-1]] == ["1.250", "12.500", "-"]
    assert not any("nothing" in line for line in lines)


def test_narrow_terminal_has_words_above_figures_and_the_same_words_once() -> None:
    assert printed(table_of(), 40) == [
        "subject  hazards",
        f"bundled  {LONG}",
        "  total s  for nothing s",
        "    1.250          0.001",
        "   12.500          0.002",
        "bundled (control)  -",
        "        -              -",
    ]


def test_table_without_rows_has_its_headings() -> None:
    assert printed(plain_table(("a",), ("b",)), 80) == ["a  b"]


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Writes a run and a gate to a folder."""
    top = tmp_path_factory.mktemp("stored")
    keep_run(top / "run")
    keep_gate(top / "gate")
    return top


def shown(console: Console, stored: Path) -> None:
    console.print(cell_table(read_results(stored / "run").cells))
    console.print(decision_table(read_decision(stored / "gate").cells))
    print_survey(make_survey(), console)
    print_answer(make_answer(), console, out="out")


def words_shown(show: Callable[[Console, Path], None], stored: Path, width: int) -> set[str]:
    """Returns the words on a terminal of that width that no line break has split."""
    console = Console(file=io.StringIO(), width=width, no_color=True)
    show(console, stored)
    assert isinstance(console.file, io.StringIO)
    return set(console.file.getvalue().split())


@pytest.mark.parametrize("width", WIDTHS)
def test_no_word_is_broken_at_any_width(stored: Path, width: int) -> None:
    everything = words_shown(shown, stored, 1000)
    assert words_shown(shown, stored, width) <= everything


def test_verdicts_are_always_there_and_a_wide_terminal_has_more(stored: Path) -> None:
    narrow, usual, wide = (words_shown(shown, stored, width) for width in WIDTHS)
    assert {"too_short", "unsafe", "(expected)", "verdict", "outcome"} <= narrow
    assert "overshoot" not in narrow - usual
    assert narrow < wide
