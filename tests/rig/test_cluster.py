# SPDX-License-Identifier: GPL-2.0-or-later
"""Cells on other machines: addresses, certificates, transferred files, and workers of a queue."""

import asyncio
import ipaddress
import os
import pickle
import signal
import socket
import ssl
import subprocess
import sys
import time
import zlib
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import fields, replace
from itertools import chain
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import msgspec
import psutil
import pytest
from delayrig.base.errors import BadInputError, RigFaultError
from delayrig.base.paths import Paths, find_paths
from delayrig.lanes.supplies import Goods, supplies_of
from delayrig.lanes.virtual_lane import VirtualLane
from delayrig.plan.cluster import TLS_FILES, ClusterOptions, JobWords, check_address, check_cluster
from delayrig.run.artifact_transfer import pack_left, unpack_left
from delayrig.run.cell_runner import CellRunner, keep_result
from delayrig.run.cluster import connection, kit, other_users
from delayrig.run.cluster.connection import connect
from delayrig.run.cluster.preload import dask_setup
from delayrig.run.cluster.queue import PRELOAD, job_options, open_queue
from delayrig.run.cluster.task import Offer, offer
from delayrig.run.resume import RESULT
from delayrig.setup.layout import STATE_VARIABLE
from distributed import Client, Scheduler, Security

from tests.rig.builders import make_cell, make_result, request_of
from tests.rig.processes import is_running
from tests.rig.running import install_script, run
from tests.rig.serving import free_address, serving

REMOTE = ["tcp://192.0.2.7:8786", "tcp://[2001:db8::1]:8786", "tcp://rig.example:8786"]
LOOPBACK = ["tcp://127.0.0.1:8786", "tcp://[::1]:8786", "tcp://localhost:8786"]
INVALID = ["local:0", "local:", "local:two", "127.0.0.1:8786", "tcp://127.0.0.1", "tcp://:1", ""]


@pytest.fixture
def tls(tmp_path: Path) -> Path:
    for name in TLS_FILES:
        (tmp_path / name).touch()
    return tmp_path


@pytest.mark.parametrize("address", REMOTE)
def test_address_beyond_loopback_needs_tls(address: str, tls: Path) -> None:
    with pytest.raises(BadInputError, match="needs TLS") as raised:
        check_cluster(address, None)
    assert "--tls DIR" in raised.value.hint
    assert check_cluster(address, tls).address == address.replace("tcp:", "tls:")


@pytest.mark.parametrize("address", LOOPBACK)
def test_loopback_needs_no_tls(address: str) -> None:
    assert check_cluster(address, None).address == address


@pytest.mark.parametrize("given", INVALID)
def test_invalid_address_is_refused(given: str) -> None:
    with pytest.raises(BadInputError, match="no address of a scheduler") as raised:
        check_cluster(given, None)
    assert "local:N" in raised.value.hint


def test_worker_needs_the_address_of_a_scheduler() -> None:
    assert check_cluster("local:3", None).local_workers == 3
    with pytest.raises(BadInputError, match="no address of a scheduler") as raised:
        check_address("local:3", None, option="worker")
    assert "local:N" not in raised.value.hint


@pytest.mark.parametrize("name", TLS_FILES)
def test_missing_tls_file_is_named(name: str, tls: Path) -> None:
    (tls / name).unlink()
    with pytest.raises(BadInputError, match=name):
        check_cluster("tls://rig.example:8786", tls)


def test_files_of_a_cell_arrive_unchanged(tmp_path: Path) -> None:
    result = make_result(make_cell(name="one"))
    sent, arrived = tmp_path / "sent", tmp_path / "arrived"
    (sent / "first-try").mkdir(parents=True)
    (sent / "events.jsonl").write_bytes(b"\0\xff" * 100)
    (sent / "first-try" / "qemu.log").touch()
    keep_result(result, sent)
    assert unpack_left(pack_left(sent), arrived) == result
    (sent / RESULT).unlink()  # the receiver itself writes this file, at the end
    assert files_in(arrived) == files_in(sent)


