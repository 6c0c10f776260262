# SPDX-License-Identifier: GPL-2.0-or-later
"""Functions that may be delays: the calls that confirm one, and the verdicts about them."""

from pathlib import Path

import pytest
from delayrig.judge.delay_waits import UNSURE, doubts_of, observe_calls_of
from delayrig.model.delays import CallSite, DelayCall, Delays, DelaysHeader, End
from delayrig.subjects.finder.confirm import confirm, unit_of
from delayrig.subjects.finder.finding import find_in
from msgspec.structs import replace

from tests.rig import delay_programs as programs
from tests.rig.test_delay_waits import FUNCTION, LATE_NS, US, call, guest
from tests.rig.test_sleeps import START, request

MS = 1000 * US
WRAPPER = replace(FUNCTION, name="clock_delay", found_by="finder", doubt="its second argument")
SLEEP = replace(
    FUNCTION, name="usleep() at 0x2000", address=0x2000, unit_ns=1, found_by="call", direct=True
)

WRAPS = """\
#include <unistd.h>
struct clock { void (*delay_us)(void *context, unsigned int us); void *context; };
static void clock_delay(void *context, unsigned int us) { (void)context; usleep(us); }
struct clock the_clock = { clock_delay, 0 };
struct clock *volatile used = &the_clock;
int main(int argc, char **argv)
{
	(void)argv;
	used->delay_us(used->context, (unsigned int)argc * 10);
	return 0;
}
"""


def wrapped(requested_us: int, inner_us: int, took_ns: int, *, at: int = 5000) -> list[DelayCall]:
    """Returns a call of the wrapper, and the sleep inside it."""
    outer = call(requested_us, took_ns + 200, t_ns=at, end_ns=at + took_ns + 200)
    inner = call(inner_us, took_ns, t_ns=at + 100, end_ns=at + 100 + took_ns, function=1)
    return [outer, replace(inner, call=2, ended=End.SITE, result=0)]


def seen(*calls: DelayCall) -> Delays:
    header = DelaysHeader(functions=[WRAPPER, SLEEP], late_ns=LATE_NS, calls=len(calls), lost=0)
    site = CallSite(site=1, callers=["clock.c:9"])
    return Delays(header=header, sites={1: site}, calls=list(calls))


def test_short_sleep_in_an_unconfirmed_wrapper_convicts() -> None:
    delays = seen(*wrapped(5000, 5000, 300 * US))
    waits = observe_calls_of(delays, [START, request(1 * MS)])
    assert [wait.is_short for wait in waits] == [True]


def test_sleep_for_less_than_its_wrapper_requested_is_a_doubt() -> None:
    delays = seen(*wrapped(5000, 500, 501 * US))
    waits = observe_calls_of(delays, guest())
    assert [wait.is_short for wait in waits] == [False]
    assert doubts_of(delays, waits, must_wait=True) == [UNSURE]


def test_confirmed_wrapper_is_judged_instead_of_its_sleeps() -> None:
    calls = wrapped(5000, 5000, 5001 * US) + wrapped(300, 300, 301 * US, at=9_000_000)
    delays = seen(*calls)
    waits = observe_calls_of(delays, guest())
    assert [wait.requested_ns for wait in waits] == [5 * MS, 300 * US]
    assert doubts_of(delays, waits, must_wait=True) == []


def stopped(requested_us: int, took_us: int, *, at: int) -> list[DelayCall]:
    """Returns a call that requests 50 us more than its sleep, which lasts `took_us`."""
    return wrapped(requested_us, requested_us - 50, took_us * US, at=at)


def test_wrapper_is_no_doubt_if_each_call_lasted_and_some_were_stopped() -> None:
    calls = stopped(1400, 1450, at=5000) + stopped(150, 25_000, at=9_000_000)
    delays = seen(*calls)
    assert doubts_of(delays, observe_calls_of(delays, guest()), must_wait=True) == []


@pytest.mark.parametrize(
    "calls",
    [
        pytest.param([(1400, 1390), (1500, 25_000)], id="one call was too short"),
        pytest.param([(400, 20_000), (500, 25_000)], id="its unit may be longer"),
        pytest.param([(60, 1000), (90, 400)], id="no long call"),
    ],
)
def test_wrapper_that_may_be_too_short_is_a_doubt(calls: list[tuple[int, int]]) -> None:
    pairs = [stopped(*call, at=5000 + at * 100_000_000) for at, call in enumerate(calls)]
    delays = seen(*(call for pair in pairs for call in pair))
    assert doubts_of(delays, observe_calls_of(delays, guest()), must_wait=True) == [UNSURE]


