# SPDX-License-Identifier: GPL-2.0-or-later
"""The delay witness: its judgement of the calls that QEMU saw, and its doubts."""

from pathlib import Path
from typing import Any

import pytest
from delayrig.judge.bus import Bus, SeenBus, bus_of, is_known_release
from delayrig.judge.delay_waits import (
    LOST,
    NO_DELAYS,
    NONE_JUDGED,
    NOT_SEEN_TO_END,
    UNSURE,
    doubts_of,
    ended_within_step,
    observe_calls_of,
)
from delayrig.judge.judge import judge_cell, planned_result
from delayrig.judge.waits import SeenWaits, convict_waits, disagreement
from delayrig.model import workload
from delayrig.model.cell import Job, Role
from delayrig.model.delays import CallSite, DelayCall, Delays, End, encode_delays
from delayrig.model.events import Event
from delayrig.model.evidence import ObservedDelay, Witness
from delayrig.model.kinds.agent import ClockRate, Guest
from delayrig.model.kinds.emulator import Start
from delayrig.model.kinds.pace import Pace
from delayrig.model.lane import LaneName
from delayrig.model.result import CellResult, Verdict
from msgspec.structs import replace

from tests.rig import builders
from tests.rig.builders import delay, make_cell, make_chip, make_subject, make_wait, sparse_image
from tests.rig.event_builders import as_lines, made, sound_events

US, LATE_NS = 1000, 4
FUNCTION = builders.delays_of().header.functions[0]
SITE_2 = CallSite(site=2, callers=["core/flash.c:9"])


def call(us: int, took_ns: int | None, **changes: Any) -> DelayCall:
    """Returns a call that requested `us` microseconds; `changes` replace its other fields."""
    return replace(delay(us, took_ns=took_ns, at=5000), **changes)


def delays_of(*calls: DelayCall, lost: int = 0, **facts: Any) -> Delays:
    """Returns the record of these calls of one function; `facts` replace fields of the function."""
    plain, functions = builders.delays_of(*calls), [replace(FUNCTION, **facts)]
    header = replace(plain.header, functions=functions, late_ns=LATE_NS, lost=lost)
    return replace(plain, header=header, sites=plain.sites | {2: SITE_2})


def guest(clocksource: str = "tsc") -> list[Event]:
    return [made(Guest, clocksource=clocksource)]


def observed(*calls: DelayCall, clocksource: str = "tsc", **facts: Any) -> list[ObservedDelay]:
    return observe_calls_of(delays_of(*calls, **facts), guest(clocksource))


@pytest.mark.parametrize(
    ("took_ns", "short", "judged"),
    [
        (10 * US - LATE_NS - 2, True, True),
        (10 * US - LATE_NS - 1, False, False),
        (10 * US + LATE_NS - 1, False, False),
        (10 * US + LATE_NS, False, True),
        (9 * US, True, True),
        (99 * US, False, True),
    ],
)
def test_delay_within_its_error_is_neither_short_nor_judged(
    took_ns: int, short: bool, judged: bool
) -> None:
    (wait,) = observed(call(10, took_ns))
    assert (wait.is_short, wait.is_judged) == (short, judged)


@pytest.mark.parametrize(
    ("clocksource", "step_ns"), [("acpi_pm", 838), ("hpet", 1030), ("jiffies", 4_000_000)]
)
def test_delay_short_by_a_clock_step_is_not_judged(clocksource: str, step_ns: int) -> None:
    requested_us = 9000
    took_ns = requested_us * US - step_ns - LATE_NS
    waits = observed(call(requested_us, took_ns), clocksource=clocksource)
    assert (waits[0].is_short, waits[0].is_judged) == (False, False)
    assert ended_within_step(waits)
    assert observed(call(requested_us, took_ns - 1), clocksource=clocksource)[0].is_short


def test_jump_of_the_clock_widens_each_interval_by_the_jump() -> None:
    rate = made(ClockRate, monotonic_ns=10**9, raw_ns_min=0, raw_ns_max=10**9 - 5000)
    pace: Event = made(Pace, windows_behind=0)
    start: Event = made(Start, clock_step_ns=1, clock_rate_error_ppm=0)
    sound = replace(rate, raw_ns_max=10**9, raw_ns_min=10**9)
    delays = delays_of(call(100, 95_000))
    assert observe_calls_of(delays, [start, pace, sound, *guest()])[0].is_short
    assert not observe_calls_of(delays, [start, pace, rate, *guest()])[0].is_short


