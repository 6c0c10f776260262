# SPDX-License-Identifier: GPL-2.0-or-later
"""Edges of verdicts that no other test covers."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest
from delayrig.base.errors import LostGuestError
from delayrig.decision.decision import FaultGroup
from delayrig.decision.decision_text import decision_lines, fault_lengths, group_words
from delayrig.decision.faults import Change, Fault, compare_faults, lengths_cut
from delayrig.decision.gate_judge import _groups, decide
from delayrig.decision.known_faults import KnownFault, notes_on, read_known_faults
from delayrig.decision.performance import PAIRS_MIN
from delayrig.hazards.artifacts import Artifacts
from delayrig.judge.bus import Bus, SeenBus
from delayrig.judge.chip import convict_commands, may_hide_an_early_one
from delayrig.judge.delay_waits import NO_DELAYS, _are_near, ended_within_step
from delayrig.judge.judge import _time_split
from delayrig.judge.site_waits import decade_ns, length_class_ns
from delayrig.judge.waits import see_waits
from delayrig.model.cell import Job
from delayrig.model.kinds.agent import SubjectStart
from delayrig.model.result import DelayCount, SiteWaits, Verdict
from msgspec.structs import replace

from tests.rig.builders import MS, SECOND, delays_of, make_cell
from tests.rig.event_builders import made, serprog, spi, subject_end
from tests.rig.test_delay_waits import call, observed
from tests.rig.test_gate_faults import POLL, SETTLE, STRIPPED, SYNC, US, cell, changes, site
from tests.rig.test_gate_judge import AFTER, BEFORE, REAL, decided, rounds, timed, without


def test_length_class_is_the_length_in_whole_microseconds_else_its_power_of_ten() -> None:
    decades_ns = {0: 1, 1: 1, 9: 1, 10: 10, 99: 10, 1234: 1000}
    assert {ns: decade_ns(ns) for ns in decades_ns} == decades_ns
    assert [length_class_ns(ns) for ns in (12_000, 12_001)] == [12_000, 10_000]
    assert len(observed(call(0, 5, requested_ns=1))) == 1  # A nanosecond is a wait, too.


@pytest.mark.parametrize("facts", [{"margin": -1}, {"grade": "datasheet"}])
def test_early_command_without_a_margin_or_a_grade_is_a_lost_guest(facts: dict[str, Any]) -> None:
    with pytest.raises(LostGuestError, match="without margin or grade"):
        list(convict_commands([spi("0x02", read=700, violation="busy", **facts)]))


def first_change(candidates_ns: range) -> int:
    """Returns the first shortfall that is not as before; the baseline's is 2 us."""
    before = cell(BEFORE, site(POLL, 10 * US, 8 * US))
    return next(
        short_ns
        for short_ns in candidates_ns
        if changes(before, cell(AFTER, site(POLL, 10 * US, 10 * US - short_ns)))
        != [Change.AS_BEFORE]
    )


def test_shortfall_may_grow_and_shrink_by_the_same_tolerance() -> None:
    # 64 instructions at 250 MIPS take 256 ns, 5 % of the shortfall is 100 ns, and each side may be
    # wrong by 10 ns.
    worse_ns, better_ns = first_change(range(2000, 3000)), first_change(range(2000, 1000, -1))
    assert worse_ns - 2000 == 2000 - better_ns == 377


def fault_of(before: list[SiteWaits], now: list[SiteWaits], change: Change) -> Fault:
    cells = cell(BEFORE, *before), cell(AFTER, *now)
    (fault,) = [
        fault for fault in compare_faults(*cells, lengths_cut(cells[:1])) if fault.change is change
    ]
    return fault


def test_mended_fault_shows_the_whole_wait_of_its_own_length() -> None:
    now = [site(POLL, 10 * US, 11 * US), site(SYNC, SECOND, SECOND + US)]
    fault = fault_of([site(SYNC, SECOND, 45 * MS)], now, Change.MENDED)
    assert fault.now_ns == (SECOND + US, SECOND + US)


