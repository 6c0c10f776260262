# SPDX-License-Identifier: GPL-2.0-or-later
"""The host lane's sandbox: it refuses all that a hostile subject tries; no such cell passes."""

import asyncio
import ctypes
import errno
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from delayrig.base.bubblewrap import missing_confinement
from delayrig.base.errors import ExitCode, RigFaultError
from delayrig.base.paths import Paths
from delayrig.base.private_net import PrivateNet, words_into
from delayrig.lanes.host.sandbox import Sandbox, box_words
from delayrig.model.cell import Job
from delayrig.model.result import CellResult, Verdict
from delayrig.run.cell_runner import rerun_command
from delayrig.run.runner import run_request

from tests.conftest import Bound
from tests.hostile import build_hostile, refusals
from tests.rig.builders import request_of
from tests.rig.processes import left_running
from tests.rig.running import run
from tests.rig.test_host_lane import Silent, host_cell, run_cells

CAP_SYS_RESOURCE = 24
LEFT_LIMIT_S = 20


def may_raise_limits() -> bool:
    """Returns True if this process has CAP_SYS_RESOURCE."""
    status = Path("/proc/self/status").read_text()
    return bool(int(status.partition("CapEff:")[2].split()[0], 16) >> CAP_SYS_RESOURCE & 1)


MISSING = missing_confinement()
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"no subject is confined here: {MISSING}")
ONLY_BY_CAPABILITY = os.geteuid() == 0 and not may_raise_limits()
"""True if real-time priority comes with CAP_SYS_NICE, which has no upper limit (SECURITY.md)."""
REFUSED = {
    "shadow": {errno.ENOENT},
    "connect": {errno.ECONNREFUSED},
    "outside": {errno.EROFS, errno.EACCES, errno.ENOENT},
    "memory": {errno.ENOMEM},
    "disk": {errno.ENOSPC, errno.EFBIG},
    "trace": {errno.ENOSYS},
    "unshare": {errno.ENOSYS},
    "clone": {errno.EPERM},
    "root": {errno.EPERM, errno.EINVAL},
    "mount": {errno.ENOSYS},
    "list_keys": {errno.ENOENT},
    "add_key": {errno.ENOSYS},
    "read_keys": {errno.ENOSYS},
    "request_key": {errno.ENOSYS},
    "vsock": {errno.EAFNOSUPPORT},
    "io_uring": {errno.ENOSYS},
    "deadline": {errno.ENOSYS},
    "priority": {errno.EPERM} | ({0} if ONLY_BY_CAPABILITY else set()),
    "mlockall": {errno.ENOSYS},
    "userfaultfd": {errno.ENOSYS},
    "perf": {errno.ENOSYS},
    "bpf": {errno.ENOSYS},
    "32_bits": {errno.ENOSYS},
    "forks": {errno.EAGAIN},
}
KEYS = "add_key keyctl request_key"
OF_THE_MACHINE = "mount umount2 reboot swapon init_module kexec_load settimeofday clock_settime"
OTHERS = "bpf io_uring_setup mlockall perf_event_open ptrace sched_setattr userfaultfd unshare"
ALLOWED = Path(__file__).parents[2] / "images/confine/calls.txt"
SESSION_KEYRING, KEYCTL_REVOKE = -3, 3
"""Source: linux/keyctl.h."""
KILLED_SESSIONS = """\
import os, sys
from pathlib import Path
from delayrig.lanes.host.children import ChildSettings
from delayrig.lanes.host.subject import BoxedSubject

def children(process):
    return Path(f"/proc/{process}/task/{process}/children").read_text().split()

for _ in range(int(sys.argv[1])):
    session = os.fork()
    if session == 0:
        BoxedSubject(sys.argv[2:], ChildSettings(file_bytes_max=1 << 20), 2)
        os._exit(0)
    while not any(map(children, children(session))):
        if os.waitid(os.P_PID, session, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            break  # This process was not on a CPU at that moment.
    os.kill(session, 9)
    os.waitpid(session, 0)
"""
"""A program that kills sessions at the moment when bubblewrap forks process 1 of the sandbox."""
OF_32_BITS = """\
.globl _start
_start: mov $4, %eax; mov $1, %ebx; mov $text, %ecx; mov $14, %edx; int $0x80
mov $1, %eax; mov $3, %ebx; int $0x80
text: .asciz "tried write 0\\n"
part: .asciz "W25Q128.V"
"""


