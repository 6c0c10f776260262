# SPDX-License-Identifier: GPL-2.0-or-later
"""Processes that do not outlive this one, killed as it may be."""

import ctypes
import os
from collections.abc import Sequence

DIES_WITH_ITS_PARENT = ("setpriv", "--pdeathsig", "KILL")
READ_PARENT = "read -r _ _ _ parent _ </proc/$$/stat"
# Between the fork and setpriv this process may end, and its signal would never come.
UNLESS_ORPHANED = f'{READ_PARENT} && [ "$parent" = "$0" ] && exec "$@"'
PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h
_LIBC = ctypes.CDLL(None, use_errno=True)


def die_with_parent(command: Sequence[str]) -> list[str]:
    """`command`, ended with this process; it does not start where that is gone by then."""
    return [*DIES_WITH_ITS_PARENT, "sh", "-c", UNLESS_ORPHANED, str(os.getpid()), *command]


def prctl(option: int, value: int) -> None:
    """prctl(2), which a child that was forked may call, too; raises `OSError`."""
    if _LIBC.prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl({option})")


def become_subreaper() -> None:
    """Makes orphans among this process's descendants its children; raises `OSError`."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)
