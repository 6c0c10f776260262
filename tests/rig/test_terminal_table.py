# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables at any width of the terminal, canaries, energy, and the headline of a gate."""

import time
from pathlib import Path
from typing import Any

import msgspec
import pytest
from delayrig.base.errors import ExitCode
from delayrig.decision.decision import read_decision
from delayrig.features.latency.host_place import EnergyMeter
from delayrig.features.report.summary import headline
from delayrig.features.survey.terminal import print_survey
from delayrig.features.threshold.terminal import print_answer
from delayrig.judge.judge import describe
from delayrig.model.cell import Expect, Role
from delayrig.model.evidence import Witness
from delayrig.model.result import CellResult, SiteWaits, Verdict, read_results
from delayrig.present.comparison import decision_table
from delayrig.present.console import FittedTable, make_console, plain_table
from delayrig.present.formats.report import report_of_run
from delayrig.present.results import UNWATCHED, answer, cell_table, print_results
from rich.console import Console

from tests.rig.answered import make_answer, make_survey
from tests.rig.builders import MS, SECOND, make_cell, make_evidence, make_result, run_of, short_sync
from tests.rig.reported import keep_gate, keep_run, shown
from tests.rig.test_gate_judge import AFTER, BEFORE, decided, several, timed

WIDTHS = (80, 120, 200)
LONG = "low-res-timers+busy-siblings"


def printed(table: FittedTable, width: int) -> list[str]:
    """Returns the lines of the table without trailing spaces."""
    lines = shown(lambda console: console.print(table), width).splitlines()
    return [line.rstrip() for line in lines]


def table_of(*, least: tuple[str, ...] = ()) -> FittedTable:
    table = plain_table(("subject", "hazards"), ("total s", "for nothing s"), least=least)
    table.add_row("bundled", LONG, "1.250", "0.001")
    table.add_row("bundled", LONG, "12.500", "0.002")
    table.add_row("bundled (control)", "-", "-", "-")
    return table


def test_table_that_fits_has_one_line_per_row() -> None:
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


def test_least_important_column_is_dropped_before_rows_are_split() -> None:
    lines = printed(table_of(least=("for nothing s",)), 50)
    assert [line.split()[-1] for line in lines[-4:-1]] == ["1.250", "12.500", "-"]
    assert not any("nothing" in line for line in lines)


def test_narrow_terminal_has_words_above_figures_and_does_not_repeat_words() -> None:
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
    """Writes a run and a gate; returns the folder above them."""
    top = tmp_path_factory.mktemp("stored")
    keep_run(top / "run")
    keep_gate(top / "gate")
    return top


def print_all(console: Console, stored: Path) -> None:
    console.print(cell_table(read_results(stored / "run").cells))
    console.print(decision_table(read_decision(stored / "gate").cells))
    print_survey(make_survey(), console)
    print_answer(make_answer(), console, out="out")


def words_shown(stored: Path, width: int) -> set[str]:
    """Returns the words on a terminal of that width; each part of a broken word is a word."""
    return set(shown(lambda console: print_all(console, stored), width).split())


@pytest.mark.parametrize("width", WIDTHS)
def test_no_word_is_broken_at_any_width(stored: Path, width: int) -> None:
    assert words_shown(stored, width) <= words_shown(stored, 1000)


def test_verdicts_are_always_shown_and_a_wide_terminal_shows_more(stored: Path) -> None:
    narrow, usual, wide = (words_shown(stored, width) for width in WIDTHS)
    assert {"too_short", "unsafe", "(expected)", "verdict", "outcome"} <= narrow
    assert {"baseline", "candidate"} <= wide - usual
    assert narrow < usual < wide


CANARY = make_cell(name="canary", role=Role.CANARY, expect=Expect.TOO_SHORT)
CONTROL = make_cell(name="control", role=Role.CONTROL)


def printed_results(*cells: CellResult) -> str:
    results = run_of(*cells)
    lines = report_of_run(results).lines
    return shown(lambda console: print_results(results, lines, console, out="out"), 200)


