# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether the rig itself can be trusted in a cell: asked first, before any verdict on a subject."""

import re

from delayrig.cell import Cell, Load
from delayrig.events import Event, first, of_kind
from delayrig.seen import Seen

CLOCKSOURCE = "tsc"
SCRIPTED = "scripted"
CLOCK_RATE_ERROR_PPM_MAX = 100
# What flashrom 1.x prints before and after it calibrates; other messages may stand between.
CALIBRATION_BEGINS = b"Calibrating delay loop..."
CALIBRATION_WHOLE = re.compile(rb"Calibrating delay loop\.\.\..*\bOK\.", re.DOTALL)


def rig_fault(cell: Cell, seen: Seen) -> str:
    """What of the rig or its guest cannot be trusted in this cell; empty where all is well."""
    events = seen.events
    for event in of_kind(events, "agent_error"):
        return f"the guest's agent: {event['message']}: {event['detail']}"
    for event in of_kind(events, "kernel_message"):
        return f"the guest's kernel complains: {event['text']}"
    for kind in ("guest", "clock_rate", "start", "subject_start", "subject_end", "end"):
        if first(events, kind) is None:
            return f"the events hold no {kind!r}"
    fault = clock_fault(events)
    if fault:
        return fault
    ended = first(events, "emulator_end")
    if ended is None or ended["exit_code"] != 0:
        return "the emulator failed: see emulator.log in the cell's folder"
    if seen.image is None:
        return "the emulator left no image"
    return siblings_fault(cell, events, seen.output)


def clock_fault(events: list[Event]) -> str:
    """Whether the guest keeps time by the raw counter, and at its rate."""
    clocksource = (first(events, "guest") or {})["clocksource"]
    if clocksource != CLOCKSOURCE:
        return f"the guest keeps time by {clocksource!r}, not by {CLOCKSOURCE!r}"
    if (first(events, "start") or {})["clock"] == SCRIPTED:
        return "the emulator's clock was scripted: its times are no one's"
    rate = first(events, "clock_rate") or {}
    slack_ns = rate["raw_ns_max"] * CLOCK_RATE_ERROR_PPM_MAX // 1_000_000
    if rate["raw_ns_min"] - slack_ns <= rate["monotonic_ns"] <= rate["raw_ns_max"] + slack_ns:
        return ""
    return (
        f"the guest's clock went {rate['monotonic_ns']} ns"
        f" in {rate['raw_ns_min']} to {rate['raw_ns_max']} ns"
    )


def siblings_fault(cell: Cell, events: list[Event], output: bytes) -> str:
    """Whether the siblings ran exactly while they should, a calibration inside."""
    if cell.load is not Load.BUSY_SIBLINGS:
        return ""
    running = first(events, "siblings_running")
    stopped = first(events, "siblings_stopped")
    started = first(events, "subject_start") or {}
    if running is None or running["count"] != cell.cores - 1:
        return "not all of the busy siblings were seen running"
    if running["t_ns"] > started["t_ns"]:
        return "the busy siblings came after the subject"
    if stopped is None:
        return "" if first(events, "accept") is None else "the busy siblings were not stopped"
    before_stop = output[: stopped["stdout_bytes"]]
    if CALIBRATION_BEGINS in output and not CALIBRATION_WHOLE.search(before_stop):
        return "the subject's calibration was not inside the time of the busy siblings"
    return ""