@pytest.fixture
def port() -> Iterator[int]:
    """Yields the port of a service on this machine, and checks that nobody connected."""
    with socket.socket() as service:
        service.bind(("127.0.0.1", 0))
        service.listen()
        service.settimeout(0)
        yield int(service.getsockname()[1])
        with pytest.raises(BlockingIOError):
            service.accept()


def said_of(out: Path, cell: CellResult) -> dict[str, int]:
    return refusals((out / cell.id / "stdout.txt").read_text())


def said_by(program: Path, paths: Paths, out: Path) -> dict[str, int]:
    """Returns what the program was refused as the subject of a cell."""
    cell = host_cell(subject=f"path:{program}", job=Job.PROBE)
    (ended,) = run_cells(paths, out, cell).cells
    return said_of(out, ended)


def test_hostile_subject_is_refused_everything_and_does_not_pass(
    paths: Paths, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, port: int
) -> None:
    out = tmp_path / "out"
    # The folders above `paths` also exist in the sandbox, empty and in memory.
    outside = tmp_path_factory.mktemp("elsewhere") / "outside"
    program = build_hostile(tmp_path, PORT=port, OUTSIDE=str(outside))
    hostile, other = run_cells(
        paths,
        out,
        host_cell(subject=f"path:{program}", job=Job.PROBE),
        host_cell(name="other", job=Job.PROBE),
    ).cells
    said = said_of(out, hostile)
    assert set(said) == set(REFUSED)
    assert {name: number for name, number in said.items() if number not in REFUSED[name]} == {}
    assert hostile.verdict not in (Verdict.PASS, Verdict.INFRA_ERROR), hostile.reason
    assert other.verdict is Verdict.PASS, other.reason
    assert not outside.exists()
    assert left_running(tmp_path) == []


@pytest.mark.bounds(kills=(40, 200))
def test_session_that_is_killed_while_its_sandbox_begins_leaves_no_process(
    paths: Paths, tmp_path: Path, bound: Bound
) -> None:
    box = Sandbox(
        confine=paths.confine_program,
        readable=[],
        own=tmp_path / "own",
        kept=[],
        file_bytes_max=1 << 20,
    )
    words = [str(bound("kills")), *box_words(box), "/bin/sleep", "1000"]
    subprocess.run([sys.executable, "-c", KILLED_SESSIONS, *words], check=True)
    assert left_running(tmp_path, LEFT_LIMIT_S) == []


def numbers_of_calls() -> dict[str, int]:
    """Returns this machine's system calls by name, as the kernel's headers number them."""
    words = ["gcc", "-E", "-dM", "-include", "asm/unistd.h", "-xc", "/dev/null"]
    found = re.findall(r"^#define __NR_(\w+) (\d+)$", run(*words).stdout, re.MULTILINE)
    return {name: int(number) for name, number in found}


def test_each_system_call_that_is_not_on_the_list_does_not_exist(
    paths: Paths, tmp_path: Path
) -> None:
    allowed = set(ALLOWED.read_text().splitlines())
    refused = {n: name for name, n in numbers_of_calls().items() if name not in allowed}
    assert set(f"{KEYS} {OF_THE_MACHINE} {OTHERS} clone3".split()) <= set(refused.values())
    program = build_hostile(tmp_path, calls=sorted(refused), ONLY="")
    said = said_by(program, paths, tmp_path / "out")
    assert len(said) == len(refused) > 100
    reached = [refused[int(n[5:])] for n, error in said.items() if error != errno.ENOSYS]
    assert reached == []


