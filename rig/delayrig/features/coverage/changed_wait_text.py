# SPDX-License-Identifier: GPL-2.0-or-later
"""Changed waits in words: one clause each, those that no cell reached first."""

from dataclasses import dataclass

from delayrig.features.coverage.coverage import BASELINE, ChangedWait, ChangedWaits

RELEASE_PARTS = 10
"""A change touches less than one in so many functions."""
WAITS_MAX = 8
"""So many changed waits are named in a line each."""


def changed_wait_text(wait: ChangedWait) -> str:
    """Returns `the changed wait in spi_init was reached in 2 cells`."""
    is_one = wait.sites <= 1
    number, what, was = ("", "wait", "was") if is_one else (f"{wait.sites} ", "waits", "were")
    cells = f"{len(wait.cells)} cell{'' if len(wait.cells) == 1 else 's'}"
    reached = f"{was} reached in {cells if wait.cells else 'none'}"
    if wait.around:
        return f"the {number}{what} in {wait.function}, which changed, {reached}"
    word = "removed" if wait.side == BASELINE else "changed"
    return f"the {number}{word} {what} in {wait.function} {reached}"


def changed_wait_lines(changed: ChangedWaits) -> list[str]:
    """Returns a clause each, first those that no cell reached, and how many more there are."""
    if changed.why_not:
        return [f"changed waits cannot be told: {changed.why_not}"]
    lines = [changed_wait_text(wait) for wait in changed.waits[:WAITS_MAX]]
    left = changed.waits[WAITS_MAX:]
    unreached = sum(not wait.cells for wait in left)
    return [*lines, *([f"and {len(left)} more, of which {unreached} in none"] if left else [])]


@dataclass(frozen=True, slots=True)
class ChangedWords:
    """Clauses about changed waits: those that cells reached, and those that stay in doubt."""

    reached: list[str]
    unreached: list[str]


def changed_wait_words(changed: ChangedWaits) -> ChangedWords:
    """Returns what a gate says of changed waits.

    Another release, or another compiler, changes many functions at once: what no cell reached is
    told then, and no doubt, since no plan reaches all drivers. A side without its program is a
    doubt: nobody asked what changed.
    """
    if changed.why_not:
        lines = changed_wait_lines(changed)
        return ChangedWords([], lines) if changed.is_doubt else ChangedWords(lines, [])
    unreached = changed.unreached
    words = [changed_wait_text(wait) for wait in unreached[:WAITS_MAX]]
    if len(unreached) > WAITS_MAX:
        words.append(f"{len(unreached) - WAITS_MAX} more changed waits were reached in none")
    seen = [wait for wait in changed.waits if wait.cells]
    reached = [changed_wait_text(wait) for wait in seen[:WAITS_MAX]]
    if changed.changed * RELEASE_PARTS > changed.functions:
        total = f"{changed.changed} functions changed: {len(seen)} changed waits were reached"
        return ChangedWords([f"{total}, {len(unreached)} in no cell"], [])
    return ChangedWords(reached, words)
