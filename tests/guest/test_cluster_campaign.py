# SPDX-License-Identifier: GPL-2.0-or-later
"""30 runs on workers, each with a fault: the results are the same, and no process is left.

    tests/run --all guest -k cluster_campaign

`-k 'cluster_campaign and [7-'` repeats run 7. The seed of a run is its number.
"""

import contextlib
import os
import random
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from delayrig.base.paths import Paths
from delayrig.model.result import read_results

from tests.guest.conftest import FinishedRun, assert_same_cells
from tests.guest.victims import GUEST, VictimRun, send_signals
from tests.rig.serving import free_address, serving

RUNS = 30
DELAY_S = (0.0, 4.0)
TRUST = "--trust-everyone-here"
CELLS = ("--plan", "smoke", "--cell", "write.*", "--cell", "canary*", "--cell", "control*")
LOCAL = (*CELLS, "--cluster", "local:2")
SHORT_TTL = {"DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "20s"}
"""Dask's setting: a worker that is silent for this time is lost."""
SMALL_DISK = "size=64m"
CHUNK_BYTES = 1 << 20
LONG = pytest.mark.long("30 runs with faults: 15 minutes; quick: tests/guest/test_cluster.py")


class Relay:
    """A relay between a worker and its scheduler, whose connections a test can cut."""

    def __init__(self, target: str) -> None:
        host, _, port = target.rpartition(":")
        self._target = (host, int(port))
        self._server = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._server.getsockname()[1]}"
        self._ends: list[socket.socket] = []
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                here, _ = self._server.accept()
                there = socket.create_connection(self._target)
                self._ends += [here, there]
                for pair in ((here, there), (there, here)):
                    threading.Thread(target=_carry, args=pair, daemon=True).start()

    def cut(self) -> None:
        """Cuts all connections; accepts new ones."""
        ends, self._ends = self._ends, []
        for end in ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Closes the relay: cuts its connections and accepts no more."""
        self._server.close()
        self.cut()


def _carry(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while content := source.recv(CHUNK_BYTES):
            target.sendall(content)
    for end in (source, target):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


def kill_worker(run: VictimRun, draws: random.Random) -> None:
    """Kills one of two workers."""
    with begun(run, draws) as process:
        send_signals(run.victim(f"parent of {GUEST}"), "SIGKILL")
        process.wait()


def stop_worker(run: VictimRun, draws: random.Random) -> None:
    """Stops a worker; kills it when the run has ended without it."""
    with begun(run, draws) as process:
        stopped = run.victim(f"parent of {GUEST}")
        send_signals(stopped, "SIGSTOP")
        try:
            process.wait()
        finally:
            send_signals(stopped, "SIGKILL")


def kill_client(run: VictimRun, draws: random.Random) -> None:
    """Kills the run itself, together with the scheduler that it has started."""
    with begun(run, draws) as process:
        run.victim(f"parent of {GUEST}")
        process.kill()
        process.wait()


def stop_client(run: VictimRun, draws: random.Random) -> None:
    """Stops the run, but not its workers, for some seconds."""
    with begun(run, draws) as process:
        run.victim(f"parent of {GUEST}")
        process.send_signal(signal.SIGSTOP)
        time.sleep(draws.uniform(1, 5))
        process.send_signal(signal.SIGCONT)
        process.wait()


def fill_disk(run: VictimRun, draws: random.Random) -> None:
    """Fills the scratch disk of the run and its workers until the run ends."""
    run.scratch.mkdir(parents=True)
    mount = ["mount", "-t", "tmpfs", "-o", SMALL_DISK, "victim", str(run.scratch)]
    if os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("needs permission to mount a file system")
    try:
        with begun(run, draws) as process:
            with contextlib.suppress(OSError), (run.scratch / "filler").open("wb") as filler:
                while True:
                    filler.write(bytes(CHUNK_BYTES))
            process.wait()
            run.assert_nobody_left()
    finally:
        subprocess.run(["umount", "-l", str(run.scratch)], check=True)


def cut_worker_off(run: VictimRun, draws: random.Random) -> None:
    """Cuts the connection of one of two workers to the scheduler."""
    place = free_address()
    relay = Relay(place)
    with (
        contextlib.closing(relay),
        served(run, place, place, relay.address) as served_run,
        begun(served_run, draws) as process,
    ):
        relay.cut()
        process.wait()


def kill_scheduler(run: VictimRun, draws: random.Random) -> None:
    """Kills the scheduler, so the run ends."""
    place = free_address()
    with served(run, place, place) as served_run, begun(served_run, draws) as process:
        (scheduler,) = [pid for pid, line in run.processes().items() if " scheduler " in line]
        send_signals(scheduler, "SIGKILL")
        process.wait()


FAULTS: dict[str, Callable[[VictimRun, random.Random], None]] = {
    "kill-worker": kill_worker,
    "stop-worker": stop_worker,
    "kill-client": kill_client,
    "stop-client": stop_client,
    "full-disk": fill_disk,
    "cut-worker-off": cut_worker_off,
    "kill-scheduler": kill_scheduler,
}


@contextlib.contextmanager
def begun(run: VictimRun, draws: random.Random) -> Iterator[subprocess.Popen[bytes]]:
    """Starts the run; yields it at a random time after its first guest has started."""
    with run.start() as process:
        run.victim(GUEST)
        time.sleep(draws.uniform(*DELAY_S))
        yield process


@contextlib.contextmanager
def served(run: VictimRun, scheduler: str, *workers: str) -> Iterator[VictimRun]:
    """Yields the same run on a scheduler, with one worker for each of the other addresses."""
    run.scratch.mkdir(parents=True)
    mine = {"TMPDIR": str(run.scratch)}
    with contextlib.ExitStack() as stack:
        stack.enter_context(serving("scheduler", f"tcp://{scheduler}", environment=mine))
        for place in workers:
            words = ("worker", f"tcp://{place}", "--jobs", "1")
            stack.enter_context(serving(*words, environment=mine))
        words_there = (*CELLS, "--cluster", f"tcp://{scheduler}", TRUST)
        yield VictimRun(paths=run.paths, words=words_there, folder=run.folder)


def numbered_faults() -> list[object]:
    """Returns the number and the fault of each run. The faults take turns."""
    names = [[*FAULTS][number % len(FAULTS)] for number in range(RUNS)]
    return [pytest.param(n, name, id=f"{n}-{name}") for n, name in enumerate(names)]


@LONG
@pytest.mark.parametrize(("number", "fault"), numbered_faults())
def test_run_with_a_fault_gives_the_same_results(
    number: int,
    fault: str,
    paths: Paths,
    tmp_path: Path,
    smoke: FinishedRun,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in SHORT_TTL.items():
        monkeypatch.setenv(name, value)
    run = VictimRun(paths=paths, words=LOCAL, folder=tmp_path / "run")
    FAULTS[fault](run, random.Random(number))
    run.finish((0,))
    results = read_results(run.out)
    assert len(results.cells) == results.run.cells_planned
    assert_same_cells(run.out, smoke.out)
