# SPDX-License-Identifier: GPL-2.0-or-later
"""The process that local workers are forked from, which has loaded Dask for all of them."""

import atexit
import multiprocessing
from functools import cache
from multiprocessing import forkserver, process

from delayrig.base.scratch import ScratchFolder

WORKERS_ARE_FORKS = "forkserver"
"""Workers are forks of one process that has loaded `LOADED`: loading takes more than a second."""
LOADED = ["distributed", "delayrig.run.cluster.task"]
SOCKET_NAME_BYTES = 24


@cache
def start_fork_server() -> None:
    """Starts a fork server that lives as long as this process.

    Its socket is in a scratch folder, which is removed even after a kill, and whose name is short
    enough for a socket.
    """
    scratch = ScratchFolder(SOCKET_NAME_BYTES)
    atexit.register(scratch.cleanup)
    config = process.current_process()._config  # type: ignore[attr-defined] # noqa: SLF001
    config["tempdir"] = scratch.name
    multiprocessing.get_context(WORKERS_ARE_FORKS).set_forkserver_preload(LOADED)
    forkserver.ensure_running()
