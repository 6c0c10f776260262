# SPDX-License-Identifier: GPL-2.0-or-later
"""One stream of events out of two, by time, each source in its own order."""

import json
from pathlib import Path

import pytest
from delayrig.base.errors import LostGuestError
from delayrig.model.events import Event, event_time_ns, first, merge_events, of_kind, parse_events
from delayrig.model.events import read_events as read_folder

from tests.rig.builders import as_lines


def agent(t_ns: int, name: str) -> Event:
    return {"ev": name, "t_ns": t_ns}


def emulator(read_ns: int, name: str) -> Event:
    return {"ev": name, "empty_ns": 0, "read_ns": read_ns, "reply_ns": read_ns + 5}


def merged(left: list[Event], right: list[Event]) -> list[str]:
    lines = merge_events(as_lines(left), as_lines(right)).decode()
    assert lines.count("\n") == len(left) + len(right)
    return [json.loads(line)["ev"] for line in lines.splitlines()]


def test_streams_are_merged_by_time() -> None:
    left = [agent(1, "a1"), agent(4, "a4")]
    right = [emulator(2, "e2"), emulator(3, "e3"), emulator(5, "e5")]
    assert merged(left, right) == ["a1", "e2", "e3", "a4", "e5"]


def test_agent_goes_first_at_the_same_time() -> None:
    assert merged([agent(7, "a")], [emulator(7, "e")]) == ["a", "e"]


def test_event_that_is_older_than_the_one_before_stays_behind_it() -> None:
    # A busy time begins with its transfer, and is written after a line that was read later.
    busy: Event = {"ev": "busy", "start_ns": 10, "until_ns": 90}
    right = [emulator(20, "e20"), busy, emulator(30, "e30")]
    assert merged([agent(15, "a15"), agent(25, "a25")], right) == [
        "a15",
        "e20",
        "busy",
        "a25",
        "e30",
    ]


def test_nothing_of_an_event_is_lost() -> None:
    event: Event = {"ev": "guest", "t_ns": 3, "text": 'q"\\\n\u00e4', "list": [1, None, True]}
    assert json.loads(merge_events(as_lines([event]), b"")) == event


def test_merging_twice_gives_the_same_bytes() -> None:
    left, right = as_lines([agent(1, "a"), agent(3, "b")]), as_lines([emulator(1, "c")])
    assert merge_events(left, right) == merge_events(left, right)


def test_no_events_are_no_lines() -> None:
    assert merge_events(b"", b"") == b""


@pytest.mark.parametrize(
    "line",
    [
        b"nonsense",
        b"{",
        b'{"ev":"x","t_ns":1}}',
        b"",
        b"[]",
        b"5",
        b"null",
        b'"ev"',
        b"{}",
        b'{"t_ns":1}',
        b'{"ev":5,"t_ns":1}',
        b'{"ev":null,"t_ns":1}',
        b'{"ev":"x"}',
        b'{"ev":"x","until_ns":1}',
    ],
)
def test_line_that_is_no_event_is_a_lost_guest(line: bytes) -> None:
    good = as_lines([agent(1, "a")])
    bad = good + line + b"\n" + good
    for left, right in ((bad, good), (good, bad)):
        with pytest.raises(LostGuestError):
            merge_events(left, right)


def test_line_that_is_no_event_is_told_by_source_and_number() -> None:
    with pytest.raises(LostGuestError, match="the emulator's events, line 2"):
        merge_events(b"", as_lines([agent(1, "a")]) + b"nonsense\n")
    with pytest.raises(LostGuestError, match="the agent's events, line 1"):
        merge_events(b"nonsense\n", b"")


def test_line_cut_short_is_a_lost_guest() -> None:
    whole = as_lines([agent(1, "a"), agent(2, "b")])
    with pytest.raises(LostGuestError):
        parse_events(whole[:-4], source="it")


def test_time_is_that_of_being_read_or_begun() -> None:
    assert event_time_ns({"ev": "x", "t_ns": 5}) == 5
    assert event_time_ns(emulator(7, "spi")) == 7
    assert event_time_ns({"ev": "busy", "start_ns": 9, "until_ns": 11}) == 9


def test_events_of_a_kind_and_the_first_of_them() -> None:
    events = [agent(1, "a"), agent(2, "b"), agent(3, "b")]
    assert of_kind(events, "b") == events[1:]
    assert first(events, "b") == events[1]
    assert first(events, "c") is None


def test_folder_with_an_event_without_a_time_is_a_lost_guest(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_bytes(as_lines([agent(1, "a"), {"ev": "b"}]))
    with pytest.raises(LostGuestError, match="'b' has no time"):
        read_folder(tmp_path)


def test_folder_without_events_is_a_lost_guest(tmp_path: Path) -> None:
    with pytest.raises(LostGuestError, match="No such file"):
        read_folder(tmp_path)
    (tmp_path / "events.jsonl").write_bytes(as_lines([agent(1, "a")]))
    assert read_folder(tmp_path) == [agent(1, "a")]


@pytest.mark.parametrize("time", [b"null", b"{}", b'"abc"', b'"5"', b"true", b"1.5"])
def test_event_with_a_time_that_is_no_number_is_a_lost_guest(time: bytes) -> None:
    with pytest.raises(LostGuestError):
        parse_events(b'{"ev":"x","t_ns":' + time + b"}", source="it")


def test_line_that_is_not_utf8_is_a_lost_guest() -> None:
    with pytest.raises(LostGuestError):
        parse_events(b'{"ev":"\xff","t_ns":1}', source="it")
