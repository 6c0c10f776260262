# SPDX-License-Identifier: GPL-2.0-or-later
"""A session ends all its processes, even if it, its parent or a child dies."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from delayrig.base.paths import find_paths
from delayrig.lanes.host.spec import PORT, Spec, cpus_in, cpus_text, write_spec
from delayrig.model.events import Event, first, needed, read_events
from delayrig.model.kinds.agent import ClockRate, EmulatorEnd, LeftOver, SubjectEnd

from tests.rig.builders import CHECKOUT
from tests.rig.processes import GONE_LIMIT_S, left_running

EMULATOR = find_paths().emulator
LIMIT_S = 60
PARENT = """
import os, subprocess, sys
words = [sys.executable, "-S", "-m", "delayrig.lanes.host.session", sys.argv[1], str(os.getpid())]
sys.exit(subprocess.run(words, start_new_session=True).returncode)
"""


def spec_of(folder: Path, *subject: str, **changes: object) -> Path:
    """Writes a session into that folder; its subject may be any program."""
    known: dict[str, object] = {
        "emulator": [
            *(str(EMULATOR), "--chip", "GD25Q16C", "--listen", "tcp:127.0.0.1:0"),
            *("--measure-wake", "0", "--events", str(folder / "events.jsonl")),
        ],
        "subject": list(subject),
        "subject_file_bytes_max": 1 << 20,
        "cpus": sorted(os.sched_getaffinity(0)),
        "pinned": False,
        "deadline_ms": 30_000,
        "lines": [],
    }
    path = folder / "session.json"
    write_spec(Spec(**(known | changes)), path)  # type: ignore[arg-type]
    return path


def begin(spec: Path) -> subprocess.Popen[bytes]:
    """Starts the session below a parent, which a test can kill."""
    return subprocess.Popen(
        [sys.executable, "-c", PARENT, str(spec)],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT / "rig")},
    )


def run(spec: Path) -> list[Event]:
    """Runs the session until it ends; returns its events."""
    assert begin(spec).wait(LIMIT_S) == 0
    return read_events(spec.parent / "agent.jsonl")


def test_subject_that_ends_is_told_with_what_it_used(tmp_path: Path) -> None:
    events = run(spec_of(tmp_path, "/bin/sh", "-c", f"echo {PORT}; exit 3"))
    assert needed(events, SubjectEnd).exit_code == 3
    assert needed(events, SubjectEnd).timed_out is False
    assert needed(events, EmulatorEnd).exit_code == 0
    assert int((tmp_path / "stdout.txt").read_text()) > 0
    assert first(events, LeftOver) is None
    assert left_running(tmp_path, GONE_LIMIT_S) == []


def test_subject_has_the_timer_slack_of_ordinary_processes(tmp_path: Path) -> None:
    run(spec_of(tmp_path, "/bin/cat", "/proc/self/timerslack_ns"))
    assert (tmp_path / "stdout.txt").read_text() == "50000\n"


def test_subject_whose_time_is_up_is_ended(tmp_path: Path) -> None:
    events = run(spec_of(tmp_path, "/bin/sleep", "1000", deadline_ms=200))
    assert needed(events, SubjectEnd).timed_out is True
    assert needed(events, SubjectEnd).signal == signal.SIGKILL


def test_subject_that_floods_its_output_is_ended(tmp_path: Path) -> None:
    events = run(spec_of(tmp_path, "/usr/bin/yes", str(tmp_path)))
    assert needed(events, SubjectEnd).signal == signal.SIGXFSZ
    assert (tmp_path / "stdout.txt").stat().st_size <= 1 << 20


def test_child_that_a_subject_leaves_behind_is_ended(tmp_path: Path) -> None:
    shell = f"setsid sh -c 'sleep 1000; echo {tmp_path}' & sleep 0.2"
    events = run(spec_of(tmp_path, "/bin/sh", "-c", shell))
    assert needed(events, SubjectEnd).exit_code == 0
    assert needed(events, LeftOver).count >= 1
    assert left_running(tmp_path, GONE_LIMIT_S) == []


def test_clocks_are_compared_over_the_whole_session(tmp_path: Path) -> None:
    events = run(spec_of(tmp_path, "/bin/sleep", "0.2"))
    rate = needed(events, ClockRate)
    assert rate.monotonic_ns >= 200_000_000
    assert rate.raw_ns_min <= rate.raw_ns_max


@pytest.mark.parametrize("number", range(25))
@pytest.mark.parametrize("told", [signal.SIGKILL, signal.SIGTERM])
def test_parent_that_dies_takes_everything_with_it(
    tmp_path: Path, number: int, told: signal.Signals
) -> None:
    # Each process has a path of this folder in its arguments, by which the test would find it.
    subject = shutil.copy("/bin/sleep", tmp_path)
    lines = ["hogs 1", "stops_hz 50"]
    parent = begin(spec_of(tmp_path, str(subject), "1000", lines=lines))
    time.sleep(0.01 * number)
    parent.send_signal(told)
    parent.wait(LIMIT_S)
    assert left_running(tmp_path, GONE_LIMIT_S) == []


@pytest.mark.parametrize(
    ("text", "cpus"), [("", []), ("0", [0]), ("0-3", [0, 1, 2, 3]), ("7,0-1,4\n", [0, 1, 4, 7])]
)
def test_lists_of_cpus_are_those_of_the_kernel(text: str, cpus: list[int]) -> None:
    assert cpus_in(text) == cpus
    assert cpus_in(cpus_text(cpus)) == cpus
