# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs flashroms against an emulator with seeded faults, and checks how each ends."""

import contextlib
import os
import shlex
import signal
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from subprocess import DEVNULL, STDOUT, Popen, TimeoutExpired, run

import msgspec

from delayrig.base.archive import unpack_archive
from delayrig.base.atomic_file import write_json
from delayrig.base.errors import ExitCode, RigFaultError
from delayrig.features.faults.scenario import (
    End,
    FaultKind,
    Left,
    Scenario,
    classify,
    content_before,
    draw_scenario,
    file_content,
    is_finding,
)
from delayrig.model.cell import Job
from delayrig.model.chips import ChipFacts
from delayrig.model.events import parse_events, requests
from delayrig.present.formats.text import table
from delayrig.subjects.subject import Subject, known_name, words_to_start

EMULATOR_END_S = 15
READY_BYTES = 16
SAID_BYTES_MAX = 400
LAST_EVENTS = 1000
JUST_BEFORE_NS = 5_000_000_000
# Status queries of a part, and commands that releases of flashrom send between two of them.
POLLS = ("RDSR", "STATUS", "O_DELAY", "O_EXEC", "O_INIT")
# There may be millions of events, so only their beginnings are read; `ev` is always the first key.
FAULT_EVENT = b'{"ev":"fault",'


class EmulatorEnd(StrEnum):
    ENDED = "ended"
    """The emulator ended by itself after its client had left."""
    TERMINATED = "told to end"
    """The emulator ended without an error on SIGTERM: no client ever came."""
    FAILED = "failed"


class FaultRun(msgspec.Struct, frozen=True, kw_only=True):
    subject: str
    scenario: Scenario = msgspec.field(name="scene")
    end: End
    exit_code: int | None
    """The subject's exit code, or the negative number of its signal; None at the time limit."""
    emulator: EmulatorEnd
    faults: int
    """The number of faults made; 0 if the run ended before the first."""
    said: str
    host_s: float
    rerun: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSubject:
    name: str
    words: list[str]
    program: bytes


@contextmanager
def host_subject(subject: Subject, folder: Path) -> Iterator[HostSubject]:
    """Yields the subject, unpacked below `folder`; its own dynamic linker starts it."""
    with tempfile.TemporaryDirectory(dir=folder, prefix="subject-") as name:
        root = Path(name)
        unpack_archive(Path(subject.archive), root)
        yield HostSubject(
            name=subject.name, words=words_to_start(root), program=subject.program_bytes
        )


@dataclass(frozen=True, kw_only=True)
class Bench:
    """The common inputs of the runs of a campaign."""

    emulator: Path
    chips: dict[str, ChipFacts]
    out: Path
    limit_s: float

    def run(self, subject: HostSubject, scenario: Scenario) -> FaultRun:
        """Makes one run; keeps its files only for a finding or a failure of the emulator."""
        with tempfile.TemporaryDirectory(dir=self.out, prefix="run-") as name:
            done = self._measure(subject, scenario, Path(name))
            if is_finding(done.end) or done.emulator is EmulatorEnd.FAILED:
                self._keep(done, Path(name))
        return done

    def _measure(self, subject: HostSubject, scenario: Scenario, folder: Path) -> FaultRun:
        size_bytes = self.chips[scenario.chip].size_bytes
        (folder / "before.bin").write_bytes(content_before(scenario, size_bytes))
        (folder / "file.bin").write_bytes(file_content(scenario, size_bytes))
        began_s = time.monotonic()
        with (
            (folder / "stdout.txt").open("wb") as output,
            self._emulator(scenario, folder) as (emulator, port),
        ):
            words = self._subject_words(subject, scenario, port, folder)
            exit_code = _exit_code(words, output.fileno(), self.limit_s)
            ended_ns = time.monotonic_ns()
            emulator_end = _end_emulator(emulator)
        printed = (folder / "stdout.txt").read_text("utf-8", errors="replace")
        last_line = next(filter(None, map(str.strip, reversed(printed.splitlines()))), "")
        left = Left(
            exit_code=exit_code,
            at_work=exit_code is None and was_at_work(folder / "events.jsonl", ended_ns),
            said=printed,
            content=_bytes(folder / "after.bin"),
            read_back=_bytes(folder / "read.bin"),
        )
        return FaultRun(
            subject=subject.name,
            scenario=scenario,
            end=classify(scenario, left, size_bytes),
            exit_code=exit_code,
            emulator=emulator_end,
            faults=_count_faults(folder / "events.jsonl"),
            said=last_line[:SAID_BYTES_MAX],
            host_s=round(time.monotonic() - began_s, 2),
            rerun=rerun_command(subject.name, scenario, self.limit_s),
        )

    @contextmanager
    def _emulator(self, scenario: Scenario, folder: Path) -> Iterator[tuple[Popen[bytes], int]]:
        ready_out, ready_in = os.pipe()
        words = [str(self.emulator), "--chip", scenario.chip, "--seed", str(scenario.fault_seed)]
        words += ["--fault", scenario.fault, "--ready-fd", str(ready_in)]
        words += ["--image-in", "before.bin", "--image-out", "after.bin"]
        words += ["--events", "events.jsonl"]
        words += ["--native-delay"] if scenario.native_delay else []
        with (folder / "emulator.log").open("wb") as log:
            process = Popen(words, cwd=folder, stderr=log, pass_fds=[ready_in])
        os.close(ready_in)
        try:
            with open(ready_out, "rb") as ready:  # noqa: PTH123 - a descriptor has no path
                port = ready.read(READY_BYTES)
            if not port:
                raise RigFaultError(
                    f"the emulator did not start: {shlex.join(words)}",
                    hint=(folder / "emulator.log").read_text("utf-8", errors="replace"),
                )
            yield process, int(port)
        finally:
            process.kill()
            process.wait()

    def _subject_words(
        self, subject: HostSubject, scenario: Scenario, port: int, folder: Path
    ) -> list[str]:
        names = self.chips[scenario.chip].flashrom_names
        known = known_name(subject.program, names) or names[0]
        words = [*subject.words, "-p", f"serprog:ip=127.0.0.1:{port}", "-c", known]
        of_job = {
            Job.PROBE: [],
            Job.READ: ["-r", str(folder / "read.bin")],
            Job.ERASE: ["-E"],
            Job.WRITE: ["-w", str(folder / "file.bin")],
            Job.VERIFY: ["-v", str(folder / "file.bin")],
        }
        return [*words, *of_job[scenario.job]]

    def _keep(self, run: FaultRun, folder: Path) -> None:
        kept = self.out / f"{run.subject.replace(':', '-').replace('/', '-')}-{run.scenario.run}"
        kept.mkdir(exist_ok=True)
        write_json(kept / "run.json", run)
        for name in ("stdout.txt", "emulator.log", "events.jsonl"):
            if (folder / name).is_file():
                (folder / name).replace(kept / name)


