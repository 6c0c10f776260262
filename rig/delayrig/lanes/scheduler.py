# SPDX-License-Identifier: GPL-2.0-or-later
"""Which cell is next: those of one group follow each other, as long as nobody else is idle."""

from collections import deque
from collections.abc import Callable, Generator, Hashable, Iterable
from itertools import chain
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Grouping(NamedTuple):
    group: Hashable = None
    subgroup: Hashable = None
    """With some of its group it shares more."""


class Scheduler(Generic[T]):
    """What is left to do, group by group, subgroup by subgroup; within one in the order given."""

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
        """What one of several workers does, one after the other, until nothing is left.

        Each takes a group of its own, the largest first; when there are none, it helps others.
        """
        while groups := [group for group, left in self._left.items() if left]:
            mine = min(groups, key=lambda f: (self._workers[f], -len(self._left[f])))
            self._workers[mine] += 1
            try:
                while left := self._left[mine]:
                    yield left.popleft()
            finally:
                self._workers[mine] -= 1
