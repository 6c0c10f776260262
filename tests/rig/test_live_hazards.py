# SPDX-License-Identifier: GPL-2.0-or-later
"""Hazards of cores that differ, change or disappear: their arguments, and their proof."""

import itertools

import msgspec
import pytest
from delayrig.base.errors import BadInputError
from delayrig.hazards import hazard_of, parse_hazards, refusal_on
from delayrig.hazards.artifacts import Artifacts
from delayrig.hazards.move import fastest_core
from delayrig.hazards.speed import Governor, SpeedHazard
from delayrig.lanes.live.agent_protocol import split_changes
from delayrig.model.cell import Cell, Job, Programmer
from delayrig.model.events import Event
from delayrig.model.kinds.agent import SubjectEnd, SubjectStart
from delayrig.model.kinds.emulator import Accept
from delayrig.model.kinds.hazard import CrowdRunning, CrowdStopped, Moved
from delayrig.model.kinds.pace import Pace, Speed
from delayrig.model.lane import LaneName
from delayrig.model.speed import Origin, SpeedChange

from tests.rig.event_builders import made, seen_of

MS = 1_000_000
CELL = Cell(
    name="x",
    lane=LaneName.LIVE,
    subject="bundled",
    icount_shift=0,
    cores=2,
    core_mips=(10.0, 40.0),
    chip="W25Q128JV",
    corner="typ",
    job=Job.WRITE,
    programmer=Programmer.SERPROG_IP,
    seed=1,
)


def changes_of(word: str, count: int, cell: Cell = CELL) -> list[SpeedChange]:
    hazard = hazard_of(word)
    assert isinstance(hazard, SpeedHazard)
    return list(itertools.islice(hazard.speed_changes(cell), count))


def lived(ms: int, *events: Event) -> Artifacts:
    began = made(SubjectStart, t_ns=0)
    accepted = made(Accept, t_ns=10 * MS)
    ended = made(SubjectEnd, t_ns=ms * MS)
    return seen_of(began, accepted, ended, *events)


@pytest.mark.parametrize(
    "word",
    [
        *("move:accept", "frequency:accept", "frequency-steps:5", "governor:ondemand", "smt:5"),
        *("steal:30", "hotplug:2", "hogs-each:4"),
    ],
)
def test_hazard_of_unequal_cores_is_for_the_live_lane_alone(word: str) -> None:
    assert refusal_on(LaneName.LIVE, (word,)) == ""
    assert "live lane alone" in refusal_on(LaneName.VIRTUAL, (word,))
    assert "live lane alone" in refusal_on(LaneName.HOST, (word,))


@pytest.mark.parametrize(
    "word",
    [
        *("move", "move:never", "move:accept+0", "move:-1", "frequency:accept,0"),
        *("frequency:accept,100", "frequency:accept,25,ramp=", "governor:fast", "smt:0"),
        *("steal:100", "steal:30@0", "hotplug:21", "hogs-each:5", "frequency-steps:x"),
    ],
)
def test_hazard_that_makes_no_sense_is_refused(word: str) -> None:
    with pytest.raises(BadInputError):
        parse_hazards(word)


def test_governor_beside_another_that_decides_on_speeds_is_refused() -> None:
    with pytest.raises(BadInputError, match="exclude each other"):
        parse_hazards("governor:ondemand+smt:5")


def test_frequency_begins_low_and_ends_at_the_cores_own_speed() -> None:
    first, later = split_changes(iter(changes_of("frequency:accept+20,50,ramp=100", 2)))
    assert [change.part for change in first] == [0.5]
    (change,) = later
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


def test_cores_are_stolen_for_that_part_of_the_time() -> None:
    changes = changes_of("steal:30@20", 40)
    stolen_ms = sum(
        end.when.after_ms - begin.when.after_ms
        for begin, end in zip(changes[::2], changes[1::2], strict=True)
    )
    assert stolen_ms == pytest.approx(0.3 * 1000, rel=0.01)


def test_governor_ranges_over_a_quarter_to_the_whole_of_each_core() -> None:
    words = Governor("ondemand").pace_words([10.0, 40.0])
    assert list(words) == [
        "governor=ondemand",
        "min_mips=2.500:10.000",
        "max_mips=10.000:40.000",
    ]


def test_speed_that_never_changed_is_told() -> None:
    hazard = hazard_of("frequency:accept")
    change = made(Speed, t_ns=11 * MS)
    assert "0 times where 1 were due" in hazard.fault(CELL, lived(500))
    assert hazard.fault(CELL, lived(500, change)) == ""
    assert hazard.fault(CELL, lived(5)) == ""


def test_governor_that_never_decided_is_told() -> None:
    idle, busy = (made(Pace, t_ns=0, governor_changes=count) for count in (0, 3))
    assert "never changed" in hazard_of("governor:ondemand").fault(CELL, lived(500, idle))
    assert hazard_of("governor:ondemand").fault(CELL, lived(500, busy)) == ""
    assert hazard_of("governor:performance").fault(CELL, lived(500, idle)) == ""


def test_subject_is_moved_to_the_fastest_core() -> None:
    assert fastest_core([10.0, 40.0, 20.0]) == 1
    assert list(hazard_of("move:accept+30").spec_lines(CELL)) == ["move accept 30 1"]
    assert list(hazard_of("move:500").spec_lines(CELL)) == ["move start 500 1"]


def test_move_that_did_not_come_or_came_late_is_told() -> None:
    hazard = hazard_of("move:accept")
    moved = made(Moved, t_ns=12 * MS, core=1)
    assert "not moved" in hazard.fault(CELL, lived(500))
    assert "too late" in hazard.fault(
        CELL, lived(500, msgspec.structs.replace(moved, t_ns=300 * MS))
    )
    assert "core 0" in hazard.fault(CELL, lived(500, msgspec.structs.replace(moved, core=0)))
    assert hazard.fault(CELL, lived(500, moved)) == ""


def test_hogs_of_every_core_must_all_be_seen() -> None:
    hazard = hazard_of("hogs-each:2")
    running = made(CrowdRunning, t_ns=0, count=4, turns_min=1)
    stopped = made(CrowdStopped, t_ns=9, count=4, turns_min=5)
    assert hazard.fault(CELL, lived(500, running, stopped)) == ""
    assert "not all" in hazard.fault(
        CELL, lived(500, msgspec.structs.replace(running, count=3), stopped)
    )
    assert hazard.missed(CELL, lived(500, running, stopped)) == ""
    assert "its share" in hazard.missed(
        CELL, lived(500, running, msgspec.structs.replace(stopped, turns_min=1))
    )
