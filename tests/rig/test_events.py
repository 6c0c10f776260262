# SPDX-License-Identifier: GPL-2.0-or-later
"""Events: reading, and merging the streams of a cell by time."""

from pathlib import Path

import pytest
from delayrig.base.errors import LostGuestError
from delayrig.model.events import (
    Event,
    encode_events,
    event_time_ns,
    first,
    merge_events,
    needed,
    of_kind,
    parse_events,
    parse_trace,
    requests,
    transactions,
)
from delayrig.model.events import read_events as read_folder
from delayrig.model.kinds.agent import SubjectStart
from delayrig.model.kinds.emulator import Accept, Cycle, Disconnect, Spi
from delayrig.model.kinds.hazard import Moved, Stops
from delayrig.model.kinds.pace import TraceStart

from tests.rig.event_builders import as_lines, busy, cycle, guest, made, serprog, spi, started


def agent(t_ns: int) -> Event:
    return made(Stops, t_ns=t_ns)


def emulator(read_ns: int) -> Event:
    return spi("0x05", read=read_ns)


def merged(left: list[Event], right: list[Event]) -> list[Event]:
    return parse_events(merge_events(as_lines(left), as_lines(right)), source="both")


OTHER_VERSION = as_lines([started(wake=None)]).strip().replace(b'"schema":1', b'"schema":2')
LATE_BUSY = busy("0x20", start=10, until=90)
"""A busy period that began at 10 ns; the line before it was read at 20 ns."""


@pytest.mark.parametrize(
    ("left", "right", "order"),
    [
        (
            [agent(1), agent(4)],
            [emulator(2), emulator(3), emulator(5)],
            "left right right left right",
        ),
        # At the same time the agent's event comes first.
        ([agent(7)], [emulator(7)], "left right"),
        (
            [agent(15), agent(25)],
            [emulator(20), LATE_BUSY, emulator(30)],
            "left right right left right",
        ),
    ],
)
def test_streams_are_merged_by_time(left: list[Event], right: list[Event], order: str) -> None:
    rest = {"left": iter(left), "right": iter(right)}
    assert merged(left, right) == [next(rest[side]) for side in order.split()]


def test_merged_lines_are_unchanged_bytes() -> None:
    spaced = b'{ "ev": "stops",  "count": 3, "t_ns": 1 }'
    other = b'{"schema":1,"ev":"guest","t_ns":2,"kernel":"\\u00e4","version":"","machine":"",'
    other += b'"cores":1,"cmdline":"a\\"b","clocksource":"tsc"}'
    lines = b"%s\n%s\n" % (spaced, other)
    assert merge_events(lines, as_lines([emulator(3)])) == lines + as_lines([emulator(3)])
    assert merge_events(b"", b"") == b""


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (b"nonsense", "malformed"),
        (b"{", "truncated"),
        (b'{"ev":"accept","t_ns":1}}', "trailing"),
        (b"", "truncated"),
        (b"[]", "Expected `object`, got `array`"),
        (b"5", "Expected `object`, got `int`"),
        (b"null", "Expected `object`, got `null`"),
        (b"{}", "missing required field `ev`"),
        (b'{"t_ns":1}', "missing required field `ev`"),
        (b'{"ev":5,"t_ns":1}', r"Expected `str` - at `\$.ev`"),
        (b'{"ev":"accepted","t_ns":1}', r"Invalid value 'accepted' - at `\$.ev`"),
        (b'{"ev":"accept"}', "missing required field `t_ns`"),
        (b'{"ev":"accept","t_ns":1,"more":2}', "unknown field `more`"),
        (b'{"ev":"accept","t_ns":-1}', r"Expected `int` >= 0 - at `\$.t_ns`"),
        (b'{"ev":"accept","t_ns":null}', "Expected `int`, got `null`"),
        (b'{"ev":"accept","t_ns":true}', "Expected `int`, got `bool`"),
        (b'{"ev":"accept","t_ns":1.5}', "Expected `int`, got `float`"),
        (b'{"ev":"accept","t_ns":"5"}', "Expected `int`, got `str`"),
        (b'{"ev":"window","t_ns":1}', "Invalid value 'window'"),
        (b'{"ev":"\xff","t_ns":1}', "utf-8"),
        (OTHER_VERSION, r"Invalid enum value 2 - at `\$.schema`"),
    ],
)
def test_malformed_line_is_a_lost_guest_and_its_place_is_named(line: bytes, fault: str) -> None:
    good = as_lines([agent(1)])
    bad = good + line + b"\n" + good
    with pytest.raises(LostGuestError, match=f"^the agent's events, line 2: .*{fault}"):
        merge_events(bad, good)
    with pytest.raises(LostGuestError, match=f"^the emulator's events, line 2: .*{fault}"):
        merge_events(good, bad)
    with pytest.raises(LostGuestError, match=f"^it, line 2: .*{fault}"):
        parse_events(bad, source="it")


