# SPDX-License-Identifier: GPL-2.0-or-later
"""The `--preload` module: makes a worker that `dask worker` started one of this rig."""

import os

from distributed import Worker

from delayrig.run.cluster.task import RigWorker


async def dask_setup(worker: Worker) -> None:
    """Adds the plugin. Dask calls this in the worker, before a scheduler knows of it."""
    cpus = sorted(os.sched_getaffinity(0))
    mine = [cpus[number % len(cpus)] for number in range(worker.state.nthreads)]
    await worker.plugin_add(RigWorker(mine))
