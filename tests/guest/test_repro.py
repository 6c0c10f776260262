# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig repro`: a cell runs again unchanged, with a shell before the subject, or under gdb."""

import os
import pty
import re
import select
import signal
import subprocess
import time
from pathlib import Path

import pytest
from delayrig.base.paths import Paths
from delayrig.features.repro.guest_entry import PROMPT, SUBJECT_STARTS
from delayrig.model.result import Verdict, read_results

from tests.guest.conftest import FinishedRun, launch, rig_command, run_plan
from tests.guest.waiting import wait_until
from tests.rig.processes import processes_with
from tests.rig.running import run

BEHIND_A_DEVICE = "aai.bundled.*.linux_spi.write"
CONVICTED = "demonstration.debian-bookworm.62mips*"
BUNDLED = "write.bundled.*"
STRIPPED = "write.debian-trixie.*"
LIMIT_S = 600
END_LIMIT_S = 300
INTERRUPTED = 130
Words = tuple[str, ...]


@pytest.fixture(scope="module")
def convicted(paths: Paths, tmp_path_factory: pytest.TempPathFactory) -> Words:
    """Runs one cell, in which 1.3.0 is convicted; returns the words that repeat it."""
    out = tmp_path_factory.mktemp("demonstration") / "out"
    run = run_plan(paths, out, "--plan", "full", "--cell", CONVICTED)
    assert [cell.verdict for cell in run.results.cells] == [Verdict.TOO_SHORT], run.output
    return "--from", str(out)


def repro(
    paths: Paths,
    *arguments: str,
    typed: str = "",
    codes: tuple[int, ...] = (0,),
    cwd: Path | None = None,
) -> subprocess.CompletedProcess[str]:
    """Runs `rig/rig repro` with the given input until it ends; checks its exit code."""
    done = run(*rig_command(paths, "repro", *arguments), input=typed, timeout=LIMIT_S, cwd=cwd)
    assert done.returncode in codes, done.stdout + done.stderr
    return done


def test_cell_is_convicted_again_equal_to_the_nanosecond(paths: Paths, convicted: Words) -> None:
    done = repro(paths, *convicted)
    assert "The same thing happened again: too_short" in done.stdout
    assert "equal to the nanosecond" in done.stdout
    assert "asked for: 1.000000 s" in done.stdout
    assert "Calibrating delay loop" in done.stdout


