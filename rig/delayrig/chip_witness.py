# SPDX-License-Identifier: GPL-2.0-or-later
"""Witness 1, the chip: commands that came before the part was ready for them."""

from delayrig.events import Event, transactions
from delayrig.evidence import Evidence, Witness

# Commands that came too early. Other broken rules are reported, and never called too short: not
# even `window`, whose margin tells by how much a cycle came too late.
RULES_OF_TIME = ("busy", "tres", "tdp", "reset", "tsus", "tvsl", "tpuw", "tida")
DOUBTFUL_GRADES = ("unsure", "assumed")


def convict_commands(events: list[Event]) -> list[Evidence]:
    """The commands that came too early, the worst per rule and opcode, with how many."""
    early = [event for event in transactions(events) if event["violation"] in RULES_OF_TIME]
    evidence = []
    for key in dict.fromkeys((event["violation"], event["op"], event["grade"]) for event in early):
        same = [e for e in early if (e["violation"], e["op"], e["grade"]) == key]
        evidence.append(_evidence(min(same, key=lambda event: int(event["margin_ns"])), len(same)))
    return evidence


def _evidence(event: Event, count: int) -> Evidence:
    margin_ns = int(event["margin_ns"])
    return Evidence(
        what=f"{_command(event)} came {-margin_ns} ns before the part was ready"
        f" (rule {event['violation']})",
        witness=Witness.CHIP,
        requested_ns=None,
        actual_ns=None,
        margin_ns=margin_ns,
        grade=event["grade"],
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


def broken_rules(events: list[Event]) -> list[str]:
    """Rules other than those of time that were broken, each once."""
    return sorted(
        {
            str(event["violation"])
            for event in transactions(events)
            if event["violation"] and event["violation"] not in RULES_OF_TIME
        }
    )
