# SPDX-License-Identifier: GPL-2.0-or-later
"""Hosts and networks from which a scheduler and its workers can be reached."""

import asyncio
import ipaddress
import os
import socket
import ssl
import subprocess
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import psutil
import pytest
from delayrig.base.errors import BadInputError, RigFaultError
from delayrig.base.paths import find_paths
from delayrig.plan.cluster import ClusterOptions, check_address, check_cluster
from delayrig.run.cluster import company, connection
from distributed import Client, Scheduler, Security

from tests.rig.certificates import make_certificates
from tests.rig.serving import free_address, serving

LIMIT_S = 60
TTL = "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL"


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_certificates(tmp_path_factory.mktemp("tls"))


@contextmanager
def client_of(address: str, security: Security | None) -> Iterator[Client]:
    """Yields a client that gives up after the limit."""
    with Client(address, security=security, timeout=LIMIT_S, set_as_default=False) as client:
        yield client


def listened_at(process: int) -> set[str]:
    """Returns the addresses at which a process and its descendants listen."""
    ours = psutil.Process(process)
    family = [ours, *ours.children(recursive=True)]
    sockets = [socket for one in family for socket in one.net_connections("inet")]
    return {socket.laddr.ip for socket in sockets if socket.status == psutil.CONN_LISTEN}


def worker_ttl_s(dask_scheduler: Scheduler) -> float | None:
    """Runs on the scheduler, which has no other command for it."""
    return dask_scheduler.worker_ttl


def first_byte(address: str, context: ssl.SSLContext) -> bytes:
    """Returns the first byte that the other side sends to any client."""
    host, _, port = address.rpartition(":")
    with (
        socket.create_connection((host, int(port)), LIMIT_S) as plain,
        context.wrap_socket(plain, server_hostname=host) as encrypted,
    ):
        return encrypted.recv(1)


def test_without_certificates_nothing_listens_beyond_loopback() -> None:
    address = f"tcp://{free_address()}"
    with (
        serving("scheduler", address) as scheduler,
        serving("worker", address) as worker,
        client_of(address, None) as client,
    ):
        client.wait_for_workers(1, timeout=LIMIT_S)
        found = listened_at(scheduler) | listened_at(worker)
    assert found
    assert all(ipaddress.ip_address(ip).is_loopback for ip in found), found


@pytest.mark.parametrize(("said", "ttl_s"), [({}, 120), ({TTL: "7s"}, 7)])
def test_silent_worker_is_lost_after_two_minutes_or_what_a_person_says(
    said: dict[str, str], ttl_s: float
) -> None:
    address = f"tcp://{free_address()}"
    with serving("scheduler", address, environment=said), client_of(address, None) as client:
        assert client.run_on_scheduler(worker_ttl_s) == ttl_s


async def work_for(asked: ClusterOptions) -> None:
    await connection.serve_worker(asked, 1, find_paths())


async def be_a_client_of(asked: ClusterOptions) -> None:
    async with connection.connect(asked, 1, find_paths()):
        pass