def test_last_line_that_is_cut_short_is_a_lost_guest() -> None:
    with pytest.raises(LostGuestError):
        parse_events(as_lines([agent(1), agent(2)])[:-4], source="it")


def test_trace_of_the_cpu_plugin_has_other_kinds_than_events() -> None:
    (begin,) = parse_trace(encode_events([made(TraceStart, api=4)]), source="it")
    assert isinstance(begin, TraceStart)
    with pytest.raises(LostGuestError, match="line 1"):
        parse_trace(as_lines([emulator(1)]), source="it")


def test_version_is_the_first_key_of_a_line_that_has_one() -> None:
    lines = as_lines([started(wake=None), guest(), agent(1)]).splitlines()
    assert [line.partition(b",")[0] for line in lines] == [b'{"schema":1'] * 2 + [b'{"ev":"stops"']
    assert parse_events(b"\n".join(lines), source="it") == [started(wake=None), guest(), agent(1)]


def test_optional_key_is_left_out_if_it_has_its_default() -> None:
    assert as_lines([made(SubjectStart, t_ns=5)]) == b'{"ev":"subject_start","t_ns":5}\n'
    pinned = as_lines([made(SubjectStart, t_ns=5, cpus="0-1")])
    assert pinned == b'{"ev":"subject_start","t_ns":5,"cpus":"0-1"}\n'


def test_time_of_an_event_is_when_it_was_read_or_began() -> None:
    assert event_time_ns(agent(5)) == 5
    assert event_time_ns(serprog("NOP", empty=1, read=6)) == 6
    assert event_time_ns(emulator(7)) == 7
    assert event_time_ns(cycle("READ", read=8, start=9)) == 8
    assert event_time_ns(busy("0x20", start=9, until=11)) == 9


def test_events_are_found_by_kind() -> None:
    events = [made(Accept, t_ns=1), agent(2), agent(3)]
    assert of_kind(events, Stops) == events[1:]
    assert first(events, Stops) == needed(events, Stops) == events[1]
    assert first(events, Moved) is None
    with pytest.raises(LostGuestError, match="the events hold no 'moved'"):
        needed(events, Moved)


def test_requests_are_all_of_a_client_and_transactions_those_to_the_part() -> None:
    asked = [serprog("NOP", empty=1, read=2), emulator(3), cycle("READ", read=4)]
    events = [made(Accept), *asked, made(Disconnect)]
    assert requests(events) == asked
    assert transactions(events) == asked[1:]
    assert [type(event) for event in transactions(events)] == [Spi, Cycle]


def test_folder_with_missing_or_malformed_events_is_a_lost_guest(tmp_path: Path) -> None:
    with pytest.raises(LostGuestError, match="No such file"):
        read_folder(tmp_path)
    (tmp_path / "events.jsonl").write_bytes(as_lines([agent(1)]))
    assert read_folder(tmp_path) == [agent(1)]
    (tmp_path / "events.jsonl").write_bytes(as_lines([agent(1)]) + b'{"ev":"accept"}\n')
    with pytest.raises(LostGuestError, match=r"events.jsonl, line 2: .*`t_ns`"):
        read_folder(tmp_path)
