# SPDX-License-Identifier: GPL-2.0-or-later
"""Witness 1, the chip: commands that came before the part was ready for them."""

import re
from collections.abc import Iterator

from delayrig.judge.bus import wake_bound_ns
from delayrig.judge.clock_error import clock_error
from delayrig.model.events import TRANSACTIONS, Event, first, transactions
from delayrig.model.evidence import Evidence, Witness

# Commands that came too early. Other broken rules are reported, and never called too short: not
# even `window`, whose margin tells by how much a cycle came too late.
RULES_OF_TIME = ("busy", "tres", "tdp", "reset", "tsus", "tvsl", "tpuw", "tida")

RULES_OF_POWER = ("tvsl", "tpuw")

WITHIN_CLOCK_ERROR = "clock"
"""The grade of a margin smaller than what the clock may be wrong by."""

DOUBTFUL_GRADES = ("unsure", "assumed", WITHIN_CLOCK_ERROR)


def convict_commands(events: list[Event]) -> list[Evidence]:
    """The commands that came too early, the worst per rule and opcode, with how many."""
    error = clock_error(events)
    groups: dict[tuple[str, str | None, str], list[Event]] = {}
    for event, wait_ns in _early_commands(events):
        within = -int(event["margin_ns"]) < error.of_wait_ns(wait_ns)
        grade = WITHIN_CLOCK_ERROR if within else event["grade"]
        groups.setdefault((event["violation"], event["op"], grade), []).append(event)
    return [
        _evidence(min(same, key=lambda event: int(event["margin_ns"])), grade, len(same))
        for (_, _, grade), same in groups.items()
    ]


def _early_commands(events: list[Event]) -> Iterator[tuple[Event, int]]:
    """Commands that came too early, each with the length of the wait that it cut short.

    A wait that is no busy time was opened by the last transaction that was obeyed, or by the power
    that came.
    """
    busy_ns = opened_ns = powered_ns = 0
    for event in events:
        if event["ev"] == "busy":
            busy_ns = int(event["nominal_ns"])
        elif event["ev"] in TRANSACTIONS and event["violation"] in RULES_OF_TIME:
            is_busy = event["violation"] == "busy"
            since_power = powered_ns > 0 and event["violation"] in RULES_OF_POWER
            kept_ns = event["read_ns"] - (powered_ns if since_power else opened_ns)
            yield event, busy_ns if is_busy else kept_ns - int(event["margin_ns"])
        elif event["ev"] in TRANSACTIONS:
            opened_ns = event["read_ns"]
        elif event["ev"] == "starts":
            opened_ns = powered_ns = event["t_ns"]


def _evidence(event: Event, grade: str, count: int) -> Evidence:
    margin_ns = int(event["margin_ns"])
    return Evidence(
        what=f"{_command(event)} came {-margin_ns} ns before the part was ready"
        f" (rule {event['violation']})",
        witness=Witness.CHIP,
        requested_ns=None,
        actual_ns=None,
        margin_ns=margin_ns,
        grade=grade,
        where=f"bus at {event['read_ns']} ns",
        count=count,
    )


def _command(event: Event) -> str:
    """A read of a part that has no transfers has no opcode."""
    return str(event["name"]) if event["op"] is None else f"{event['name']} ({event['op']})"


def margins_ns(events: list[Event]) -> list[int]:
    """By how much each wait that the part was owed was kept, or cut short where negative."""
    return [
        int(event["margin_ns"])
        for event in transactions(events)
        if event["margin_ns"] is not None and event["violation"] in (None, *RULES_OF_TIME)
    ]


def may_hide_an_early_one(events: list[Event]) -> bool:
    """Whether a command that was in time when it was read may have come before the part was ready.

    Whoever reads late sees a wait longer than it was.
    """
    wake_ns = wake_bound_ns(first(events, "start") or {})
    return any(
        0 <= int(event["margin_ns"]) < _read_late_ns(event, wake_ns)
        for event in transactions(events)
        if event["margin_ns"] is not None and event["violation"] is None
    )


def _read_late_ns(event: Event, wake_ns: int | None) -> int:
    """The most that may have passed between its arrival and its being read."""
    late_ns = int(event["read_ns"] - event["empty_ns"])
    return late_ns if wake_ns is None else min(late_ns, wake_ns)


def broken_rules(events: list[Event]) -> list[str]:
    """Rules other than those of time that were broken, each once."""
    return sorted(
        {
            str(event["violation"])
            for event in transactions(events)
            if event["violation"] and event["violation"] not in RULES_OF_TIME
        }
    )


def rule_of(evidence: Evidence) -> str:
    """The rule of the part that was broken; empty where another witness speaks."""
    found = re.search(r"\(rule (\w+)\)$", evidence.what)
    return found[1] if found else ""