def test_expected_conviction_of_a_canary_is_counted_and_not_listed() -> None:
    convicted = make_result(CANARY, verdict=Verdict.TOO_SHORT)
    acquitted = make_result(CONTROL, verdict=Verdict.PASS)
    text = printed_results(convicted, acquitted)
    assert f"\ntoo_short {convicted.id}" not in text
    assert "2 canaries and controls are as they must be." in text


def test_convicted_control_is_listed_with_its_command() -> None:
    canary = make_result(CANARY, verdict=Verdict.TOO_SHORT)
    control = make_result(CONTROL, verdict=Verdict.TOO_SHORT)
    text = printed_results(canary, control)
    assert f"\ntoo_short {control.id}" in text
    assert f"again: {control.rerun}" in text
    assert "as they must be" not in text


def test_reason_of_a_verdict_is_shown_unless_the_evidence_says_it() -> None:
    image = make_evidence(Witness.IMAGE)
    reason = "the subject failed with exit code 1: Probe failed."
    failed = make_result(verdict=Verdict.OP_FAILED, reason=reason, evidence=[image])
    text = printed_results(failed)
    assert f"\nop_failed {failed.id}\n  {reason}\n  image witness: {describe(image)}\n" in text
    corrupt = make_result(verdict=Verdict.CORRUPT, reason=describe(image), evidence=[image])
    assert printed_results(corrupt).count(describe(image)) == 1


def test_text_of_a_subject_cannot_control_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    said = make_result(
        make_cell(subject="path:[/b]"),
        verdict=Verdict.OP_FAILED,
        reason="it said \x1b[2J\x9b2J[/b]",
    )
    print_results(run_of(said), ["[/b]"], make_console(), out="")
    output = capsys.readouterr().out
    assert "it said \ufffd[2J\ufffd2J[/b]" in output
    assert "\n[/b]\n" in output


def test_conviction_that_the_plan_expects_is_still_listed() -> None:
    demonstration = make_cell(name="demonstration", expect=Expect.TOO_SHORT)
    text = printed_results(make_result(demonstration, verdict=Verdict.TOO_SHORT))
    assert f"\ntoo_short {demonstration.id}" in text
    assert UNWATCHED in text


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="ascii")
    return path


def started_meter(machine: Path) -> EnergyMeter:
    """Returns an energy meter that has begun on the machine with these files."""
    meter = EnergyMeter(machine)
    meter.begin()
    return meter


def test_machine_without_energy_counters_has_no_power(tmp_path: Path) -> None:
    meter = started_meter(tmp_path)
    assert (meter.is_there, meter.mean_mw()) == (False, None)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    now = [5]
    monkeypatch.setattr(time, "monotonic_ns", lambda: now[0])
    return now


def test_counters_of_all_packages_are_summed_up_without_those_of_their_parts(
    tmp_path: Path, clock: list[int]
) -> None:
    counters = [
        write(tmp_path / "powercap" / name / "energy_uj", "1000\n")
        for name in ("intel-rapl:0", "intel-rapl:1", "intel-rapl:0:0")
    ]
    meter = started_meter(tmp_path)
    for counter in counters:
        write(counter, "5001000\n")
    clock[0] += 2 * SECOND
    assert meter.mean_mw() == 5000


def test_counter_that_wrapped_around_counts_the_rest_of_its_range(
    tmp_path: Path, clock: list[int]
) -> None:
    counter = write(tmp_path / "powercap" / "intel-rapl:0" / "energy_uj", "900000")
    write(counter.parent / "max_energy_range_uj", "1000000")
    meter = started_meter(tmp_path)
    write(counter, "100000")
    clock[0] += SECOND
    assert meter.mean_mw() == 200


@pytest.mark.parametrize(("status", "power"), [("Discharging", 7500), ("Charging", None)])
def test_battery_shows_power_while_in_use(tmp_path: Path, status: str, power: int | None) -> None:
    write(tmp_path / "power_supply" / "BAT0" / "power_now", "7500000\n")
    write(tmp_path / "power_supply" / "BAT0" / "status", f"{status}\n")
    meter = started_meter(tmp_path)
    assert meter.mean_mw() == power