@pytest.mark.parametrize("name", ["../events.jsonl", "/tmp/events.jsonl", "a/../../b", ""])
def test_file_name_that_leaves_the_folder_is_refused(tmp_path: Path, name: str) -> None:
    result = msgspec.json.encode(make_result(make_cell(name="one")))
    files = {name: b"", "result.json": result}
    with pytest.raises(RigFaultError, match="named"):
        unpack_left(zlib.compress(msgspec.msgpack.encode(files)), tmp_path / "cell")
    assert not files_in(tmp_path)


@pytest.mark.parametrize(
    "packed",
    [
        b"",
        b"no zlib",
        zlib.compress(b"no msgpack"),
        zlib.compress(msgspec.msgpack.encode({"qemu.log": b""})),
        zlib.compress(msgspec.msgpack.encode({"result.json": b"{", "qemu.log": b""})),
    ],
)
def test_damaged_files_of_a_worker_are_a_rig_fault(tmp_path: Path, packed: bytes) -> None:
    with pytest.raises(RigFaultError, match=r"cell: .* damaged"):
        unpack_left(packed, tmp_path / "cell")
    assert not files_in(tmp_path)


def test_kit_has_no_function_of_the_request(
    paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kit, "brought_along", lambda *_: {})
    asked = replace(
        request_of([make_cell()], tmp_path), again=lambda _: [], first=lambda: ["here alone"]
    )
    goods = Goods(**{field.name: {} for field in fields(Goods)})
    supplies = supplies_of(goods, [], {}, paths, print)
    lane = VirtualLane(request=asked, supplies=supplies, paths=paths)
    runner = CellRunner(request=asked, lane=lane, watched={}, chip_names={})
    made = kit.make_kit(runner, paths)
    # Unlike Dask, pickle refuses functions without a name.
    assert pickle.loads(pickle.dumps(made)) == made


def test_worker_with_other_programs_is_refused_with_names_and_digests() -> None:
    needs = {"qemu": "aaaa", "qemu i386": "bbbb", "turns": "cccc"}
    assert kit.refusal(needs, {**needs, "qemu arm64": "dddd"}) == ""
    qemu, qemu_i386 = kit.refusal(needs, {"qemu": "eeee", "turns": "cccc"}).split("; ")
    assert "eeee" in qemu
    assert "aaaa" in qemu
    assert "qemu i386 is missing" in qemu_i386
    assert "bbbb" in qemu_i386


def files_in(folder: Path) -> dict[str, bytes]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


