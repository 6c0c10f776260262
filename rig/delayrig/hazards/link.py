# SPDX-License-Identifier: GPL-2.0-or-later
"""A programmer that is slow, fails, or loses its part's power (emulators/README.md)."""

import re

from delayrig.hazards.artifacts import Artifacts
from delayrig.hazards.hazard import ANYWHERE, Concern, Hazard
from delayrig.model.chips import ChipFacts
from delayrig.model.events import first, of_kind
from delayrig.model.kinds.emulator import FaultMade, PowerLost

DEADLINE_MS = 60_000
"""The time limit of a cell with a fault or a power cut.

Some flashroms poll a stuck or missing part for ever, and polls cost host time.
"""
PRESETS = {
    **dict.fromkeys(("stm32-vserprog", "pico-serprog", "serprog-stm32-gd32"), ("spi",)),
    **dict.fromkeys(("serprog_pico", "pico-serprog-opensensor", "serprog-due"), ("spi",)),
    **dict.fromkeys(("frser-duino", "frser-duino-ftdi"), ("spi",)),
    "frser-m328lpcspi": ("lpc", "fwh", "spi"),
    "frser-atmega644": ("parallel", "spi"),
    "stm32-vserprog-lpc": ("lpc",),
    **dict.fromkeys(("unasked", "usb-high-speed"), ("spi", "parallel", "lpc", "fwh")),
}
"""The buses that each firmware knows."""
_COUNT = r"[1-9][0-9]{0,9}"
_LINK_KEYS = (
    *("baud", "usb-frame-us", "serial-buffer", "opbuf", "write-max", "read-max"),
    *("cs-late-us", "pause-us", "real-write", "delay-down-us", "delay-up-us"),
)
_PIECES = r"ack-bytes=(?:1[6-9]|[2-9][0-9]|[1-9][0-9]{2,7})"
_RANGES = ("reply-us",)
_SWITCHES = (
    *("silent", "ack-first", "no-pin-state", "no-bustype", "spi-modes"),
    *("delay-at-once", "delay-silent", "exec-acks"),
)
_LINK_KEY = (
    rf"(?:(?:{'|'.join(_LINK_KEYS)})={_COUNT}|(?:{'|'.join(_SWITCHES)})=1|{_PIECES}"
    rf"|(?:{'|'.join(_RANGES)})=(?:0|{_COUNT})(?:-{_COUNT})?)"
)
_WHEN = rf"(?:{_COUNT}|p=0\.[0-9]{{1,9}})"


class Link(Hazard):
    name = "link"
    form = "PRESET|KEY=N,..."
    legend = (
        f"PRESET is {', '.join(PRESETS)}; KEY is {', '.join(_LINK_KEYS + _RANGES)},"
        f" ack-bytes; {', '.join(_SWITCHES)} take 1"
    )
    values = re.compile(rf"(?:{'|'.join(PRESETS)}|{_LINK_KEY})(?:,{_LINK_KEY})*")
    about = "a link that takes time or has small buffers, such as link:baud=115200"
    emulator_option = "--link"
    concern = Concern.PERFORMANCE
    lanes = ANYWHERE

    def chip_refusal(self, chip: ChipFacts) -> str:
        """Returns why the preset's firmware cannot reach the chip; empty if it can."""
        preset = self.value.partition(",")[0]
        if chip.bus in PRESETS.get(preset, (chip.bus,)):
            return ""
        others = [name for name, buses in PRESETS.items() if chip.bus in buses]
        return (
            f"{preset} has no {chip.bus} bus, which {chip.name} is on;"
            f" take link:{' or link:'.join(others)}"
        )


class Fault(Hazard):
    name = "fault"
    form = "KIND[:US]@WHEN"
    legend = (
        "KIND is drop, corrupt, duplicate, delay:US, stall[:US], hang-up, nak or stuck-wip;"
        " WHEN is N for the N-th or p=0.N for a chance, in:WHEN for bytes of requests"
    )
    values = re.compile(
        rf"(?:(?:drop|corrupt|duplicate)@(?:in:)?{_WHEN}"
        rf"|(?:delay:{_COUNT}|stall(?::{_COUNT})?|hang-up|nak)@{_WHEN}|stuck-wip@{_COUNT})"
    )
    about = "the link or the part fails on request, such as fault:drop@p=0.001 or fault:stuck-wip@3"
    emulator_option = "--fault"
    concern = Concern.ROBUSTNESS
    lanes = ANYWHERE
    deadline_ms = DEADLINE_MS
    repeatable = True

    def alters_data(self, artifacts: Artifacts) -> bool:
        """Returns True if it changed the data of either side, or refused a request."""
        return any(
            fault.kind in ("drop", "corrupt", "duplicate", "nak")
            for fault in of_kind(artifacts.events, FaultMade)
        )


class PowerCut(Hazard):
    name = "power-cut"
    form = "N[,WHEN[,NS]]"
    legend = "the N-th busy time; WHEN is 0 to 100% of it or so many ns into it; gone for NS"
    values = re.compile(rf"{_COUNT}(?:,(?:0|{_COUNT}|(?:100|[0-9]{{1,2}})%)(?:,{_COUNT})?)?")
    about = "power goes during the N-th busy time, WHEN into it, for NS or for ever"
    emulator_option = "--power-cut"
    concern = Concern.ROBUSTNESS
    lanes = ANYWHERE
    deadline_ms = DEADLINE_MS

    def alters_data(self, artifacts: Artifacts) -> bool:
        """Returns True if power was lost: a part that starts again has forgotten all commands."""
        return first(artifacts.events, PowerLost) is not None