def test_clock_that_gains_time_excuses_only_its_rate() -> None:
    span_ns, gained_ns = 200_000_000, 200
    gains: Event = made(
        ClockRate,
        monotonic_ns=span_ns + gained_ns,
        raw_ns_min=span_ns - 80,
        raw_ns_max=span_ns + 80,
    )
    (wait,) = observe_calls_of(delays_of(call(1, 914)), [gains, *guest()])
    assert wait.is_short
    assert wait.clock_error_ns < 10


@pytest.mark.parametrize(
    ("behind", "short_ns_max", "took_us", "short"),
    [
        (0, 0, 940, True),
        (0, 0, 970, False),
        (1, 0, 790, True),
        (1, 0, 810, False),
        (1, 50_000_000, 390, True),
        (1, 50_000_000, 410, False),
        (1, 100_000_000, 20, False),
    ],
)
def test_time_that_the_host_took_from_a_core_widens_each_interval(
    behind: int, short_ns_max: int, took_us: int, short: bool
) -> None:
    pace: Event = made(Pace, window_ms=100, windows_behind=behind, short_ns_max=short_ns_max)
    (wait,) = observe_calls_of(delays_of(call(1000, took_us * US)), [pace, *guest()])
    assert wait.is_short is short


def test_rate_error_of_the_clock_excuses_a_delay_short_by_it() -> None:
    start: Event = made(Start, clock_step_ns=50, clock_rate_error_ppm=10)
    for took_ns, is_short in ((10**9 - 10_000, False), (10**9 - 10_006, True)):
        (wait,) = observe_calls_of(delays_of(call(1_000_000, took_ns)), [start, *guest()])
        assert (wait.is_short, wait.is_judged) == (is_short, is_short)


@pytest.mark.parametrize(("cut_ns", "convicted"), [(-1, False), (0, True)])
def test_shortening_beyond_the_overhead_is_visible(*, cut_ns: int, convicted: bool) -> None:
    (whole,) = observed(call(100, 103_000))
    assert whole.visible_short_ns > 3000
    (cut,) = observed(call(100, 103_000 - whole.visible_short_ns - cut_ns))
    assert cut.is_short is convicted


def test_call_for_no_time_or_without_an_end_is_no_wait() -> None:
    assert observed(call(0, 5), call(7, None)) == []


def test_end_at_a_site_convicts_unless_setjmp_may_lead_there() -> None:
    at_site = call(10, 5, ended=End.SITE)
    assert observed(at_site)[0].is_short
    assert not observed(at_site, setjmp=True)[0].is_short
    assert observed(replace(at_site, ended=End.RETURN), setjmp=True)[0].is_short


def test_conviction_names_function_thread_cores_and_call_stack() -> None:
    (evidence,) = convict_waits(list(observed(call(100, 9000), call(100, 7000, t_ns=0))))
    assert (evidence.witness, evidence.count, evidence.grade) == (Witness.DELAY, 2, "exact")
    assert evidence.requested_ns == 100 * US
    assert evidence.what == "a delay for core/busy.c:154 < drivers/spi25.c:67 was too short"
    where = "default_delay at 5000 ns, thread 1, cpu 0 to 1: core/busy.c:154 < drivers/spi25.c:67"
    assert evidence.where == where


def test_each_call_site_is_convicted_separately() -> None:
    waits = observed(call(50, 1), call(50, 1, site=2), call(50, 1, site=0))
    assert [item.what for item in convict_waits(list(waits))] == [
        "a delay for core/busy.c:154 < drivers/spi25.c:67 was too short",
        "a delay for core/flash.c:9 was too short",
        "a delay for an unknown caller was too short",
    ]


@pytest.mark.parametrize(
    ("delays", "doubts"),
    [
        (delays_of(call(10, 10_100)), []),
        (delays_of(call(10, 10_100), lost=1), [LOST]),
        (delays_of(call(10, 10_100), call(9, None)), [NOT_SEEN_TO_END]),
        (delays_of(call(10, 10_100), call(9, None, ended=End.ABANDONED)), [NOT_SEEN_TO_END]),
        (delays_of(call(0, None)), [NO_DELAYS]),
        (delays_of(), [NO_DELAYS]),
        (delays_of(call(10, 10_000)), [NONE_JUDGED]),
        (delays_of(call(10, 900_000), doubt="two arguments"), [UNSURE]),
        (delays_of(call(5000, 5_000_100), call(10, 10_100), doubt="two arguments"), []),
        (delays_of(call(10, 5, ended=End.SITE), call(9, 9500), setjmp=True), [NOT_SEEN_TO_END]),
    ],
)
def test_doubts_about_delays(delays: Delays, doubts: list[str]) -> None:
    assert doubts_of(delays, observe_calls_of(delays, guest()), must_wait=True) == doubts


