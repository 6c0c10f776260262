# SPDX-License-Identifier: GPL-2.0-or-later
"""The host lane's sandbox: it refuses each attempt of a hostile subject, whose cell fails."""

import asyncio
import ctypes
import errno
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from delayrig.base import private_net
from delayrig.base.bubblewrap import missing_confinement
from delayrig.base.errors import ExitCode, RigFaultError
from delayrig.base.paths import Paths
from delayrig.base.private_net import PrivateNet, words_into
from delayrig.lanes.host.children import ChildSettings
from delayrig.lanes.host.sandbox import box_words
from delayrig.lanes.host.subject import BoxedSubject, SubjectLostError
from delayrig.model.cell import Job
from delayrig.model.result import CellResult, Verdict
from delayrig.run.runner import run_request

from tests.conftest import Bound
from tests.hostile import build_hostile, refusals
from tests.rig.builders import request_of
from tests.rig.processes import left_running
from tests.rig.running import run, run_python
from tests.rig.test_host_lane import SILENT, host_cell, run_cells

CAP_SYS_RESOURCE = 24
EXIT_LIMIT_S = 20
PATH_BYTES = 4096


def may_raise_limits() -> bool:
    """Returns True if this process has CAP_SYS_RESOURCE."""
    status = Path("/proc/self/status").read_text()
    return bool(int(status.partition("CapEff:")[2].split()[0], 16) >> CAP_SYS_RESOURCE & 1)


