# SPDX-License-Identifier: GPL-2.0-or-later
"""Workers as jobs of Slurm or PBS (dask-jobqueue), or as pods (dask-kubernetes)."""

import asyncio
import shlex
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import dask
from distributed import Security
from distributed.core import Status
from distributed.deploy.cluster import Cluster as DaskCluster

from delayrig.base.errors import BadInputError, RigError, RigFaultError
from delayrig.base.paths import Paths
from delayrig.plan.cluster import JobWords, QueueKind, QueueOptions, is_loopback
from delayrig.setup.layout import STATE_VARIABLE

PRELOAD = "delayrig.run.cluster.preload"
LOST = {"distributed.deploy.lost-worker-timeout": "20s"}
"""The time after which a missing worker counts as lost, and another job is submitted."""
LOOKS_EACH_S = 5.0


@asynccontextmanager
async def open_queue(
    asked: QueueOptions, security: Security | None, scheduler: dict[str, Any], paths: Paths
) -> AsyncIterator[DaskCluster]:
    """Yields a scheduler whose workers start when the queue allows it; ends both."""
    if asked.job is None:
        async with _pods(asked) as cluster:
            yield cluster
        return
    options = {
        **job_options(asked.job, paths),
        "security": security,
        "scheduler_options": scheduler,
    }
    make = _kind_of_jobs(asked.kind)
    with dask.config.set(LOST):
        async with AsyncExitStack() as stack:
            try:
                cluster = make(n_workers=asked.job.jobs, asynchronous=True, **options)
                await stack.enter_async_context(cluster)
                await _check_submitted(cluster)
            except (RuntimeError, ValueError) as error:
                raise _refused(asked, error) from error
            stack.callback(asyncio.create_task(_submit_again(cluster, asked.job.jobs)).cancel)
            yield cluster


async def _check_submitted(cluster: Any) -> None:
    """Checks that the queue accepted the jobs.

    Dask does not report a refused job; submitting it again gives the reason.
    """
    jobs = list(cluster.workers.values())
    try:
        for job in jobs:
            await job
    except RuntimeError:
        for job in jobs:
            job.status = Status.failed if job.status is Status.created else job.status
        raise


async def _submit_again(cluster: Any, jobs: int) -> None:
    """Submits a new job for each lost one until it is cancelled, because Dask does not."""
    while True:
        await asyncio.sleep(LOOKS_EACH_S)
        cluster.scale(jobs)


def _refused(asked: QueueOptions, error: Exception) -> RigError:
    """Returns the error for a refusal.

    dask-jobqueue raises `RuntimeError` for a queue's answer, `ValueError` for a bad option.
    """
    if isinstance(error, ValueError):
        return BadInputError(f"{asked.file}: {error}", hint="mend that key")
    answer = f"--cluster {asked.kind}:{asked.file}: {error}"
    return RigFaultError(answer, hint="see what the queue says above")


def job_options(job: JobWords, paths: Paths) -> dict[str, Any]:
    """Returns the options for dask-jobqueue.

    Each job has a separate state folder, which links to the folders in the state of this rig.
    """
    given = {
        "queue": job.queue,
        "account": job.account,
        "walltime": job.walltime,
        "resource_spec": job.resources,
        "interface": job.interface,
    }
    return {
        "cores": job.cpus,
        "processes": 1,
        "memory": job.memory,
        "python": sys.executable,
        "worker_extra_args": ["--preload", PRELOAD],
        "job_extra_directives": job.directives,
        "job_script_prologue": [*job.before, *_prologue(paths)],
        "job_name": "flashrom-delay-rig",
        **{name: word for name, word in given.items() if word},
    }


def _prologue(paths: Paths) -> list[str]:
    return [
        f"export PYTHONPATH={shlex.quote(str(paths.checkout / 'rig'))}",
        f"export {STATE_VARIABLE}=$(mktemp -d)",
        f"trap 'rm -rf \"${STATE_VARIABLE}\"' EXIT",
        f"find {shlex.quote(str(paths.state))} -mindepth 1 -maxdepth 1 -type d"
        f' -exec ln -s -t "${STATE_VARIABLE}" {{}} +',
    ]


def _kind_of_jobs(kind: QueueKind) -> Any:
    from dask_jobqueue.pbs import PBSCluster, PBSJob
    from dask_jobqueue.slurm import SLURMCluster, SLURMJob

    kinds: dict[QueueKind, tuple[Any, Any]] = {
        QueueKind.SLURM: (SLURMCluster, SLURMJob),
        QueueKind.PBS: (PBSCluster, PBSJob),
    }
    found, job = kinds[kind]
    command = str(job.submit_command)
    if shutil.which(command) is None:
        raise BadInputError(
            f"--cluster {kind}:FILE: there is no {command} on this machine",
            hint="start the run where jobs are submitted",
        )
    return found


@asynccontextmanager
async def _pods(asked: QueueOptions) -> AsyncIterator[DaskCluster]:
    """Yields pods whose port the API server forwards, encrypted, to loopback."""
    from dask_kubernetes.operator import KubeCluster

    async with KubeCluster(
        custom_cluster_spec=str(asked.file),
        port_forward_cluster_ip=True,
        shutdown_on_close=True,
        asynchronous=True,
        quiet=True,
    ) as cluster:
        if not is_loopback(cluster.scheduler_address):
            raise BadInputError(
                f"--cluster k8s:{asked.file}: {cluster.scheduler_address} is not encrypted",
                hint="let the scheduler's service be a ClusterIP, which is forwarded to loopback",
            )
        yield cluster
