# SPDX-License-Identifier: GPL-2.0-or-later
"""Workers that Slurm, PBS or Kubernetes start: their settings, and their end."""

import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from delayrig.base.errors import BadInputError, RigFaultError
from delayrig.base.paths import find_paths
from delayrig.model.lane import EXACT_LANE
from delayrig.plan.cluster import check_cluster
from delayrig.run.cluster.connection import connect
from delayrig.run.cluster.preload import dask_setup
from delayrig.run.cluster.queue import PRELOAD, open_queue
from delayrig.run.cluster.task import Offer, offer

from tests.rig.certificates import make_certificates
from tests.rig.job_queue import install_queue, job_file, jobs_of
from tests.rig.processes import is_running

LIMIT_S = 120
LOOK_AGAIN_S = 0.1


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_certificates(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def queue(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = install_queue(tmp_path / "bin", getattr(request, "param", "slurm"))
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return folder


def test_module_that_workers_of_a_queue_load_is_there_under_that_name() -> None:
    assert dask_setup.__module__ == PRELOAD


def alive(jobs: list[int]) -> list[int]:
    """Returns the jobs whose shell still runs. A zombie does not count."""
    return [job for job in jobs if is_running(job)]


async def offers_of(given: str, tls: Path, queue: Path, *, kill_first: bool = False) -> list[Any]:
    """Returns its workers' offers; `kill_first` kills the first job before."""
    asked = check_cluster(given, tls)
    async with asyncio.timeout(LIMIT_S), connect(asked, 1, find_paths()) as opened:
        client: Any = opened
        await client.wait_for_workers(1)
        if kill_first:
            (first,) = jobs_of(queue)
            os.killpg(first, signal.SIGKILL)
            for _ in range(int(LIMIT_S / LOOK_AGAIN_S)):
                if alive(jobs_of(queue)[1:]):
                    break
                await asyncio.sleep(LOOK_AGAIN_S)
            await client.wait_for_workers(1)
        return [*(await client.run(offer)).values()]


@pytest.mark.parametrize("queue", ["slurm", "pbs"], indirect=True)
def test_job_is_a_worker_of_this_rig_and_is_cancelled_with_the_run(
    queue: Path, tls: Path, tmp_path: Path
) -> None:
    kind = "slurm" if (queue / "sbatch").exists() else "pbs"
    (found,) = asyncio.run(offers_of(f"{kind}:{job_file(tmp_path)}", tls, queue))
    assert isinstance(found, Offer)
    assert (found.cpus, found.lanes) == (1, [EXACT_LANE.value])
    until_s = time.monotonic() + LIMIT_S
    while alive(jobs_of(queue)):
        assert time.monotonic() < until_s, (queue / "log").read_text()
        time.sleep(LOOK_AGAIN_S)


def test_job_says_what_the_file_says(queue: Path, tls: Path, tmp_path: Path) -> None:
    more = 'queue = "short"\nwalltime = "00:30:00"\ndirectives = ["--nice"]\nbefore = ["umask 7"]\n'
    asyncio.run(offers_of(f"slurm:{job_file(tmp_path, more)}", tls, queue))
    lines = (queue / "script").read_text().splitlines()
    assert {"#SBATCH -p short", "#SBATCH -t 00:30:00", "#SBATCH --nice", "umask 7"} <= {*lines}
    assert f"--tls-cert {tls}/cert.pem" in lines[-1]


def test_job_that_ended_before_the_run_is_submitted_again(
    queue: Path, tls: Path, tmp_path: Path
) -> None:
    words = f"slurm:{job_file(tmp_path)}"
    (found,) = asyncio.run(offers_of(words, tls, queue, kill_first=True))
    assert isinstance(found, Offer)
    assert len(jobs_of(queue)) == 2


def test_queue_that_refuses_is_told_in_its_own_words(
    queue: Path, tls: Path, tmp_path: Path
) -> None:
    (queue / "sbatch").write_text("#!/bin/sh\necho no such partition >&2\nexit 1\n")
    with pytest.raises(RigFaultError, match="no such partition"):
        asyncio.run(offers_of(f"slurm:{job_file(tmp_path)}", tls, queue))


def test_machine_without_the_queue_is_told_so(
    tls: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BadInputError, match="there is no sbatch on this machine"):
        asyncio.run(offers_of(f"slurm:{job_file(tmp_path)}", tls, tmp_path))


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("cpu = 1\n", "cpus"),
        ('resources = "select=1"\n', "for PBS"),
        ('memory_limit = "1GB"\n', "memory"),
    ],
)
def test_word_that_such_a_file_has_not_is_refused(tmp_path: Path, more: str, told: str) -> None:
    with pytest.raises(BadInputError) as raised:
        check_cluster(f"slurm:{job_file(tmp_path, more)}", None)
    assert told in f"{raised.value.message} {raised.value.hint}"


def test_jobs_leave_this_machine_and_need_tls(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="needs TLS"):
        check_cluster(f"slurm:{job_file(tmp_path)}", None)


def stand_in(monkeypatch: pytest.MonkeyPatch, address: str) -> list[dict[str, Any]]:
    """Installs a stub of dask-kubernetes; returns the list of what the rig asks it for."""
    asked: list[dict[str, Any]] = []

    @asynccontextmanager
    async def kube_cluster(**words: Any) -> AsyncIterator[SimpleNamespace]:
        asked.append(words)
        yield SimpleNamespace(scheduler_address=address)

    operator = ModuleType("dask_kubernetes.operator")
    operator.KubeCluster = kube_cluster  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "dask_kubernetes.operator", operator)
    package = ModuleType("dask_kubernetes")
    package.__spec__ = sys.__spec__
    monkeypatch.setitem(sys.modules, "dask_kubernetes", package)
    return asked


async def address_of_pods(manifest: Path) -> str:
    asked = check_cluster(f"k8s:{manifest}", None).queue
    assert asked is not None
    async with open_queue(asked, None, {}, find_paths()) as cluster:
        return str(cluster.scheduler_address)


def test_pods_are_made_of_the_manifest_and_reached_through_loopback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = tmp_path / "cluster.yaml"
    manifest.touch()
    asked = stand_in(monkeypatch, "tcp://localhost:4711")
    assert asyncio.run(address_of_pods(manifest)) == "tcp://localhost:4711"
    (words,) = asked
    assert words["custom_cluster_spec"] == str(manifest)
    assert words["shutdown_on_close"]


def test_pods_that_would_be_reached_unencrypted_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = tmp_path / "cluster.yaml"
    manifest.touch()
    stand_in(monkeypatch, "tcp://192.0.2.7:8786")
    with pytest.raises(BadInputError, match="not encrypted"):
        asyncio.run(address_of_pods(manifest))


def test_package_of_kubernetes_is_asked_for_by_name(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="dask-kubernetes, which is not installed"):
        check_cluster(f"k8s:{tmp_path}", None)
