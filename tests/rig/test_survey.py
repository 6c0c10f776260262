# SPDX-License-Identifier: GPL-2.0-or-later
"""Surveys: delay calls, bounds from gaps on the bus, and the comparison of the two."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from delayrig.features.survey.survey import (
    Survey,
    agreement_of,
    answer_of,
    bounds_of,
    class_us,
    gaps_of,
    known_waits,
    requested_of,
    service_ns,
    survey_run,
)
from delayrig.features.survey.terminal import tables_of
from delayrig.judge.waste import Watched
from delayrig.model.delays import DelayCall, Delays, encode_delays
from delayrig.model.events import Event, event_time_ns
from delayrig.model.lane import LaneName
from delayrig.model.result import write_results
from delayrig.subjects.profiles.profile import Wait

from tests.rig.builders import delay, delays_of, make_cell, make_profile, run_of
from tests.rig.event_builders import sound_events, spi, started
from tests.rig.reported import keep_cell
from tests.rig.running import refusal_of

US = 1000


def watched(*events: Event) -> Watched:
    return Watched(cell=make_cell(), events=list(events))


def called(*calls: DelayCall, between: Sequence[Event] = (), doubt: str = "") -> Watched:
    delays = delays_of(*calls, doubt=doubt)
    return Watched(cell=make_cell(), events=[started(wake=0), *between], delays=delays)


def test_calls_of_one_length_are_counted_with_their_excess() -> None:
    calls = [delay(100, took_ns=100 * US + extra, at=extra * 1000 * US) for extra in (10, 30)]
    (row,) = requested_of([called(*calls, delay(100, took_ns=None))])
    assert (row.requested_us, row.count) == (100, 2)
    assert (row.took_ns, row.beyond_ns) == (200 * US + 40, 40)


def test_answer_counts_all_waits_and_those_too_short_to_sleep() -> None:
    calls = [delay(10, took_ns=20_000, at=at) for at in (0, 100 * US)]
    calls.append(delay(400, took_ns=460_000, at=200 * US))
    words = answer_of(requested_of([called(*calls)]))
    assert "3 waits of 10 to 400 us" in words
    assert "took 0.001 s; 2 of them, of less than 100 us, took 8.0 %" in words
    assert answer_of([]).startswith("No wait was seen")


def test_nested_call_or_call_of_a_doubtful_function_is_not_counted() -> None:
    calls = [delay(100, took_ns=100 * US, at=0), delay(100, took_ns=99 * US, at=10)]
    after = delay(100, took_ns=100 * US, at=100 * US)
    (row,) = requested_of([called(*calls, after)])
    assert (row.count, row.took_ns) == (2, 200 * US)
    assert requested_of([called(*calls, after, doubt="its argument may be anything")]) == []


@pytest.mark.parametrize(
    ("us", "expected"),
    [(0, 0), (1, 1), (4, 2), (5, 5), (9, 5), (10, 10), (999, 500), (75000, 50000)],
)
def test_length_classes_are_1_2_and_5_times_powers_of_ten(us: int, expected: int) -> None:
    assert class_us(us) == expected


def test_gap_lasts_from_a_reply_until_the_next_request_arrived() -> None:
    first = spi("0x05", read=100, reply=110)
    second = spi("0x05", read=1000, empty=400)
    (known,) = gaps_of([started(wake=50), first, second])
    assert (known.shortest_ns, known.longest_ns) == (950 - 110, 1000 - 110)
    (unknown,) = gaps_of([started(wake=None), first, second])
    assert (unknown.shortest_ns, unknown.longest_ns) == (400 - 110, 1000 - 110)


def bus(lengths_us: list[int]) -> list[Event]:
    """Returns requests with gaps of these lengths between them."""
    events, at = [spi("0x05", read=0, reply=0)], 0
    for length in lengths_us:
        at += length * US
        events.append(spi("0x05", read=at, empty=at, reply=at))
    return events


def test_wait_is_at_most_its_gap_and_the_usual_service_time_is_no_wait() -> None:
    events = [started(wake=0), *bus([30, 31, 30, 30, 1030, 530])]
    assert service_ns(gaps_of(events)) == 30 * US
    found = {row.from_us: row for row in bounds_of(watched(*events))}
    assert found[0].count == 4
    assert found[0].above_service_ns == 0
    assert found[1000].at_most_ns == 1030 * US
    assert found[1000].above_service_ns == 1000 * US
    assert found[500].count == 1
    rows = list(found.values())
    (table,) = tables_of(Survey(lines=[], calls=[], bus=rows, known=[], agreements=[]))
    assert "bounds from the bus" in table.caption
    assert "at most ms" in table.figures


def test_waits_that_the_profile_names_are_counted() -> None:
    wait = Wait(
        kind="erase-poll", what="10 us", opens="busy-status", after=["0x20"], requested_us=10
    )
    events = [
        started(wake=0),
        spi("0x20", read=0),
        spi("0x05", read=1000, sr="0x03"),
        spi("0x05", read=90_000, empty=80_000),
    ]
    (row,) = known_waits(watched(*events), make_profile(wait))
    assert (row.requested_us, row.count) == (10, 1)
    assert row.at_most_ns == 90_000 - 1010
    assert known_waits(watched(*events), None) == []


@pytest.mark.parametrize(("gap_us", "off_pct"), [(200, 0), (202, 1)])
def test_calls_are_compared_with_the_gaps_on_the_bus_less_service_time(
    gap_us: int, off_pct: float
) -> None:
    requests = bus([30, 30, 30 + gap_us])
    call = delay(200, took_ns=200 * US, at=event_time_ns(requests[2]) + 10)
    found = agreement_of(called(call, between=requests))
    assert found is not None
    assert (found.calls, found.calls_ns, found.bus_ns) == (1, 200 * US, gap_us * US)
    assert found.off_pct == pytest.approx(off_pct)
    assert agreement_of(watched(*sound_events(spi("0x05", read=5)))) is None


@pytest.mark.parametrize(
    ("lane", "delays", "words"),
    [
        (LaneName.HOST, None, "nobody sees delays on the host lane, so all figures are bounds"),
        (LaneName.VIRTUAL, None, "no delay function of it is known, so all figures are bounds"),
        (LaneName.VIRTUAL, delays_of(), "no call of its delay functions was seen, so all figures"),
        (LaneName.VIRTUAL, delays_of(delay(5, took_ns=5 * US)), "by QEMU, in default_delay."),
    ],
)
def test_survey_says_which_witness_saw_the_waits(
    tmp_path: Path, lane: LaneName, delays: Delays | None, words: str
) -> None:
    cell = make_cell(lane=lane)
    result = keep_cell(tmp_path, cell, sound_events(*bus([30, 30, 500])))
    if delays:
        (tmp_path / cell.id / "delays.jsonl").write_bytes(encode_delays(delays))
    write_results(run_of(result), tmp_path)
    (line,) = survey_run(tmp_path).lines
    assert line.startswith("bundled: ")
    assert words in line


def test_unknown_subject_is_refused_with_the_argument_that_names_it() -> None:
    assert refusal_of("survey", "debian:trixy").startswith("error: SUBJECT: ")
