# SPDX-License-Identifier: GPL-2.0-or-later
"""Witness 1, the chip: commands that came before the part was ready for them."""

from delayrig.events import Event, of_kind
from delayrig.evidence import Evidence, Witness

# Broken rules that are not about time: they are reported, and never called too short.
RULES_OF_TIME = ("busy", "tres", "tdp", "reset", "tsus", "tvsl", "tpuw")
DOUBTFUL_GRADES = ("unsure", "assumed")


def convict_commands(events: list[Event]) -> list[Evidence]:
    """The commands that came too early, the worst per rule and opcode, with how many."""
    early = [event for event in of_kind(events, "spi") if event["violation"] in RULES_OF_TIME]
    evidence = []
    for key in dict.fromkeys((event["violation"], event["op"], event["grade"]) for event in early):
        same = [e for e in early if (e["violation"], e["op"], e["grade"]) == key]
        evidence.append(_evidence(min(same, key=lambda event: int(event["margin_ns"])), len(same)))
    return evidence


def _evidence(event: Event, count: int) -> Evidence:
    margin_ns = int(event["margin_ns"])
    return Evidence(
        what=f"{event['name']} ({event['op']}) came {-margin_ns} ns before the part was ready"
        f" (rule {event['violation']})",
        witness=Witness.CHIP,
        requested_ns=None,
        actual_ns=None,
        margin_ns=margin_ns,
        grade=event["grade"],
        where=f"bus at {event['read_ns']} ns",
        count=count,
    )


def broken_rules(events: list[Event]) -> list[str]:
    """Rules other than those of time that were broken, each once."""
    return sorted(
        {
            str(event["violation"])
            for event in of_kind(events, "spi")
            if event["violation"] and event["violation"] not in RULES_OF_TIME
        }
    )
