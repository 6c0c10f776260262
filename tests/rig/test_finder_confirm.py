# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls in a calm cell that confirm a function as a delay."""

import pytest
from delayrig.subjects.finder.confirm import confirm, unit_of

US, MS, S = 1000, 1_000_000, 1_000_000_000


@pytest.mark.parametrize(
    "calls",
    [
        [(1_000_000, S + 70_000)],
        [(10, 10_300), (10, 15_200), (10_000, 10 * MS + 89_000)],
        [(10, 70_000), (100, 160_000), (1_000_000, S)],
        [(5000, int(0.98 * 5000 * US)), (400_000, int(0.98 * 400 * MS))],
        [(100_000, 45 * MS), (1_000_000, 500 * MS)],
        [(0, 200), (1_000_000, S)],
    ],
    ids=["one second", "exact", "slept", "two percent short", "half", "none asked too"],
)
def test_duration_that_follows_what_was_asked_for_confirms(calls: list[tuple[int, int]]) -> None:
    assert confirm(calls) == ""
    assert unit_of(calls) == US


@pytest.mark.parametrize(
    ("calls", "why"),
    [
        ([], "not asked for any time"),
        ([(0, 100)], "not asked for any time"),
        ([(1_000_000, 2 * MS)], "does not explain"),
        ([(10, 50 * MS), (1000, 50 * MS)], "does not explain"),
        ([(3, 3 * MS), (9, 3 * MS)], "does not explain"),
        ([(1000, 11 * MS), (100_000, 12 * MS)], "does not explain"),
        ([(20, 21_000), (21, 22_000)], "too short"),
    ],
    ids=["none", "none asked", "far too short", "always alike", "handle", "measures", "too short"],
)
def test_duration_that_has_other_reasons_does_not(calls: list[tuple[int, int]], why: str) -> None:
    assert why in confirm(calls)


@pytest.mark.parametrize(
    "calls",
    [[(10, 10_300), (100, 100_400)], [(10, 10_300 + 500 * n) for n in range(8)]],
    ids=["of two lengths", "many"],
)
def test_short_times_that_are_kept_closely_confirm(calls: list[tuple[int, int]]) -> None:
    assert unit_of(calls) is None
    assert confirm(calls) == ""
    assert confirm(calls[:1]) == "its calls are too short to tell what they were asked for"


def test_durations_in_proportion_confirm_though_all_are_far_too_short() -> None:
    calls = [(10, 3_000), (10_000, 1_300_000), (100_000, 12_100_000), (1_000_000, 123_667_000)]
    assert confirm(calls) == ""
    assert "does not explain" in confirm(calls[:2])
    assert "does not explain" in confirm([(10_000, 1_300_000), (1_000_000, 1_400_000)])


def test_argument_in_another_unit_is_told() -> None:
    calls = [(10, 10 * MS + 60_000), (250, 250 * MS + 60_000)]
    assert unit_of(calls) == MS
    assert confirm(calls) == "its argument counts ms, not us"
    assert confirm(calls, MS) == ""