def run_campaign(
    bench: Bench,
    subjects: list[HostSubject],
    scenarios: list[Scenario],
    *,
    jobs: int,
    finished: Callable[[FaultRun], None],
) -> list[FaultRun]:
    """Runs every scenario with every subject, `jobs` at a time; returns the runs by subject."""
    with ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(bench.run, s, scenario) for scenario in scenarios for s in subjects]
        try:
            for future in futures:
                finished(future.result())
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    runs = [future.result() for future in futures]
    return sorted(runs, key=lambda run: [s.name for s in subjects].index(run.subject))


def scenarios_of(seed: int, numbers: range) -> list[Scenario]:
    return [draw_scenario(seed, number) for number in numbers]


def rerun_command(subject: str, scenario: Scenario, limit_s: float) -> str:
    words = ["rig/rig", "faults", "--subject", subject, "--seed", str(scenario.seed)]
    return shlex.join([*words, "--run", str(scenario.run), "--limit-s", f"{limit_s:g}"])


def _exit_code(words: list[str], output: int, limit_s: float) -> int | None:
    """Returns the program's exit code; None if it had to be killed."""
    with contextlib.suppress(TimeoutExpired):
        return run(
            words, stdin=DEVNULL, stdout=output, stderr=STDOUT, timeout=limit_s, check=False
        ).returncode
    return None


def _end_emulator(process: Popen[bytes]) -> EmulatorEnd:
    """Waits for the emulator, which must end by itself because its only client is gone.

    If no client ever came, the emulator goes on, and gets SIGTERM.
    """
    for end in (EmulatorEnd.ENDED, EmulatorEnd.TERMINATED):
        with contextlib.suppress(TimeoutExpired):
            return end if process.wait(EMULATOR_END_S) == 0 else EmulatorEnd.FAILED
        process.send_signal(signal.SIGTERM)
    return EmulatorEnd.FAILED


def _count_faults(events: Path) -> int:
    if not events.is_file():
        return 0
    with events.open("rb") as lines:
        return sum(line.startswith(FAULT_EVENT) for line in lines)


def was_at_work(events: Path, ended_ns: int) -> bool:
    """Returns True if the last requests came just before the end, not only status queries."""
    if not events.is_file():
        return False
    with events.open("rb") as lines:
        tail = b"".join(deque(lines, maxlen=LAST_EVENTS))
    last = requests(parse_events(tail, source=f"the end of {events}"))
    if not last or last[-1].read_ns < ended_ns - JUST_BEFORE_NS:
        return False
    return any(request.name not in POLLS for request in last)


def _bytes(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""


def exit_code_of_faults(runs: list[FaultRun]) -> ExitCode:
    """Returns the exit code of a whole campaign, by the gravest end of a run."""
    if any(run.emulator is EmulatorEnd.FAILED for run in runs):
        return ExitCode.RIG_FAULT
    if any(is_finding(run.end) for run in runs):
        return ExitCode.UNSAFE
    slow = any(run.end is End.SLOW for run in runs)
    return ExitCode.INCONCLUSIVE if slow else ExitCode.PASS


def fault_table(runs: list[FaultRun]) -> str:
    """Returns a table of faults and their ends, with a column for each subject."""
    subjects = list(dict.fromkeys(run.subject for run in runs))
    kinds = [kind for kind in FaultKind if any(run.scenario.kind is kind for run in runs)]
    rows = [[kind, *(_ends(runs, subject, kind) for subject in subjects)] for kind in kinds]
    rows.append(["all", *(_ends(runs, subject, None) for subject in subjects)])
    return table(["fault", *subjects], rows)


def _ends(runs: list[FaultRun], subject: str, kind: FaultKind | None) -> str:
    own = [r for r in runs if r.subject == subject and kind in (None, r.scenario.kind)]
    counts = {end: sum(run.end is end for run in own) for end in End}
    return ", ".join(f"{count} {end}" for end, count in counts.items() if count)
