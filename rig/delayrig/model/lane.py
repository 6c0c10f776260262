# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the time of a cell comes from: one module a lane, behind `lane.Lane`."""

from enum import StrEnum


class LaneName(StrEnum):
    """What a plan or `--lane` may say."""

    VIRTUAL = "virtual"
    """A guest of QEMU's, in which instructions are time."""
    LIVE = "live"
    """A guest of QEMU's in real time, whose CPUs have speeds of their own; the chip is outside."""
    HOST = "host"
    """No guest: subject and emulator are two processes on this machine, by its own clock."""


REAL_TIME = (LaneName.LIVE, LaneName.HOST)
"""Where time is this machine's own, and the emulator is a process on it."""
EXACT_LANE = LaneName.VIRTUAL
"""Where equal cells take equal times, to the nanosecond."""
