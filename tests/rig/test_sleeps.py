# SPDX-License-Identifier: GPL-2.0-or-later
"""Direct waits: the calls and requests after a sleep decide if it was too short."""

from typing import Any

import pytest
from delayrig.judge.delay_waits import INTERRUPTED, NO_FUNCTION, UNREAD, doubts_of, observe_calls_of
from delayrig.lanes.delay_record import WALL_CLOCK
from delayrig.model.delays import NO_LIMIT, DelayCall, Delays, DelaysHeader, End, FunctionFacts
from delayrig.model.events import Event
from delayrig.model.evidence import ObservedDelay
from delayrig.model.kinds.agent import ClockRate
from delayrig.model.kinds.emulator import Spi, Start
from msgspec.structs import replace

from tests.rig import builders
from tests.rig.builders import MS, delay
from tests.rig.event_builders import made

US = 1000
DELAY, SLEEP, OTHER = range(3)
LATENCY_NS = 50 * US
(PLAIN,) = builders.delays_of().header.functions
FUNCTIONS = [
    PLAIN,
    replace(PLAIN, name="nanosleep() at 0x2", direct=True, unit_ns=1),
    replace(PLAIN, name="short_delay"),
]
START: Event = made(Start, clock_step_ns=0, clock_rate_error_ppm=0, wake_latency_ns_max=LATENCY_NS)


def call(
    requested_ns: int, t_ns: int, end_ns: int, function: int = SLEEP, **more: Any
) -> DelayCall:
    """Returns a call that ended at its call site, with the changes."""
    plain = delay(0, took_ns=end_ns - t_ns, at=t_ns)
    facts = {"function": function, "requested_ns": requested_ns, "ended": End.SITE, **more}
    return replace(plain, **facts)


def recorded(*calls: DelayCall, functions: list[FunctionFacts] = FUNCTIONS) -> Delays:
    """Returns the delays that QEMU recorded, with times that may be 4 ns late."""
    header = DelaysHeader(functions=functions, late_ns=4, calls=len(calls), lost=0)
    return Delays(header=header, sites={}, calls=list(calls))


def request(read_ns: int, **more: Any) -> Event:
    return made(Spi, **{"read_ns": read_ns, "gap_ns": 5, **more})


def observed(*calls: DelayCall, bus: tuple[Event, ...] = ()) -> list[ObservedDelay]:
    return observe_calls_of(recorded(*calls), [START, *bus])


def judgement(wait: ObservedDelay) -> str:
    """Returns the judgement of a wait in one word."""
    if wait.is_open:
        return "open"
    return "short" if wait.is_short else "good" if wait.is_judged else "unjudged"


def test_sleep_is_short_if_it_ended_early_and_a_request_followed_too_early() -> None:
    (wait,) = observed(call(MS, 0, MS + US), bus=(request(MS + 2 * US),))
    assert (judgement(wait), wait.shortest_ns) == ("good", MS + US - 4)
    (wait,) = observed(call(10 * MS, 0, 4 * MS), bus=(request(9 * MS),))
    assert judgement(wait) == "short"
    assert (wait.shortest_ns, wait.longest_ns) == (4 * MS - 4, 9 * MS)


def test_sleep_without_a_later_request_is_open() -> None:
    waits = observed(call(10 * MS, 0, 4 * MS), bus=(request(3 * MS),))
    assert [judgement(wait) for wait in waits] == ["open"]
    assert INTERRUPTED in doubts_of(recorded(), waits, must_wait=False)


@pytest.mark.parametrize(
    ("read_ns", "found"),
    [
        (10 * MS + LATENCY_NS, "good"),
        (10 * MS + LATENCY_NS - US, "open"),
        (10 * MS, "open"),
        (10 * MS - US, "short"),
    ],
)
def test_interrupted_sleep_is_judged_by_the_time_of_the_next_request(
    read_ns: int, found: str
) -> None:
    (wait,) = observed(call(10 * MS, 0, 4 * MS), bus=(request(read_ns),))
    assert judgement(wait) == found


def test_request_that_was_sent_before_the_sleep_ended_does_not_judge_it() -> None:
    pipelined = request(6 * MS, gap_ns=-5)
    early = request(6 * MS, arrived_ns=3 * MS)
    (wait,) = observed(call(10 * MS, 0, 4 * MS), bus=(pipelined, early))
    assert judgement(wait) == "open"


def test_resumed_sleeps_count_as_one_wait() -> None:
    calls = (
        call(10 * MS, 0, 4 * MS),
        call(6 * MS, 4 * MS + US, 7 * MS),
        call(3 * MS + US, 7 * MS + US, 10 * MS + 9 * US),
    )
    waits = observed(*calls, bus=(request(10 * MS + 20 * US),))
    assert [judgement(wait) for wait in waits] == ["good"] * 3
    assert waits[0].shortest_ns == 10 * MS + 9 * US - 4


