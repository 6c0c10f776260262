# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether the rig itself can be trusted in a cell: asked first, before any verdict on a subject."""

from delayrig.bus import MONOTONIC
from delayrig.cell import Cell, Probe
from delayrig.events import Event, first, of_kind
from delayrig.lanes import LaneName
from delayrig.seen import Seen

SCRIPTED = "scripted"
CLOCK_RATE_ERROR_PPM_MAX = 100
NEEDED = (*("guest", "clock_rate", "start", "subject_start", "subject_end", "end", "emulator_end"),)
"""Events without which nothing is known of the cell."""


def rig_fault(cell: Cell, seen: Seen) -> str:
    """What of the rig or its guest cannot be trusted in this cell; empty where all is well."""
    events = seen.events
    for event in of_kind(events, "agent_error"):
        who = "the session" if cell.lane is LaneName.HOST else "the guest's agent"
        return f"{who}: {event['message']}: {event['detail']}"
    for event in of_kind(events, "kernel_message"):
        if not any(hazard.explains(event["text"]) for hazard in cell.active_hazards):
            return f"the guest's kernel complains: {event['text']}"
    ended = first(events, "emulator_end")
    if ended is not None and ended["exit_code"] != 0:
        said = f": {seen.emulator_said}" if seen.emulator_said else ""
        return f"the emulator failed: see emulator.log in the cell's folder{said}"
    missing = next((kind for kind in NEEDED if first(events, kind) is None), "")
    if missing:
        return f"the events hold no {missing!r}"
    fault = _clock_fault_of(cell, events)
    if fault:
        return fault
    if cell.witness is Probe.DELAY and first(events, "delay_probe") is None:
        return "the events hold no 'delay_probe': nothing looked at the subject's delays"
    if seen.image is None:
        return "the emulator left no image"
    return "" if cell.lane is LaneName.HOST else hazard_fault(cell, seen)


def hazard_fault(cell: Cell, seen: Seen) -> str:
    """Which hazard did not take place as it should have; empty where all did.

    In a guest that is a fault of the rig. This machine may have had other things to do.
    """
    faults = (hazard.fault(cell, seen) for hazard in cell.active_hazards)
    return next((fault for fault in faults if fault), "")


def _clock_fault_of(cell: Cell, events: list[Event]) -> str:
    """On this machine any clock source will do: its rate's error is in every bound."""
    if cell.lane is not LaneName.HOST:
        return clock_fault(events, clocksource=cell.shape.clocksource)
    clock = (first(events, "start") or {})["clock"]
    return "" if clock == MONOTONIC else f"the emulator's clock was {clock!r}, not {MONOTONIC!r}"


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
