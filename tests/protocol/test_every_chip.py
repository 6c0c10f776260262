# SPDX-License-Identifier: GPL-2.0-or-later
"""Every chip and every job: our flashrom against the emulator over TCP, in real time.

The clock is real, so no test checks durations. The emulated chip reports commands that came too
early, and its content shows that the job was done.
"""

import random
import re
import subprocess
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from delayrig.model.chips import ChipFacts, read_chips
from delayrig.model.events import read_events, transactions

from .emulator import PATHS, PROGRAM, running

CHIPS = read_chips(PATHS.checkout)
CORNERS = ("min", "typ", "max")
# Chips mostly wait, so several of them fit on one core.
AT_ONCE = 8
LIMIT_S = 300
REGION_BYTES = 4096
NEIGHBOUR_BYTES = 1024
REGION = random.Random(1).randbytes(REGION_BYTES)
"""The content of the region before the first job."""
NEIGHBOUR = random.Random(2).randbytes(NEIGHBOUR_BYTES)
"""The content after the region, which must not change."""
WRITTEN = random.Random(3).randbytes(REGION_BYTES)
"""The content of the region after the write."""
JOBS = 5
DRIVEN_MIN = 59


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """The outputs of all jobs of a part, its early commands, and its content at the end."""

    outputs: list[str]
    violations: list[str]
    read: bytes
    content: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One chip at one corner, with a folder for its files."""

    facts: ChipFacts
    corner: str
    folder: Path

    def path(self, name: str) -> Path:
        return self.folder / name


@cache
def listed_names() -> frozenset[str]:
    """Returns the names that `flashrom -L` lists; the program contains more names of parts."""
    done = subprocess.run([PROGRAM, "-L"], capture_output=True, text=True, check=True)
    rows = (re.split(r"\s{2,}", line) for line in done.stdout.splitlines()[1:])
    return frozenset(row[1] for row in rows if len(row) > 1)


def flashrom_name(facts: ChipFacts) -> str:
    """Returns the first name of the part that our flashrom lists; empty if there is none."""
    return next((name for name in facts.flashrom_names if name in listed_names()), "")


@contextmanager
def emulator(scene: Scenario) -> Iterator[int]:
    """Serves the part to one client for each job; yields its port."""
    words = ("--chip", scene.facts.name, "--corner", scene.corner, "--clients", str(JOBS))
    images = ("--image-in", scene.path("before.bin"), "--image-out", scene.path("content.bin"))
    with running(scene.folder, *words, *images) as (process, port):
        yield int(port)
        assert process.wait(LIMIT_S) == 0


def run_flashrom(scene: Scenario, port: int, *job: str) -> str:
    """Runs one job; returns its output and exit code."""
    command = [str(PROGRAM), "-p", f"serprog:ip=127.0.0.1:{port}"]
    command += ["-c", flashrom_name(scene.facts), "-l", str(scene.path("layout")), *job]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LIMIT_S)
    return f"{done.stdout}{done.stderr}exit {done.returncode}"


def serve(scene: Scenario) -> Served:
    """Probes, reads, writes, verifies and erases, with one flashrom process for each job."""
    scene.path("before.bin").write_bytes(REGION + NEIGHBOUR)
    scene.path("image.bin").write_bytes(WRITTEN.ljust(scene.facts.size_bytes, b"\x00"))
    scene.path("layout").write_text(f"00000000:{REGION_BYTES - 1:08x} region\n")
    region = ("-i", "region")
    with emulator(scene) as port:
        outputs = [
            run_flashrom(scene, port),
            run_flashrom(scene, port, *region, "-r", str(scene.path("read.bin"))),
            run_flashrom(scene, port, *region, "-w", str(scene.path("image.bin"))),
            run_flashrom(scene, port, *region, "-v", str(scene.path("image.bin"))),
            run_flashrom(scene, port, *region, "-E"),
        ]
    reached = transactions(read_events(scene.path("events.jsonl")))
    return Served(
        outputs=outputs,
        violations=[str(event) for event in reached if event.violation],
        read=scene.path("read.bin").read_bytes()[:REGION_BYTES],
        content=scene.path("content.bin").read_bytes(),
    )


@pytest.fixture(scope="session")
def served(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[dict[tuple[str, str], Future[Served]]]:
    """Starts the jobs of each chip at each corner, AT_ONCE at a time; tests wait for them."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield {
            (chip, corner): pool.submit(
                serve,
                Scenario(
                    facts=facts, corner=corner, folder=tmp_path_factory.mktemp(f"{chip}-{corner}")
                ),
            )
            for chip, facts in CHIPS.items()
            for corner in CORNERS
            if flashrom_name(facts)
        }


@pytest.mark.parametrize("corner", CORNERS)
@pytest.mark.parametrize("chip", sorted(CHIPS))
def test_every_job_is_done_and_no_command_comes_too_early(
    chip: str, corner: str, served: dict[tuple[str, str], Future[Served]]
) -> None:
    if not flashrom_name(CHIPS[chip]):
        pytest.skip("our flashrom has no driver for it")
    result = served[chip, corner].result(LIMIT_S)
    for output in result.outputs:
        assert output.endswith("exit 0"), output
    assert result.violations == []
    assert result.read == REGION
    assert result.content[:REGION_BYTES] == b"\xff" * REGION_BYTES
    assert result.content[REGION_BYTES : REGION_BYTES + NEIGHBOUR_BYTES] == NEIGHBOUR
    rest = result.content[REGION_BYTES + NEIGHBOUR_BYTES :]
    assert rest == b"\xff" * len(rest)


def test_our_flashrom_drives_most_parts() -> None:
    assert len([facts for facts in CHIPS.values() if flashrom_name(facts)]) >= DRIVEN_MIN