def in_another_thread(*, at: int) -> DelayCall:
    """Returns a sleep of 1400 us in another thread, which is long enough."""
    slept = call(1400, 1401 * US, t_ns=at, end_ns=at + 1401 * US, function=1)
    return replace(slept, thread=9, ended=End.SITE, result=0)


@pytest.mark.parametrize(
    ("took_us", "doubts"),
    [
        pytest.param([1402, 1402, 300], [UNSURE], id="one call was too short"),
        pytest.param([3, 3, 4], [], id="much shorter than the argument"),
    ],
)
def test_sleeps_of_another_thread_confirm_no_wrapper(took_us: list[int], doubts: list[str]) -> None:
    begins = [10_000_000 * number for number in range(1, 4)]
    outer = [
        call(1400, took * US, t_ns=at, end_ns=at + took * US)
        for at, took in zip(begins, took_us, strict=True)
    ]
    delays = seen(*outer, *(in_another_thread(at=at + 10) for at in begins))
    assert doubts_of(delays, observe_calls_of(delays, guest()), must_wait=True) == doubts


def test_sleeps_that_end_at_a_tick_confirm_if_one_was_long() -> None:
    assert confirm([(25_000, 28_790_000), (1562, 3_967_000), (40, 3_900_000)]) == ""
    assert confirm([(1562, 3_967_000), (40, 3_900_000)]) != ""
    assert confirm([(25_000, 9_000_000), (1562, 3_967_000)]) != ""


def test_wrapper_with_its_time_in_argument_1_is_found(tmp_path: Path) -> None:
    program = programs.stripped(programs.build(tmp_path, WRAPS, "-O2"))
    findings = find_in(program.read_bytes())
    (wrapper,) = findings.found
    (sleep,) = findings.direct
    assert (wrapper.argument, bool(wrapper.doubt)) == (1, True)
    assert (sleep.called, sleep.function) == ("usleep", wrapper.address)


S = 1000 * MS


@pytest.mark.parametrize(
    "calls",
    [
        [(1_000_000, S + 70_000)],
        [(10, 10_300), (10, 15_200), (10_000, 10 * MS + 89_000)],
        [(10, 70_000), (100, 160_000), (1_000_000, S)],
        [(5000, int(0.98 * 5000 * US)), (400_000, int(0.98 * 400 * MS))],
        [(100_000, 45 * MS), (1_000_000, 500 * MS)],
        [(0, 200), (1_000_000, S)],
    ],
    ids=["one second", "exact", "sleeps", "2 % short", "half", "with a call for 0"],
)
def test_duration_in_proportion_to_the_argument_confirms(calls: list[tuple[int, int]]) -> None:
    assert confirm(calls) == ""
    assert unit_of(calls) == US


@pytest.mark.parametrize(
    ("calls", "why"),
    [
        ([], "not asked for any time"),
        ([(0, 100)], "not asked for any time"),
        ([(1_000_000, 2 * MS)], "does not explain"),
        ([(10, 50 * MS), (1000, 50 * MS)], "does not explain"),
        ([(3, 3 * MS), (9, 3 * MS)], "does not explain"),
        ([(1000, 11 * MS), (100_000, 12 * MS)], "does not explain"),
        ([(20, 21_000), (21, 22_000)], "too short"),
    ],
    ids=["no call", "zero", "far too short", "constant", "handle", "nearly constant", "too short"],
)
def test_duration_of_another_cause_is_no_delay(calls: list[tuple[int, int]], why: str) -> None:
    assert why in confirm(calls)


@pytest.mark.parametrize(
    "calls",
    [[(10, 10_300), (100, 100_400)], [(10, 10_300 + 500 * n) for n in range(8)]],
    ids=["of two lengths", "many"],
)
def test_accurate_short_durations_confirm(calls: list[tuple[int, int]]) -> None:
    assert unit_of(calls) is None
    assert confirm(calls) == ""
    assert confirm(calls[:1]) == "its calls are too short to show the unit of its argument"


def test_proportional_durations_confirm_even_if_far_too_short() -> None:
    calls = [(10, 3_000), (10_000, 1_300_000), (100_000, 12_100_000), (1_000_000, 123_667_000)]
    assert confirm(calls) == ""
    assert "does not explain" in confirm(calls[:2])
    assert "does not explain" in confirm([(10_000, 1_300_000), (1_000_000, 1_400_000)])


def test_argument_in_another_unit_is_a_doubt_that_names_the_unit() -> None:
    calls = [(10, 10 * MS + 60_000), (250, 250 * MS + 60_000)]
    assert unit_of(calls) == MS
    assert confirm(calls) == "its argument counts ms, not us"
    assert confirm(calls, MS) == ""
