# SPDX-License-Identifier: GPL-2.0-or-later
"""Which cell is next: those that are akin follow each other, as long as nobody else is idle."""

from collections import deque
from collections.abc import Callable, Generator, Hashable, Iterable
from itertools import chain
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Kinship(NamedTuple):
    """What an item shares with others."""

    family: Hashable = None
    branch: Hashable = None
    """With some of its family it shares more."""


class Agenda(Generic[T]):
    """What is left to do, family by family, branch by branch; within one in the order given."""

    def __init__(self, items: Iterable[T], kinship: Callable[[T], Kinship]) -> None:
        families: dict[Hashable, dict[Hashable, list[T]]] = {}
        for item in items:
            family, branch = kinship(item)
            families.setdefault(family, {}).setdefault(branch, []).append(item)
        self._left = {
            family: deque(chain.from_iterable(branches.values()))
            for family, branches in families.items()
        }
        self._workers = dict.fromkeys(self._left, 0)

    def __len__(self) -> int:
        """How many items nobody has begun."""
        return sum(map(len, self._left.values()))

    def work(self) -> Generator[T, None, None]:
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
