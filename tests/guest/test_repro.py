# SPDX-License-Identifier: GPL-2.0-or-later
"""Cells that run again: unchanged, with a shell before the subject starts, and under gdb."""

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

from tests.guest.conftest import FinishedRun, launch, run_plan
from tests.rig.processes import processes_told

BEHIND_A_DEVICE = "aai.bundled.*.linux_spi.write"
CONVICTED = "demonstration.debian-bookworm.62mips*"
BUNDLED = "write.bundled.*"
STRIPPED = "write.debian-trixie.*"
LIMIT_S = 600
END_LIMIT_S = 300
INTERRUPTED = 130


@pytest.fixture(scope="module")
def demonstration(paths: Paths, tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    """Runs one cell, in which 1.3.0 is convicted."""
    out = tmp_path_factory.mktemp("demonstration") / "out"
    return run_plan(paths, out, "--plan", "full", "--cell", CONVICTED)


def repro(
    paths: Paths, *arguments: str, said: str = "", codes: tuple[int, ...] = (0,)
) -> subprocess.CompletedProcess[str]:
    """Runs `rig/rig repro` with the given input until it ends; checks its exit code."""
    done = subprocess.run(
        [str(paths.checkout / "rig" / "rig"), "repro", *arguments],
        input=said,
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT_S,
    )
    assert done.returncode in codes, done.stdout + done.stderr
    return done


def test_convicted_cell_of_a_finished_run_is_convicted_again_to_the_nanosecond(
    paths: Paths, demonstration: FinishedRun
) -> None:
    (cell,) = demonstration.results.cells
    assert cell.verdict is Verdict.TOO_SHORT
    done = repro(paths, "--from", str(demonstration.out))
    assert "The same thing happened again: too_short" in done.stdout
    assert "equal to the nanosecond" in done.stdout
    assert "asked for: 1.000000 s" in done.stdout
    assert "Calibrating delay loop" in done.stdout


def test_kept_cell_lies_where_it_says(
    paths: Paths, demonstration: FinishedRun, tmp_path: Path
) -> None:
    out = tmp_path / "kept"
    done = repro(paths, "--from", str(demonstration.out), "demonstration", "--out", str(out))
    (cell,) = read_results(out).cells
    assert f"kept: {out / cell.id}" in done.stdout
    assert (out / cell.id / "events.jsonl").is_file()


def test_cell_that_is_not_kept_leaves_nothing(
    paths: Paths, demonstration: FinishedRun, tmp_path: Path
) -> None:
    subprocess.run(
        [str(paths.checkout / "rig/rig"), "repro", "--from", str(demonstration.out)],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        timeout=LIMIT_S,
    )
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


class Terminal:
    """`rig/rig` on a terminal of its own."""

    def __init__(self, paths: Paths, *arguments: str) -> None:
        self.output = ""
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            program = str(paths.checkout / "rig" / "rig")
            os.execv(program, [program, *arguments])

    def expect(self, words: str) -> None:
        """Reads until the words have come; drops the output up to their end."""
        deadline = time.monotonic() + LIMIT_S
        while words not in self.output:
            assert time.monotonic() < deadline, self.output
            assert self._read(), self.output
        self.output = self.output.partition(words)[2]

    def type(self, keys: str) -> None:
        """Types the keys on the terminal."""
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


def test_shell_on_a_terminal_is_in_the_guest_and_its_end_starts_the_subject(
    paths: Paths, demonstration: FinishedRun
) -> None:
    terminal = Terminal(paths, "repro", "--from", str(demonstration.out), "--shell")
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


def test_commands_on_standard_input_are_done_one_by_one(
    paths: Paths, demonstration: FinishedRun
) -> None:
    said = "uname -m\ncat\nthis is read by cat\nnproc\n"
    done = repro(
        paths, "--from", str(demonstration.out), "--shell", said=f"echo a$((1+1))b\n{said}"
    )
    assert "a2b" in done.stdout
    assert "x86_64" in done.stdout
    assert SUBJECT_STARTS in done.stdout


def test_shell_before_a_subject_whose_part_is_behind_a_device_leaves_its_events(
    paths: Paths,
) -> None:
    done = repro(paths, BEHIND_A_DEVICE, "--shell", said="nproc\n")
    assert "pass: Nothing was too short" in done.stdout


def test_key_that_leaves_ends_the_guest_and_everything_else(
    paths: Paths, demonstration: FinishedRun, tmp_path: Path
) -> None:
    out = tmp_path / "left"
    from_run = ("--from", str(demonstration.out))
    terminal = Terminal(paths, "repro", *from_run, "--shell", "--out", str(out))
    terminal.expect(PROMPT)
    assert processes_told(out)
    terminal.type("\x1d")
    assert terminal.end() == INTERRUPTED
    assert processes_told(out) == {}


def test_gdb_shows_who_called_the_delay_function(paths: Paths, smoke: FinishedRun) -> None:
    commands = "continue\nbacktrace 4\nkill\nquit\n"
    done = repro(paths, "--from", str(smoke.out), BUNDLED, "--gdb", said=commands, codes=(4,))
    frames = [line for line in done.stdout.splitlines() if "#" in line]
    assert any("default_delay (usecs=" in line for line in frames), done.stdout
    assert "flash_wait_us" in done.stdout


def test_gdb_of_a_stripped_program_stops_in_the_delay_function_that_the_finder_knows(
    paths: Paths, smoke: FinishedRun
) -> None:
    commands = "continue\nprint $edi\nkill\nquit\n"
    done = repro(paths, "--from", str(smoke.out), STRIPPED, "--gdb", said=commands, codes=(4,))
    assert re.search(r"^Breakpoint \d, 0x\w+ in \?\? \(\)", done.stdout, re.M), done.stdout
    assert "$1 = 1000000\n" in done.stdout  # the wait after the serprog NOPs


def test_subject_that_gdb_lets_go_ends_its_job(paths: Paths, smoke: FinishedRun) -> None:
    done = repro(paths, "--from", str(smoke.out), BUNDLED, "--gdb", said="delete\ncontinue\n")
    assert "exited normally" in done.stdout
    assert "VERIFIED" in done.stdout


@pytest.mark.long("six starts of a minute; quick: the same over TCP, tests/rig/test_guest_image.py")
@pytest.mark.parametrize("start", range(6))
def test_gdb_of_a_cell_over_a_tty_comes_to_its_end(
    paths: Paths, smoke: FinishedRun, start: int
) -> None:
    cell = ("--from", str(smoke.out), "tty.bundled*")
    done = repro(paths, *cell, "--gdb", said="delete\ncontinue\n")
    assert "exited normally" in done.stdout, start


def test_gdb_of_the_host_lane_has_the_symbols_of_the_subject(paths: Paths) -> None:
    arguments = ("--plan", "smoke", "--lane", "host", BUNDLED, "--gdb")
    done = repro(paths, *arguments, said="continue\nbacktrace 3\ndelete\ncontinue\nquit\n")
    assert "default_delay (usecs=" in done.stdout
    assert "VERIFIED" in done.stdout


@pytest.mark.parametrize("look", [[], ["--gdb"]])
def test_told_to_end_leaves_nothing_running(
    paths: Paths, demonstration: FinishedRun, tmp_path: Path, look: list[str]
) -> None:
    out = tmp_path / "ended"
    signal.signal(signal.SIGINT, signal.default_int_handler)
    run = subprocess.Popen(
        [
            *(str(paths.checkout / "rig" / "rig"), "repro", "--from", str(demonstration.out)),
            *("--out", str(out), *look),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    deadline = time.monotonic() + END_LIMIT_S
    while not any(out.glob("*/qemu.log")):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    time.sleep(0.3)
    run.send_signal(signal.SIGTERM)
    said, _ = run.communicate(timeout=END_LIMIT_S)
    assert run.returncode == INTERRUPTED, said
    assert processes_told(out) == {}


def test_printed_commands_are_those_of_a_guest_that_can_be_started(
    paths: Paths, demonstration: FinishedRun, tmp_path: Path
) -> None:
    out = tmp_path / "dry"
    done = repro(paths, "--from", str(demonstration.out), "--dry-run", "--out", str(out))
    command, _, monitor = done.stdout.partition("# what the rig says")
    assert not (out / "results.json").exists()
    words = [line for line in monitor.splitlines()[1:] if line and not line.startswith("#")]
    guest = subprocess.Popen(
        ["sh", "-c", f"exec env {_without_notes(command)}"],
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
        deadline = time.monotonic() + LIMIT_S
        while "agent: done" not in console.read_text():
            assert time.monotonic() < deadline
            time.sleep(0.1)
    finally:
        guest.kill()
        guest.wait()


def _without_notes(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.startswith("#"))


@pytest.mark.long("cores of real speeds; quick: tests/guest/test_live.py convicts the same move")
def test_classic_bug_is_shown_and_explained(paths: Paths) -> None:
    done = launch(paths, "repro", "heterogeneous")
    assert "Started here:   core 0" in done.stdout, done.stdout + done.stderr
    assert "Moved there:    core 1" in done.stdout
    if done.returncode == 0:
        assert "Asked for this: 1.000000 s" in done.stdout
        assert "That is the bug, and its remedy" in done.stdout
    else:  # On a shared host the cell may be in doubt, or lost.
        assert done.returncode in (4, 99), done.stdout
        assert "This host could not keep it up" in done.stdout
