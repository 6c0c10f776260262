# SPDX-License-Identifier: GPL-2.0-or-later
"""The chip witness convicts early commands; witnesses allow for the error of the clock."""

import pytest
from delayrig.judge.bus import observe_waits
from delayrig.judge.chip import (
    WITHIN_CLOCK_ERROR,
    broken_rules,
    convict_commands,
    convict_end,
    margins_ns,
)
from delayrig.judge.clock_error import ClockError, clock_error
from delayrig.model.events import Event
from delayrig.model.evidence import ObservedWait, Witness
from delayrig.model.kinds.agent import ClockRate, SubjectEnd
from delayrig.model.kinds.emulator import Busy, PowerLost, Start, StateBegins

from tests.rig.builders import ERASE_WAIT, MS, SECOND, make_profile, make_wait
from tests.rig.event_builders import busy, cycle, early, made, spi, started


def page(rule: str, margin: int) -> Event:
    """Makes a command to a part on a parallel bus that broke a rule."""
    return cycle("PROGRAM", op="0xa0", read=700, violation=rule, margin=margin, grade="datasheet")


@pytest.mark.parametrize(
    ("early", "command", "rule"),
    [
        *(
            (
                spi("0x02", read=700, violation=rule, margin=-9, grade="datasheet"),
                "PP (0x02)",
                rule,
            )
            for rule in ("busy", "tres", "tdp", "reset", "tsus", "tvsl", "tpuw")
        ),
        *((page(rule, -9), "PROGRAM (0xa0)", rule) for rule in ("busy", "tida")),
        # A read has no opcode.
        (
            cycle("READ", read=700, rlen=1, violation="tida", margin=-9, grade="datasheet"),
            "READ",
            "tida",
        ),
    ],
)
def test_early_command_is_convicted(early: Event, command: str, rule: str) -> None:
    in_time = [spi("0x02", read=800, margin=0, grade="datasheet"), spi("0x05", read=900)]
    assert convict_commands(in_time) == []
    (evidence,) = convict_commands([early, *in_time])
    assert (evidence.witness, evidence.margin_ns, evidence.grade) == (Witness.CHIP, -9, "datasheet")
    assert evidence.where == "bus at 700 ns"
    assert evidence.what.startswith(f"{command} came 9 ns ")
    assert evidence.what.endswith(f" (rule {rule})")
    assert broken_rules([early, *in_time]) == []


@pytest.mark.parametrize("rule", ["tvsl", "tpuw"])
def test_wait_after_power_on_counts_from_power_on(rule: str) -> None:
    """Since the start of the emulator, the rate error alone is larger than 900 ns."""
    early = spi("0x9f", read=5_000_000_700, violation=rule, margin=-900, grade="datasheet")
    starts = made(StateBegins, t_ns=5_000_000_000, state="fresh")
    start = made(Start, t_ns=1, clock_step_ns=1, clock_rate_error_ppm=500)
    (evidence,) = convict_commands([start, starts, early])
    assert evidence.grade == "datasheet"
    (doubt,) = convict_commands([start, early])
    assert doubt.grade == "clock"
    powered = made(StateBegins, t_ns=1, state="fresh")
    between = spi("0x05", read=5_000_000_000)
    (doubt,) = convict_commands([start, powered, between, early])
    assert doubt.grade == "clock"


SPI_RULES = ("wel", "protected", "length", "power_down", "region", "suspended", "error", "aai")
CYCLE_RULES = ("protected", "id_mode", "page", "sequence")


@pytest.mark.parametrize(
    ("rule", "wrong"),
    [
        *((rule, spi("0x02", read=700, violation=rule)) for rule in SPI_RULES),
        *((rule, cycle("PAGE_WRITE", op="0xa0", read=7, violation=rule)) for rule in CYCLE_RULES),
        # A late command has a margin, too.
        ("window", page("window", -50)),
    ],
)
def test_command_that_breaks_a_rule_without_a_wait_is_not_convicted(
    rule: str, wrong: Event
) -> None:
    assert convict_commands([wrong, wrong]) == []
    assert broken_rules([wrong, wrong]) == [rule]
    assert margins_ns([wrong]) == []


def test_evidence_of_an_opcode_has_its_worst_margin_and_their_number() -> None:
    events = [early("0x02", read=at, margin=-margin) for at, margin in ((1, 30), (2, 50), (3, 40))]
    (evidence,) = convict_commands(events)
    assert (evidence.margin_ns, evidence.where, evidence.count) == (-50, "bus at 2 ns", 3)


def test_margins_are_those_of_commands_that_had_to_wait() -> None:
    events = [
        spi("0x02", read=1, margin=5, grade="datasheet"),
        early("0x02", read=2, margin=-3),
        cycle("ERASE", op="0x30", read=3, margin=7, grade="datasheet"),
        cycle("STATUS", read=4, rlen=1),
    ]
    assert margins_ns(events) == [5, -3, 7]


def test_each_rule_opcode_and_grade_has_its_own_evidence() -> None:
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


def busy_part(until: int, kind: str = "program") -> Event:
    return made(
        Busy, kind=kind, op="0x02", start_ns=100, until_ns=until, nominal_ns=400, grade="datasheet"
    )


def subject_end(at: int, **how: int) -> Event:
    return made(SubjectEnd, t_ns=at, **how)


