# SPDX-License-Identifier: GPL-2.0-or-later
"""One TOML table whose keys are all known, and errors that say how to mend the file."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


class ChipFileError(Exception):
    """A chip file that cannot be used; the message names the file, the key and the remedy."""

    def __init__(self, file: Path, key: str, problem: str, *, remedy: str) -> None:
        super().__init__(f"{file.name}: {key}: {problem}; {remedy}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table of a chip file. `where` is its dotted path, empty for the file itself."""

    file: Path
    where: str
    values: dict[str, object]

    def path(self, key: str) -> str:
        return f"{self.where}.{key}" if self.where else key

    def error(self, key: str, problem: str, *, remedy: str) -> ChipFileError:
        return ChipFileError(self.file, self.path(key), problem, remedy=remedy)

    def check_keys(self, *, required: Sequence[str], optional: Sequence[str] = ()) -> None:
        """Unknown keys come first: a missing key is most often a misspelt one."""
        known = (*required, *optional)
        for key in self.values:
            if key not in known:
                raise self._unknown_key(key, known)
        for key in required:
            if key not in self.values:
                raise self.error(key, "missing key", remedy=f"add `{key} = ...`")

    def _unknown_key(self, key: str, known: Sequence[str]) -> ChipFileError:
        near = nearest(key, known)
        remedy = f"remove it, or use the nearest known key `{near}`"
        return self.error(key, "unknown key", remedy=remedy)

    def _wrong_type(self, key: str, wanted: str) -> ChipFileError:
        got = type(self.values[key]).__name__
        return self.error(key, f"is {got}, not {wanted}", remedy=f"write {wanted} there")

    def text(self, key: str) -> str:
        value = self.values[key]
        if not isinstance(value, str) or not value:
            raise self._wrong_type(key, "a text that is not empty")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        value = self.values[key]
        if not isinstance(value, list) or not value:
            raise self._wrong_type(key, "a list of texts")
        texts = tuple(item for item in value if isinstance(item, str))
        if len(texts) != len(value):
            raise self._wrong_type(key, "a list of texts")
        return texts

    def integer(self, key: str, *, low: int, high: int) -> int:
        value = self.values[key]
        if not isinstance(value, int) or isinstance(value, bool):
            raise self._wrong_type(key, "a whole number")
        if not low <= value <= high:
            raise self.error(
                key, f"is {value}", remedy=f"write a whole number from {low} to {high}"
            )
        return value

    def true(self, key: str) -> None:
        """For a key that is left out where it is not so."""
        if self.values[key] is not True:
            raise self.error(key, "is not true", remedy=f"write `{key} = true`, or leave it out")

    def numbers(self, key: str, *, low: int, high: int) -> tuple[int, ...]:
        value = self.values[key]
        wanted = f"a list of whole numbers from {low} to {high}"
        if not isinstance(value, list) or not value:
            raise self._wrong_type(key, wanted)
        numbers = tuple(item for item in value if isinstance(item, int) and low <= item <= high)
        if len(numbers) != len(value):
            raise self._wrong_type(key, wanted)
        return numbers

    def octets(self, key: str, *, count: int) -> tuple[int, ...]:
        value = self.values[key]
        wanted = f"a list of {count} bytes"
        if not isinstance(value, list) or len(value) != count:
            raise self._wrong_type(key, wanted)
        octets = tuple(item for item in value if isinstance(item, int) and 0 <= item <= 0xFF)
        if len(octets) != count:
            raise self._wrong_type(key, wanted)
        return octets

    def microseconds_as_ns(self, key: str) -> int:
        value = self.values[key]
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self._wrong_type(key, "a number of microseconds")
        ns = round(value * 1000)
        if ns <= 0:
            raise self.error(key, f"is {value}", remedy="write a number above 0, or leave it out")
        return ns

    def table(self, key: str) -> Table:
        value = self.values[key]
        if not isinstance(value, dict):
            raise self._wrong_type(key, f"a table `[{self.path(key)}]`")
        return Table(file=self.file, where=self.path(key), values=value)

    def tables(self, key: str) -> tuple[Table, ...]:
        value = self.values[key]
        wanted = f"a list of tables `[[{self.path(key)}]]`"
        if not isinstance(value, list) or not value:
            raise self._wrong_type(key, wanted)
        found: list[Table] = []
        for index, item in enumerate(value):
            if not isinstance(item, dict):
                raise self._wrong_type(key, wanted)
            found.append(Table(file=self.file, where=f"{self.path(key)}[{index}]", values=item))
        return tuple(found)

    def only(self, *keys: str) -> Table:
        """The same table without its other keys."""
        values = {key: self.values[key] for key in keys if key in self.values}
        return Table(file=self.file, where=self.where, values=values)

    def choice(self, key: str, known: Sequence[str]) -> str:
        return self.one_of(key, self.text(key), known)

    def one_of(self, key: str, value: str, known: Sequence[str]) -> str:
        if value not in known:
            near = nearest(value, known)
            raise self.error(
                key, f"unknown name `{value}`", remedy=f"use the nearest known name `{near}`"
            )
        return value


def nearest(name: str, known: Sequence[str]) -> str:
    """The known name that is spelled most like `name`, however far away it is."""
    return difflib.get_close_matches(name, known, n=1, cutoff=0.0)[0]
