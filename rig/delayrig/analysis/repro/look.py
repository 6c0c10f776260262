# SPDX-License-Identifier: GPL-2.0-or-later
"""How somebody wants to look at a cell."""

from enum import Enum


class Look(Enum):
    """From the outside, or from within."""

    WATCH = "watch"
    """It runs as ever; what it says is shown as it goes."""
    SHELL = "shell"
    """A shell beside the subject, before that one starts."""
    GDB = "gdb"
    """The subject under gdb, stopped before it starts."""


LEAVE_KEY = b"\x1d"
"""Control and ]: ends everything, as in telnet."""
EXTRA_MS = 24 * 3600 * 1000
"""What is added to the subject's time where a person looks at it: nobody shall be hurried."""
EXTRA_S = EXTRA_MS // 1000