def test_doubtful_function_convicts_only_if_its_calls_confirm_it() -> None:
    short, long = call(5000, 4_000_000), call(20_000, 20_000_100)
    assert observed(call(5000, 45_000), doubt="two arguments") == []
    assert [wait.is_short for wait in observed(short, long, doubt="two arguments")] == [True, False]


def test_release_is_known_by_digest_or_version() -> None:
    known = "73d8e8076561977615d8c46c9feaf425d3cc8c333a5820c5228d0c973ad3b400"
    assert is_known_release(make_subject(program_sha256=known))
    assert is_known_release(make_subject(package_version="1.3.0"))
    assert not is_known_release(make_subject(package_version="1.8.0"))
    assert not is_known_release(make_subject())


def test_bus_witness_convicts_releases_and_describes_other_programs_if_delays_are_seen() -> None:
    unknown, release = make_subject(), make_subject(package_version="1.4.0")
    assert bus_of(make_cell(), release) is Bus.CONVICTS
    assert bus_of(make_cell(), unknown) is Bus.DESCRIBES
    assert bus_of(make_cell(role=Role.CANARY), unknown) is Bus.DESCRIBES
    assert bus_of(make_cell(lane=LaneName.LIVE), unknown) is Bus.DESCRIBES
    assert bus_of(make_cell(lane=LaneName.HOST), unknown) is Bus.ACQUITS
    assert bus_of(make_cell(lane=LaneName.HOST, role=Role.CANARY), unknown) is Bus.CONVICTS


@pytest.mark.parametrize(
    ("longest_ns", "calls", "is_fault"),
    [
        (9_000_000, [call(10_000, 10_000_100)], True),
        (10_100_000, [call(10_000, 10_000_100)], False),
        (9_000_000, [call(10_000, 8_000_000)], False),
        (9_000_000, [], False),  # no call requested that much
    ],
)
def test_bus_that_convicts_a_delay_that_was_long_enough_is_a_fault_of_the_rig(
    longest_ns: int, calls: list[DelayCall], is_fault: bool
) -> None:
    wait = make_wait(requested_ns=10_000_000, longest_ns=longest_ns)
    bus = SeenBus(decides=Bus.CONVICTS, waits=[wait])
    waits = SeenWaits(bus=bus, delays=observed(*calls, call(10, 10_100)))
    assert bool(disagreement(waits)) is is_fault


def result_of(folder: Path, delays: Delays | None, job: Job = Job.WRITE) -> CellResult:
    """Judges a cell of an unknown program with sound events, the right data and these delays."""
    cell, chip = make_cell(job=job), make_chip()
    content = workload.final_content(cell, workload.region_of(cell, chip))
    (folder / "events.jsonl").write_bytes(as_lines(sound_events()))
    (folder / "stdout.txt").write_text("flashrom 1.4.0-changed\n", encoding="ascii")
    (folder / "image.sparse").write_bytes(sparse_image(content))
    if delays is not None:
        (folder / "delays.jsonl").write_bytes(encode_delays(delays))
    planned = planned_result(cell, chip, rerun="")
    return judge_cell(cell, chip, folder, planned, subject=make_subject())


def test_unknown_program_passes_by_its_delays(tmp_path: Path) -> None:
    result = result_of(tmp_path, delays_of(call(10, 10_100)))
    assert result.verdict is Verdict.PASS
    assert result.judged == ["delay-from-10us"]
    # The call took 100 ns longer than requested, which hides a shortening of up to 100 ns + error.
    assert result.smallest_visible_short_ns == 100 + LATE_NS + 2


def test_unknown_program_is_convicted_by_its_delays(tmp_path: Path) -> None:
    result = result_of(tmp_path, delays_of(call(1_000_000, 45_000_000)))
    assert result.verdict is Verdict.TOO_SHORT
    (evidence,) = result.evidence
    assert evidence.actual_ns == (45_000_000 - LATE_NS, 45_000_000 + LATE_NS)


@pytest.mark.parametrize(
    ("delays", "verdict", "reason", "unjudged"),
    [
        (None, Verdict.INCONCLUSIVE, "no delay function was found", ""),
        (
            delays_of(call(10, 10_100), call(10, None)),
            Verdict.INCONCLUSIVE,
            NOT_SEEN_TO_END,
            NOT_SEEN_TO_END,
        ),
        (
            delays_of(call(10, 10_100), call(10, 10_000)),
            Verdict.PASS,
            "",
            "delay (some ended early by less than a clock_step)",
        ),
    ],
)
def test_doubt_prevents_a_pass_and_a_clock_step_does_not(
    tmp_path: Path, delays: Delays | None, verdict: Verdict, reason: str, unjudged: str
) -> None:
    result = result_of(tmp_path, delays)
    assert result.verdict is verdict
    assert reason in result.reason
    assert not unjudged or unjudged in result.unjudged
