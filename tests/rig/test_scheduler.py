# SPDX-License-Identifier: GPL-2.0-or-later
"""The order in which a run takes its cells."""

from delayrig.lanes.scheduler import Grouping, Scheduler


def groups(*names: str) -> Scheduler[str]:
    return Scheduler(names, grouping=lambda name: Grouping(name[0], name[1]))


def test_one_worker_does_everything_family_by_family_the_largest_first() -> None:
    assert list(groups("a1", "b1", "a2", "b2", "b3").work()) == ["b1", "b2", "b3", "a1", "a2"]


def test_without_families_the_order_is_that_of_the_request() -> None:
    scheduler = Scheduler([3, 1, 2], grouping=lambda _: Grouping())
    assert list(scheduler.work()) == [3, 1, 2]


def test_branches_of_a_family_follow_each_other_in_the_order_of_their_first() -> None:
    scheduler = groups("ay1", "ax1", "ay2", "ax2", "az1")
    assert list(scheduler.work()) == ["ay1", "ay2", "ax1", "ax2", "az1"]


def test_each_worker_has_a_family_of_its_own_as_long_as_there_are_enough() -> None:
    scheduler = groups("a1", "a2", "a3", "b1", "b2")
    one, other = scheduler.work(), scheduler.work()
    assert [next(one), next(other), next(one), next(other)] == ["a1", "b1", "a2", "b2"]


def test_worker_without_a_family_helps_another() -> None:
    scheduler = groups("a1", "a2", "a3", "b1")
    one, other = scheduler.work(), scheduler.work()
    assert [next(one), next(other), next(other), next(one)] == ["a1", "b1", "a2", "a3"]
    assert list(one) == list(other) == []


def test_nothing_to_do_is_done_at_once() -> None:
    assert list(groups().work()) == []


def test_urgent_ones_are_done_before_the_larger_group() -> None:
    scheduler = Scheduler(
        ["a1", "a2", "a3", "b1", "b2"],
        grouping=lambda name: Grouping(name[0]),
        is_urgent=lambda name: name in ("b2", "a3"),
    )
    assert list(scheduler.work()) == ["a3", "a1", "a2", "b2", "b1"]
