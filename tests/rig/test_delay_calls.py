# SPDX-License-Identifier: GPL-2.0-or-later
"""Waits that the host program asked for: which are too short, good, or neither."""

import pytest
from delayrig.events import Event
from delayrig.witness.delay_calls import DELAY_CALL, SHORT_DELAY_CALL, convict_calls, observe_calls
from delayrig.witness.evidence import ObservedWait, Witness

MS = 1_000_000
SECOND = 1_000_000_000
READING_NS = 300


def call(requested_ns: int, actual_ns: int, monotonic_ns: int | None = None) -> Event:
    """By the kernel's clock as long as by the raw one, but for the time that reading takes."""
    return {
        "ev": "delay_call",
        "t_ns": 7,
        "requested_ns": requested_ns,
        "actual_ns": actual_ns,
        "monotonic_ns": actual_ns + READING_NS if monotonic_ns is None else monotonic_ns,
    }


def rate(ppm: int) -> Event:
    """What the agent found: the kernel's clock is as much too fast."""
    raw_ns = 100 * MS
    return {
        "ev": "clock_rate",
        "t_ns": 1,
        "raw_ns_min": raw_ns,
        "raw_ns_max": raw_ns,
        "monotonic_ns": raw_ns + raw_ns * ppm // 1_000_000,
    }


def observed(*events: Event) -> list[ObservedWait]:
    """Beside a call for nothing, which tells what reading takes."""
    return observe_calls([rate(2), call(0, 40), *events])[1:]


@pytest.mark.parametrize(
    ("actual_ns", "short"),
    [(SECOND + 1, False), (SECOND, False), (SECOND - READING_NS, False), (SECOND - 400, True)],
)
def test_wait_is_short_where_both_clocks_say_so(actual_ns: int, short: bool) -> None:
    (wait,) = observed(call(SECOND, actual_ns))
    assert wait.is_short is short
    assert bool(convict_calls([wait])) is short


def test_hour_by_a_kernel_clock_that_is_a_little_fast_is_good() -> None:
    (wait,) = observed(call(4294 * SECOND, 4294 * SECOND - 4 * MS, 4294 * SECOND + 900))
    assert wait.is_judged
    assert not wait.is_short


def test_hour_by_a_kernel_clock_that_is_too_fast_is_neither() -> None:
    (wait,) = observed(call(4294 * SECOND, 4294 * SECOND - 40 * MS, 4294 * SECOND + 900))
    assert not wait.is_judged


def test_wait_that_lost_its_seconds_is_convicted_with_what_was_asked() -> None:
    waits = observed(call(5 * SECOND, 5 * SECOND + 9), call(5 * SECOND - 1000, 4 * SECOND))
    (found,) = convict_calls(waits)
    assert found.witness is Witness.DELAY
    assert found.requested_ns == 5 * SECOND - 1000
    assert found.margin_ns == 1000 - SECOND + READING_NS
    assert "4999999 us" in found.what


def test_worst_stands_first() -> None:
    found = convict_calls(observed(call(2 * SECOND, SECOND), call(9 * SECOND, 3 * SECOND)))
    assert [item.requested_ns for item in found] == [9 * SECOND, 2 * SECOND]


def test_wait_that_the_call_itself_takes_is_not_judged_and_of_another_class() -> None:
    (tiny, longer) = observed(call(1000, 1700), call(MS, MS + 600))
    assert (tiny.kind, tiny.is_judged) == (SHORT_DELAY_CALL, False)
    assert (longer.kind, longer.is_judged) == (DELAY_CALL, True)


def test_cell_without_calls_has_none() -> None:
    assert observe_calls([rate(0)]) == []
