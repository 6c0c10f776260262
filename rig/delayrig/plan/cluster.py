# SPDX-License-Identifier: GPL-2.0-or-later
"""The options that name a cluster. This module checks them and contacts no machine."""

import ipaddress
import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from delayrig.base.errors import BadInputError
from delayrig.base.extras import require_extra, require_module
from delayrig.base.toml import read_toml


class QueueKind(StrEnum):
    SLURM = "slurm"
    PBS = "pbs"
    KUBERNETES = "k8s"


OPTION = "--cluster"
QUEUED = re.compile(rf"({'|'.join(QueueKind)}):(.+)")
LOCAL = re.compile(r"local:([1-9][0-9]{0,3})")
TLS_FILES = ("ca.pem", "cert.pem", "key.pem")
PLAIN, ENCRYPTED = "tcp", "tls"


class JobWords(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The file of `slurm:FILE` and `pbs:FILE`. One job is one worker."""

    schema: int
    jobs: int
    """The number of jobs at a time. If one ends before the run, it is submitted again."""
    cpus: int
    """The CPUs of each job, which runs as many cells at a time."""
    memory: str
    queue: str = ""
    account: str = ""
    walltime: str = ""
    resources: str = ""
    """For PBS: the value of `-l` instead of the number of CPUs and the memory."""
    interface: str = ""
    """The network interface between this machine and the jobs; empty: Dask's default."""
    directives: list[str] = []
    """Additional lines of `#SBATCH` or `#PBS`, without that word."""
    before: list[str] = []
    """Lines of shell that a job runs first, such as `module load qemu`."""

    def __post_init__(self) -> None:
        if self.jobs < 1 or self.cpus < 1:
            raise ValueError("`jobs` and `cpus` must be at least 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueOptions:
    kind: QueueKind
    file: Path
    """The file of `job`; for Kubernetes a manifest of a DaskCluster, which only Dask reads."""
    job: JobWords | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterOptions:
    """A scheduler of Dask, or workers that are started on this machine for one run."""

    address: str
    """`tcp://HOST:PORT` or `tls://HOST:PORT`; empty if the workers are started here."""
    local_workers: int = 0
    queue: QueueOptions | None = None
    """The queue that starts the workers. The rig waits for them without a time limit."""
    tls: Path | None = None
    """The folder of the user's certificates.

    None: the scheduler is on this machine, or Kubernetes forwards its port to this machine.
    """

    @property
    def host(self) -> str:
        return urlsplit(self.address).hostname or ""

    @property
    def port(self) -> int:
        return urlsplit(self.address).port or 0


def check_cluster(given: str, tls: Path | None) -> ClusterOptions:
    """Returns the cluster; raises `BadInputError` for a wrong address, or if it needs `tls`."""
    require_extra("cluster", OPTION)
    if local := LOCAL.fullmatch(given):
        return ClusterOptions(address="", local_workers=int(local[1]))
    if queued := QUEUED.fullmatch(given):
        return _check_queue(QueueKind(queued[1]), Path(queued[2]), tls)
    return check_address(given, tls, option=OPTION)


def _check_queue(kind: QueueKind, file: Path, tls: Path | None) -> ClusterOptions:
    """Checks the options of a queue.

    Jobs of Slurm and PBS run on other machines, so they need TLS. Pods are reached through the API
    server of Kubernetes.
    """
    if kind is QueueKind.KUBERNETES:
        require_module("dask_kubernetes", f"{OPTION} {kind}:FILE", package="dask-kubernetes")
        if not file.is_file():
            raise BadInputError(f"{file}: no such file", hint="check the name of the file")
        if tls is not None:
            raise BadInputError(
                f"--tls {tls}: the rig encrypts nothing inside Kubernetes", hint="leave --tls out"
            )
        return ClusterOptions(address="", queue=QueueOptions(kind=kind, file=file, job=None))
    require_extra("jobqueue", f"{OPTION} {kind}:FILE")
    job = read_toml(file, JobWords)
    if job.resources and kind is not QueueKind.PBS:
        raise BadInputError(f"{file}: `resources` is for PBS", hint="name them in `directives`")
    if tls is None:
        raise _needs_tls(f"{OPTION} {kind}:{file}")
    _check_files(tls)
    queue = QueueOptions(kind=kind, file=file, job=job)
    return ClusterOptions(address="", queue=queue, tls=tls.absolute())


def _needs_tls(given: str) -> BadInputError:
    return BadInputError(
        f"{given}: uses other machines, which needs TLS",
        hint=f"name a folder with {', '.join(TLS_FILES)}: --tls DIR",
    )


def check_address(given: str, tls: Path | None, *, option: str) -> ClusterOptions:
    """Returns the scheduler at an address; raises `BadInputError` for anything else."""
    require_extra("cluster", option)
    scheme, host, port = _parts(given)
    if scheme not in (PLAIN, ENCRYPTED) or not host or port is None:
        raise BadInputError(
            f"{option} {given}: no address of a scheduler",
            hint="write tcp://HOST:PORT" + ", or local:N for N workers here" * (option == OPTION),
        )
    if tls is None and (scheme == ENCRYPTED or not is_loopback(given)):
        raise _needs_tls(f"{option} {given}")
    if tls is None:
        return ClusterOptions(address=given)
    _check_files(tls)
    return ClusterOptions(address=f"{ENCRYPTED}://{given.partition('://')[2]}", tls=tls.absolute())


def _parts(given: str) -> tuple[str, str, int | None]:
    try:
        split = urlsplit(given)
        return split.scheme, split.hostname or "", split.port
    except ValueError:
        return "", "", None


def is_loopback(address: str) -> bool:
    _, host, _ = _parts(address)
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _check_files(tls: Path) -> None:
    for name in TLS_FILES:
        if not (tls / name).is_file():
            raise BadInputError(
                f"--tls {tls}: there is no {name}",
                hint="the folder must hold the certificate of the authority, and a certificate"
                " for this machine with its key",
            )
