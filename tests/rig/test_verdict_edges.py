# SPDX-License-Identifier: GPL-2.0-or-later
"""Edges of verdicts that no other test covers."""

from datetime import date
from typing import Any

import pytest
from delayrig.base.errors import LostGuestError
from delayrig.decision.decision import FaultGroup
from delayrig.decision.faults import Change, Fault, compare_faults, lengths_cut
from delayrig.decision.gate_judge import decide
from delayrig.decision.known_faults import KnownFault, notes_on
from delayrig.decision.performance import PAIRS_MIN, excess_interval
from delayrig.judge.chip import convict_commands
from delayrig.judge.ending import is_unfinished
from delayrig.judge.site_waits import decade_ns, length_class_ns
from delayrig.judge.waste import _covered_ns
from delayrig.model.kinds.agent import SubjectEnd, SubjectStart
from delayrig.model.result import SiteWaits
from msgspec.structs import replace

from tests.rig.builders import MS, SECOND
from tests.rig.event_builders import changed, made, spi, subject_end
from tests.rig.test_delay_waits import call, observed
from tests.rig.test_exit_code import reads
from tests.rig.test_gate_faults import MOVED, POLL, SETTLE, STRIPPED, SYNC, US, cell, changes, site
from tests.rig.test_gate_judge import AFTER, BEFORE, REAL, rounds, without


def test_length_class_is_the_length_in_whole_microseconds_else_its_power_of_ten() -> None:
    decades_ns = {0: 1, 1: 1, 9: 1, 10: 10, 99: 10, 1234: 1000}
    assert {ns: decade_ns(ns) for ns in decades_ns} == decades_ns
    assert [length_class_ns(ns) for ns in (12_000, 12_001)] == [12_000, 10_000]
    assert len(observed(call(0, 5, requested_ns=1))) == 1  # A nanosecond is a wait, too.


@pytest.mark.parametrize("facts", [{"margin": -1}, {"grade": "datasheet"}])
def test_early_command_without_a_margin_or_a_grade_is_a_lost_guest(facts: dict[str, Any]) -> None:
    with pytest.raises(LostGuestError, match="without margin or grade"):
        list(convict_commands([spi("0x02", read=700, violation="busy", **facts)]))


def test_commands_in_the_first_half_of_the_time_are_no_progress_at_its_end() -> None:
    asked = [*reads(*range(19)), *reads(*[0] * 40)[19:]]
    ended = changed([subject_end(400)], SubjectEnd, timed_out=True)
    assert not is_unfinished([made(SubjectStart, t_ns=0), *asked, *ended])


def test_time_before_and_after_busy_times_is_not_covered_by_them() -> None:
    assert _covered_ns(0, 100, [(10, 20), (50, 200)]) == 60
    assert _covered_ns(15, 18, [(10, 20), (50, 200)]) == 3
    assert _covered_ns(20, 50, [(10, 20), (50, 200)]) == 0


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
    worse_ns, better_ns = first_change(range(2000, 3000)), first_change(range(2000, 1000, -1))
    assert worse_ns - 2000 == 2000 - better_ns > 300


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


@pytest.mark.parametrize(("one", "other"), [(STRIPPED, MOVED), (MOVED, STRIPPED)])
def test_fault_of_a_stripped_build_equals_that_of_one_with_symbols(
    one: tuple[str, ...], other: tuple[str, ...]
) -> None:
    before, now = (
        cell(BEFORE, site(one, SECOND, 45 * MS)),
        cell(AFTER, site(other, SECOND, 45 * MS)),
    )
    assert changes(before, now) == [Change.AS_BEFORE]


@pytest.mark.parametrize(
    "pairs", [[(1.0, 1.0)] * (PAIRS_MIN - 1), [(0.0, 1.0)] + [(1.0, 1.0)] * PAIRS_MIN]
)
def test_excess_is_unknown_for_few_pairs_or_a_baseline_of_zero_time(
    pairs: list[tuple[float, float]],
) -> None:
    assert excess_interval(pairs) is None


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
