# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig repro` of live cells: a shell, gdb, and the commands to paste.

A cell is inconclusive if a busy host could not keep up with it; these tests accept that.
"""

import contextlib
import os
import shlex
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from delayrig.base.paths import Paths
from delayrig.features.repro.guest_entry import SUBJECT_STARTS
from delayrig.features.repro.watched_lane import LINE_PORT
from delayrig.model.result import Verdict, read_results

from .test_repro import LIMIT_S, leave_shell, repro

pytestmark = pytest.mark.alone("cores of real speeds")
CONVICTED = ("--plan", "live", "moved.debian-bookworm*")
BUNDLED = ("--plan", "live", "moved.bundled*")
SERIAL = ("--plan", "live", "tty.bundled*")
INCONCLUSIVE = 4
FAST_CORE = "Cpus_allowed_list:\t1"


def test_subject_starts_after_the_shell_in_the_slow_guest(paths: Paths, tmp_path: Path) -> None:
    out = tmp_path / "shell"
    typed = "grep -c processor /proc/cpuinfo\ngrep Cpus_allowed_list /proc/self/status\n"
    done = repro(
        paths, *CONVICTED, "--shell", "--out", str(out), typed=typed, codes=(0, INCONCLUSIVE)
    )
    assert "\r\n2\r\n" in done.stdout or "\n2\n" in done.stdout, done.stdout
    assert "Cpus_allowed_list:\t0" in done.stdout
    assert SUBJECT_STARTS in done.stdout
    assert "Calibrating delay loop" in done.stdout
    (cell,) = read_results(out).cells
    assert cell.verdict in (Verdict.TOO_SHORT, Verdict.INCONCLUSIVE), done.stdout
    assert (out / cell.id / "pace.jsonl").is_file()
    assert f"kept: {out / cell.id}" in done.stdout


def test_key_that_leaves_the_shell_ends_a_live_cell(paths: Paths, tmp_path: Path) -> None:
    leave_shell(paths, tmp_path / "left", *BUNDLED)


def test_gdb_debugs_the_process_that_the_cell_moves(paths: Paths, tmp_path: Path) -> None:
    status = tmp_path / "status"
    fetch = f"remote get /proc/%d/status {status}"
    typed = (
        "continue\nbacktrace 3\n"
        f'python gdb.execute("{fetch}" % gdb.selected_inferior().pid)\n'
        "delete\ncontinue\n"
    )
    done = repro(paths, *BUNDLED, "--gdb", typed=typed, codes=(0, INCONCLUSIVE))
    assert "default_delay (usecs=" in done.stdout, done.stdout
    assert FAST_CORE in status.read_text()
    assert "exited normally" in done.stdout
    assert "VERIFIED" in done.stdout


@pytest.mark.long("gdb over a serial line; quick: over TCP")
def test_gdb_and_the_subject_use_different_serial_lines(paths: Paths) -> None:
    done = repro(paths, *SERIAL, "--gdb", typed="delete\ncontinue\n", codes=(0, INCONCLUSIVE))
    assert "exited normally" in done.stdout, done.stdout


def test_printed_commands_run_the_live_cell(paths: Paths, tmp_path: Path) -> None:
    out = tmp_path / "dry"
    done = repro(paths, *BUNDLED, "--dry-run", "--out", str(out))
    assert not (out / "results.json").exists()
    emulator, stage, line, qemu, monitor = shells(done.stdout)
    assert f"TCP-LISTEN:{LINE_PORT}," in line
    speeds = [text for text in monitor.splitlines() if text.startswith("echo ")]
    assert [shlex.split(text)[1] for text in speeds] == ["0 10.000 0", "1 40.000 0"]
    with socket.create_server(("127.0.0.1", LINE_PORT)) as server:
        server.settimeout(LIMIT_S)
        log = tmp_path / "qemu.txt"
        with started(emulator), started(stage), started(qemu, log) as guest:
            type_line(guest, "cont")
            call, _ = server.accept()
            with call, call.makefile("rw") as agent:
                call.settimeout(LIMIT_S)
                for expected, reply in (("ready", "go"), ("started", "accepted"), ("released", "")):
                    assert agent.readline().strip() == expected
                    agent.write(f"{reply}\n" if reply else "")
                    agent.flush()
                assert agent.readline().strip() == "ended"
                agent.write("finish\n")
                agent.flush()
                # A close could lose bytes, so the socket stays open until the guest pauses.
                deadline = time.monotonic() + LIMIT_S
                while "VM status: paused" not in log.read_text():
                    assert time.monotonic() < deadline
                    type_line(guest, "info status")
                    time.sleep(0.1)
    (events,) = out.glob("*/cell/events.jsonl")
    assert events.stat().st_size > 0


def shells(output: str) -> list[str]:
    """Returns the commands for each shell, in the order of the output."""
    parts: list[list[str]] = []
    for text in output.splitlines():
        if text.startswith("# ") and text.endswith(":") and "cont" not in text:
            parts.append([])
        elif parts and not text.startswith("#"):
            parts[-1].append(text)
    emulator, stage, line, qemu, _, speeds, *_ = ["\n".join(part) for part in parts]
    return [emulator, stage, line, qemu, speeds]


def type_line(process: "subprocess.Popen[str]", line: str) -> None:
    """Writes a line to the input of the shell."""
    assert process.stdin is not None
    process.stdin.write(f"{line}\n")
    process.stdin.flush()


@contextlib.contextmanager
def started(commands: str, log: Path = Path(os.devnull)) -> Iterator["subprocess.Popen[str]"]:
    """Runs the commands in a shell; kills all its processes at the end."""
    with log.open("w", encoding="utf-8") as output:
        process = subprocess.Popen(
            ["sh", "-c", commands],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
