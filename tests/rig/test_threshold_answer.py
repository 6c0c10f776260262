# SPDX-License-Identifier: GPL-2.0-or-later
"""What a packager reads first of a threshold's answer: the value, and how to build with it."""

import io

from delayrig.present.pages.threshold import threshold_page
from delayrig.present.terminal.threshold import print_answer
from msgspec.structs import replace
from rich.console import Console

from tests.rig.answered import make_answer

OPTION = "meson setup -Ddelay_minimum_sleep_us="


def printed(**changes: object) -> list[str]:
    """Its lines."""
    console = Console(file=io.StringIO(), width=80, no_color=True)
    print_answer(replace(make_answer(), **changes), console, out="out")
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def test_answer_comes_first_then_the_words_for_the_build_then_what_they_rest_on() -> None:
    answer, lines = make_answer(), printed()
    assert lines[0] == answer.lines[0]
    assert lines[1].startswith(f"Build it with: {OPTION}{answer.recommended_us};")
    sure = lines.index(answer.sureness[0])
    profiles = dict.fromkeys(cost.profile for cost in answer.costs)
    heads = [lines.index(profile) for profile in profiles]
    assert 1 < sure < heads[0] < heads[1]
    assert lines[-1].startswith("results: out/")


def test_without_a_value_there_is_nothing_to_build() -> None:
    assert not any(OPTION in line for line in printed(recommended_us=None))


def test_page_has_the_words_for_the_build_in_its_summary() -> None:
    page = threshold_page(make_answer()).decode()
    assert page.index(OPTION) < page.index("How sure that is</h2>")
