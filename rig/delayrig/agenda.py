# SPDX-License-Identifier: GPL-2.0-or-later
"""Which cell is next: those that are akin follow each other, as long as nobody else is idle."""

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class Agenda(Generic[T]):
    """What is left to do, family by family; within one in the order in which it was given."""

    def __init__(self, items: Iterable[T], kinship: Callable[[T], Hashable]) -> None:
        self._left: dict[Hashable, deque[T]] = {}
        for item in items:
            self._left.setdefault(kinship(item), deque()).append(item)
        self._workers = dict.fromkeys(self._left, 0)

    def work(self) -> Iterator[T]:
        """What one of several workers does, one after the other, until nothing is left.

        Each takes a family of its own, the largest first; when there are none, it helps others.
        """
        while families := [family for family, left in self._left.items() if left]:
            mine = min(families, key=lambda f: (self._workers[f], -len(self._left[f])))
            self._workers[mine] += 1
            try:
                while left := self._left[mine]:
                    yield left.popleft()
            finally:
                self._workers[mine] -= 1
