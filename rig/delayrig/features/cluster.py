# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig worker` and `rig/rig scheduler`: machines that run cells for others."""

import os
from pathlib import Path

import click

from delayrig.base.paths import find_paths
from delayrig.cli.cells import refuse_other_users, tls_option, trust_option
from delayrig.cli.command import RigCommand, until_interrupted
from delayrig.cli.verbosity import note, plain_text
from delayrig.plan.cluster import check_address

USUAL = "tcp://127.0.0.1:8786"


@click.command(cls=RigCommand)
@click.argument("address", default=USUAL)
@tls_option
@trust_option
@plain_text
def scheduler(address: str, tls: Path | None, everyone: bool) -> None:
    """Serves runs with `--cluster ADDRESS`: Dask's scheduler, until it is interrupted.

    ADDRESS is where it listens: tcp://HOST:PORT.  [default: tcp://127.0.0.1:8786]
    """
    options = check_address(address, tls, option="scheduler")
    refuse_other_users(options, who="scheduler", everyone=everyone)
    from delayrig.run.cluster.connection import serve_scheduler

    note(f"scheduler at {options.address}")
    until_interrupted(serve_scheduler(options), kept="the scheduler is gone")


@click.command(cls=RigCommand)
@click.argument("address", default=USUAL)
@tls_option
@trust_option
@click.option("--jobs", type=click.IntRange(1), help="Cells at a time; default: the CPUs.")
@plain_text
def worker(address: str, tls: Path | None, everyone: bool, jobs: int | None) -> None:
    """Runs cells for the scheduler at ADDRESS, until that is gone or this is interrupted.

    ADDRESS is that of `rig/rig scheduler`.  [default: tcp://127.0.0.1:8786]
    """
    options = check_address(address, tls, option="worker")
    refuse_other_users(options, who="worker", everyone=everyone)
    from delayrig.run.cluster.connection import serve_worker

    note(f"worker of {options.address}")
    serving = serve_worker(options, jobs or len(os.sched_getaffinity(0)), find_paths())
    until_interrupted(serving, kept="the worker is gone")
    note(f"the scheduler at {options.address} is gone")