def test_subject_that_reports_success_while_the_part_is_busy_is_convicted() -> None:
    (evidence,) = convict_end([busy_part(500), subject_end(470)])
    assert (evidence.witness, evidence.margin_ns) == (Witness.CHIP, -30)
    assert evidence.grade == "datasheet"
    assert "30 ns" in evidence.what
    assert "left-busy" in evidence.what
    assert evidence.where == "end of the subject at 470 ns"


@pytest.mark.parametrize(
    "events",
    [
        pytest.param([busy_part(500), subject_end(500)], id="in time"),
        pytest.param([busy_part(400), busy_part(450), subject_end(470)], id="not busy any more"),
        pytest.param([busy_part(500, "page_read"), subject_end(470)], id="read"),
        pytest.param([busy_part(500), made(PowerLost, t_ns=300), subject_end(470)], id="no power"),
        pytest.param([busy_part(500), subject_end(470, exit_code=1)], id="failed"),
        pytest.param([busy_part(500), subject_end(470, exit_code=-1, signal=9)], id="killed"),
        pytest.param([busy_part(500), subject_end(470, timed_out=True)], id="timed out"),
        pytest.param([busy_part(500)], id="no end"),
        pytest.param([subject_end(470)], id="never busy"),
    ],
)
def test_end_is_not_convicted_if_nothing_is_busy_or_the_subject_failed(events: list[Event]) -> None:
    assert convict_end(events) == []


STEP = 84


@pytest.mark.parametrize(
    ("wait", "error"), [(0, 84), (1, 85), (SECOND, 84 + 3000), (SECOND + 1, 84 + 3001)]
)
def test_clock_error_is_a_step_plus_the_rate_error_rounded_up(wait: int, error: int) -> None:
    assert ClockError(step_ns=STEP, rate_ppm=3).of_wait_ns(wait) == error


def test_clock_error_is_that_of_the_events_of_emulator_and_agent() -> None:
    assert clock_error([]) == ClockError()
    rates = made(ClockRate, raw_ns_min=99_999_600, raw_ns_max=100_000_250, monotonic_ns=100_000_000)
    events = [rates, started(wake=None, step=STEP, rate_ppm=2)]
    assert clock_error(events) == ClockError(step_ns=STEP, rate_ppm=2 + 4)


@pytest.mark.parametrize(
    ("margin", "grade"),
    [
        (-1, WITHIN_CLOCK_ERROR),
        (-(STEP + 9), WITHIN_CLOCK_ERROR),
        (-(STEP + 10), "datasheet"),
        (-MS, "datasheet"),
    ],
)
def test_command_is_certainly_early_only_beyond_the_clock_error(margin: int, grade: str) -> None:
    events = [
        started(wake=None, step=STEP, rate_ppm=10),
        spi("0x20", read=5),
        busy("0x20", start=6, until=6 + MS),
        early("0x05", read=50, margin=margin),
    ]
    (evidence,) = convict_commands(events)
    assert evidence.grade == grade
    assert evidence.margin_ns == margin


def test_clock_error_of_a_wait_without_busy_time_is_that_of_the_time_since_it_began() -> None:
    def at(margin: int) -> list[Event]:
        return [
            started(wake=None, rate_ppm=1000),
            spi("0xab", read=1000),
            spi("0x9f", read=3000, violation="tres", margin=margin, grade="datasheet"),
            spi("0x9f", read=3100, violation="tres", margin=margin, grade="datasheet"),
        ]

    # The waits took 2000 of 2002 ns and 2100 of 2102 ns; 1000 ppm of that are 3 ns, rounded up.
    assert [item.grade for item in convict_commands(at(-2))] == [WITHIN_CLOCK_ERROR]
    assert [item.grade for item in convict_commands(at(-4))] == ["datasheet"]


def test_certain_and_doubtful_commands_of_an_opcode_are_separate() -> None:
    events = [
        started(wake=None, step=STEP),
        early("0x02", read=1, margin=-1),
        early("0x02", read=2, margin=-1000),
    ]
    assert [item.grade for item in convict_commands(events)] == [WITHIN_CLOCK_ERROR, "datasheet"]


def observed(*, shortest: int, longest: int) -> ObservedWait:
    """Makes a wait of 1000 ns on a clock that may be wrong by one step."""
    times = {"requested_ns": 1000, "shortest_ns": shortest, "longest_ns": longest}
    return make_wait(clock_error_ns=STEP, **times)


@pytest.mark.parametrize(
    ("shortest", "longest", "short", "judged"),
    [
        (0, 1000 - STEP, True, True),
        (0, 1000 - STEP + 1, False, False),
        (0, 999, False, False),
        (1000 + STEP - 1, 1200, False, False),
        (1000 + STEP, 1200, False, True),
    ],
)
def test_wait_within_the_error_of_the_clock_is_neither_short_nor_good(
    *, shortest: int, longest: int, short: bool, judged: bool
) -> None:
    wait = observed(shortest=shortest, longest=longest)
    assert (wait.is_short, wait.is_judged) == (short, judged)


def test_clock_error_adds_to_the_smallest_visible_shortening() -> None:
    assert observed(shortest=900, longest=1100).visible_short_ns == 100 + STEP


def test_wait_on_the_bus_has_the_error_of_its_clock() -> None:
    events = [
        started(wake=0, step=STEP, rate_ppm=2),
        spi("0x20", read=1, sr="0x03"),
        spi("0x05", read=2, sr="0x03"),
        spi("0x05", read=3),
    ]
    waits = observe_waits(events, make_profile(ERASE_WAIT), "GD25Q16C", is_forwarded=False)
    assert [wait.clock_error_ns for wait in waits] == [STEP + 20]
