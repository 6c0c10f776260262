# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether the rig itself can be trusted in a cell: asked first, before any verdict on a subject."""

from delayrig.cell import Cell, Probe
from delayrig.events import Event, first, of_kind
from delayrig.seen import Seen

SCRIPTED = "scripted"
CLOCK_RATE_ERROR_PPM_MAX = 100


def rig_fault(cell: Cell, seen: Seen) -> str:
    """What of the rig or its guest cannot be trusted in this cell; empty where all is well."""
    events = seen.events
    for event in of_kind(events, "agent_error"):
        return f"the guest's agent: {event['message']}: {event['detail']}"
    for event in of_kind(events, "kernel_message"):
        if not any(hazard.explains(event["text"]) for hazard in cell.active_hazards):
            return f"the guest's kernel complains: {event['text']}"
    for kind in ("guest", "clock_rate", "start", "subject_start", "subject_end", "end"):
        if first(events, kind) is None:
            return f"the events hold no {kind!r}"
    fault = clock_fault(events, clocksource=cell.shape.clocksource)
    if fault:
        return fault
    ended = first(events, "emulator_end")
    if ended is None or ended["exit_code"] != 0:
        return "the emulator failed: see emulator.log in the cell's folder"
    if cell.witness is Probe.DELAY and first(events, "delay_probe") is None:
        return "the events hold no 'delay_probe': nothing looked at the subject's delays"
    if seen.image is None:
        return "the emulator left no image"
    faults = (hazard.fault(cell, seen) for hazard in cell.active_hazards)
    return next((fault for fault in faults if fault), "")


def clock_fault(events: list[Event], *, clocksource: str) -> str:
    """Whether the guest keeps time as it should, and at the raw counter's rate."""
    kept = (first(events, "guest") or {})["clocksource"]
    if kept != clocksource:
        return f"the guest keeps time by {kept!r}, not by {clocksource!r}"
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
