# SPDX-License-Identifier: GPL-2.0-or-later
"""Workers that a queue of jobs starts: what a user says of them, in a file."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import msgspec

from delayrig.base.errors import BadInputError
from delayrig.base.toml import read_toml


class QueueKind(StrEnum):
    """Who starts the workers; what stands before the colon of `--cluster`."""

    SLURM = "slurm"
    PBS = "pbs"
    KUBERNETES = "k8s"


class JobWords(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The file of `slurm:FILE` and `pbs:FILE`: one job is one worker."""

    schema: int
    jobs: int
    """So many at a time; one that ends before the run does is submitted again."""
    cpus: int
    """Of each: so many cells run at a time there."""
    memory: str
    queue: str = ""
    account: str = ""
    walltime: str = ""
    resources: str = ""
    """PBS: what `-l` says in place of the number of CPUs and the memory."""
    interface: str = ""
    """Of the network on which this machine and the jobs reach each other; empty: the usual one."""
    directives: list[str] = []
    """More lines of `#SBATCH` or `#PBS`, without that word."""
    before: list[str] = []
    """Lines of shell that a job runs first, such as `module load qemu`."""

    def __post_init__(self) -> None:
        """Raises `ValueError`, which reading the file turns into words."""
        if self.jobs < 1 or self.cpus < 1:
            raise ValueError("`jobs` and `cpus` must be at least 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueWish:
    """A queue, and what it is asked for."""

    kind: QueueKind
    file: Path
    """The words of a job; of Kubernetes a manifest of a DaskCluster, which the rig never reads."""
    job: JobWords | None


def read_queue(kind: QueueKind, file: Path) -> QueueWish:
    """Raises `BadInputError` for a file that is not there, or says something else."""
    if kind is not QueueKind.KUBERNETES:
        job = read_toml(file, JobWords)
        if job.resources and kind is not QueueKind.PBS:
            raise BadInputError(f"{file}: `resources` is for PBS", hint="name them in `directives`")
        return QueueWish(kind=kind, file=file, job=job)
    if not file.is_file():
        raise BadInputError(f"{file}: no such file", hint="check the name of the file")
    return QueueWish(kind=kind, file=file, job=None)