def test_new_fault_shows_how_long_the_same_functions_waited_before() -> None:
    before = [site(POLL, SECOND, SECOND + MS), site(SYNC, SECOND, SECOND + US)]
    fault = fault_of(before, [site(SYNC, SECOND, 45 * MS)], Change.NEW)
    assert fault.before_ns == (SECOND + US, SECOND + US)
    unknown = fault_of(
        [site(STRIPPED, SECOND, SECOND + US)], [site(STRIPPED, SECOND, 45 * MS)], Change.NEW
    )
    assert unknown.before_ns is None


def test_fault_in_functions_that_waited_long_enough_before_is_new_not_moved() -> None:
    whole = site(SETTLE, SECOND, SECOND + US)
    before = cell(BEFORE, site(SYNC, SECOND, 45 * MS), whole)
    assert Change.NEW in changes(before, cell(AFTER, site(SETTLE, SECOND, 45 * MS)))


def test_smallest_number_of_pairs_in_real_time_decides() -> None:
    ours = rounds(REAL, AFTER)
    for number in range(len(REAL) - PAIRS_MIN):
        ours = without(ours, number)
    assert decide(rounds(REAL, BEFORE), ours).exit_code == 0


@pytest.mark.parametrize(
    ("change", "day", "note"),
    [(Change.NEW, 1, ""), (Change.NEW, 2, "was accepted until"), (Change.MENDED, 1, "is gone")],
)
def test_known_fault_is_accepted_to_the_end_of_its_day(change: Change, day: int, note: str) -> None:
    fault = fault_of([site(SYNC, SECOND, SECOND)], [site(SYNC, SECOND, 45 * MS)], Change.NEW)
    group = FaultGroup(fault=replace(fault, change=change), cells=["a"], rerun="")
    known = KnownFault(what="*", reason="a race", until=date(2030, 1, 1))
    notes = notes_on([group], [known], date(2030, 1, day))
    assert len(notes) == bool(note)
    assert note in "".join(notes)


@pytest.mark.parametrize(
    ("what", "covers"),
    [
        *(("1 s in operator[]", True), ("1 s*tor[]", True), ("*", True)),
        *(("1 s in operator??", False), ("1 s in operator[[]]", False), ("1 s in", False)),
    ],
)
def test_only_the_star_of_a_known_fault_stands_for_something_else(what: str, covers: bool) -> None:
    fault = fault_of([site(SYNC, SECOND, SECOND)], [site(SYNC, SECOND, 45 * MS)], Change.NEW)
    group = FaultGroup(fault=replace(fault, what="1 s in operator[]"), cells=["a"], rerun="")
    known = KnownFault(what=what, reason="a race", until=date(2030, 1, 1))
    assert known.covers(group) is covers


@pytest.mark.parametrize(
    ("took_us", "near"),
    [((200,), True), ((200, 500), True), ((200, 500, 500), False), ((201,), False)],
)
def test_half_of_the_long_calls_must_last_at_most_twice_the_request(
    took_us: tuple[int, ...], near: bool
) -> None:
    calls = [call(100, us * US) for us in took_us]
    assert _are_near(calls, of=calls) is near


def test_short_calls_show_no_unit() -> None:
    short = [call(99, 99 * US)] * 2
    assert not _are_near(short, of=short)
    assert not _are_near(short, of=[call(100, 500 * US)])


@pytest.mark.parametrize("job", [Job.VERIFY, Job.READ])
def test_time_of_the_first_read_is_that_of_the_job(job: Job) -> None:
    read = spi("0x03", read=200, reply=300)
    split = _time_split(make_cell(job=job), [made(SubjectStart, t_ns=0), read, subject_end(400)])
    assert (split.verify > 0, split.read > 0) == (job is Job.VERIFY, job is Job.READ)
    assert _time_split(make_cell(job=job), [read, subject_end(400)]).total == 0


