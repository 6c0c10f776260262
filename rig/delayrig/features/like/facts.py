# SPDX-License-Identifier: GPL-2.0-or-later
"""The facts in the attachments of a bug report, each with its place."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from delayrig.base.errors import BadInputError

SIZE_BYTES_MAX = 32 << 20
SAME_MHZ_PART = 0.011
"""The largest relative difference by rounding: 1416 MHz is also written as 1.42 GHz."""
_QUOTE_OR_STAMP = re.compile(
    r"^(?:\s*>)*\s?"
    r"(?:(?:[A-Z][a-z]{2} [ 0-9][0-9] [0-9:]{8}|[0-9]{4}-[0-9]{2}-[0-9]{2}T\S+) \S+ kernel: )?"
    r"(?:\[ *[0-9]+\.[0-9]+\] )?"
)
"""The marks that mails, journals and dmesg put before a line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    text: str
    where: str
    """The file and the number of the line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    key: str
    value: str
    where: str


class Facts:
    """All facts. A fact is unknown if two attachments contradict each other."""

    def __init__(self, facts: Iterable[Fact]) -> None:
        self.all = list(dict.fromkeys(facts))

    def of(self, key: str) -> list[Fact]:
        """Returns the facts of that key, each value once."""
        return list({fact.value: fact for fact in reversed(self._of(key))}.values())[::-1]

    def one(self, key: str) -> Fact | None:
        """Returns the fact of that key; None if there is none, or if several differ."""
        found = self.of(key)
        return found[0] if len(found) == 1 else None

    def value(self, key: str) -> str:
        found = self.one(key)
        return found.value if found else ""

    def number(self, key: str) -> float | None:
        """Returns the largest of numbers that differ only by rounding; None if they differ more."""
        values = [float(fact.value) for fact in self._of(key)]
        if not values or max(values) - min(values) > SAME_MHZ_PART * max(values):
            return None
        return max(values)

    def differ(self, key: str) -> str:
        """Returns the values that contradict each other, with their places; empty if none do."""
        found = self.of(key)
        return " and ".join(f"{f.value} ({f.where})" for f in found) if len(found) > 1 else ""

    def _of(self, key: str) -> list[Fact]:
        return [fact for fact in self.all if fact.key == key]


def read_lines(path: Path) -> list[Line]:
    """Returns the lines of an attachment, without the marks of mails and the stamps of logs."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BadInputError(f"{path}: {error.strerror}", hint="name a file of text") from error
    if len(content) > SIZE_BYTES_MAX or b"\0" in content:
        raise BadInputError(
            f"{path}: is no text of a report", hint="name what users attach, such as dmesg's output"
        )
    texts = content.decode("utf-8", errors="replace").splitlines()
    return [
        Line(text=_QUOTE_OR_STAMP.sub("", text.rstrip(), count=1), where=f"{path.name}:{number}")
        for number, text in enumerate(texts, start=1)
    ]
