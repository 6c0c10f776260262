# SPDX-License-Identifier: GPL-2.0-or-later
"""Conclusion and advice in words. Every figure and the order follow from the data."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from delayrig.base.text import counted
from delayrig.features.proposal.steps import TITLES, Proposal

COUNTS = 1.0
"""The least change, in percent, that counts. The phase of ticks moves totals by up to 0.5 %."""
NEEDS = {"realtime": "threshold-100us", "slack-and-hybrid": "os-clock"}
"""The step that a step requires. A build that polls for long takes no real-time priority."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The effect of a step against the step before it, in percent; negative is less."""

    step: str
    title: str
    time_pct: float
    cpu_pct: float
    wakeups_pct: float
    too_short: int
    """The number of additional convictions; negative if there are fewer."""
    best_place: str
    """The cell with the largest reduction of time, which is `best_pct`."""
    best_pct: float

    @property
    def worth(self) -> tuple[int, float]:
        """Returns the sort key of steps: verdicts that it removes, then time and CPU time saved."""
        return -self.too_short, -(self.time_pct + self.cpu_pct)


def changes_of(proposal: Proposal) -> list[Change]:
    """Returns the changes of every step but the first."""
    found = []
    for number, (before, after) in enumerate(pairwise(proposal.steps)):
        places = [
            (place.words, _pct(*place.time_ns[number : number + 2])) for place in proposal.places
        ]
        best_place, best_pct = min(places, key=lambda place: place[1], default=("", 0.0))
        change = Change(
            step=after.step,
            title=after.title,
            time_pct=_pct(before.time_ns, after.time_ns),
            cpu_pct=_pct(before.cpu_ns, after.cpu_ns),
            wakeups_pct=_pct(before.wakeups, after.wakeups),
            too_short=after.too_short - before.too_short,
            best_place=best_place,
            best_pct=best_pct,
        )
        found.append(change)
    return found


def _pct(before: int, after: int) -> float:
    return 100 * (after - before) / before if before else 0.0


def landing_order(changes: Sequence[Change]) -> list[Change]:
    """Returns the changes by worth, but each one after the step that it requires."""
    left = sorted(changes, key=lambda change: change.worth, reverse=True)
    order: list[Change] = []
    while left:
        landed = {change.step for change in order}
        able = [c for c in left if NEEDS.get(c.step) in (None, *landed)] or left
        order.append(able[0])
        left.remove(able[0])
    return order


def conclusion(proposal: Proposal) -> str:
    """Returns one paragraph: the effect of all steps, and of each."""
    first, last = proposal.steps[0], proposal.steps[-1]
    total = (
        f"All changes together: the same {len(proposal.places)} writes take"
        f" {last.time_ns / 1e9:.2f} s instead of {first.time_ns / 1e9:.2f} s"
        f" ({_signed(_pct(first.time_ns, last.time_ns))}), {last.cpu_ns / 1e9:.2f} s of CPU time"
        f" instead of {first.cpu_ns / 1e9:.2f} s ({_signed(_pct(first.cpu_ns, last.cpu_ns))}), and"
        f" wake up {last.wakeups} times instead of {first.wakeups}."
    )
    safety = (
        f" Waits were too short in {first.too_short} of {first.judged} cells of the first step"
        f" and in {last.too_short} of {last.judged} of the last."
    )
    return total + safety + "".join(f" {_sentence(change)}" for change in changes_of(proposal))


def _sentence(change: Change) -> str:
    parts = [
        f"{_signed(pct)} of {what}"
        for what, pct in (("time", change.time_pct), ("CPU time", change.cpu_pct))
        if abs(pct) >= COUNTS
    ]
    if change.too_short:
        parts.insert(0, _verdicts(change.too_short))
    what = ", ".join(parts) or "nothing that these cells show"
    return f"{change.title[0].upper()}{change.title[1:]}: {what}."


def _verdicts(more: int) -> str:
    return f"{counted(abs(more), 'verdict')} of too short {'less' if more < 0 else 'more'}"


def _signed(pct: float) -> str:
    return f"{pct:+.1f} %".replace("-", "\N{MINUS SIGN}")


def advice(proposal: Proposal) -> list[str]:
    """Returns the order in which to land the changes, with reasons and remarks."""
    changes = changes_of(proposal)
    order = enumerate(landing_order(changes), 1)
    lines = [f"{number}. {change.title}: {_reason(change)}" for number, change in order]
    return [*lines, *_together(changes), *_for_the_unprivileged(proposal)]


def _reason(change: Change) -> str:
    costs = (
        f"time {_signed(change.time_pct)}, CPU time {_signed(change.cpu_pct)},"
        f" wake-ups {_signed(change.wakeups_pct)}{_where(change)}."
    )
    if change.too_short >= 0:
        return costs
    why = "it is the one about safety" if change.too_short < -1 else "it is about safety"
    return f"{why} ({_verdicts(change.too_short)}); {costs}"


def _where(change: Change) -> str:
    """Names the cell with the best effect, because a sum hides what helps only some machines."""
    if change.best_pct > -COUNTS or change.best_pct >= change.time_pct - COUNTS:
        return ""
    return f"; most on {change.best_place}: time {_signed(change.best_pct)}"


def _together(changes: Sequence[Change]) -> list[str]:
    """Names steps that cost time, and for each the next step that saves time."""
    lines = []
    for number, change in enumerate(changes):
        if change.time_pct < COUNTS:
            continue
        mending = next((c for c in changes[number + 1 :] if c.time_pct <= -COUNTS), None)
        tail = f"; {mending.title} makes up for it, so land both in one release" if mending else ""
        lines.append(f"{TITLES[change.step]} costs {_signed(change.time_pct)} of time{tail}.")
    return lines


def _for_the_unprivileged(proposal: Proposal) -> list[str]:
    """Says what the later steps bring if no real-time priority is available."""
    found = {figures.step: figures for figures in proposal.without_priority}
    if not {"threshold-100us", "slack-and-hybrid"} <= set(found):
        return []
    before, after = found["threshold-100us"], found["slack-and-hybrid"]
    time_pct, cpu_pct = _pct(before.time_ns, after.time_ns), _pct(before.cpu_ns, after.cpu_ns)
    worth = "is worth having there too" if time_pct <= -COUNTS else "brings little there"
    return [
        "Who may not take a real-time priority gets nothing from SCHED_FIFO; timer slack and hybrid"
        f" {worth}: time {_signed(time_pct)}, CPU time {_signed(cpu_pct)}."
    ]