US = 1000


def headline_of(before: list[CellResult], after: list[CellResult]) -> str:
    text = headline(decided(before, after))
    assert AFTER not in text
    return text


def unsafe(**facts: Any) -> str:
    """Returns the headline of a gate whose candidate is too short, with these facts."""
    return headline_of([timed(BEFORE)], [timed(AFTER, verdict=Verdict.TOO_SHORT, **facts)])


EARLY = msgspec.structs.replace(
    make_evidence(),
    what="RDID (0x9f) came 40000 ns before",
    margin_ns=-40_000,
    rule="tres",
    command="RDID (0x9f)",
)
SITE = SiteWaits(
    callers=["a (a.c:1)"],
    requested_ns=10 * MS,
    count=1,
    short=1,
    least_ns=(40 * US, 40 * US),
    error_ns=0,
)


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"evidence": [short_sync(499, 500)]}, "a wait of 1 s lasts 0.5 s"),
        ({"evidence": [EARLY]}, "RDID (0x9f) comes 40 us before the part is ready"),
        ({"waits": [SITE]}, "a wait of 10 ms lasts 0.04 ms"),
        ({"reason": "10 ms were 3"}, "10 ms were 3"),
    ],
)
def test_headline_shows_the_length_of_the_short_wait_if_it_is_known(
    facts: dict[str, Any], words: str
) -> None:
    assert unsafe(**facts) == f"Unsafe: {words}"


def test_headline_says_that_data_was_corrupted() -> None:
    lost = timed(AFTER, verdict=Verdict.CORRUPT)
    assert headline_of([timed(BEFORE)], [lost]) == "Unsafe: data was corrupted"


def test_headline_of_a_slower_candidate_has_percentage_and_time() -> None:
    one = headline_of([timed(BEFORE)], [timed(AFTER, SECOND + 613 * MS)])
    assert one == "Slower: one cell takes 61.3 % more time (613 ms)"
    two = [timed(AFTER, cpu_ns=2 * SECOND), timed(AFTER, cpu_ns=3 * SECOND, name="b")]
    both = headline_of([timed(BEFORE), timed(BEFORE, name="b")], two)
    assert both == "Slower: 2 cells take up to 200 % more CPU time (2 s)"
    ten = headline_of(several(BEFORE, [SECOND] * 10), several(AFTER, [1019 * MS] * 10))
    assert ten == "Slower: all cells together take 1.9 % more time (190 ms)"


def test_headline_of_a_good_doubtful_or_failed_gate() -> None:
    good = headline_of([timed(BEFORE)], [timed(AFTER, SECOND // 2)])
    assert good == "Good: nothing is too short in 1 cell, time -50.0 %, CPU time +0.0 %"
    doubt = headline_of(several(BEFORE, [SECOND] * 2), [*several(AFTER, [SECOND])])
    assert doubt == "In doubt: 1 cell of 2 gave no sure answer"
    skipped = [timed(side, verdict=Verdict.SKIPPED) for side in (BEFORE, AFTER)]
    assert (
        headline_of(skipped[:1], skipped[1:])
        == "In doubt: nothing shows that the rig detects faults"
    )
    lost = timed(AFTER, verdict=Verdict.INFRA_ERROR)
    assert headline_of([timed(BEFORE)], [lost]) == "No answer: the rig itself failed"


@pytest.mark.parametrize(
    ("verdict", "expect", "reason"),
    [
        (Verdict.TOO_SHORT, Expect.PASS, "Something was timed too short. "),
        (Verdict.PASS, Expect.TOO_SHORT, "An expected conviction is missing. "),
    ],
)
def test_unsafe_run_names_its_reason(verdict: Verdict, expect: Expect, reason: str) -> None:
    cell = make_result(make_cell(expect=expect), verdict=verdict)
    results = run_of(cell)
    assert answer(results, ExitCode.UNSAFE).startswith(reason)
