# SPDX-License-Identifier: GPL-2.0-or-later
"""Hazards of a program that uses the library: its arguments, and the hazards that it met."""

import subprocess

import pytest
from delayrig.base.paths import find_paths
from delayrig.hazards import hazard_of, library_client
from delayrig.hazards.library_client import ASKED_US, NOTHING_TO_ASK
from delayrig.hazards.of_cell import hazards_of, is_in_library
from delayrig.lanes.payload import deadline_ms, host_words
from delayrig.model.events import Event
from delayrig.model.kinds.agent import SubjectEnd, SubjectStart
from delayrig.model.kinds.hazard import (
    Stops,
)
from delayrig.model.kinds.library_client import HostEnd, HostStart
from delayrig.subjects.delay_function import Askable
from msgspec.structs import replace

from tests.rig.builders import (
    delay,
    delays_of,
    make_cell,
    make_subject,
)
from tests.rig.event_builders import (
    made,
    seen_of,
)
from tests.rig.hazard_builders import RIGHT, seen_after

ASKS_MAX = 64
LIBRARY_WORDS = ("library", "signals:20", "threads:2", "long-waits")


def test_library_does_the_job_where_any_hazard_needs_it() -> None:
    assert not is_in_library(make_cell(hazards=("low-res-timers", "stop-cont:10")))
    for word in LIBRARY_WORDS:
        assert is_in_library(make_cell(hazards=("low-res-timers", word)))


def test_host_program_is_told_what_to_do_besides_the_job() -> None:
    subject = make_subject(library=True, delay_address=0x1234)
    told = host_words(make_cell(hazards=("signals:20,usr1", "threads:2", "long-waits")), subject)
    assert told[:2] == ["--events", "/tmp/host.jsonl"]
    assert told[2:6] == ["--signals", "20,usr1", "--threads", "2"]
    assert told[6:9] == ["--delay", str(0x1234), "--ask"]
    assert host_words(make_cell(hazards=("stop-cont:10",)), subject) == []


def test_flashrom_is_told_not_to_verify() -> None:
    assert host_words(make_cell(hazards=("stop-cont:10", "unverified")), make_subject()) == ["-n"]


def test_host_program_reads_every_word_that_is_right() -> None:
    program = find_paths().library_client
    if not program.is_file():
        pytest.skip("the library client is not built")
    for word in [word for word in RIGHT if is_in_library(make_cell(hazards=(word,)))]:
        told = hazard_of(word).subject_words(make_subject(delay_address=1))
        # It complains about an unknown programmer only after all other arguments.
        done = subprocess.run(
            [program, "-p", "none", "-c", "none", *told],
            capture_output=True,
            text=True,
            check=False,
        )
        assert "flashrom_programmer_init() failed" in done.stdout, (word, done.stderr)


def test_asks_are_on_each_side_of_every_boundary_and_fit() -> None:
    asked = set(ASKED_US)
    assert len(asked) == len(ASKED_US) <= ASKS_MAX
    for boundary_ns in (2**31, 2**32):
        assert {boundary_ns // 1000, boundary_ns // 1000 + 1} <= asked
    assert {2**31 - 1, 2**31, 2**32 - 1} <= asked
    assert sum(ASKED_US) // 1000 * 2 < deadline_ms(make_cell(hazards=("long-waits",)))


def test_library_without_a_delay_function_or_with_several_is_not_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hazard = hazard_of("long-waits")
    assert hazard.refusal(make_subject()) == NOTHING_TO_ASK
    monkeypatch.setattr(library_client, "askable_functions", lambda _: [Askable(1), Askable(2)])
    assert hazard.refusal(make_subject()) == "2 functions of its library delay"
    monkeypatch.undo()
    assert hazard.refusal(make_subject(delay_address=0x10)) == ""
    assert hazard_of("signals:20").refusal(make_subject()) == ""


def test_function_that_counts_nanoseconds_is_asked_in_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(library_client, "askable_functions", lambda _: [Askable(1, 1000)])
    asks = hazard_of("long-waits").subject_words(make_subject())[-1]
    assert [int(word) for word in asks.split(",")] == [us * 1000 for us in ASKED_US]


def test_function_that_takes_something_before_the_length_is_asked_in_its_second_argument(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(library_client, "askable_functions", lambda _: [Askable(1, 1, 1)])
    assert hazard_of("long-waits").subject_words(make_subject())[-2:] == ("--argument", "1")


def host_events(**end: int) -> list[Event]:
    """Returns the events of a library client that ran for ten seconds."""
    return [
        made(HostStart, t_ns=0),
        made(HostEnd, t_ns=10_000_000_000, **end),
    ]


@pytest.mark.parametrize(
    ("word", "end", "fault"),
    [
        ("library", {}, ""),
        ("signals:20", {"signals": 200}, ""),
        ("signals:20", {}, "none was handled"),
        ("threads:2", {"turns": 1}, ""),
    ],
)
def test_hazard_that_did_not_take_place_is_a_fault(
    word: str, end: dict[str, int], fault: str
) -> None:
    seen = seen_after(*host_events(**end))
    assert hazard_of(word).fault(make_cell(hazards=(word,)), seen) == fault


@pytest.mark.parametrize(
    ("word", "end", "missed"),
    [
        ("signals:20", {"signals": 100}, ""),
        ("signals:20", {"signals": 99}, "it handled 99 signals where 200 were due"),
        ("threads:2", {"turns": 1}, ""),
        ("threads:2", {}, "the other threads never ran"),
    ],
)
def test_hazard_of_a_library_that_it_hardly_met_is_nobodys_fault(
    word: str, end: dict[str, int], missed: str
) -> None:
    seen = seen_after(*host_events(**end))
    hazard = hazard_of(word)
    assert hazard.missed(make_cell(hazards=(word,)), seen) == missed
    assert hazard.fault(make_cell(hazards=(word,)), seen_after(*host_events(signals=1))) == ""


@pytest.mark.parametrize("word", LIBRARY_WORDS)
def test_host_program_that_ended_well_and_told_nothing_is_a_fault(word: str) -> None:
    assert hazard_of(word).fault(make_cell(hazards=(word,)), seen_after())


def test_subject_that_was_hardly_stopped_is_a_fault() -> None:
    cell = make_cell(hazards=("stop-cont:10",))
    (hazard,) = hazards_of(cell)
    lived: list[Event] = [
        made(SubjectStart, t_ns=0),
        made(SubjectEnd, t_ns=2_000_000_000, exit_code=0),
    ]
    for count, fault in ((20, ""), (9, "the subject was stopped 9 times only")):
        seen = seen_of(*lived, made(Stops, t_ns=1, count=count))
        assert hazard.fault(cell, seen) == fault


def test_long_waits_that_nobody_saw_are_told() -> None:
    cell = make_cell(hazards=("long-waits",))
    (hazard,) = hazards_of(cell)
    told = f"{len(ASKED_US)} of {len(ASKED_US)} calls were not seen"
    assert hazard.missed(cell, seen_after(*host_events())) == told
    calls = [delay(us, took_ns=us * 1000) for us in ASKED_US]
    for count in (len(calls), len(calls) - 1):
        seen = replace(seen_after(*host_events()), delays=delays_of(*calls[:count]))
        assert bool(hazard.missed(cell, seen)) is (count < len(calls))
