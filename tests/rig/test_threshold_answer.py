# SPDX-License-Identifier: GPL-2.0-or-later
"""What a packager reads first of a threshold's answer: the value, and how to build with it."""

import io
import re

import pytest
from delayrig.present.pages.threshold import threshold_page
from delayrig.present.terminal.threshold import print_answer
from msgspec.structs import replace
from rich.console import Console

from tests.rig.answered import make_answer

OPTION = "meson setup -Ddelay_minimum_sleep_us="


def printed(width: int = 80, **changes: object) -> list[str]:
    """Its lines on a terminal of that width."""
    console = Console(file=io.StringIO(), width=width, no_color=True)
    print_answer(replace(make_answer(), **changes), console, out="out")
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def test_answer_comes_first_then_the_words_for_the_build_then_what_they_rest_on() -> None:
    answer, lines = make_answer(), printed()
    assert lines[0] == answer.lines[0]
    assert lines[1].startswith(f"Build it with: {OPTION}{answer.recommended_us};")
    sure = lines.index(answer.sureness[0])
    heads = [number for number, line in enumerate(lines) if line.startswith("threshold us ")]
    assert len(heads) == len({cost.profile for cost in answer.costs})
    assert 1 < sure < heads[0]
    assert lines[-1].startswith("results: out/")


@pytest.mark.parametrize("width", [80, 120, 200])
def test_no_word_of_a_table_is_cut_and_a_wide_terminal_has_more(width: int) -> None:
    lines = printed(width)
    head = next(line for line in lines if line.startswith("threshold us "))
    assert ("wake-ups" in head) is (width > 80)
    assert {"safe", "slower", "margin us", "front"} <= set(re.split(" {2,}", head))
    assert not any("\N{HORIZONTAL ELLIPSIS}" in line for line in lines)


def test_without_a_value_there_is_nothing_to_build() -> None:
    assert not any(OPTION in line for line in printed(recommended_us=None))


def test_page_has_the_words_for_the_build_in_its_summary() -> None:
    page = threshold_page(make_answer()).decode()
    assert page.index(OPTION) < page.index("How sure that is</h2>")
