# SPDX-License-Identifier: GPL-2.0-or-later
"""In which order the cells of a run are taken."""

from delayrig.lanes.agenda import Agenda, Kinship


def families(*names: str) -> Agenda[str]:
    return Agenda(names, kinship=lambda name: Kinship(name[0], name[1]))


def test_one_worker_does_everything_family_by_family_the_largest_first() -> None:
    assert list(families("a1", "b1", "a2", "b2", "b3").work()) == ["b1", "b2", "b3", "a1", "a2"]


def test_without_families_the_order_is_that_of_the_request() -> None:
    agenda = Agenda([3, 1, 2], kinship=lambda _: Kinship())
    assert list(agenda.work()) == [3, 1, 2]


def test_branches_of_a_family_follow_each_other_in_the_order_of_their_first() -> None:
    agenda = families("ay1", "ax1", "ay2", "ax2", "az1")
    assert list(agenda.work()) == ["ay1", "ay2", "ax1", "ax2", "az1"]


def test_each_worker_has_a_family_of_its_own_as_long_as_there_are_enough() -> None:
    agenda = families("a1", "a2", "a3", "b1", "b2")
    one, other = agenda.work(), agenda.work()
    assert [next(one), next(other), next(one), next(other)] == ["a1", "b1", "a2", "b2"]


def test_worker_without_a_family_helps_another() -> None:
    agenda = families("a1", "a2", "a3", "b1")
    one, other = agenda.work(), agenda.work()
    assert [next(one), next(other), next(other), next(one)] == ["a1", "b1", "a2", "a3"]
    assert list(one) == list(other) == []


def test_nothing_to_do_is_done_at_once() -> None:
    assert list(families().work()) == []
