# SPDX-License-Identifier: GPL-2.0-or-later
"""Uncertain delay functions that may leave a part of their time to an adapter."""

from itertools import count

import pytest
from delayrig.judge.delay_waits import INTERRUPTED, doubts_of, observe_calls_of
from delayrig.model.delays import CallSite, DelayCall, Delays, DelaysHeader, End
from delayrig.subjects.finder.candidates import COUNTS, NO_UNIT, STORES_TIME
from msgspec.structs import replace

from tests.rig.test_delay_waits import FUNCTION, LATE_NS, US, call, guest

OUTER, DRIVER, SLEEP = range(3)
ARGUMENT_1 = "the time is not its first argument"
STORES = f"{ARGUMENT_1}; {STORES_TIME}"
GAP_NS = 1_000_000
Call = tuple[int, int, int | None]
"""The requested time in us, the duration in ns, and what the sleep inside is asked for in us."""


def record(doubt: str, *calls: Call, outer: str | None = None) -> Delays:
    """Returns the record of an uncertain driver's calls, one after another.

    `outer` is the doubt about a function that passes on all but the longest requests.
    """
    functions = [
        replace(FUNCTION, name="programmer_delay", doubt=outer or ""),
        replace(FUNCTION, name="adapter_delay", doubt=doubt),
        replace(FUNCTION, name="nanosleep() at 0x2000", unit_ns=1, direct=True),
    ]
    found: list[DelayCall] = []
    numbers, t_ns = count(1), 0
    for us, took_ns, asked_us in calls:
        t_ns += GAP_NS
        end_ns = t_ns + took_ns
        whole = call(us, took_ns, t_ns=t_ns, end_ns=end_ns, function=DRIVER, call=next(numbers))
        if outer is not None and us < 100_000:
            found.append(replace(whole, t_ns=t_ns - 32, function=OUTER))
        found.append(whole)
        if asked_us is not None:
            inner = replace(whole, t_ns=t_ns + 16, end_ns=end_ns - 140, function=SLEEP)
            found.append(replace(inner, requested_ns=asked_us * US, ended=End.SITE, result=0))
        t_ns = end_ns
    header = DelaysHeader(functions=functions, late_ns=LATE_NS, calls=len(found), lost=0)
    return Delays(header=header, sites={1: CallSite(site=1, callers=["spi.c:9"])}, calls=found)


def answer(delays: Delays) -> tuple[set[int], list[str]]:
    """Returns the requests in us that were too short, and the doubts."""
    waits = observe_calls_of(delays, guest())
    short = {wait.requested_ns // US for wait in waits if wait.is_short}
    return short, doubts_of(delays, waits, must_wait=True)


def adapter(*, left_us: int | None, short_ns: int = 56) -> list[Call]:
    """Returns 448 short calls and 41 long ones; a sleep inside asks for 20 us less, or as given."""
    asked = (None, None) if left_us is None else (100_000 - left_us, 10_000 - left_us)
    return [
        (100_000, 100_053_956, asked[0]),
        *[(10, short_ns, None)] * 448,
        *[(10_000, 10_050_364, asked[1])] * 40,
    ]


@pytest.mark.parametrize("outer", [None, ARGUMENT_1], ids=["alone", "called by another"])
@pytest.mark.parametrize(
    ("doubt", "left_us", "doubts"),
    [
        pytest.param(STORES, 20, [], id="an adapter takes 20 us"),
        pytest.param(ARGUMENT_1, 20, [INTERRUPTED], id="nothing takes the 20 us"),
        pytest.param(STORES, 0, [INTERRUPTED], id="short calls are cut"),
        pytest.param(STORES, 9, [INTERRUPTED], id="less than a short call is left"),
        pytest.param(STORES, 200, [INTERRUPTED], id="more than an adapter takes is left"),
        pytest.param(ARGUMENT_1, None, [INTERRUPTED], id="no sleep was seen"),
        pytest.param(f"{STORES}; {NO_UNIT}", 20, [INTERRUPTED], id="its unit is unknown"),
    ],
)
def test_short_calls_that_last_0_beside_whole_long_ones_convict_nobody(
    doubt: str, left_us: int | None, doubts: list[str], outer: str | None
) -> None:
    assert answer(record(doubt, *adapter(left_us=left_us), outer=outer)) == (set(), doubts)


def test_short_calls_that_a_certain_function_or_a_loop_cuts_convict() -> None:
    for doubt in ("", COUNTS):
        assert answer(record(doubt, *adapter(left_us=None)))[0] == {10}


@pytest.mark.parametrize(
    ("calls", "short", "doubts"),
    [
        pytest.param(
            [(250, 230_660, None), (500, 480_388, None), (100_000, 100_053_948, None)],
            set(),
            [INTERRUPTED],
            id="a constant",
        ),
        pytest.param(
            [(500, 490_000, None), (1500, 1_480_000, None), (9, 9_100, None)],
            set(),
            [INTERRUPTED],
            id="a constant, and less of it beside a part of an earlier call",
        ),
        pytest.param(
            [(10, 9800, None), (350, 343_000, None), (3000, 2_940_000, None)],
            {10, 350, 3000},
            [],
            id="2 percent",
        ),
        pytest.param(
            [(10, 60, None), (350, 343_000, None), (3000, 2_940_000, None)],
            {350, 3000},
            [INTERRUPTED],
            id="2 percent, and short calls that last 0",
        ),
        pytest.param(
            [(5000, 4_900_000, None), (20_000, 20_000_100, None)],
            set(),
            [INTERRUPTED],
            id="100 us",
        ),
        pytest.param(
            [(5000, 4_899_000, None), (20_000, 20_000_100, None)], {5000}, [], id="more than 100 us"
        ),
        pytest.param(
            [(10_000, 5_050_000, 4980), (100_000, 100_050_000, 99_980)], {10_000}, [], id="half"
        ),
    ],
)
def test_shortness_convicts_if_it_is_large_or_grows_with_the_request(
    calls: list[Call], short: set[int], doubts: list[str]
) -> None:
    assert answer(record(ARGUMENT_1, *calls)) == (short, doubts)


def test_call_whose_sleep_was_asked_for_the_whole_time_left_nothing() -> None:
    calls = [(10_000, 9_990_000, 10_000), (100_000, 100_050_000, 100_000)]
    assert answer(record(STORES, *calls))[0] == {10_000}


def test_sleep_in_a_call_that_left_a_part_is_judged_itself() -> None:
    calls = [(500, 481_000, 480), (100_000, 100_050_000, 99_980)]
    delays = record(STORES, *calls)
    waits = observe_calls_of(delays, guest())
    assert sorted(wait.requested_ns // US for wait in waits) == [480, 100_000]
    assert answer(delays) == (set(), [])