def test_writer_without_a_delay_is_in_doubt_unless_the_programmer_waits_for_it() -> None:
    for events, doubts in (([], [NO_DELAYS]), ([serprog("O_DELAY", empty=1, read=2)], [])):
        for job in (Job.WRITE, Job.READ):
            artifacts = Artifacts(
                events=events, output=b"", image=b"", read_back=None, delays=delays_of()
            )
            seen = see_waits(make_cell(job=job), artifacts, SeenBus(decides=Bus.DESCRIBES))
            assert seen.doubts == (doubts if job is Job.WRITE else [])
            assert seen.count == DelayCount(seen=0, judged=0)
    unwatched = replace(artifacts, delays=None)
    assert see_waits(make_cell(), unwatched, SeenBus(decides=Bus.DESCRIBES)).count is None


@pytest.mark.parametrize(("margin", "hides"), [(0, True), (4, True), (5, False)])
def test_command_that_was_read_late_may_hide_an_early_one(margin: int, hides: bool) -> None:
    assert may_hide_an_early_one([spi("0x05", read=15, empty=10, margin=margin)]) is hides


def test_answer_counts_the_cells_that_could_be_compared() -> None:
    before = [timed(BEFORE, name=name) for name in "abc"]
    after = [timed(AFTER, name=name) for name in "ab"]
    doubtful = timed(AFTER, name="c", verdict=Verdict.INCONCLUSIVE)
    decision = decided(before, [*after, doubtful])
    assert "2 of 3 cells compared" in decision.lines[1]


NEW = fault_of([site(SYNC, SECOND, SECOND)], [site(SYNC, SECOND, 45 * MS)], Change.NEW)


def test_commands_of_a_cell_that_break_one_rule_are_one_fault() -> None:
    (plain, *_) = decided([timed(BEFORE)], [timed(AFTER)]).cells
    for rule, count in (("tida", 1), ("", 2)):
        faults = [replace(NEW, what=what, rule=rule) for what in "ab"]
        assert len(_groups([replace(plain, faults=faults)])) == count


def test_fault_is_shown_with_its_lengths_and_with_why_it_is_accepted() -> None:
    unknown = replace(NEW, asked_ns=None)
    assert fault_lengths(unknown) == ("-", "-")
    assert fault_lengths(replace(NEW, before_ns=None))[0] == "-"
    assert fault_lengths(replace(NEW, now_ns=(MS, MS)))[1] != "-"
    group = FaultGroup(fault=NEW, cells=["a"], rerun="")
    assert "accepted" not in group_words(group)
    assert "(accepted: a race)" in group_words(replace(group, known="a race"))


def test_delay_within_a_step_counts_only_if_it_returned_and_was_not_interrupted() -> None:
    (plain,) = observed(call(1, 900_000), clocksource="hpet")
    assert ended_within_step([plain])
    for change in ({"has_returned": False}, {"is_open": True}):
        assert not ended_within_step([replace(plain, **change)])
    (judged,) = observed(call(10, 99 * US))
    assert not ended_within_step([judged])
    assert ended_within_step([judged, plain])


@pytest.mark.parametrize("count", [1, 2, 3])
def test_warning_counts_the_other_faults_that_are_no_worse(count: int) -> None:
    decision = decided([timed(BEFORE)], [timed(AFTER)])
    fault = replace(NEW, change=Change.AS_BEFORE)
    groups = [FaultGroup(fault=fault, cells=["a"], rerun="")] * count
    (line,) = [one for one in decision_lines(replace(decision, groups=groups)) if "Warning" in one]
    assert ("other fault" in line) is (count > 1)
    assert count == 1 or f"; {count - 1} other fault" in line


def test_known_faults_are_read_from_their_file(tmp_path: Path) -> None:
    path = tmp_path / "known.toml"
    path.write_text('schema = 1\n[[fault]]\nwhat = "a*"\nreason = "a race"\nuntil = 2030-01-01\n')
    assert read_known_faults(path) == [
        KnownFault(what="a*", reason="a race", until=date(2030, 1, 1))
    ]