MISSING = missing_confinement()
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"no subject is confined here: {MISSING}")
ONLY_BY_CAPABILITY = os.geteuid() == 0 and not may_raise_limits()
"""True if real-time priority comes with CAP_SYS_NICE, which has no upper limit (SECURITY.md)."""
REFUSALS = {
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
KEY_CALLS = "add_key keyctl request_key"
MACHINE_CALLS = "mount umount2 reboot swapon init_module kexec_load settimeofday clock_settime"
OTHER_CALLS = "bpf io_uring_setup mlockall perf_event_open ptrace sched_setattr userfaultfd unshare"
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
            break  # The session ended before this process looked.
    os.kill(session, 9)
    os.waitpid(session, 0)
"""
"""A program that kills each session as soon as bubblewrap has forked the sandbox's process 1."""
PROGRAM_OF_32_BITS = """\
.globl _start
_start: mov $4, %eax; mov $1, %ebx; mov $text, %ecx; mov $14, %edx; int $0x80
mov $1, %eax; mov $3, %ebx; int $0x80
text: .asciz "tried write 0\\n"
part: .asciz "W25Q128.V"
"""


@pytest.fixture
def port() -> Iterator[int]:
    """Yields the port of a service on this machine, and checks that it got no connection."""
    with socket.socket() as service:
        service.bind(("127.0.0.1", 0))
        service.listen()
        service.settimeout(0)
        yield int(service.getsockname()[1])
        with pytest.raises(BlockingIOError):
            service.accept()


def errors_in(out: Path, cell: CellResult) -> dict[str, int]:
    """Returns the error number that each attempt got, 0 if it succeeded."""
    return refusals((out / cell.id / "stdout.txt").read_text())


def errors_of(program: Path, paths: Paths, out: Path) -> dict[str, int]:
    """Runs the program as the subject of a cell; returns the error number of each attempt."""
    cell = host_cell(subject=f"path:{program}", job=Job.PROBE)
    (ended,) = run_cells(paths, out, cell).cells
    return errors_in(out, ended)


def test_hostile_subject_is_refused_each_attempt_and_does_not_pass(
    paths: Paths, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, port: int
) -> None:
    out = tmp_path / "out"
    # The folders above `paths` also exist in the sandbox, empty and in memory.
    outside = tmp_path_factory.mktemp("elsewhere") / "outside"
    program = build_hostile(tmp_path, PORT=port, OUTSIDE=str(outside))
    results = run_cells(
        paths,
        out,
        host_cell(subject=f"path:{program}", job=Job.PROBE),
        host_cell(name="other", job=Job.PROBE),
    )
    hostile, other = results.cells
    errors = errors_in(out, hostile)
    assert set(errors) == set(REFUSALS)
    assert {name: error for name, error in errors.items() if error not in REFUSALS[name]} == {}
    assert hostile.verdict not in (Verdict.PASS, Verdict.INFRA_ERROR), hostile.reason
    assert other.verdict is Verdict.PASS, other.reason
    assert (results.run.confined, "--unconfined" in other.rerun) == (True, False)
    assert not outside.exists()
    assert left_running(tmp_path) == []


def words_of_sleep(paths: Paths, own: Path) -> list[str]:
    """Returns the command line of a sandbox that is prepared for a program that sleeps."""
    words = box_words(
        confine=paths.confine_program,
        readable=[],
        own=own,
        kept=[],
        file_bytes_max=1 << 20,
    )
    return [*words, "/bin/sleep", "1000"]


@pytest.mark.bounds(kills=(40, 200))
def test_session_that_is_killed_while_its_sandbox_starts_leaves_no_process(
    paths: Paths, tmp_path: Path, bound: Bound
) -> None:
    words = [str(bound("kills")), *words_of_sleep(paths, tmp_path / "own")]
    subprocess.run([sys.executable, "-c", KILLED_SESSIONS, *words], check=True)
    assert left_running(tmp_path, EXIT_LIMIT_S) == []


def test_subject_whose_end_is_not_known_is_lost(paths: Paths, tmp_path: Path) -> None:
    words = words_of_sleep(paths, tmp_path / "own")
    # The kernel then reaps the children of `rig-confine`, which waits for one in vain.
    words[words.index("--") + 1 : words.index("--") + 1] = ["env", "--ignore-signal=CHLD"]
    subject = BoxedSubject(words, ChildSettings(file_bytes_max=1 << 20), sys.stderr.fileno())
    subject.go()
    with pytest.raises(SubjectLostError, match="sandbox was lost"):
        subject.end()


def test_path_that_is_too_long_is_an_error(paths: Paths, tmp_path: Path) -> None:
    words = words_of_sleep(paths, tmp_path / "own")
    kept = words.index("/bin/sleep") - 2
    words[kept : kept + 2] = [f"/{'./' * PATH_BYTES}", "name"]
    with pytest.raises(SubjectLostError, match="sandbox did not start"):
        BoxedSubject(words, ChildSettings(file_bytes_max=1 << 20), sys.stderr.fileno())


def numbers_of_calls() -> dict[str, int]:
    """Returns the number of each system call of this machine, from the kernel's headers."""
    words = ["gcc", "-E", "-dM", "-include", "asm/unistd.h", "-xc", "/dev/null"]
    found = re.findall(r"^#define __NR_(\w+) (\d+)$", run(*words).stdout, re.MULTILINE)
    return {name: int(number) for name, number in found}


def test_system_call_that_is_not_allowed_fails_with_enosys(paths: Paths, tmp_path: Path) -> None:
    allowed = set(ALLOWED.read_text().splitlines())
    refused = {n: name for name, n in numbers_of_calls().items() if name not in allowed}
    assert set(f"{KEY_CALLS} {MACHINE_CALLS} {OTHER_CALLS} clone3".split()) <= set(refused.values())
    program = build_hostile(tmp_path, calls=sorted(refused), ONLY="")
    errors = errors_of(program, paths, tmp_path / "out")
    assert len(errors) == len(refused) > 100
    existing = [refused[int(n[5:])] for n, error in errors.items() if error != errno.ENOSYS]
    assert existing == []


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


def test_keys_of_the_caller_are_not_listed(paths: Paths, tmp_path: Path, key: str) -> None:
    program = build_hostile(tmp_path, ONLY="list_keys", KEY=key)
    assert errors_of(program, paths, tmp_path / "out") == {"list_keys": errno.ENOENT}
    assert key in Path("/proc/keys").read_text()


def test_program_of_32_bits_may_make_its_allowed_calls(paths: Paths, tmp_path: Path) -> None:
    program = tmp_path / "program"
    source = tmp_path / "program.S"
    source.write_text(PROGRAM_OF_32_BITS)
    words = ["gcc", "-m32", "-static", "-nostdlib", "-o", str(program), str(source)]
    subprocess.run(words, check=True)
    assert errors_of(program, paths, tmp_path / "out") == {"write": 0}


def test_unconfined_subject_reaches_the_machine(paths: Paths, tmp_path: Path) -> None:
    outside, out = tmp_path / "outside", tmp_path / "out"
    out.mkdir()
    program = build_hostile(tmp_path, ONLY="outside", OUTSIDE=str(outside))
    cell = host_cell(subject=f"path:{program}", job=Job.PROBE)
    request = replace(request_of([cell], out), unconfined=True)
    results = asyncio.run(run_request(request, paths, SILENT))
    assert errors_in(out, results.cells[0]) == {"outside": 0}
    assert outside.exists()
    assert results.run.confined is False
    assert results.cells[0].rerun.endswith("--unconfined")


def test_missing_bubblewrap_is_refused_with_both_remedies(
    paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RigFaultError, match="bubblewrap is not installed") as caught:
        run_cells(paths, tmp_path / "out", host_cell(job=Job.PROBE))
    assert caught.value.exit_code is ExitCode.RIG_FAULT
    assert "install bubblewrap" in caught.value.hint
    assert "--unconfined" in caught.value.hint


@pytest.mark.parametrize(
    ("program", "message"),
    [("bwrap", "bubblewrap does not work"), ("unshare", "no private network")],
)
def test_broken_tool_is_named_with_its_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, message: str
) -> None:
    broken = tmp_path / program
    broken.write_text(f"#!/bin/sh\necho '{program}: no namespaces today' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert missing_confinement() == f"{message}: {program}: no namespaces today"


def test_private_network_reaches_its_own_port_and_no_port_of_the_host(port: int) -> None:
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


def test_private_network_survives_a_signal_to_the_process_group_silently() -> None:
    script = """
import os, signal
from delayrig.base.private_net import PrivateNet
net = PrivateNet()
signal.signal(signal.SIGINT, lambda *_: None)
os.killpg(0, signal.SIGINT)
net.listen().close()
net.close()
print(net._holder.returncode)
"""
    done = run_python("-P", "-c", script, start_new_session=True, timeout=EXIT_LIMIT_S)
    assert (done.stdout, done.stderr) == ("0\n", "")


def test_holder_of_a_private_network_that_does_not_answer_is_killed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started: list[subprocess.Popen[bytes]] = []
    popen = subprocess.Popen

    def start_sleeping(_words: list[str], **options: Any) -> subprocess.Popen[bytes]:
        started.append(popen(["sleep", "5"], **options))
        return started[0]

    monkeypatch.setattr(subprocess, "Popen", start_sleeping)
    monkeypatch.setattr(private_net, "WAIT_S", 0.1)
    with pytest.raises(TimeoutError):
        PrivateNet()
    assert started[0].returncode == -signal.SIGKILL
