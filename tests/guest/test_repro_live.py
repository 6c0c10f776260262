# SPDX-License-Identifier: GPL-2.0-or-later
"""Live cells that a user enters: a shell, gdb, and the commands to paste.

A cell that a busy host could not keep up with is in doubt; these tests accept that.
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
from delayrig.features.repro.guest_entry import PROMPT, SUBJECT_STARTS
from delayrig.features.repro.watched_lane import LINE_PORT
from delayrig.model.result import Verdict, read_results

from tests.rig.processes import processes_with

from .test_repro import INTERRUPTED, LIMIT_S, Terminal, repro

pytestmark = pytest.mark.alone("cores of real speeds")
CONVICTED = ("--plan", "live", "moved.debian-bookworm*")
BUNDLED = ("--plan", "live", "moved.bundled*")
SERIAL = ("--plan", "live", "tty.bundled*")
IN_DOUBT = 4
FAST_CORE = "Cpus_allowed_list:\t1"


def test_shell_is_in_the_slow_guest_and_its_end_starts_the_subject(
    paths: Paths, tmp_path: Path
) -> None:
    out = tmp_path / "shell"
    said = "grep -c processor /proc/cpuinfo\ngrep Cpus_allowed_list /proc/self/status\n"
    done = repro(paths, *CONVICTED, "--shell", "--out", str(out), said=said, codes=(0, IN_DOUBT))
    assert "\r\n2\r\n" in done.stdout or "\n2\n" in done.stdout, done.stdout
    assert "Cpus_allowed_list:\t0" in done.stdout
    assert SUBJECT_STARTS in done.stdout
    assert "Calibrating delay loop" in done.stdout
    (cell,) = read_results(out).cells
    assert cell.verdict in (Verdict.TOO_SHORT, Verdict.INCONCLUSIVE), done.stdout
    assert (out / cell.id / "pace.jsonl").is_file()
    assert f"kept: {out / cell.id}" in done.stdout


def test_key_that_leaves_ends_the_live_guest_and_both_emulators(
    paths: Paths, tmp_path: Path
) -> None:
    out = tmp_path / "left"
    terminal = Terminal(paths, "repro", *BUNDLED, "--shell", "--out", str(out))
    terminal.expect(PROMPT)
    assert processes_with(out)
    terminal.type("\x1d")
    assert terminal.end() == INTERRUPTED
    assert processes_with(out) == {}


def test_gdb_is_on_the_very_process_that_the_cell_moves(paths: Paths, tmp_path: Path) -> None:
    status = tmp_path / "status"
    fetch = f"remote get /proc/%d/status {status}"
    said = (
        "continue\nbacktrace 3\n"
        f'python gdb.execute("{fetch}" % gdb.selected_inferior().pid)\n'
        "delete\ncontinue\n"
    )
    done = repro(paths, *BUNDLED, "--gdb", said=said, codes=(0, IN_DOUBT))
    assert "default_delay (usecs=" in done.stdout, done.stdout
    assert FAST_CORE in status.read_text()
    assert "exited normally" in done.stdout
    assert "VERIFIED" in done.stdout


@pytest.mark.long("the same over another line; quick: over TCP")
def test_gdb_has_the_first_serial_line_where_the_subject_has_the_second(paths: Paths) -> None:
    done = repro(paths, *SERIAL, "--gdb", said="delete\ncontinue\n", codes=(0, IN_DOUBT))
    assert "exited normally" in done.stdout, done.stdout


def test_printed_commands_are_those_of_a_live_cell_that_can_be_started(
    paths: Paths, tmp_path: Path
) -> None:
    out = tmp_path / "dry"
    done = repro(paths, *BUNDLED, "--dry-run", "--out", str(out))
    assert not (out / "results.json").exists()
    emulator, stage, line, qemu, monitor = shells(done.stdout)
    assert f"TCP-LISTEN:{LINE_PORT}," in line
    speeds = [text for text in monitor.splitlines() if text.startswith("echo ")]
    assert [shlex.split(text)[1] for text in speeds] == ["0 10.000 0", "1 40.000 0"]
    with socket.create_server(("127.0.0.1", LINE_PORT)) as server:
        server.settimeout(LIMIT_S)
        said = tmp_path / "qemu.txt"
        with started(emulator), started(stage), started(qemu, said) as guest:
            tell(guest, "cont")
            call, _ = server.accept()
            with call, call.makefile("rw") as agent:
                call.settimeout(LIMIT_S)
                for heard, say in (("ready", "go"), ("started", "accepted"), ("released", "")):
                    assert agent.readline().strip() == heard
                    agent.write(f"{say}\n" if say else "")
                    agent.flush()
                assert agent.readline().strip() == "ended"
                agent.write("finish\n")
                agent.flush()
                # A close now could lose bytes, so the socket stays open until the guest has read
                # the line. Then the guest pauses, maybe before its last output to the console.
                deadline = time.monotonic() + LIMIT_S
                while "VM status: paused" not in said.read_text():
                    assert time.monotonic() < deadline
                    tell(guest, "info status")
                    time.sleep(0.1)
    (events,) = out.glob("*/cell/events.jsonl")
    assert events.stat().st_size > 0


def shells(said: str) -> list[str]:
    """Returns the commands for each shell from the output, in its order."""
    parts: list[list[str]] = []
    for text in said.splitlines():
        if text.startswith("# ") and text.endswith(":") and "cont" not in text:
            parts.append([])
        elif parts and not text.startswith("#"):
            parts[-1].append(text)
    emulator, stage, line, qemu, _, speeds, *_ = ["\n".join(part) for part in parts]
    return [emulator, stage, line, qemu, speeds]


def tell(process: "subprocess.Popen[str]", line: str) -> None:
    """Types a line into the shell."""
    assert process.stdin is not None
    process.stdin.write(f"{line}\n")
    process.stdin.flush()


@contextlib.contextmanager
def started(commands: str, said: Path = Path(os.devnull)) -> Iterator["subprocess.Popen[str]"]:
    """Runs the commands in a shell of its own; kills all its processes at the end."""
    with said.open("w", encoding="utf-8") as output:
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
