# SPDX-License-Identifier: GPL-2.0-or-later
"""The lanes: the sources of a cell's time. `lanes/lane.py` is their interface."""

from enum import StrEnum


class LaneName(StrEnum):
    """The name of a lane in a plan or after `--lane`."""

    VIRTUAL = "virtual"
    """A guest of QEMU in which time is counted in instructions."""
    LIVE = "live"
    """A guest of QEMU in real time, whose CPUs have speeds of their own; the chip is outside."""
    HOST = "host"
    """No guest: subject and emulator are two processes on this machine, by its own clock."""


REAL_TIME = (LaneName.LIVE, LaneName.HOST)
"""The lanes with this machine's time, where the emulator is a process on this machine."""
EXACT_LANE = LaneName.VIRTUAL
"""The lane in which equal cells take equal times, to the nanosecond."""
