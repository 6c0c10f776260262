# SPDX-License-Identifier: GPL-2.0-or-later
"""Processes that end with this one, however it ends."""

import ctypes
import os
from collections.abc import Sequence

DIES_WITH_ITS_PARENT = ("setpriv", "--pdeathsig", "KILL")
READ_PARENT = "read -r _ _ _ parent _ </proc/$$/stat"
# If this process ends between the fork and setpriv, the signal of its death never arrives.
UNLESS_ORPHANED = f'{READ_PARENT} && [ "$parent" = "$0" ] && exec "$@"'
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36  # linux/prctl.h
_LIBC = ctypes.CDLL(None, use_errno=True)


def die_with_parent(command: Sequence[str]) -> list[str]:
    """Returns `command` wrapped so that it ends with this process.

    It does not start if this process is gone by then.
    """
    return [*DIES_WITH_ITS_PARENT, "sh", "-c", UNLESS_ORPHANED, str(os.getpid()), *command]


def prctl(option: int, value: int) -> None:
    """Sets an attribute of this process; raises `OSError`. A forked child may call it, too."""
    if _LIBC.prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl({option})")


def become_subreaper() -> None:
    """Makes this process the parent of its orphaned descendants; raises `OSError`."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)
