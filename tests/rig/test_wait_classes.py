# SPDX-License-Identifier: GPL-2.0-or-later
"""Classes of waits that were judged, and the smallest shortening that is visible."""

import pytest
from delayrig.judge.waits import (
    NO_DELAYS_SEEN,
    NOTHING_JUDGED,
    Bus,
    SeenWaits,
    classify_waits,
    declared_classes,
    smallest_visible_short_ns,
    waits_gap,
)
from delayrig.model.evidence import ObservedWait
from delayrig.model.kinds.emulator import Start
from delayrig.model.lane import LaneName
from delayrig.subjects.profiles.profile import Profile, Wait

from tests.rig.builders import SYNC_WAIT, make_cell, make_profile
from tests.rig.event_builders import made, seen_of, spi

SYNC = "serprog-sync"
PROFILE = make_profile(SYNC_WAIT)
# This command came 5 ns after the part was ready.
KEPT = [spi("0x06", read=1, margin=5, grade="datasheet")]


def observed(kind: str, shortest: int, longest: int) -> ObservedWait:
    """Returns a wait of which 100 ns were asked."""
    return ObservedWait(
        kind=kind,
        what=kind,
        requested_ns=100,
        shortest_ns=shortest,
        longest_ns=longest,
        opened_ns=0,
    )


def test_command_at_the_very_end_of_a_busy_time_puts_it_to_the_test() -> None:
    events = [spi("0x06", read=1, empty=1, margin=0, grade="datasheet")]
    assert "chip-busy" in classify_waits([], PROFILE, events)[0]


@pytest.mark.parametrize(("margin", "judged"), [(4, False), (5, True)])
def test_command_that_may_have_come_before_the_part_was_ready_is_unjudged(
    margin: int, judged: bool
) -> None:
    events = [spi("0x06", read=100, empty=95, margin=margin, grade="datasheet")]
    assert ("chip-busy" in classify_waits([], PROFILE, events)[0]) is judged
    assert ("chip-busy" in classify_waits([], PROFILE, events)[1]) is not judged


@pytest.mark.parametrize(("clock", "judged"), [("tsc", True), ("monotonic", False)])
def test_latency_measured_before_bounds_later_ones_in_a_guest_alone(
    clock: str, judged: bool
) -> None:
    start = made(Start, t_ns=0, clock=clock, wake_latency_ns_max=3)
    events = [start, spi("0x06", read=100, empty=90, margin=4, grade="datasheet")]
    assert ("chip-busy" in classify_waits([], PROFILE, events)[0]) is judged


@pytest.mark.parametrize(
    ("waits", "profile", "classes"),
    [
        (
            [(SYNC, 100, 120), ("erase-poll", 100, 120), ("erase-poll", 99, 120)],
            PROFILE,
            (["chip-busy", SYNC], ["erase-poll"]),
        ),
        ([], PROFILE, (["chip-busy"], [SYNC])),
        ([(SYNC, 0, 99)], PROFILE, (["chip-busy", SYNC], [])),
        ([], None, (["chip-busy"], ["bus (no profile for this version)"])),
    ],
    ids=["one unjudged wait", "not come up", "convicted", "no profile"],
)
def test_class_is_judged_if_each_of_its_waits_is(
    waits: list[tuple[str, int, int]], profile: Profile | None, classes: tuple[list[str], list[str]]
) -> None:
    assert classify_waits([observed(*wait) for wait in waits], profile, KEPT) == classes


def test_busy_times_that_no_command_put_to_the_test_are_unjudged() -> None:
    events = [spi("0x05", read=1, sr="0x03"), spi("0x05", read=2)]
    waits = [observed(SYNC, 100, 120)]
    assert classify_waits(waits, PROFILE, events) == ([SYNC], ["chip-busy"])


def test_smallest_visible_shortening_is_the_least_of_judged_waits() -> None:
    waits = [observed(SYNC, 100, 120), observed("erase-poll", 99, 101)]
    assert smallest_visible_short_ns(waits, [SYNC]) == 21
    assert smallest_visible_short_ns(waits, []) is None


@pytest.mark.parametrize(
    ("lane", "profile", "gap"),
    [
        (LaneName.VIRTUAL, None, NOTHING_JUDGED),
        (LaneName.LIVE, PROFILE, NOTHING_JUDGED),
        (LaneName.HOST, None, NO_DELAYS_SEEN),
        (LaneName.HOST, PROFILE, ""),
    ],
)
def test_what_is_missing_is_what_the_lane_could_have_seen(
    lane: LaneName, profile: Profile | None, gap: str
) -> None:
    seen = SeenWaits(bus=Bus.ACQUITS, profile=profile)
    assert waits_gap(make_cell(lane=lane), seen_of(), seen) == gap


@pytest.mark.parametrize(
    ("lane", "classes"),
    [(LaneName.VIRTUAL, {SYNC}), (LaneName.LIVE, set()), (LaneName.HOST, {SYNC})],
)
def test_class_that_forwarded_bytes_hide_is_not_declared(lane: LaneName, classes: set[str]) -> None:
    assert declared_classes(make_cell(lane=lane), PROFILE) == classes


def test_reason_of_the_host_lane_names_the_lane_that_sees_delays() -> None:
    assert "--lane virtual" in NO_DELAYS_SEEN
    assert "delay function" not in NO_DELAYS_SEEN
    assert Wait(kind="x", what="", opens="", requested_us=2).requested_ns("any") == 2000