@pytest.mark.parametrize(
    ("rest", "read_ns"),
    [
        (call(2 * MS, 4 * MS + US, 6 * MS + 2 * US), 7 * MS),
        (call(6 * MS, 6 * MS, 12 * MS + US), 5 * MS),
        (call(6 * MS, 4 * MS + US, 11 * MS, thread=2), 5 * MS),
    ],
    ids=["too short", "after a request", "in another thread"],
)
def test_sleep_that_does_not_resume_an_interrupted_one_leaves_it_short(
    rest: DelayCall, read_ns: int
) -> None:
    waits = observed(call(10 * MS, 0, 4 * MS), rest, bus=(request(read_ns),))
    assert [judgement(wait) for wait in waits] == ["short", "good"]


def rate(**more: Any) -> Event:
    """Returns an event in which CLOCK_MONOTONIC is 1 ms behind the clock of the events."""
    plain = ClockRate(
        t_ns=100 * MS,
        raw_ns_min=200 * MS,
        raw_ns_max=200 * MS + 2,
        monotonic_ns=200 * MS + 1,
        monotonic_at_ns=99 * MS,
    )
    return replace(plain, **more)


@pytest.mark.parametrize(
    ("end_ns", "read_ns", "found"),
    [
        (121 * MS + US, 122 * MS, "good"),
        (115 * MS, 116 * MS, "short"),
        (115 * MS, 122 * MS, "good"),
    ],
)
def test_absolute_sleep_is_judged_by_the_guests_clock(
    end_ns: int, read_ns: int, found: str
) -> None:
    until = call(0, 111 * MS, end_ns, until_ns=120 * MS)
    (wait,) = observed(until, bus=(rate(), request(read_ns)))
    assert (wait.requested_ns, judgement(wait)) == (10 * MS, found)


def test_absolute_sleep_to_the_same_deadline_resumes() -> None:
    calls = [
        call(0, 111 * MS, 115 * MS, until_ns=120 * MS),
        call(0, 115 * MS + US, 121 * MS + US, until_ns=120 * MS),
    ]
    waits = observed(*calls, bus=(rate(), request(121 * MS + 2 * US)))
    assert [judgement(wait) for wait in waits] == ["good", "good"]


def test_absolute_sleep_to_a_past_deadline_is_no_wait() -> None:
    assert observed(call(0, 130 * MS, 130 * MS + US, until_ns=120 * MS), bus=(rate(),)) == []


def test_absolute_sleep_is_open_if_the_guests_clock_is_unknown() -> None:
    (wait,) = observed(call(0, 111 * MS, 121 * MS, until_ns=120 * MS))
    assert judgement(wait) == "open"


@pytest.mark.parametrize(
    ("inner", "found"),
    [
        (call(9 * MS, US, 2 * MS), ["good"]),
        (call(9 * MS, 11 * MS, 12 * MS), ["good", "short"]),
        (call(9 * MS, US, 2 * MS, function=OTHER), ["good"]),
        (call(11 * MS, US, 2 * MS, function=OTHER), ["good", "short"]),
        (call(9 * MS, US, 2 * MS, function=DELAY), ["good", "short"]),
    ],
    ids=["sleep", "sleep after it", "shorter delay", "longer delay", "in a handler"],
)
def test_wait_inside_a_delay_is_judged_only_if_it_is_longer_or_in_a_signal_handler(
    inner: DelayCall, found: list[str]
) -> None:
    outer = call(10 * MS, 0, 10 * MS + US, function=DELAY)
    waits = observed(outer, inner, bus=(request(13 * MS),))
    assert [judgement(wait) for wait in waits] == found
    assert waits[0].requested_ns == 10 * MS


@pytest.mark.parametrize(("why", "doubts"), [(WALL_CLOCK, [UNREAD]), (NO_LIMIT, [])])
def test_sleep_of_unknown_length_is_a_doubt_unless_it_has_no_limit(
    why: str, doubts: list[str]
) -> None:
    delays = recorded(call(0, 0, MS, unread=why))
    assert doubts_of(delays, observe_calls_of(delays, [START]), must_wait=False) == doubts


def test_sleeps_alone_are_not_all_waits_if_the_program_polls_a_clock() -> None:
    polled = replace(FUNCTIONS[SLEEP], name="clock_gettime() at 0x3", doubt="its length is unknown")
    for functions, doubts in (
        ([FUNCTIONS[DELAY], FUNCTIONS[SLEEP], polled], []),
        ([PLAIN, FUNCTIONS[SLEEP]], []),
        ([polled, FUNCTIONS[SLEEP]], [NO_FUNCTION]),
    ):
        delays = recorded(call(MS, 0, MS + US), functions=functions)
        waits = observe_calls_of(delays, [START])
        assert doubts_of(delays, waits, must_wait=True) == doubts
