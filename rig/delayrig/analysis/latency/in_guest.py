# SPDX-License-Identifier: GPL-2.0-or-later
"""What guests of every lane are given to measure with, and how their answers are taken in."""

from collections.abc import Iterator, Mapping, Sequence

from delayrig.analysis.latency.place import MissingError
from delayrig.lanes.payload import SUBJECT_ROOT

WORDS_MAX = 60
"""Of a command line in a guest (images/agent/spec.h)."""
USUAL_SLACK_NS = 50_000
"""What init has, and hands down. The agent is a real-time process: what it starts has none."""
CYCLIC_OUTPUT = "/tmp/cyclictest.json"
CYCLIC_ENTRY = "cyclictest.json"
CYCLIC_LINE = f"collect {CYCLIC_ENTRY} {SUBJECT_ROOT}{CYCLIC_OUTPUT} 0 0"
"""For the agent."""


def command_lines(words: Sequence[str]) -> Iterator[Sequence[str]]:
    """As many words at a time as one holds."""
    for start in range(0, len(words), WORDS_MAX):
        yield words[start : start + WORDS_MAX]


def cyclic_words(words: Sequence[str]) -> list[str]:
    """With the file that cyclictest is to write."""
    return [word.replace("OUTPUT", CYCLIC_OUTPUT) for word in words]


def cyclic_json(entries: Mapping[str, bytes]) -> bytes:
    """What it wrote; raises `MissingError` with what it said where that is nothing."""
    if CYCLIC_ENTRY not in entries:
        said = entries.get("stdout.txt", b"").decode(errors="replace").strip()
        raise MissingError(f"cyclictest said: {said[:300]}")
    return entries[CYCLIC_ENTRY]
