# SPDX-License-Identifier: GPL-2.0-or-later
"""Chooses the next cell. Cells of one group follow each other, unless a worker would be idle."""

from collections import deque
from collections.abc import Callable, Generator, Hashable, Iterable
from itertools import chain
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Grouping(NamedTuple):
    group: Hashable = None
    subgroup: Hashable = None
    """Cells of one subgroup share more than those of their group."""


class Scheduler(Generic[T]):
    """The remaining cells by group and subgroup, each in the given order.

    Urgent cells come first in their group.
    """

    def __init__(
        self,
        items: Iterable[T],
        grouping: Callable[[T], Grouping],
        is_urgent: Callable[[T], bool] = lambda _: False,
    ) -> None:
        self._is_urgent = is_urgent
        groups: dict[Hashable, dict[Hashable, list[T]]] = {}
        for item in items:
            group, subgroup = grouping(item)
            groups.setdefault(group, {}).setdefault(subgroup, []).append(item)
        self._left = {
            group: deque(sorted(chain(*subgroups.values()), key=lambda e: not is_urgent(e)))
            for group, subgroups in groups.items()
        }
        self._workers = dict.fromkeys(self._left, 0)

    def __len__(self) -> int:
        return sum(map(len, self._left.values()))

    def work(self) -> Generator[T, None, None]:
        """Yields the cells for one of several workers, one after the other, until none is left.

        A worker takes a group with the fewest workers. Of several such groups, one that begins with
        an urgent cell comes first, then the largest.
        """
        while groups := [group for group, left in self._left.items() if left]:
            mine = min(groups, key=self._rank)
            self._workers[mine] += 1
            try:
                while left := self._left[mine]:
                    yield left.popleft()
            finally:
                self._workers[mine] -= 1

    def _rank(self, group: Hashable) -> tuple[int, bool, int]:
        """Returns a sort key, which is smallest for the group to take next."""
        left = self._left[group]
        return self._workers[group], not self._is_urgent(left[0]), -len(left)
