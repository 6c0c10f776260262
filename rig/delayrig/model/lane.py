# SPDX-License-Identifier: GPL-2.0-or-later
"""The lanes: the sources of a cell's time. `lanes/lane.py` is their interface."""

from enum import StrEnum


class LaneName(StrEnum):
    """The name of a lane in a plan or after `--lane`."""

    VIRTUAL = "virtual"
    """A QEMU guest whose clock counts instructions."""
    LIVE = "live"
    """A QEMU guest in real time. Each core has its own speed; the emulator runs outside QEMU."""
    HOST = "host"
    """No guest: subject and emulator are processes on this machine and use its clock."""


REAL_TIME = (LaneName.LIVE, LaneName.HOST)
"""The lanes that run in real time. Their emulator is a process on this machine."""
EXACT_LANE = LaneName.VIRTUAL
"""The lane in which equal cells take equal times, to the nanosecond."""
