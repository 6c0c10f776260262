# SPDX-License-Identifier: GPL-2.0-or-later
"""Starts Dask's client, scheduler and workers, with certificates or only on loopback."""

import asyncio
import logging
import os
import socket
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import dask
from distributed import Client, Nanny, Scheduler, Security, SpecCluster
from distributed.comm.core import connect as reach

from delayrig.base.errors import BadInputError, RigFaultError
from delayrig.base.paths import Paths
from delayrig.base.scratch import ScratchFolder
from delayrig.plan.cluster import ENCRYPTED, ClusterOptions
from delayrig.run.cluster.fork_server import WORKERS_ARE_FORKS, start_fork_server
from delayrig.run.cluster.other_users import make_certificate
from delayrig.run.cluster.queue import open_queue
from delayrig.run.cluster.task import RigWorker
from delayrig.setup.layout import STATE_VARIABLE

LOOPBACK = "127.0.0.1"
NO_PAGES: dict[str, Any] = {"dashboard": False, "dashboard_address": f"{LOOPBACK}:0"}
"""Options that disable Dask's dashboard. Dask still opens its port, on loopback here."""
KILLS_MAX = 2
"""The number of workers that a task may lose. After one more, it is not run again."""
REACHED_WITHIN_S = 20
STARTED_WITHIN_S = 300
"""The time for a worker to start once its scheduler answers, enough on a busy machine."""
LOUDNESS = logging.CRITICAL
SETTINGS = {
    "distributed": {
        "worker": {"multiprocessing-method": WORKERS_ARE_FORKS, "profile": {"enabled": False}},
        "deploy": {"lost-worker-timeout": "1 hour"},
        "scheduler": {"worker-ttl": "2 minutes", "no-workers-timeout": "2 minutes"},
    }
}
"""Dask's settings.

A worker that is silent for two minutes is lost, and so is a run that has no worker for two minutes.
Dask's default is to give up a worker that is not back after 15 s, which is too soon on a busy
machine. A user's settings, in Dask's files or `DASK_` variables, have precedence.
"""


@asynccontextmanager
async def connect(asked: ClusterOptions, jobs: int, paths: Paths) -> AsyncIterator[Client]:
    """Yields a client of the requested cluster, whose workers it starts if the options say so.

    Raises `RigFaultError` if a scheduler that others started does not answer.
    """
    _set_up_dask()
    security = _security(asked)
    if asked.local_workers:
        async with (
            _started_here(asked.local_workers, jobs, paths) as cluster,
            Client(cluster, asynchronous=True) as client,
        ):
            yield client
        return
    if asked.address:
        with _reaching("--cluster", asked):
            await _await_answer(asked, security, "client")
            client = await Client(
                asked.address, asynchronous=True, security=security, timeout=REACHED_WITHIN_S
            )
        async with client:
            yield client
        return
    assert asked.queue is not None
    async with (
        open_queue(asked.queue, security, _scheduler_options(), paths) as queue,
        Client(queue, asynchronous=True) as client,
    ):
        yield client


@contextmanager
def _reaching(who: str, asked: ClusterOptions) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RigFaultError(
            f"{who} {asked.address}: {str(error) or 'it does not answer'}",
            hint="start it with `rig/rig scheduler`",
        ) from error


async def _await_answer(asked: ClusterOptions, security: Security | None, role: str) -> None:
    """Checks that the peer is a scheduler.

    Another server may accept the connection and send nothing, and Dask would wait forever.
    """
    more = security.get_connection_args(role) if security else {}
    reached = reach(asked.address, REACHED_WITHIN_S, **more)
    await (await asyncio.wait_for(reached, 2 * REACHED_WITHIN_S)).close()