LIMIT_S = 60
TTL = "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL"
NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Makes a certificate authority, and a certificate that it signed; returns their folder."""
    folder = tmp_path_factory.mktemp("tls")
    authority = ("-x509", "-subj", "/CN=ca", "-keyout", "ca.key", "-out", "ca.pem", "-days", "2")
    _openssl(folder, "req", *NEW_KEY, *authority)
    _openssl(folder, "req", *NEW_KEY, "-subj", "/CN=rig", "-keyout", "key.pem", "-out", "rig.csr")
    signed = ("-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2")
    _openssl(folder, "x509", "-req", "-in", "rig.csr", *signed, "-out", "cert.pem")
    return folder


def _openssl(folder: Path, *words: str) -> None:
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)


@contextmanager
def client_of(address: str, security: Security | None) -> Iterator[Client]:
    """Yields a client that waits for the scheduler no longer than the limit."""
    with Client(address, security=security, timeout=LIMIT_S, set_as_default=False) as client:
        yield client


def listened_at(process: int) -> set[str]:
    """Returns the addresses at which a process and its descendants listen."""
    ours = psutil.Process(process)
    processes = [ours, *ours.children(recursive=True)]
    sockets = [socket for each in processes for socket in each.net_connections("inet")]
    return {socket.laddr.ip for socket in sockets if socket.status == psutil.CONN_LISTEN}


def worker_ttl_s(dask_scheduler: Scheduler) -> float | None:
    """Returns the time after which a silent worker is lost; runs on the scheduler."""
    return dask_scheduler.worker_ttl


def first_byte(address: str, context: ssl.SSLContext) -> bytes:
    """Connects with TLS; returns the first byte that the other side sends."""
    host, _, port = address.rpartition(":")
    with (
        socket.create_connection((host, int(port)), LIMIT_S) as plain,
        context.wrap_socket(plain, server_hostname=host) as encrypted,
    ):
        return encrypted.recv(1)


@contextmanager
def scheduler_and_worker(environment: dict[str, str] | None = None) -> Iterator[tuple[int, int]]:
    """Runs both without TLS; yields their process ids once the worker is registered."""
    address = f"tcp://{free_address()}"
    with (
        serving("scheduler", address) as scheduler,
        serving("worker", address, environment=environment) as worker,
        client_of(address, None) as client,
    ):
        client.wait_for_workers(1, timeout=LIMIT_S)
        yield scheduler, worker


def test_without_certificates_nothing_listens_beyond_loopback() -> None:
    with scheduler_and_worker() as (scheduler, worker):
        found = listened_at(scheduler) | listened_at(worker)
    assert found
    assert all(ipaddress.ip_address(ip).is_loopback for ip in found), found


@pytest.mark.parametrize(("variables", "ttl_s"), [({}, 120), ({TTL: "7s"}, 7)])
def test_silent_worker_is_lost_after_two_minutes_or_the_configured_time(
    variables: dict[str, str], ttl_s: float
) -> None:
    address = f"tcp://{free_address()}"
    with serving("scheduler", address, environment=variables), client_of(address, None) as client:
        assert client.run_on_scheduler(worker_ttl_s) == ttl_s


async def work_for(options: ClusterOptions) -> None:
    await connection.serve_worker(options, 1, find_paths())


async def connect_to(options: ClusterOptions) -> None:
    async with connection.connect(options, 1, find_paths()):
        pass


@pytest.mark.parametrize("use", [work_for, connect_to])
@pytest.mark.parametrize(
    ("is_open", "message"), [(False, "Timed out"), (True, "it does not answer")]
)
def test_address_without_a_scheduler_is_a_rig_fault_with_a_remedy(
    use: Callable[[ClusterOptions], Coroutine[None, None, None]],
    is_open: bool,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connection, "REACHED_WITHIN_S", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        place = f"127.0.0.1:{silent.getsockname()[1]}" if is_open else free_address()
        options = check_address(f"tcp://{place}", None, option="worker")
        with pytest.raises(RigFaultError, match=message) as refused:
            asyncio.run(use(options))
    assert refused.value.hint == "start it with `rig/rig scheduler`"


def test_scheduler_cannot_serve_an_address_in_use() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        address = f"tcp://127.0.0.1:{other.getsockname()[1]}"
        options = check_address(address, None, option="scheduler")
        with pytest.raises(BadInputError, match="Address already in use"):
            asyncio.run(connection.serve_scheduler(options))


def test_worker_starts_although_the_folder_of_temporary_files_has_a_long_path(
    tmp_path: Path,
) -> None:
    scratch = tmp_path / ("long" * 20)
    scratch.mkdir()
    with scheduler_and_worker({"TMPDIR": str(scratch)}):
        pass


def assert_stranger_is_refused(address: str) -> None:
    """Connects without a certificate; checks that the other side refuses that."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with pytest.raises((ssl.SSLError, ConnectionError)):
        first_byte(address.removeprefix("tls://"), context)


async def addresses_of_a_local_cluster() -> list[str]:
    """Returns the addresses of scheduler, worker and nanny after each has refused a stranger."""
    async with connection.connect(check_cluster("local:1", None), 1, find_paths()) as client:
        anything: Any = client
        await anything.wait_for_workers(1, timeout=LIMIT_S)
        assert client.scheduler is not None
        info = await client.scheduler.identity(n_workers=-1)
        workers = [(address, worker["nanny"]) for address, worker in info["workers"].items()]
        addresses = [info["address"], *chain.from_iterable(workers)]
        for address in addresses:
            await asyncio.to_thread(assert_stranger_is_refused, address)
        return addresses


