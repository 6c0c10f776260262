# SPDX-License-Identifier: GPL-2.0-or-later
"""prctl(2): what Python has no function for. A child that was forked may call it."""

import ctypes

# Source: linux/prctl.h.
PR_SET_CHILD_SUBREAPER = 36
_LIBC = ctypes.CDLL(None, use_errno=True)


def prctl(option: int, value: int) -> None:
    """Raises `OSError` where the kernel refuses."""
    if _LIBC.prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl({option})")


def become_subreaper() -> None:
    """Makes orphans among this process's descendants its children; raises `OSError`."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)
