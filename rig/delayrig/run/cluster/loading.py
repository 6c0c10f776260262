# SPDX-License-Identifier: GPL-2.0-or-later
"""Loads Dask while a run is still being made ready: it takes longer than many a cell."""

import atexit
import multiprocessing
from functools import cache
from importlib import import_module
from multiprocessing import forkserver, process

from delayrig.base.scratch import ScratchFolder
from delayrig.plan.cluster import ClusterWish
from delayrig.run.cluster import WORKERS_ARE_FORKS

LOADED = ["distributed", "delayrig.run.cluster.task"]
SOCKET_NAME_BYTES = 24


def load_dask(wish: ClusterWish) -> None:
    """Here, and at the same time in the process that workers of this machine are forked from."""
    if wish.local_workers:
        start_fork_server()
    import_module("delayrig.run.cluster.client")


@cache
def start_fork_server() -> None:
    """It lives as long as this process. Its socket is in a folder that is swept after a kill, and
    whose name is short enough for a socket's.
    """
    scratch = ScratchFolder(SOCKET_NAME_BYTES)
    atexit.register(scratch.cleanup)
    config = process.current_process()._config  # type: ignore[attr-defined] # noqa: SLF001
    config["tempdir"] = scratch.name
    multiprocessing.get_context(WORKERS_ARE_FORKS).set_forkserver_preload(LOADED)
    forkserver.ensure_running()
