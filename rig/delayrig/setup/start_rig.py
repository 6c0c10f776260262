# SPDX-License-Identifier: GPL-2.0-or-later
"""Starts the rig once the machine is set up."""

import os
import signal
import sys
from collections.abc import Mapping, Sequence
from typing import NoReturn

from delayrig.setup.layout import STATE_VARIABLE, Layout


def rig_argv(layout: Layout, arguments: Sequence[str]) -> list[str]:
    return [str(layout.python), "-P", "-m", "delayrig", *arguments]


def rig_environment(layout: Layout, environment: Mapping[str, str]) -> dict[str, str]:
    """Returns the rig's environment variables, without the user's own Python packages.

    Byte code goes to the state, so that the checkout stays clean. Without byte code each start
    takes three times as long, so PYTHONDONTWRITEBYTECODE is ignored.
    """
    return {
        **environment,
        "PYTHONDONTWRITEBYTECODE": "",
        "PYTHONPYCACHEPREFIX": environment.get("PYTHONPYCACHEPREFIX") or str(layout.bytecode),
        "PYTHONPATH": str(layout.package_path),
        "PYTHONNOUSERSITE": "1",
        STATE_VARIABLE: str(layout.state),
    }


def become_rig(layout: Layout, arguments: Sequence[str]) -> NoReturn:
    """Replaces this process by the rig, and blocks SIGINT until the rig can handle it.

    Python would print a traceback if it were interrupted during its start.
    """
    sys.stderr.flush()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    argv = rig_argv(layout, arguments)
    os.execve(argv[0], argv, rig_environment(layout, os.environ))
