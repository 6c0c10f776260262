# SPDX-License-Identifier: GPL-2.0-or-later
"""What `git bisect run` makes of a decision.

It takes 0 for good, 125 for a revision that cannot be tested, 1 to 127 for bad, and ends with more.
"""

from delayrig.base.errors import BadInputError, ExitCode

GOOD, BAD, SKIP, ABORT = 0, 1, 125, 128


class BuildError(BadInputError):
    """This revision cannot be built, or its build gives no flashrom: says nothing of others."""


def bisect_code(code: ExitCode, *, untestable: bool = False) -> int:
    """Doubt and faults of the rig convict no revision; wrong options would be wrong in each."""
    if untestable:
        return SKIP
    match code:
        case ExitCode.PASS:
            return GOOD
        case ExitCode.UNSAFE | ExitCode.SLOWER:
            return BAD
        case ExitCode.BAD_INPUT:
            return ABORT
        case ExitCode.INCONCLUSIVE | ExitCode.SKIPPED | ExitCode.RIG_FAULT:
            return SKIP
