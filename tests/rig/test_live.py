# SPDX-License-Identifier: GPL-2.0-or-later
"""Parts of the live lane that need no guest: its clock, its line, and the plugin's trace."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from delayrig.base.errors import BadInputError, LostGuestError
from delayrig.judge.trust import pace_fault
from delayrig.lanes.live.agent_connection import ClockReading, GuestClock, Line, open_line
from delayrig.lanes.live.machine import live_shape
from delayrig.lanes.live.pace import pace_events
from delayrig.model.events import Event, TraceLine, encode_events, needed
from delayrig.model.evidence import ObservedWait
from delayrig.model.kinds.emulator import Busy
from delayrig.model.kinds.pace import Pace, Speed, Window
from delayrig.plan.machines import find_machine, machine_names, scaled_mips

from tests.rig.event_builders import made

MS = 1_000_000


def reading(host_ns: int, guest_ns: int, width_ns: int = 100) -> ClockReading:
    return ClockReading(before_ns=host_ns, guest_ns=guest_ns, after_ns=host_ns + width_ns)


# Tests of the guest's clock.


def test_guest_time_becomes_host_time_on_the_line_through_both_readings() -> None:
    clock = GuestClock(
        begin=reading(1_000_000, 500_000, 0), end=reading(1_001_000 + 10, 501_000, 0)
    )
    assert clock.to_host_ns(500_000) == 1_000_000
    assert clock.to_host_ns(500_500) == 1_000_505
    assert clock.to_host_ns(501_000) == 1_001_010


def test_rate_bounds_hold_whatever_lies_between_question_and_answer() -> None:
    clock = GuestClock(begin=reading(1000, 0, 300), end=reading(10_000, 9_200, 400))
    rate = clock.rate
    assert (rate.raw_ns_min, rate.raw_ns_max) == (8_700, 9_400)
    assert rate.monotonic_ns == 9_200


def test_clock_that_stands_still_is_a_lost_guest() -> None:
    with pytest.raises(LostGuestError, match="backwards"):
        GuestClock(begin=reading(0, 5), end=reading(9, 5))


# Tests of the line to the agent.


async def talk(
    agent: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]],
    host: Callable[[Line], Awaitable[Any]],
) -> Any:
    async with open_line() as line:
        reader, writer = await asyncio.open_connection("127.0.0.1", line.port)
        speaking = asyncio.ensure_future(agent(reader, writer))
        try:
            return await host(line)
        finally:
            speaking.cancel()
            writer.close()


def test_narrowest_reading_is_taken() -> None:
    async def agent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = 0
        while await reader.readline():
            asked += 1
            await asyncio.sleep(0.02 if asked == 1 else 0)
            writer.write(f"{asked}\n".encode())

    found = asyncio.run(talk(agent, lambda line: line.read_clock()))
    assert found.guest_ns != 1
    assert found.before_ns <= found.after_ns


@pytest.mark.parametrize("says", [b"x" * 100_000, b"what?\n", b"cut", b""])
def test_agent_that_floods_babbles_or_hangs_up_is_a_lost_guest(says: bytes) -> None:
    async def agent(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(says)
        writer.close()

    with pytest.raises(LostGuestError):
        asyncio.run(talk(agent, lambda line: line.expect("ready", 5)))


def test_agent_that_says_nothing_is_a_lost_guest() -> None:
    async def agent(_reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(60)

    with pytest.raises(LostGuestError, match="said nothing"):
        asyncio.run(talk(agent, lambda line: line.hear(0.05)))


# Tests of the plugin's trace.


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


def test_window_far_off_its_speed_counts_where_it_touches_the_subjects_time() -> None:
    trace = trace_of(
        window(0, 90 * MS, kept=False), window(100, 30 * MS, kept=False), window(200), window(300)
    )
    pace = summary_of(trace, 150 * MS, 320 * MS)
    assert (pace.windows, pace.windows_not_kept) == (3, 1)


def test_window_that_is_a_little_off_is_told_and_not_counted() -> None:
    pace = summary_of(trace_of(window(0, 5 * MS, kept=False)), 0, 50 * MS)
    assert (pace.windows_not_kept, pace.windows_behind) == (0, 1)


def wait_at(from_ms: int, until_ms: int) -> ObservedWait:
    return ObservedWait(
        kind="synchronisation",
        what="a wait",
        requested_ns=1,
        shortest_ns=(until_ms - from_ms) * MS,
        longest_ns=(until_ms - from_ms) * MS,
        opened_ns=from_ms * MS,
    )


def busy_at(from_ms: int, until_ms: int) -> Event:
    return made(Busy, kind="erase", start_ns=from_ms * MS, until_ns=until_ms * MS)


@pytest.mark.parametrize(
    ("waits", "busy", "hidden"),
    [
        ([wait_at(250, 290)], [busy_at(600, 700)], ""),
        ([wait_at(250, 290)], [busy_at(190, 240), busy_at(600, 700)], ""),
        ([wait_at(150, 290)], [busy_at(600, 700)], "every synchronisation"),
        ([wait_at(250, 290)], [busy_at(190, 240)], "every erase"),
        ([], [], "was not kept"),
    ],
)
def test_window_that_was_not_kept_hides_what_was_waited_in_it(
    waits: list[ObservedWait], busy: list[Event], hidden: str
) -> None:
    windows = [window(at, 30 * MS * (at == 100), kept=at != 100) for at in range(0, 2000, 100)]
    fault = pace_fault([*busy, *pace_events(trace_of(*windows), 0, 2000 * MS)], waits)
    assert bool(fault) == bool(hidden)
    assert hidden in fault


def test_host_that_fell_behind_often_had_another_machine_for_a_guest() -> None:
    windows = [window(at, 30 * MS * (at < 300), kept=at >= 300) for at in range(0, 2000, 100)]
    events = [busy_at(600, 700), *pace_events(trace_of(*windows), 0, 2000 * MS)]
    assert pace_fault(events, [wait_at(800, 900)]).startswith("3 of 20 windows")


def test_changes_of_speed_are_events_but_for_those_of_governors() -> None:
    change = made(Speed, t_ns=5, vcpu=1, from_kips=1, to_kips=2, why="control")
    by_governor = msgspec.structs.replace(change, why="governor")
    *changes, pace = pace_events(trace_of(change, by_governor), 0, 10)
    assert changes == [change]
    assert isinstance(pace, Pace)
    assert pace.governor_changes == 1


def test_trace_of_a_guest_that_was_ended_may_end_in_half_a_line() -> None:
    trace = trace_of(window(0)) + b'{"ev":"window","t_'
    assert summary_of(trace, 0, 50 * MS).windows == 1


# Tests of machines.


def test_machines_that_are_too_much_keep_their_ratios() -> None:
    slow, fast = scaled_mips([60.0, 240.0], budget=100)
    assert slow + fast <= 100
    assert fast / slow == pytest.approx(4.0, abs=0.001)


def test_machines_that_are_not_too_much_stay_as_they_are() -> None:
    assert scaled_mips([10.0, 40.0], budget=120) == (10.0, 40.0)


def test_shipped_machines_can_be_read() -> None:
    for name in machine_names():
        assert find_machine(name).core_mips


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('schema = 1\nabout = "x"\ntier = []\n', "key 'tier' is empty"),
        ("[[tier]]\nname = 'a'\ncores = 9\nmips = 5\n", "key 'tier[0].cores' is 9"),
        ("[[tier]]\nname = 'a'\ncores = 1\nmips = 0\n", "key 'tier[0].mips' is 0"),
        ("[[tier]]\nname = 'a'\ncore = 1\nmips = 9\n", "unknown key 'tier[0].core'"),
    ],
)
def test_machine_that_cannot_be_is_refused_by_file_and_key(
    tmp_path: Path, text: str, says: str
) -> None:
    path = tmp_path / "my.toml"
    path.write_text(text if "schema" in text else f'schema = 1\nabout = "x"\n{text}')
    with pytest.raises(BadInputError) as caught:
        find_machine(str(path))
    assert str(path) in caught.value.message
    assert says in caught.value.message


def test_programs_of_a_live_guest_lie_at_the_same_addresses_each_time() -> None:
    """Otherwise the delay plugin takes a call for one of the rehearsal's, and finds no caller."""
    words = live_shape(2, 5000, "tsc", ["highres=off"]).kernel_words
    assert {"norandmaps", "highres=off", "rig.host_port=5000"} <= set(words)
