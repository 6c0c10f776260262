# SPDX-License-Identifier: GPL-2.0-or-later
"""Loads Dask while a run is still being made ready: it takes longer than many a cell."""

import multiprocessing
from importlib import import_module
from multiprocessing import forkserver

from delayrig.plan.cluster import ClusterWish

METHOD = "forkserver"
"""Workers are forks of one process that has loaded it all: each would need more than a second."""
LOADED = ["distributed", "delayrig.run.cluster.task"]


def load_dask(wish: ClusterWish) -> None:
    """Here, and at the same time in the process that workers of this machine are forked from."""
    if wish.local_workers:
        multiprocessing.get_context(METHOD).set_forkserver_preload(LOADED)
        forkserver.ensure_running()
    import_module("delayrig.run.cluster.client")
