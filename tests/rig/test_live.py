# SPDX-License-Identifier: GPL-2.0-or-later
"""Parts of the live lane that need no guest: clock, connection to the agent, trace, hazards."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from delayrig.base.errors import BadInputError, LostGuestError
from delayrig.hazards import hazard_of, parse_hazards, refusal_on
from delayrig.hazards.artifacts import Artifacts
from delayrig.hazards.cores import fastest_core
from delayrig.hazards.speed import Governor, SpeedHazard
from delayrig.judge.trust import pace_fault
from delayrig.lanes.host.record import ClockReading
from delayrig.lanes.live.agent_connection import GuestClock, Line, open_line
from delayrig.lanes.live.machine import live_shape
from delayrig.lanes.live.pace import pace_events
from delayrig.model.cell import Cell
from delayrig.model.events import Event, TraceLine, encode_events, needed
from delayrig.model.evidence import ObservedWait
from delayrig.model.kinds.agent import SubjectEnd, SubjectStart
from delayrig.model.kinds.emulator import Accept, Busy
from delayrig.model.kinds.hazard import CrowdRunning, CrowdStopped, Hotplugs, Migrations, Moved
from delayrig.model.kinds.pace import Pace, Speed, Window
from delayrig.model.lane import LaneName
from delayrig.model.speed import Origin, SpeedChange
from delayrig.plan.machines import find_machine, machine_names, scaled_mips

from tests.rig.builders import MS, make_cell, make_wait
from tests.rig.event_builders import made, seen_of


def reading(host_ns: int, guest_ns: int, width_ns: int = 100) -> ClockReading:
    return ClockReading(host_ns, guest_ns, host_ns + width_ns)


def test_guest_time_becomes_host_time_on_the_line_through_both_readings() -> None:
    begin, end = reading(1_000_000, 500_000, 0), reading(1_001_000 + 10, 501_000, 0)
    clock = GuestClock(begin=begin, end=end)
    found = [clock.to_host_ns(ns) for ns in (500_000, 500_500, 501_000)]
    assert found == [1_000_000, 1_000_505, 1_001_010]


def test_rate_bounds_hold_and_a_clock_that_stands_still_is_a_lost_guest() -> None:
    rate = GuestClock(begin=reading(1000, 0, 300), end=reading(10_000, 9_200, 400)).rate
    assert (rate.raw_ns_min, rate.raw_ns_max, rate.monotonic_ns) == (8_700, 9_400, 9_200)
    with pytest.raises(LostGuestError, match="backwards"):
        GuestClock(begin=reading(0, 5), end=reading(9, 5))


async def host_answer(
    agent: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]],
    host: Callable[[Line], Awaitable[Any]],
) -> Any:
    """Runs a fake agent and the host's side of the line; returns what the host's side returns."""
    async with open_line() as line:
        reader, writer = await asyncio.open_connection("127.0.0.1", line.port)
        talking = asyncio.ensure_future(agent(reader, writer))
        try:
            return await host(line)
        finally:
            talking.cancel()
            writer.close()


def test_narrowest_reading_is_taken() -> None:
    async def agent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        requests = 0
        while await reader.readline():
            requests += 1
            await asyncio.sleep(0.02 if requests == 1 else 0)
            writer.write(f"{requests}\n".encode())

    found = asyncio.run(host_answer(agent, lambda line: line.read_clock()))
    assert found.monotonic_ns != 1
    assert found.before_ns <= found.after_ns


@pytest.mark.parametrize(
    ("sent", "error"),
    [
        *((words, "the line to the guest broke") for words in (b"x" * 100_000, b"cut", b"")),
        (b"what?\n", "'what\\?' where 'ready' was due"),
        (None, "said nothing"),
    ],
)
def test_agent_that_is_wrong_or_silent_is_a_lost_guest(sent: bytes | None, error: str) -> None:
    async def agent(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if sent is None:
            await asyncio.sleep(60)
        else:
            writer.write(sent)
            writer.close()

    limit_s = 0.05 if sent is None else 5
    with pytest.raises(LostGuestError, match=error):
        asyncio.run(host_answer(agent, lambda line: line.expect("ready", limit_s)))


def window(from_ms: int, short_ns: int = 0, *, kept: bool = True) -> Window:
    return made(
        Window,
        t_ns=(from_ms + 100) * MS,
        from_ns=from_ms * MS,
        vcpu=0,
        short_ns=short_ns,
        lost_ns=0,
        kept=kept,
    )


def trace_of(*lines: TraceLine) -> bytes:
    return encode_events(lines)


def summary_of(trace: bytes, since_ns: int, until_ns: int) -> Pace:
    return needed(pace_events(trace, since_ns, until_ns), Pace)


def test_window_counts_if_it_overlaps_the_subjects_time() -> None:
    trace = trace_of(
        window(0, 90 * MS, kept=False), window(100, 30 * MS, kept=False), window(200), window(300)
    )
    pace = summary_of(trace, 150 * MS, 320 * MS)
    assert (pace.windows, pace.windows_not_kept) == (3, 1)
    a_little_off = summary_of(trace_of(window(0, 5 * MS, kept=False)), 0, 50 * MS)
    assert (a_little_off.windows_not_kept, a_little_off.windows_behind) == (0, 1)


def wait_at(from_ms: int, until_ms: int) -> ObservedWait:
    took_ns = (until_ms - from_ms) * MS
    times = {"opened_ns": from_ms * MS, "shortest_ns": took_ns, "longest_ns": took_ns}
    return make_wait(kind="synchronisation", **times)


def busy_at(from_ms: int, until_ms: int) -> Event:
    return made(Busy, kind="erase", start_ns=from_ms * MS, until_ns=until_ms * MS)


@pytest.mark.parametrize(
    ("waits", "busy", "message"),
    [
        ([wait_at(250, 290)], [busy_at(600, 700)], ""),
        ([wait_at(250, 290)], [busy_at(190, 240), busy_at(600, 700)], ""),
        ([wait_at(150, 290)], [busy_at(600, 700)], "every synchronisation"),
        ([wait_at(250, 290)], [busy_at(190, 240)], "every erase"),
        ([], [], "was not kept"),
    ],
)
def test_window_not_kept_is_a_fault_if_it_overlaps_every_wait_of_a_kind(
    waits: list[ObservedWait], busy: list[Event], message: str
) -> None:
    windows = [window(at, 30 * MS * (at == 100), kept=at != 100) for at in range(0, 2000, 100)]
    fault = pace_fault([*busy, *pace_events(trace_of(*windows), 0, 2000 * MS)], waits)
    assert bool(fault) == bool(message)
    assert message in fault


def test_many_windows_not_kept_are_a_fault_whatever_they_overlap() -> None:
    windows = [window(at, 30 * MS * (at < 300), kept=at >= 300) for at in range(0, 2000, 100)]
    events = [busy_at(600, 700), *pace_events(trace_of(*windows), 0, 2000 * MS)]
    assert pace_fault(events, [wait_at(800, 900)]).startswith("3 of 20 windows")


def test_speed_changes_are_events_and_those_of_governors_are_only_counted() -> None:
    change = made(Speed, t_ns=5, vcpu=1, from_kips=1, to_kips=2, why="control")
    by_governor = msgspec.structs.replace(change, why="governor")
    *changes, pace = pace_events(trace_of(change, by_governor), 0, 10)
    assert changes == [change]
    assert isinstance(pace, Pace)
    assert pace.governor_changes == 1


def test_trace_of_an_ended_guest_may_end_within_a_line() -> None:
    trace = trace_of(window(0)) + b'{"ev":"window","t_'
    assert summary_of(trace, 0, 50 * MS).windows == 1


def test_machines_can_be_read_and_are_scaled_to_the_budget_by_their_ratios() -> None:
    slow, fast = scaled_mips([60.0, 240.0], budget=100)
    assert slow + fast <= 100
    assert fast / slow == pytest.approx(4.0, abs=0.001)
    assert scaled_mips([10.0, 40.0], budget=120) == (10.0, 40.0)
    assert all(find_machine(name).core_mips for name in machine_names())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('schema = 1\nabout = "x"\ntier = []\n', "key 'tier' is empty"),
        ("[[tier]]\nname = 'a'\ncores = 9\nmips = 5\n", "key 'tier[0].cores' is 9"),
        ("[[tier]]\nname = 'a'\ncores = 1\nmips = 0\n", "key 'tier[0].mips' is 0"),
        ("[[tier]]\nname = 'a'\ncore = 1\nmips = 9\n", "unknown key 'tier[0].core'"),
    ],
)
def test_invalid_machine_is_refused_with_its_key(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "my.toml"
    path.write_text(text if "schema" in text else f'schema = 1\nabout = "x"\n{text}')
    with pytest.raises(BadInputError) as caught:
        find_machine(str(path))
    assert str(path) in caught.value.message
    assert message in caught.value.message


def test_live_guest_boots_without_address_randomisation() -> None:
    """The delay plugin sees the addresses of the rehearsal. With others it finds no caller."""
    words = live_shape(2, 5000, "tsc", ["highres=off"]).kernel_words
    assert {"norandmaps", "highres=off", "rig.host_port=5000"} <= set(words)


CELL = make_cell(
    lane=LaneName.LIVE, icount_shift=0, cores=2, core_mips=(10.0, 40.0), chip="W25Q128JV"
)


def changes_of(word: str, count: int, cell: Cell = CELL) -> list[SpeedChange]:
    hazard = hazard_of(word)
    assert isinstance(hazard, SpeedHazard)
    return list(itertools.islice(hazard.speed_changes(cell), count))


def artifacts_of(ms: int, *events: Event) -> Artifacts:
    """Returns the artifacts of a cell that took this time, with more events."""
    start, end = made(SubjectStart, t_ns=0), made(SubjectEnd, t_ns=ms * MS)
    return seen_of(start, made(Accept, t_ns=10 * MS), end, *events)


LIVE_ONLY = [
    *("move:accept", "frequency:accept", "frequency-steps:5", "governor:ondemand", "smt:5"),
    *("steal:30", "hotplug:2", "hogs-each:4"),
]
INVALID = [
    *("move", "move:never", "move:accept+0", "move:-1", "frequency:accept,0"),
    *("frequency:accept,100", "frequency:accept,25,ramp=", "governor:fast", "smt:0"),
    *("steal:100", "steal:30@0", "hotplug:21", "hogs-each:5", "frequency-steps:x"),
]


@pytest.mark.parametrize("word", LIVE_ONLY)
def test_hazard_of_unequal_cores_is_for_the_live_lane_alone(word: str) -> None:
    assert refusal_on(LaneName.LIVE, (word,)) == ""
    assert "live lane alone" in refusal_on(LaneName.VIRTUAL, (word,))
    assert "live lane alone" in refusal_on(LaneName.HOST, (word,))


@pytest.mark.parametrize("word", INVALID)
def test_invalid_hazard_is_refused(word: str) -> None:
    with pytest.raises(BadInputError):
        parse_hazards(word)


def test_hazards_that_change_the_speed_exclude_each_other() -> None:
    with pytest.raises(BadInputError, match="exclude each other"):
        parse_hazards("governor:ondemand+smt:5")


def test_frequency_begins_low_and_ends_at_the_cores_own_speed() -> None:
    hazard = hazard_of("frequency:accept+20,50,ramp=100")
    assert isinstance(hazard, SpeedHazard)
    assert hazard.first_part == 0.5
    (change,) = hazard.speed_changes(CELL)
    assert (change.when.origin, change.when.after_ms) == (Origin.ACCEPT, 20)
    assert (change.part, change.ramp_ms, change.core) == (1.0, 100, None)


@pytest.mark.parametrize("word", ["frequency-steps:20", "smt:10", "steal:30@20"])
def test_draws_follow_the_seed_and_come_in_order_of_time(word: str) -> None:
    changes = changes_of(word, 50)
    other = changes_of(word, 50, msgspec.structs.replace(CELL, seed=2))
    times = [change.when.after_ms for change in changes if change.when.origin is Origin.START]
    assert changes == changes_of(word, 50)
    assert changes != other
    assert times == sorted(times)


def test_steal_takes_its_percentage_of_the_time() -> None:
    changes = changes_of("steal:30@20", 40)
    stolen_ms = sum(
        end.when.after_ms - begin.when.after_ms
        for begin, end in zip(changes[::2], changes[1::2], strict=True)
    )
    assert stolen_ms == pytest.approx(0.3 * 1000, rel=0.01)


def test_governor_ranges_over_a_quarter_to_the_whole_of_each_core() -> None:
    words = Governor("ondemand").pace_words([10.0, 40.0])
    speeds = ("min_mips=2.500:10.000", "max_mips=10.000:40.000")
    assert list(words) == ["governor=ondemand", *speeds]


def test_subject_is_moved_to_the_fastest_core() -> None:
    assert fastest_core([10.0, 40.0, 20.0]) == 1
    for word, line in (("accept+30", "move accept 30 1"), ("500", "move start 500 1")):
        assert list(hazard_of(f"move:{word}").spec_lines(CELL)) == [line]


MOVED = made(Moved, t_ns=12 * MS, core=1)
SPEEDS = [made(Speed, t_ns=11 * MS + number, vcpu=number % 2) for number in range(10)]
RUNNING = made(CrowdRunning, t_ns=0, count=4, turns_min=1)
STOPPED = made(CrowdStopped, t_ns=9, count=4, turns_min=5)


@pytest.mark.parametrize(
    ("word", "ms", "events", "fault"),
    [
        ("frequency:accept", 500, [], "0 times where 2 were due"),
        ("frequency:accept", 500, SPEEDS[:2], ""),
        ("smt:5", 1000, SPEEDS[:9], "9 times where 20 were due"),
        ("smt:5", 1000, SPEEDS[:10], ""),
        ("frequency-steps:5", 999, SPEEDS[:4], "4 times where 10 were due"),
        ("frequency-steps:5", 999, SPEEDS[:5], ""),
        ("frequency:accept", 5, [], ""),
        ("governor:ondemand", 500, [made(Pace, governor_changes=0)], "never changed"),
        ("governor:ondemand", 500, [made(Pace, governor_changes=3)], ""),
        ("governor:performance", 500, [made(Pace, governor_changes=0)], ""),
        ("migrate:2", 1500, [made(Migrations, count=1)], "1 times where 3 were due"),
        ("migrate:2", 1500, [made(Migrations, count=2)], ""),
        ("hotplug:2", 2000, [made(Hotplugs, count=1)], "1 times where 4 were due"),
        ("hotplug:2", 2000, [made(Hotplugs, count=2)], ""),
        ("move:accept", 500, [], "not moved"),
        ("move:accept", 500, [msgspec.structs.replace(MOVED, t_ns=300 * MS)], "too late"),
        ("move:accept", 500, [msgspec.structs.replace(MOVED, core=0)], "core 0"),
        ("move:accept", 500, [MOVED], ""),
        ("hogs-each:2", 500, [RUNNING, STOPPED], ""),
        ("hogs-each:2", 500, [msgspec.structs.replace(RUNNING, count=3), STOPPED], "not all"),
    ],
)
def test_hazard_that_did_not_take_place_is_a_fault(
    word: str, ms: int, events: list[Event], fault: str
) -> None:
    found = hazard_of(word).fault(CELL, artifacts_of(ms, *events))
    assert fault in found
    assert bool(found) is bool(fault)


def test_one_of_three_changes_of_a_single_core_is_too_few() -> None:
    cell = make_cell(lane=LaneName.LIVE, cores=1)
    for count, too_few in ((1, True), (2, False)):
        seen = artifacts_of(1000, *SPEEDS[:count])
        assert bool(hazard_of("frequency-steps:2").fault(cell, seen)) is too_few


def test_hogs_of_every_core_must_get_their_share() -> None:
    hazard, idle = hazard_of("hogs-each:2"), msgspec.structs.replace(STOPPED, turns_min=1)
    assert hazard.missed(CELL, artifacts_of(500, RUNNING, STOPPED)) == ""
    assert "its share" in hazard.missed(CELL, artifacts_of(500, RUNNING, idle))
