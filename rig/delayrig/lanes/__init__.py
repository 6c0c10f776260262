# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the time of a cell comes from: one module a lane, behind `lane.Lane`."""

from enum import StrEnum


class LaneName(StrEnum):
    """What a plan or `--lane` may say."""

    VIRTUAL = "virtual"
    """A guest of QEMU's, in which instructions are time."""
    HOST = "host"
    """No guest: subject and emulator are two processes on this machine, by its own clock."""


EXACT_LANE = LaneName.VIRTUAL
"""Where equal cells take equal times, to the nanosecond."""