@pytest.mark.parametrize("ask", [work_for, be_a_client_of])
@pytest.mark.parametrize(("is_taken", "told"), [(False, "Timed out"), (True, "it says nothing")])
def test_who_asks_is_told_that_nothing_there_is_a_scheduler(
    ask: Callable[[ClusterOptions], Coroutine[None, None, None]],
    is_taken: bool,
    told: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connection, "REACHED_WITHIN_S", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        place = f"127.0.0.1:{silent.getsockname()[1]}" if is_taken else free_address()
        asked = check_address(f"tcp://{place}", None, option="worker")
        with pytest.raises(RigFaultError, match=told) as refused:
            asyncio.run(ask(asked))
    assert refused.value.hint == "start it with `rig/rig scheduler`"


def test_address_that_somebody_else_serves_is_refused_to_a_scheduler() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        address = f"tcp://127.0.0.1:{other.getsockname()[1]}"
        asked = check_address(address, None, option="scheduler")
        with pytest.raises(BadInputError, match="Address already in use"):
            asyncio.run(connection.serve_scheduler(asked))


def test_worker_starts_where_temporary_files_have_long_names(tmp_path: Path) -> None:
    scratch = tmp_path / ("long" * 20)
    scratch.mkdir()
    address = f"tcp://{free_address()}"
    with (
        serving("scheduler", address),
        serving("worker", address, environment={"TMPDIR": str(scratch)}),
        client_of(address, None) as client,
    ):
        client.wait_for_workers(1, timeout=LIMIT_S)


def talk_as_a_stranger(address: str) -> None:
    """Connects with encryption but no certificate."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with pytest.raises((ssl.SSLError, ConnectionError)):
        first_byte(address.removeprefix("tls://"), context)


async def talk_to_local_workers() -> list[str]:
    """Returns the addresses that take programs, each of which refused a stranger."""
    async with connection.connect(check_cluster("local:1", None), 1, find_paths()) as client:
        anything: Any = client
        await anything.wait_for_workers(1, timeout=LIMIT_S)
        assert client.scheduler is not None
        info = await client.scheduler.identity(n_workers=-1)
        workers = [(address, worker["nanny"]) for address, worker in info["workers"].items()]
        addresses = [info["address"], *chain.from_iterable(workers)]
        for address in addresses:
            await asyncio.to_thread(talk_as_a_stranger, address)
        return addresses


def test_stranger_is_refused_by_scheduler_nanny_and_worker_of_a_local_cluster() -> None:
    refused = asyncio.run(talk_to_local_workers())
    assert [address.partition(":")[0] for address in refused] == ["tls"] * 3


@pytest.mark.parametrize("who", ["scheduler", "worker"])
def test_without_certificates_it_starts_only_alone_or_where_everyone_is_trusted(
    who: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = check_address("tcp://127.0.0.1:8786", None, option=who)
    monkeypatch.setattr(company, "is_alone", lambda: False)
    with pytest.raises(BadInputError, match="every user of this machine") as refused:
        company.require_trust(asked, who=who, everyone=False)
    assert "--trust-everyone-here" in refused.value.hint
    company.require_trust(asked, who=who, everyone=True)
    monkeypatch.setattr(company, "is_alone", lambda: True)
    company.require_trust(asked, who=who, everyone=False)


def make_process(folder: Path, name: str, network: str | None) -> None:
    (folder / name / "ns").mkdir(parents=True)
    if network:
        (folder / name / "ns/net").symlink_to(network)


def test_processes_of_other_users_are_company_unless_they_have_another_network(
    tmp_path: Path,
) -> None:
    mine, other = os.geteuid(), os.geteuid() + 1
    make_process(tmp_path, "self", "net:[1]")
    make_process(tmp_path, "8", "net:[2]")
    assert company.is_alone(tmp_path, other)
    make_process(tmp_path, "9", None)
    assert not company.is_alone(tmp_path, other)
    make_process(tmp_path, "10", "net:[1]")
    assert not company.is_alone(tmp_path, other)
    assert company.is_alone(tmp_path, mine)


def test_scheduler_that_others_reach_is_refused_and_says_what_they_could_do() -> None:
    with other_user_here():
        words = [sys.executable, "-m", "delayrig", "scheduler", f"tcp://{free_address()}"]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=LIMIT_S)
    assert done.returncode == 2
    assert "every user of this machine can run programs as you" in done.stderr


@pytest.mark.parametrize("command", ["run", "gate", "threshold"])
def test_run_at_an_address_where_others_may_listen_is_refused(command: str) -> None:
    where = ["--cluster", f"tcp://{free_address()}"]
    sides = ["--baseline", "bundled", "--candidate", "bundled"] if command == "gate" else []
    with other_user_here():
        words = [sys.executable, "-m", "delayrig", command, *sides, *where]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=LIMIT_S)
    assert done.returncode == 2
    assert "every user of this machine can run programs as you" in done.stderr


@contextmanager
def other_user_here() -> Iterator[None]:
    if os.geteuid():  # Root's processes are there.
        yield
        return
    other = subprocess.Popen(["sleep", "600"], user=65534)
    try:
        yield
    finally:
        other.kill()
        other.wait()


def test_client_without_a_certificate_is_refused(tls: Path) -> None:
    place, options = free_address(), ("--tls", str(tls))
    files = {"tls_client_cert": str(tls / "cert.pem"), "tls_client_key": str(tls / "key.pem")}
    security = Security(tls_ca_file=str(tls / "ca.pem"), require_encryption=True, **files)
    context = ssl.create_default_context(cafile=tls / "ca.pem")
    context.check_hostname = False
    address = f"tls://{place}"
    with serving("scheduler", address, *options), serving("worker", address, *options):
        with client_of(address, security) as client:
            client.wait_for_workers(1, timeout=LIMIT_S)
        with pytest.raises(ssl.SSLError, match="certificate required"):
            first_byte(place, context)
        context.load_cert_chain(tls / "cert.pem", tls / "key.pem")
        assert first_byte(place, context)
