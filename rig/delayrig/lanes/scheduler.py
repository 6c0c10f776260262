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
    """The remaining cells by group and subgroup, each in the given order."""

    def __init__(self, items: Iterable[T], grouping: Callable[[T], Grouping]) -> None:
        groups: dict[Hashable, dict[Hashable, list[T]]] = {}
        for item in items:
            group, subgroup = grouping(item)
            groups.setdefault(group, {}).setdefault(subgroup, []).append(item)
        self._left = {
            group: deque(chain.from_iterable(subgroups.values()))
            for group, subgroups in groups.items()
        }
        self._workers = dict.fromkeys(self._left, 0)

    def __len__(self) -> int:
        return sum(map(len, self._left.values()))

    def work(self) -> Generator[T, None, None]:
        """Yields the cells for one of several workers, one after the other, until none is left.

        Each worker takes a group of its own, the largest first; if there are none, it helps others.
        """
        while groups := [group for group, left in self._left.items() if left]:
            mine = min(groups, key=lambda f: (self._workers[f], -len(self._left[f])))
            self._workers[mine] += 1
            try:
                while left := self._left[mine]:
                    yield left.popleft()
            finally:
                self._workers[mine] -= 1
