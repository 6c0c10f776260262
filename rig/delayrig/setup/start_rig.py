# SPDX-License-Identifier: GPL-2.0-or-later
"""How the rig is started once the machine is set up."""

import os
import signal
import sys
from collections.abc import Mapping, Sequence
from typing import NoReturn

from delayrig.setup.layout import STATE_VARIABLE, Layout


def rig_argv(layout: Layout, arguments: Sequence[str]) -> list[str]:
    return [str(layout.python), "-P", "-m", "delayrig", *arguments]


def rig_environment(layout: Layout, environment: Mapping[str, str]) -> dict[str, str]:
    """Where the package and its state are; nothing from the user's own Python packages.

    Byte code goes to the state, and leaves the checkout as it is. Without it each start takes three
    times as long, so a wish for none is not followed.
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
    """Replaces this process by the rig, which takes SIGINT as soon as it can answer it.

    Until then Python starts up. It would print a traceback if it were interrupted there.
    """
    sys.stderr.flush()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    argv = rig_argv(layout, arguments)
    os.execve(argv[0], argv, rig_environment(layout, os.environ))
