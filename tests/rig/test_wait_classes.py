# SPDX-License-Identifier: GPL-2.0-or-later
"""Classes of waits that were judged, and the smallest shortening that is visible."""

import pytest
from delayrig.judge.bus import Bus, SeenBus
from delayrig.judge.waits import (
    NO_DELAYS_SEEN,
    NOTHING_JUDGED,
    SeenWaits,
    classify_waits,
    declared_classes,
    judge_waits,
    smallest_visible_short_ns,
    waits_gap,
)
from delayrig.model.evidence import ObservedWait
from delayrig.model.kinds.emulator import Start
from delayrig.model.lane import LaneName
from delayrig.subjects.profiles.profile import Profile

from tests.rig.builders import ERASE_WAIT, SYNC_WAIT, make_cell, make_profile, make_wait
from tests.rig.event_builders import made, seen_of, spi

SYNC = "serprog-sync"
PROFILE = make_profile(SYNC_WAIT)
# This command came 5 ns after the part was ready.
KEPT = [spi("0x06", read=1, margin=5, grade="datasheet")]


def observed(kind: str, shortest: int, longest: int) -> ObservedWait:
    """Returns a wait for which 100 ns were requested."""
    return make_wait(kind=kind, shortest_ns=shortest, longest_ns=longest)


@pytest.mark.parametrize(
    ("empty", "margin", "judged"), [(95, 4, False), (95, 5, True), (100, 0, True)]
)
def test_command_that_may_have_come_before_the_part_was_ready_is_unjudged(
    empty: int, margin: int, judged: bool
) -> None:
    events = [spi("0x06", read=100, empty=empty, margin=margin, grade="datasheet")]
    found = classify_waits([], PROFILE, events)
    assert ["chip-busy" in classes for classes in found] == [judged, not judged]


@pytest.mark.parametrize(("clock", "judged"), [("tsc", True), ("monotonic", False)])
def test_measured_wake_up_latency_bounds_later_ones_only_in_virtual_time(
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
    ids=["one unjudged wait", "missing wait", "convicted", "no profile"],
)
def test_class_is_judged_if_each_of_its_waits_is(
    waits: list[tuple[str, int, int]], profile: Profile | None, classes: tuple[list[str], list[str]]
) -> None:
    assert classify_waits([observed(*wait) for wait in waits], profile, KEPT) == classes


def test_busy_times_that_no_command_tested_are_unjudged() -> None:
    events = [spi("0x05", read=1, sr="0x03"), spi("0x05", read=2)]
    waits = [observed(SYNC, 100, 120)]
    assert classify_waits(waits, PROFILE, events) == ([SYNC], ["chip-busy"])


def test_smallest_visible_shortening_is_the_smallest_of_judged_waits() -> None:
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
def test_gap_names_the_witness_that_the_lane_could_have_had(
    lane: LaneName, profile: Profile | None, gap: str
) -> None:
    seen = SeenWaits(bus=SeenBus(decides=Bus.ACQUITS, profile=profile))
    assert waits_gap(make_cell(lane=lane), seen_of(), seen) == gap


@pytest.mark.parametrize(
    ("lane", "classes"),
    [(LaneName.VIRTUAL, {SYNC}), (LaneName.LIVE, set()), (LaneName.HOST, {SYNC})],
)
def test_class_that_forwarded_bytes_hide_is_not_declared(lane: LaneName, classes: set[str]) -> None:
    assert declared_classes(make_cell(lane=lane), PROFILE) == classes


@pytest.mark.parametrize(
    ("lane", "kinds", "gap"),
    [
        (LaneName.HOST, (SYNC, "erase-poll"), ""),
        (LaneName.HOST, (SYNC,), ""),
        (LaneName.HOST, ("erase-poll",), f"could not be judged: {SYNC}"),
        (LaneName.LIVE, ("erase-poll",), ""),
    ],
    ids=["all", "optional one unjudged", "declared one unjudged", "bridge"],
)
def test_pass_needs_the_declared_classes_that_no_bridge_hides(
    lane: LaneName, kinds: tuple[str, ...], gap: str
) -> None:
    waits = [observed(kind, 100, 120) for kind in kinds]
    profile = make_profile(SYNC_WAIT, ERASE_WAIT)
    bus = SeenBus(decides=Bus.CONVICTS, profile=profile, waits=waits)
    assert judge_waits(make_cell(lane=lane), seen_of(), SeenWaits(bus=bus)).gap == gap
