# SPDX-License-Identifier: GPL-2.0-or-later
"""Processes that outlive their parent: whose children they become."""

import ctypes
import os

# Source: linux/prctl.h.
PR_SET_CHILD_SUBREAPER = 36


def become_subreaper() -> None:
    """Makes orphans among this process's descendants its children; raises `OSError`."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"prctl({PR_SET_CHILD_SUBREAPER}): {os.strerror(number)}")