def test_folder_of_the_repeated_cell_is_printed_and_has_its_events(
    paths: Paths, convicted: Words, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    done = repro(paths, *convicted, "demonstration", "--out", str(out))
    (cell,) = read_results(out).cells
    assert f"kept: {out / cell.id}" in done.stdout
    assert (out / cell.id / "events.jsonl").is_file()


def test_repeated_cell_leaves_no_file_without_an_output_folder(
    paths: Paths, convicted: Words, tmp_path: Path
) -> None:
    repro(paths, *convicted, cwd=tmp_path)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


class Terminal:
    """`rig/rig` on a pseudo-terminal."""

    def __init__(self, paths: Paths, *arguments: str) -> None:
        self.output = ""
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            command = rig_command(paths, *arguments)
            os.execv(command[0], command)

    def expect(self, words: str) -> None:
        """Reads until the output has the words; drops the output up to their end."""
        deadline = time.monotonic() + LIMIT_S
        while words not in self.output:
            assert time.monotonic() < deadline, self.output
            assert self._read(), self.output
        self.output = self.output.partition(words)[2]

    def type(self, keys: str) -> None:
        """Sends the keys."""
        os.write(self._fd, keys.encode())

    def end(self) -> int:
        """Reads until the program ends; returns its exit code."""
        while self._read():
            pass
        _, status = os.waitpid(self.pid, 0)
        os.close(self._fd)
        return os.waitstatus_to_exitcode(status)

    def _read(self) -> bool:
        if not select.select([self._fd], [], [], LIMIT_S)[0]:
            return False
        try:
            block = os.read(self._fd, 4096)
        except OSError:  # The other end was closed.
            return False
        self.output += block.decode(errors="replace")
        return bool(block)


def test_subject_starts_after_the_shell_on_a_terminal(paths: Paths, convicted: Words) -> None:
    terminal = Terminal(paths, "repro", *convicted, "--shell")
    terminal.expect(PROMPT)
    terminal.type("grep -c processor /proc/cpuinfo; ls /usr/sbin\r")
    terminal.expect("\r\n4\r\nflashrom\r\n")
    terminal.expect(PROMPT)
    terminal.type("sleep 1000\r")
    terminal.expect("sleep 1000")
    time.sleep(1)
    terminal.type("\x03")
    terminal.expect(PROMPT)
    terminal.type("exit\r")
    terminal.expect(SUBJECT_STARTS)
    assert terminal.end() == 0
    assert "too_short: An operation was timed too short." in terminal.output
    assert "VERIFIED" in terminal.output
    assert "Somebody looked in" in terminal.output


def test_shell_runs_commands_of_standard_input(paths: Paths, convicted: Words) -> None:
    typed = "echo a$((1+1))b\nuname -m\ncat\nthis is read by cat\nnproc\n"
    done = repro(paths, *convicted, "--shell", typed=typed)
    assert "a2b" in done.stdout
    assert "x86_64" in done.stdout
    assert SUBJECT_STARTS in done.stdout


def test_shell_before_a_subject_with_a_qemu_device_keeps_its_events(paths: Paths) -> None:
    done = repro(paths, BEHIND_A_DEVICE, "--shell", typed="nproc\n")
    assert "pass: Nothing was too short" in done.stdout


def test_key_that_leaves_the_shell_ends_the_cell(
    paths: Paths, convicted: Words, tmp_path: Path
) -> None:
    leave_shell(paths, tmp_path / "left", *convicted)


def leave_shell(paths: Paths, out: Path, *cell: str) -> None:
    """Types the key that leaves the shell; checks that no process of the cell is left."""
    terminal = Terminal(paths, "repro", *cell, "--shell", "--out", str(out))
    terminal.expect(PROMPT)
    assert processes_with(out)
    terminal.type("\x1d")
    assert terminal.end() == INTERRUPTED
    assert processes_with(out) == {}


def test_gdb_stops_in_the_delay_function_with_its_callers(paths: Paths, smoke: FinishedRun) -> None:
    commands = "continue\nbacktrace 4\nkill\nquit\n"
    done = repro(paths, "--from", str(smoke.out), BUNDLED, "--gdb", typed=commands, codes=(4,))
    frames = [line for line in done.stdout.splitlines() if "#" in line]
    assert any("default_delay (usecs=" in line for line in frames), done.stdout
    assert "flash_wait_us" in done.stdout


def test_gdb_finds_the_delay_function_without_symbols(paths: Paths, smoke: FinishedRun) -> None:
    commands = "continue\nprint $edi\nkill\nquit\n"
    done = repro(paths, "--from", str(smoke.out), STRIPPED, "--gdb", typed=commands, codes=(4,))
    assert re.search(r"^Breakpoint \d, 0x\w+ in \?\? \(\)", done.stdout, re.M), done.stdout
    assert "$1 = 1000000\n" in done.stdout  # the wait after the serprog NOPs


def test_subject_ends_its_job_when_gdb_continues(paths: Paths, smoke: FinishedRun) -> None:
    done = repro(paths, "--from", str(smoke.out), BUNDLED, "--gdb", typed="delete\ncontinue\n")
    assert "exited normally" in done.stdout
    assert "VERIFIED" in done.stdout


@pytest.mark.long("six starts of a minute each; quick: over TCP, tests/rig/test_guest_image.py")
@pytest.mark.parametrize("start", range(6))
def test_subject_on_a_tty_ends_its_job_in_gdb(paths: Paths, smoke: FinishedRun, start: int) -> None:
    cell = ("--from", str(smoke.out), "tty.bundled*")
    done = repro(paths, *cell, "--gdb", typed="delete\ncontinue\n")
    assert "exited normally" in done.stdout, start


def test_gdb_in_the_host_lane_has_the_symbols_of_the_subject(paths: Paths) -> None:
    arguments = ("--plan", "smoke", "--lane", "host", BUNDLED, "--gdb")
    done = repro(paths, *arguments, typed="continue\nbacktrace 3\ndelete\ncontinue\nquit\n")
    assert "default_delay (usecs=" in done.stdout
    assert "VERIFIED" in done.stdout


@pytest.mark.parametrize("look", [[], ["--gdb"]])
def test_interrupted_repro_leaves_no_process(
    paths: Paths, convicted: Words, tmp_path: Path, look: list[str]
) -> None:
    out = tmp_path / "ended"
    signal.signal(signal.SIGINT, signal.default_int_handler)
    words = (*convicted, "--out", str(out), *look)
    process = subprocess.Popen(
        rig_command(paths, "repro", *words),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    wait_until(lambda: any(out.glob("*/qemu.log")), "no guest was started", END_LIMIT_S)
    time.sleep(0.3)
    process.send_signal(signal.SIGTERM)
    output, _ = process.communicate(timeout=END_LIMIT_S)
    assert process.returncode == INTERRUPTED, output
    assert processes_with(out) == {}


def test_printed_commands_run_the_cell(paths: Paths, convicted: Words, tmp_path: Path) -> None:
    out = tmp_path / "dry"
    done = repro(paths, *convicted, "--dry-run", "--out", str(out))
    command, _, monitor = done.stdout.partition("# the rig's commands")
    assert not (out / "results.json").exists()
    words = [line for line in monitor.splitlines()[1:] if line and not line.startswith("#")]
    guest = subprocess.Popen(
        ["sh", "-c", f"exec env {_without_comments(command)}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert guest.stdin is not None
    try:
        for word in words[:-1]:
            guest.stdin.write(f"{word}\n")
            guest.stdin.flush()
            time.sleep(1)
        (console,) = out.glob("*/console.log")
        wait_until(lambda: "agent: done" in console.read_text(), "the cell did not end", LIMIT_S)
    finally:
        guest.kill()
        guest.wait()


def _without_comments(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.startswith("#"))


@pytest.mark.long("cores of real speeds; quick: tests/guest/test_live.py has the same cell")
def test_repro_heterogeneous_shows_and_explains_the_bug(paths: Paths) -> None:
    done = launch(paths, "repro", "heterogeneous")
    assert "Started here:   core 0" in done.stdout, done.stdout + done.stderr
    assert "Moved there:    core 1" in done.stdout
    if done.returncode == 0:
        assert "Asked for this: 1.000000 s" in done.stdout
        assert "That is the bug, and its remedy" in done.stdout
    else:  # On a shared host the cell may be inconclusive or lost.
        assert done.returncode in (4, 99), done.stdout
        assert "This host could not keep it up" in done.stdout