def test_stranger_is_refused_by_scheduler_nanny_and_worker_of_a_local_cluster() -> None:
    refused = asyncio.run(addresses_of_a_local_cluster())
    assert [address.partition(":")[0] for address in refused] == ["tls"] * 3


@pytest.mark.parametrize("who", ["scheduler", "worker"])
def test_without_certificates_other_users_must_be_absent_or_trusted(
    who: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = check_address("tcp://127.0.0.1:8786", None, option=who)
    monkeypatch.setattr(other_users, "is_alone", lambda: False)
    with pytest.raises(BadInputError, match="every user of this machine") as refused:
        other_users.require_trust(options, who=who, everyone=False)
    assert "--trust-everyone-here" in refused.value.hint
    other_users.require_trust(options, who=who, everyone=True)
    monkeypatch.setattr(other_users, "is_alone", lambda: True)
    other_users.require_trust(options, who=who, everyone=False)


def make_process(folder: Path, name: str, network: str | None) -> None:
    (folder / name / "ns").mkdir(parents=True)
    if network:
        (folder / name / "ns/net").symlink_to(network)


def test_processes_of_other_users_are_found_unless_they_have_another_network(
    tmp_path: Path,
) -> None:
    mine, other = os.geteuid(), os.geteuid() + 1
    make_process(tmp_path, "self", "net:[1]")
    make_process(tmp_path, "8", "net:[2]")
    assert other_users.is_alone(tmp_path, other)
    make_process(tmp_path, "9", None)
    assert not other_users.is_alone(tmp_path, other)
    make_process(tmp_path, "10", "net:[1]")
    assert not other_users.is_alone(tmp_path, other)
    assert other_users.is_alone(tmp_path, mine)


@pytest.mark.parametrize(
    "words",
    [
        ["scheduler"],
        ["run", "--cluster"],
        ["gate", "--baseline", "bundled", "--candidate", "bundled", "--cluster"],
        ["threshold", "--cluster"],
    ],
    ids=lambda words: words[0],
)
def test_address_that_other_users_can_reach_is_refused_with_the_reason(words: list[str]) -> None:
    address = f"tcp://{free_address()}"
    with other_user_here():
        done = run(sys.executable, "-m", "delayrig", *words, address, timeout=LIMIT_S)
    assert done.returncode == 2
    assert "every user of this machine can run programs as you" in done.stderr


@contextmanager
def other_user_here() -> Iterator[None]:
    if os.geteuid():  # For an ordinary user, processes of root are those of another user.
        if other_users.is_alone():
            pytest.skip("no other user has a process here")
        yield
        return
    other = subprocess.Popen(["sleep", "600"], user=65534)
    try:
        yield
    finally:
        other.kill()
        other.wait()


def test_client_without_a_certificate_is_refused(certificates: Path) -> None:
    place, options = free_address(), ("--tls", str(certificates))
    files = {
        "tls_client_cert": str(certificates / "cert.pem"),
        "tls_client_key": str(certificates / "key.pem"),
    }
    security = Security(tls_ca_file=str(certificates / "ca.pem"), require_encryption=True, **files)
    context = ssl.create_default_context(cafile=certificates / "ca.pem")
    context.check_hostname = False
    address = f"tls://{place}"
    with serving("scheduler", address, *options), serving("worker", address, *options):
        with client_of(address, security) as client:
            client.wait_for_workers(1, timeout=LIMIT_S)
        with pytest.raises(ssl.SSLError, match="certificate required"):
            first_byte(place, context)
        context.load_cert_chain(certificates / "cert.pem", certificates / "key.pem")
        assert first_byte(place, context)


QUEUE_LIMIT_S = 120
LOOK_AGAIN_S = 0.1
SUBMIT = """\
#!/bin/sh
cd "$(dirname "$0")"
cp "$1" script
cp "$1" script-$$
setsid bash script-$$ >>log 2>&1 &
echo $! >>jobs
echo "{printed}$!"
"""
CANCEL = '#!/bin/sh\nkill -TERM -- "-$1"\n'
COMMANDS = {"slurm": ("sbatch", "scancel"), "pbs": ("qsub", "qdel")}
PRINTED_BEFORE_ID = {"slurm": "Submitted batch job ", "pbs": ""}
FILE = 'schema = 1\njobs = 1\ncpus = 1\nmemory = "1GB"\ninterface = "lo"\n'


def job_file(folder: Path, more: str = "") -> Path:
    """Writes a user's settings for jobs of a queue; returns their file."""
    path = folder / "jobs.toml"
    path.write_text(FILE + more, encoding="utf-8")
    return path


def jobs_of(queue: Path) -> list[int]:
    """Returns the process groups of all submitted jobs."""
    return [int(word) for word in (queue / "jobs").read_text(encoding="utf-8").split()]


@pytest.fixture
def queue(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Installs stubs of a queue's commands, whose jobs are process groups of this machine."""
    folder, kind = tmp_path / "bin", getattr(request, "param", "slurm")
    submit, cancel = COMMANDS[kind]
    for name, text in (
        (submit, SUBMIT.replace("{printed}", PRINTED_BEFORE_ID[kind])),
        (cancel, CANCEL),
    ):
        install_script(folder / name, text)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return folder


def test_preload_module_has_the_name_that_workers_of_a_queue_load() -> None:
    assert dask_setup.__module__ == PRELOAD


def alive(jobs: list[int]) -> list[int]:
    """Returns the jobs whose shell runs."""
    return [job for job in jobs if is_running(job)]


async def offers_of(
    cluster: str, certificates: Path, queue: Path, *, kill_first: bool = False
) -> list[Any]:
    """Returns the offers of the workers, after the first job was killed if `kill_first` is set."""
    options = check_cluster(cluster, certificates)
    async with asyncio.timeout(QUEUE_LIMIT_S), connect(options, 1, find_paths()) as opened:
        client: Any = opened
        await client.wait_for_workers(1)
        if kill_first:
            (first,) = jobs_of(queue)
            os.killpg(first, signal.SIGKILL)
            for _ in range(int(QUEUE_LIMIT_S / LOOK_AGAIN_S)):
                if alive(jobs_of(queue)[1:]):
                    break
                await asyncio.sleep(LOOK_AGAIN_S)
            await client.wait_for_workers(1)
        return [*(await client.run(offer)).values()]


@pytest.mark.parametrize("queue", ["slurm", "pbs"], indirect=True)
def test_job_is_a_worker_of_this_rig_and_is_cancelled_with_the_run(
    queue: Path, certificates: Path, tmp_path: Path
) -> None:
    kind = "slurm" if (queue / "sbatch").exists() else "pbs"
    (found,) = asyncio.run(offers_of(f"{kind}:{job_file(tmp_path)}", certificates, queue))
    assert isinstance(found, Offer)
    assert found.cpus == 1
    until_s = time.monotonic() + QUEUE_LIMIT_S
    while alive(jobs_of(queue)):
        assert time.monotonic() < until_s, (queue / "log").read_text()
        time.sleep(LOOK_AGAIN_S)


def test_job_script_has_the_settings_of_the_file(
    queue: Path, certificates: Path, tmp_path: Path
) -> None:
    more = 'queue = "short"\nwalltime = "00:30:00"\ndirectives = ["--nice"]\nbefore = ["umask 7"]\n'
    asyncio.run(offers_of(f"slurm:{job_file(tmp_path, more)}", certificates, queue))
    lines = (queue / "script").read_text().splitlines()
    assert {"#SBATCH -p short", "#SBATCH -t 00:30:00", "#SBATCH --nice", "umask 7"} <= {*lines}
    assert f"--tls-cert {certificates}/cert.pem" in lines[-1]


def test_job_that_ends_during_the_run_is_submitted_again(
    queue: Path, certificates: Path, tmp_path: Path
) -> None:
    words = f"slurm:{job_file(tmp_path)}"
    (found,) = asyncio.run(offers_of(words, certificates, queue, kill_first=True))
    assert isinstance(found, Offer)
    assert len(jobs_of(queue)) == 2


def test_folders_of_the_rig_can_have_any_name_in_a_job_script(tmp_path: Path) -> None:
    state = tmp_path / "it's $HOME"
    (state / "images").mkdir(parents=True)
    job = JobWords(schema=1, jobs=1, cpus=1, memory="1GB")
    options = job_options(job, replace(find_paths(), checkout=state, state=state))
    shown = f'ls "${STATE_VARIABLE}"; echo "$PYTHONPATH"'
    script = "\n".join([*options["job_script_prologue"], shown])
    output = subprocess.check_output(["/bin/sh", "-c", script], text=True)
    assert output == f"images\n{state}/rig\n"


def test_error_of_the_queue_is_passed_on(queue: Path, certificates: Path, tmp_path: Path) -> None:
    (queue / "sbatch").write_text("#!/bin/sh\necho no such partition >&2\nexit 1\n")
    with pytest.raises(RigFaultError, match="no such partition"):
        asyncio.run(offers_of(f"slurm:{job_file(tmp_path)}", certificates, queue))


def test_missing_command_of_the_queue_is_named(
    certificates: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BadInputError, match="there is no sbatch on this machine"):
        asyncio.run(offers_of(f"slurm:{job_file(tmp_path)}", certificates, tmp_path))


@pytest.mark.parametrize(
    ("more", "hint"),
    [
        ("cpu = 1\n", "cpus"),
        ('resources = "select=1"\n', "for PBS"),
        ('memory_limit = "1GB"\n', "memory"),
    ],
)
def test_unknown_key_of_a_job_file_is_refused_with_a_hint(
    tmp_path: Path, more: str, hint: str
) -> None:
    with pytest.raises(BadInputError) as raised:
        check_cluster(f"slurm:{job_file(tmp_path, more)}", None)
    assert hint in f"{raised.value.message} {raised.value.hint}"


def test_jobs_of_a_queue_need_tls(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="needs TLS"):
        check_cluster(f"slurm:{job_file(tmp_path)}", None)


def install_kubernetes_stub(monkeypatch: pytest.MonkeyPatch, address: str) -> list[dict[str, Any]]:
    """Installs a stub of dask-kubernetes; returns the list of its calls' arguments."""
    calls: list[dict[str, Any]] = []

    @asynccontextmanager
    async def kube_cluster(**words: Any) -> AsyncIterator[SimpleNamespace]:
        calls.append(words)
        yield SimpleNamespace(scheduler_address=address)

    operator = ModuleType("dask_kubernetes.operator")
    operator.KubeCluster = kube_cluster  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "dask_kubernetes.operator", operator)
    package = ModuleType("dask_kubernetes")
    package.__spec__ = sys.__spec__
    monkeypatch.setitem(sys.modules, "dask_kubernetes", package)
    return calls


async def address_of_pods(manifest: Path) -> str:
    queue = check_cluster(f"k8s:{manifest}", None).queue
    assert queue is not None
    async with open_queue(queue, None, {}, find_paths()) as cluster:
        return str(cluster.scheduler_address)


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    path = tmp_path / "cluster.yaml"
    path.touch()
    return path


def test_pods_are_made_from_the_manifest_and_reached_through_loopback(
    manifest: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = install_kubernetes_stub(monkeypatch, "tcp://localhost:4711")
    assert asyncio.run(address_of_pods(manifest)) == "tcp://localhost:4711"
    (words,) = calls
    assert words["custom_cluster_spec"] == str(manifest)
    assert words["shutdown_on_close"]


def test_pods_at_an_address_beyond_loopback_are_refused(
    manifest: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_kubernetes_stub(monkeypatch, "tcp://192.0.2.7:8786")
    with pytest.raises(BadInputError, match="not encrypted"):
        asyncio.run(address_of_pods(manifest))


def test_certificates_for_pods_are_refused_because_nothing_there_is_encrypted(
    manifest: Path, tls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_kubernetes_stub(monkeypatch, "tcp://localhost:4711")
    with pytest.raises(BadInputError, match="--tls"):
        check_cluster(f"k8s:{manifest}", tls)


def test_missing_package_for_kubernetes_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="dask-kubernetes, which is not installed"):
        check_cluster(f"k8s:{tmp_path}", None)
