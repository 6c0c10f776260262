# SPDX-License-Identifier: GPL-2.0-or-later
"""What a live cell starts, before anything of it is started."""

from dataclasses import dataclass
from pathlib import Path

from delayrig.machine.arguments import Hardware


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedGuest:
    """A cell's guest and its two emulators, none of which was started."""

    hardware: Hardware
    emulator: list[str]
    emulator_folder: Path
    stage: list[str]
    """The emulator before which the subject rehearses."""
    stage_folder: Path
    line_port: int
    """Of this machine's loopback: where the guest's agent calls."""
    speeds: list[str]
    """What the CPU plugin is told before the subject starts."""
