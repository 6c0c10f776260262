# SPDX-License-Identifier: GPL-2.0-or-later
"""A TOML table that refuses unknown keys, with errors that say how to correct the file."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard

# An hour. No part takes longer, and 1000 times that (a worn part) still fits in 64 bits of ns.
MICROSECONDS_MAX = 3_600_000_000


class ChipFileError(Exception):
    """A chip file that cannot be used; the message names the file, the key and the remedy."""

    def __init__(self, file: Path, key: str, problem: str, *, remedy: str) -> None:
        super().__init__(f"{file.name}: {key}: {problem}; {remedy}")


@dataclass(frozen=True, slots=True)
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
        """Checks the keys, unknown ones first: a missing key is most often a misspelt one."""
        known = (*required, *optional)
        for key in self.values:
            if key not in known:
                remedy = f"remove it, or use the nearest known key `{nearest(key, known)}`"
                raise self.error(key, "unknown key", remedy=remedy)
        for key in required:
            self._value(key)

    def _value(self, key: str) -> object:
        if key not in self.values:
            raise self.error(key, "missing key", remedy=f"add `{key} = ...`")
        return self.values[key]

    def _wrong_type(self, key: str, wanted: str) -> ChipFileError:
        got = type(self.values[key]).__name__
        return self.error(key, f"is {got}, not {wanted}", remedy=f"write {wanted} there")

    def text(self, key: str) -> str:
        value = self._value(key)
        if not isinstance(value, str) or not _is_printed(value):
            raise self._wrong_type(key, "a printable text that is not empty")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        value = self._value(key)
        if isinstance(value, list) and value:
            texts = tuple(item for item in value if isinstance(item, str) and _is_printed(item))
            if len(texts) == len(value):
                return texts
        raise self._wrong_type(key, "a list of printable texts")

    def integer(self, key: str, *, low: int, high: int) -> int:
        value = self._value(key)
        if not _is_whole(value):
            raise self._wrong_type(key, "a whole number")
        if not low <= value <= high:
            raise self.error(
                key, f"is {value}", remedy=f"write a whole number from {low} to {high}"
            )
        return value

    def octet(self, key: str, *, low: int = 0) -> int:
        return self.integer(key, low=low, high=0xFF)

    def divisor(self, key: str, whole: int) -> int:
        value = self.integer(key, low=1, high=whole)
        if whole % value:
            remedy = f"write a number that divides {whole}"
            raise self.error(key, f"is {value}", remedy=remedy)
        return value

    def true(self, key: str) -> str:
        """Checks that the value is true, the only one allowed, and returns it in C."""
        if self._value(key) is not True:
            raise self.error(key, "is not true", remedy=f"write `{key} = true`, or leave it out")
        return "true"

    def numbers(self, key: str, *, low: int, high: int) -> tuple[int, ...]:
        return self._numbers(
            key, f"a list of whole numbers from {low} to {high}", low=low, high=high
        )

    def octets(self, key: str, *, count: int) -> tuple[int, ...]:
        wanted = f"a list of {count} bytes"
        octets = self._numbers(key, wanted, low=0, high=0xFF)
        if len(octets) != count:
            raise self._wrong_type(key, wanted)
        return octets

    def _numbers(self, key: str, wanted: str, *, low: int, high: int) -> tuple[int, ...]:
        value = self._value(key)
        if isinstance(value, list) and value:
            numbers = tuple(item for item in value if _is_whole(item) and low <= item <= high)
            if len(numbers) == len(value):
                return numbers
        raise self._wrong_type(key, wanted)

    def microseconds_as_ns(self, key: str) -> int:
        value = self._value(key)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self._wrong_type(key, "a number of microseconds")
        ns = round(value * 1000) if 0 < value <= MICROSECONDS_MAX else 0
        if ns == 0:
            remedy = f"write a number above 0, up to {MICROSECONDS_MAX}, or leave it out"
            raise self.error(key, f"is {value}", remedy=remedy)
        return ns

    def table(self, key: str) -> Table:
        return self._table(key, self.path(key), self._value(key), f"a table `[{self.path(key)}]`")

    def _table(self, key: str, where: str, value: object, wanted: str) -> Table:
        if not isinstance(value, dict):
            raise self._wrong_type(key, wanted)
        return Table(self.file, where, value)

    def tables(self, key: str) -> tuple[Table, ...]:
        value = self._value(key)
        path, wanted = self.path(key), f"a list of tables `[[{self.path(key)}]]`"
        if not isinstance(value, list) or not value:
            raise self._wrong_type(key, wanted)
        return tuple(
            self._table(key, f"{path}[{index}]", item, wanted) for index, item in enumerate(value)
        )

    def only(self, *keys: str) -> Table:
        """Returns a table with only these keys."""
        values = {key: self.values[key] for key in keys if key in self.values}
        return Table(self.file, self.where, values)

    def choice(self, key: str, known: Sequence[str]) -> str:
        return self.one_of(key, self.text(key), known)

    def one_of(self, key: str, value: str, known: Sequence[str]) -> str:
        if value not in known:
            near = nearest(value, known)
            raise self.error(
                key, f"unknown name `{value}`", remedy=f"use the nearest known name `{near}`"
            )
        return value


def _is_whole(value: object) -> TypeGuard[int]:
    """Returns True for a whole number. For Python, true and false are whole numbers, too."""
    return isinstance(value, int) and not isinstance(value, bool)


def _is_printed(text: str) -> bool:
    """Returns True if the text needs no escape in C."""
    return text != "" and text.isprintable()


def nearest(name: str, known: Sequence[str]) -> str:
    """Returns the known name with the spelling most like `name`, however different it is."""
    return difflib.get_close_matches(name, known, n=1, cutoff=0.0)[0]
