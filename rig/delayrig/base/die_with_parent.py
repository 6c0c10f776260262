# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that do not outlive this process, killed as it may be."""

import os
from collections.abc import Sequence

DIES_WITH_ITS_PARENT = ("setpriv", "--pdeathsig", "KILL")
READ_PARENT = "read -r _ _ _ parent _ </proc/$$/stat"
# Between the fork and setpriv this process may end, and its signal would never come.
UNLESS_ORPHANED = f'{READ_PARENT} && [ "$parent" = "$0" ] && exec "$@"'


def die_with_parent(command: Sequence[str]) -> list[str]:
    """`command`, ended with this process; it does not start where that is gone by then."""
    return [*DIES_WITH_ITS_PARENT, "sh", "-c", UNLESS_ORPHANED, str(os.getpid()), *command]
