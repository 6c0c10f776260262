# SPDX-License-Identifier: GPL-2.0-or-later
"""The largest error of a clock, and how each witness allows for it."""

import pytest
from delayrig.judge.bus import observe_waits
from delayrig.judge.chip import WITHIN_CLOCK_ERROR, convict_commands
from delayrig.judge.clock_error import ClockError, clock_error
from delayrig.model.events import Event
from delayrig.model.evidence import ObservedWait
from delayrig.model.kinds.agent import ClockRate

from tests.rig.builders import ERASE_WAIT, MS, SECOND, make_profile
from tests.rig.event_builders import busy, early, made, spi, started

STEP = 84


def compared(*, raw_min: int, raw_max: int, monotonic: int) -> Event:
    """Makes the agent's comparison of two clocks."""
    return made(ClockRate, t_ns=1, raw_ns_min=raw_min, raw_ns_max=raw_max, monotonic_ns=monotonic)


@pytest.mark.parametrize(
    ("wait", "error"), [(0, 84), (1, 85), (SECOND, 84 + 3000), (SECOND + 1, 84 + 3001)]
)
def test_error_is_a_step_and_what_the_rate_adds_rounded_up(wait: int, error: int) -> None:
    assert ClockError(step_ns=STEP, rate_ppm=3).of_wait_ns(wait) == error


def test_error_is_taken_from_what_emulator_and_agent_say() -> None:
    rates = compared(raw_min=99_999_600, raw_max=100_000_250, monotonic=100_000_000)
    assert clock_error([rates, started(wake=None, step=STEP, rate_ppm=2)]) == ClockError(
        step_ns=STEP, rate_ppm=2 + 4
    )


def test_clock_of_which_nothing_is_said_is_without_error() -> None:
    assert clock_error([]) == ClockError()


@pytest.mark.parametrize(
    ("margin", "grade"),
    [
        (-1, WITHIN_CLOCK_ERROR),
        (-(STEP + 9), WITHIN_CLOCK_ERROR),
        (-(STEP + 10), "datasheet"),
        (-MS, "datasheet"),
    ],
)
def test_command_is_firmly_early_only_by_the_error_of_the_clock(margin: int, grade: str) -> None:
    events = [
        started(wake=None, step=STEP, rate_ppm=10),
        spi("0x20", read=5),
        busy("0x20", start=6, until=6 + MS),
        early("0x05", read=50, margin=margin),
    ]
    (evidence,) = convict_commands(events)
    assert evidence.grade == grade
    assert evidence.margin_ns == margin


def test_wait_that_is_no_busy_time_is_as_long_as_from_what_opened_it() -> None:
    def at(margin: int) -> list[Event]:
        return [
            started(wake=None, rate_ppm=1000),
            spi("0xab", read=1000),
            spi("0x9f", read=3000, violation="tres", margin=margin, grade="datasheet"),
            spi("0x9f", read=3100, violation="tres", margin=margin, grade="datasheet"),
        ]

    # It waited 2000 ns of 2002, and 1000 ppm of that are 3 ns; then 2100 ns of 2102, likewise.
    assert [item.grade for item in convict_commands(at(-2))] == [WITHIN_CLOCK_ERROR]
    assert [item.grade for item in convict_commands(at(-4))] == ["datasheet"]


def test_firm_and_doubtful_commands_of_an_opcode_stand_apart() -> None:
    events = [
        started(wake=None, step=STEP),
        early("0x02", read=1, margin=-1),
        early("0x02", read=2, margin=-1000),
    ]
    assert [item.grade for item in convict_commands(events)] == [WITHIN_CLOCK_ERROR, "datasheet"]


def observed(*, shortest: int, longest: int) -> ObservedWait:
    """Makes a wait of 1000 ns on a clock that may be wrong by one step."""
    return ObservedWait(
        kind="poll",
        what="a poll",
        requested_ns=1000,
        shortest_ns=shortest,
        longest_ns=longest,
        opened_ns=0,
        clock_error_ns=STEP,
    )


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


def test_shortening_below_the_error_of_the_clock_is_not_visible() -> None:
    assert observed(shortest=900, longest=1100).visible_short_ns == 100 + STEP


def test_wait_on_the_bus_has_the_error_of_its_clock() -> None:
    events = [
        started(wake=0, step=STEP, rate_ppm=2),
        spi("0x20", read=1, sr="0x03"),
        spi("0x05", read=2, sr="0x03"),
        spi("0x05", read=3),
    ]
    waits = observe_waits(events, make_profile(ERASE_WAIT), "GD25Q16C", bridged=False)
    assert [wait.clock_error_ns for wait in waits] == [STEP + 20]