@pytest.fixture
def key() -> Iterator[str]:
    """Yields the name of a key in the session keyring of this process."""
    libc, name = ctypes.CDLL(None, use_errno=True), f"rig-secret-{os.getpid()}"
    number, keyctl = (numbers_of_calls()[call] for call in ("add_key", "keyctl"))
    made = libc.syscall(number, b"user", name.encode(), b"secret", 6, SESSION_KEYRING)
    if made < 0:
        pytest.skip(f"no keys for us: {os.strerror(ctypes.get_errno())}")
    yield name
    libc.syscall(keyctl, KEYCTL_REVOKE, made)


def test_keys_of_the_caller_are_not_even_listed(paths: Paths, tmp_path: Path, key: str) -> None:
    program = build_hostile(tmp_path, ONLY="list_keys", KEY=key)
    assert said_by(program, paths, tmp_path / "out") == {"list_keys": errno.ENOENT}
    assert key in Path("/proc/keys").read_text()


def test_program_of_32_bits_runs_by_its_own_numbers(paths: Paths, tmp_path: Path) -> None:
    program = tmp_path / "program"
    source = tmp_path / "program.S"
    source.write_text(OF_32_BITS)
    words = ["gcc", "-m32", "-static", "-nostdlib", "-o", str(program), str(source)]
    subprocess.run(words, check=True)
    assert said_by(program, paths, tmp_path / "out") == {"write": 0}


def test_same_subject_unconfined_reaches_the_machine_and_the_result_says_so(
    paths: Paths, tmp_path: Path
) -> None:
    outside, out = tmp_path / "outside", tmp_path / "out"
    out.mkdir()
    program = build_hostile(tmp_path, ONLY="outside", OUTSIDE=str(outside))
    cell = host_cell(subject=f"path:{program}", job=Job.PROBE)
    request = replace(request_of([cell], out), unconfined=True)
    results = asyncio.run(run_request(request, paths, Silent()))
    assert said_of(out, results.cells[0]) == {"outside": 0}
    assert outside.exists()
    assert results.run.confined is False
    assert results.cells[0].rerun.endswith("--unconfined")


def test_confined_run_says_so_and_is_run_again_as_it_was(paths: Paths, tmp_path: Path) -> None:
    results = run_cells(paths, tmp_path / "out", host_cell(job=Job.PROBE))
    assert results.run.confined is True
    assert results.cells[0].verdict is Verdict.PASS, results.cells[0].reason
    assert "--unconfined" not in results.cells[0].rerun


def test_machine_that_cannot_confine_is_refused_with_both_remedies(
    paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RigFaultError, match="bubblewrap is not installed") as caught:
        run_cells(paths, tmp_path / "out", host_cell(job=Job.PROBE))
    assert caught.value.exit_code is ExitCode.RIG_FAULT
    assert "install bubblewrap" in caught.value.hint
    assert "--unconfined" in caught.value.hint


@pytest.mark.parametrize(
    ("program", "what"),
    [
        ("bwrap", "bubblewrap does not work"),
        ("unshare", "no private network"),
    ],
)
def test_what_does_not_work_is_told_with_what_it_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, what: str
) -> None:
    broken = tmp_path / program
    broken.write_text(f"#!/bin/sh\necho '{program}: no namespaces today' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert missing_confinement() == f"{what}: {program}: no namespaces today"


def test_network_of_its_own_has_what_listens_there_and_nothing_else(port: int) -> None:
    script = f"""
import socket
for port in ({{}}, {port}):
    with socket.socket() as own:
        print(own.connect_ex(("127.0.0.1", port)))
"""
    with PrivateNet() as net, net.listen() as listening:
        text = script.format(listening.getsockname()[1])
        done = run(*words_into(net.folder), "/usr/bin/python3", "-c", text)
    assert done.stdout.split() == ["0", str(errno.ECONNREFUSED)], done.stderr


def test_command_that_runs_a_cell_again_confines_it_as_this_one_did(tmp_path: Path) -> None:
    cell = host_cell()
    request = request_of([cell], tmp_path)
    assert "--unconfined" not in rerun_command(cell, request)
    assert "--unconfined" in rerun_command(cell, replace(request, unconfined=True))
