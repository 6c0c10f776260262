# SPDX-License-Identifier: GPL-2.0-or-later
"""Hosts and networks from which a scheduler and its workers can be reached."""

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from delayrig.base.errors import BadInputError, RigFaultError
from delayrig.base.paths import find_paths
from delayrig.plan.cluster import ClusterWish, check_address
from delayrig.run.cluster import connection
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


async def work_for(wish: ClusterWish) -> None:
    await connection.serve_worker(wish, 1, find_paths())


async def be_a_client_of(wish: ClusterWish) -> None:
    async with connection.connect(wish, 1, find_paths()):
        pass


@pytest.mark.parametrize("ask", [work_for, be_a_client_of])
@pytest.mark.parametrize(("is_taken", "told"), [(False, "Timed out"), (True, "it says nothing")])
def test_who_asks_is_told_that_nothing_there_is_a_scheduler(
    ask: Callable[[ClusterWish], Coroutine[None, None, None]],
    is_taken: bool,
    told: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connection, "REACHED_WITHIN_S", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        place = f"127.0.0.1:{silent.getsockname()[1]}" if is_taken else free_address()
        wish = check_address(f"tcp://{place}", None, option="worker")
        with pytest.raises(RigFaultError, match=told) as refused:
            asyncio.run(ask(wish))
    assert refused.value.hint == "start it with `rig/rig scheduler`"


def test_address_that_somebody_else_serves_is_refused_to_a_scheduler() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        address = f"tcp://127.0.0.1:{other.getsockname()[1]}"
        wish = check_address(address, None, option="scheduler")
        with pytest.raises(BadInputError, match="Address already in use"):
            asyncio.run(connection.serve_scheduler(wish))


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
