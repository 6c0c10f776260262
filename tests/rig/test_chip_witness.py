# SPDX-License-Identifier: GPL-2.0-or-later
"""The chip's own evidence of early commands."""

import pytest
from delayrig.judge.chip import broken_rules, convict_commands, convict_end, margins_ns
from delayrig.model.events import Event
from delayrig.model.evidence import Witness
from delayrig.model.kinds.agent import SubjectEnd
from delayrig.model.kinds.emulator import Busy, PowerLost, Start, StateBegins

from tests.rig.event_builders import cycle, early, made, spi


@pytest.mark.parametrize("rule", ["busy", "tres", "tdp", "reset", "tsus", "tvsl", "tpuw"])
def test_command_before_its_time_is_convicted(rule: str) -> None:
    events = [spi("0x02", read=700, violation=rule, margin=-1, grade="datasheet")]
    (evidence,) = convict_commands(events)
    assert (evidence.witness, evidence.margin_ns, evidence.grade) == (Witness.CHIP, -1, "datasheet")
    assert evidence.where == "bus at 700 ns"
    assert rule in evidence.what
    assert broken_rules(events) == []


@pytest.mark.parametrize("rule", ["tvsl", "tpuw"])
def test_wait_after_power_came_counts_from_there(rule: str) -> None:
    """Without it, a clock's rate error could hide behind all the time before."""
    early = spi("0x9f", read=5_000_000_700, violation=rule, margin=-900, grade="datasheet")
    starts = made(StateBegins, t_ns=5_000_000_000, state="fresh")
    start = made(Start, t_ns=1, clock_step_ns=1, clock_rate_error_ppm=500)
    (evidence,) = convict_commands([start, starts, early])
    assert evidence.grade == "datasheet"
    (doubt,) = convict_commands([start, early])
    assert doubt.grade == "clock"


@pytest.mark.parametrize(
    "rule", ["wel", "protected", "length", "power_down", "region", "suspended", "error", "aai"]
)
def test_rule_that_is_not_about_time_is_broken_and_not_too_short(rule: str) -> None:
    events = [spi("0x02", read=700, violation=rule)] * 2
    assert convict_commands(events) == []
    assert broken_rules(events) == [rule]


def test_command_in_time_breaks_nothing() -> None:
    events = [spi("0x02", read=700, margin=0, grade="datasheet"), spi("0x05", read=800)]
    assert convict_commands(events) == []
    assert broken_rules(events) == []


def test_worst_margin_of_an_opcode_stands_for_all_of_them() -> None:
    events = [early("0x02", read=at, margin=-margin) for at, margin in ((1, 30), (2, 50), (3, 40))]
    (evidence,) = convict_commands(events)
    assert (evidence.margin_ns, evidence.where, evidence.count) == (-50, "bus at 2 ns", 3)


@pytest.mark.parametrize("rule", ["busy", "tida"])
def test_write_cycle_before_its_time_is_convicted(rule: str) -> None:
    events = [
        cycle("PROGRAM", op="0xa0", read=700, violation=rule, margin=-9, grade="datasheet"),
        cycle("PROGRAM", op="0xa0", read=900, margin=0, grade="datasheet"),
    ]
    (evidence,) = convict_commands(events)
    assert (evidence.witness, evidence.margin_ns, evidence.grade) == (Witness.CHIP, -9, "datasheet")
    assert evidence.what == (f"PROGRAM (0xa0) came 9 ns before the part was ready (rule {rule})")
    assert evidence.where == "bus at 700 ns"


def test_read_cycle_within_tida_is_convicted_without_an_opcode() -> None:
    events = [cycle("READ", read=7, rlen=1, violation="tida", margin=-1, grade="secondary")]
    (evidence,) = convict_commands(events)
    assert evidence.what == "READ came 1 ns before the part was ready (rule tida)"


@pytest.mark.parametrize("rule", ["window", "protected", "id_mode", "page", "sequence"])
def test_cycle_that_is_late_or_wrong_is_broken_and_not_too_short(rule: str) -> None:
    margin = -50 if rule == "window" else None
    events = [
        cycle("PAGE_WRITE", op="0xa0", read=7, violation=rule, margin=margin, grade="assumed")
    ]
    assert convict_commands(events) == []
    assert broken_rules(events) == [rule]
    assert margins_ns(events) == []


def test_margins_are_those_of_waits_that_the_part_was_owed() -> None:
    events = [
        spi("0x02", read=1, margin=5, grade="datasheet"),
        early("0x02", read=2, margin=-3),
        cycle("ERASE", op="0x30", read=3, margin=7, grade="datasheet"),
        cycle("STATUS", read=4, rlen=1),
    ]
    assert margins_ns(events) == [5, -3, 7]


def test_rule_opcode_and_grade_are_told_apart() -> None:
    events = [
        early("0x02", read=1, margin=-3),
        early("0x06", read=2, margin=-4),
        early("0x02", read=3, margin=-9, grade="assumed"),
        spi("0x02", read=4, violation="tres", margin=-7, grade="datasheet"),
    ]
    assert [(e.margin_ns, e.grade) for e in convict_commands(events)] == [
        (-3, "datasheet"),
        (-4, "datasheet"),
        (-9, "assumed"),
        (-7, "datasheet"),
    ]


def _busy(until: int, kind: str = "program") -> Event:
    return made(
        Busy, kind=kind, op="0x02", start_ns=100, until_ns=until, nominal_ns=400, grade="datasheet"
    )


def _end(at: int, **how: int) -> Event:
    return made(SubjectEnd, t_ns=at, **how)


def test_success_before_the_part_has_done_its_work_is_convicted() -> None:
    (evidence,) = convict_end([_busy(500), _end(470)])
    assert (evidence.witness, evidence.margin_ns, evidence.grade) == (
        Witness.CHIP,
        -30,
        "datasheet",
    )
    assert evidence.what == "the subject ended 30 ns before the part was ready (rule left-busy)"
    assert evidence.where == "end of the subject at 470 ns"


@pytest.mark.parametrize(
    "events",
    [
        [_busy(500), _end(500)],
        [_busy(400), _busy(450), _end(470)],
        [_busy(500, "page_read"), _end(470)],
        [_busy(500), made(PowerLost, t_ns=300), _end(470)],
        [_busy(500), _end(470, exit_code=1)],
        [_busy(500), _end(470, exit_code=-1, signal=9)],
        [_busy(500), _end(470, timed_out=True)],
        [_busy(500)],
        [_end(470)],
    ],
    ids=[
        "in-time",
        "over",
        "no-change",
        "no-power",
        "failed",
        "killed",
        "timed-out",
        "no-end",
        "no-work",
    ],
)
def test_end_that_leaves_nothing_behind_or_reports_no_success_is_not_convicted(
    events: list[Event],
) -> None:
    assert convict_end(events) == []