@asynccontextmanager
async def _started_here(count: int, jobs: int, paths: Paths) -> AsyncIterator[SpecCluster]:
    """Starts workers, each with a separate state folder, which links to images and builds.

    They and their scheduler listen on loopback, and refuse peers without a certificate of this run.
    """
    start_fork_server()
    cpus = sorted(os.sched_getaffinity(0))
    threads = max(1, jobs // count)
    with ScratchFolder() as name, dask.config.set(temporary_directory=name):
        make_certificate(Path(name))
        security = _certificates(Path(name))
        workers = {}
        for number in range(count):
            state = Path(name) / f"worker-{number}"
            _link_state(paths.state, state)
            mine = [cpus[(number * threads + at) % len(cpus)] for at in range(threads)]
            options = {**worker_options(mine, state, LOOPBACK), "security": security}
            workers[number] = {"cls": Nanny, "options": options}
        secured = {"protocol": f"{ENCRYPTED}://", "security": security}
        scheduler = {"host": LOOPBACK, **secured, **_scheduler_options()}
        async with SpecCluster(
            workers=workers,
            scheduler={"cls": Scheduler, "options": scheduler},
            asynchronous=True,
            silence_logs=LOUDNESS,
            security=security,
        ) as cluster:
            yield cluster


def _scheduler_options() -> dict[str, Any]:
    """Returns the options of a scheduler that serves one run and ends with it."""
    return {"port": 0, "allowed_failures": KILLS_MAX, **NO_PAGES}


def _link_state(ours: Path, theirs: Path) -> None:
    theirs.mkdir()
    for path in ours.iterdir():
        if path.is_dir():
            (theirs / path.name).symlink_to(path)


def worker_options(cpus: Sequence[int], state: Path, host: str | None) -> dict[str, Any]:
    """Returns the options of a worker whose process Dask starts, watches and restarts."""
    return {
        "nthreads": len(cpus),
        "host": host,
        "memory_limit": 0,
        "local_directory": str(state),
        "env": {STATE_VARIABLE: str(state)},
        "plugins": (RigWorker(cpus),),
        "silence_logs": LOUDNESS,
        **NO_PAGES,
    }


async def serve_worker(asked: ClusterOptions, jobs: int, paths: Paths) -> None:
    """Serves as a worker until the scheduler is gone, or the task is cancelled."""
    start_fork_server()
    _set_up_dask()
    cpus = sorted(os.sched_getaffinity(0))
    mine = [cpus[number % len(cpus)] for number in range(jobs)]
    options = worker_options(mine, paths.state, None if asked.tls else LOOPBACK)
    security = _security(asked)
    with ScratchFolder() as name, dask.config.set(temporary_directory=name):
        with _reaching("worker", asked):
            await _await_answer(asked, security, "worker")
        async with Nanny(
            asked.address,
            name=f"{socket.gethostname()}-{os.getpid()}",
            security=security,
            death_timeout=STARTED_WITHIN_S,
            **{**options, "local_directory": name},
        ) as nanny:
            await nanny.finished()


async def serve_scheduler(asked: ClusterOptions) -> None:
    """Serves as a scheduler until the task is cancelled."""
    _set_up_dask()
    with ScratchFolder() as name, dask.config.set(temporary_directory=name):
        try:
            async with Scheduler(
                host=asked.host,
                port=asked.port,
                protocol=f"{asked.address.partition(':')[0]}://",
                security=_security(asked),
                allowed_failures=KILLS_MAX,
                **NO_PAGES,
            ) as scheduler:
                await scheduler.finished()
        except RuntimeError as error:
            if not isinstance(error.__cause__, OSError):
                raise
            raise BadInputError(f"scheduler {asked.address}: {error.__cause__}") from error


def _security(asked: ClusterOptions) -> Security | None:
    return _certificates(asked.tls) if asked.tls else None


def _certificates(folder: Path) -> Security:
    """Returns the certificates: both sides of each connection must show one."""
    mine = {
        f"tls_{role}_{what}": str(folder / f"{what}.pem")
        for role in ("client", "scheduler", "worker")
        for what in ("cert", "key")
    }
    return Security(tls_ca_file=str(folder / "ca.pem"), require_encryption=True, **mine)


def _set_up_dask() -> None:
    """Sets Dask's defaults, and silences it: the rig reports what a user should know."""
    logging.getLogger("distributed").handlers.clear()
    dask.config.update_defaults(SETTINGS)
