# SPDX-License-Identifier: GPL-2.0-or-later
"""Virtual time is exact: under load, with libvirt, and in guests that ran other cells."""

import asyncio
import contextlib
import os
import signal
import threading
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from delayrig.base.errors import ExitCode, OverdueGuestError
from delayrig.base.paths import Paths
from delayrig.hazards.of_cell import shape_of
from delayrig.lanes.payload import spec_text, write_payload
from delayrig.lanes.store_artifacts import write_entries
from delayrig.machine.arguments import CELL_FW_CFG, SUBJECT_FW_CFG, Hardware
from delayrig.machine.qemu import QemuMachine
from delayrig.machine.session import finish_guest
from delayrig.machine.snapshot import boot_hardware
from delayrig.machine.vm_pool import RESET_NOTE
from delayrig.model.cell import Cell
from delayrig.model.chips import read_chips
from delayrig.model.events import needed, read_events
from delayrig.model.kinds.agent import SubjectEnd, SubjectStart
from delayrig.model.workload import region_of
from delayrig.subjects.guest_image import GuestImage, provide_guest_image
from delayrig.subjects.recipes import read_recipes
from delayrig.subjects.subject import provide_subject

from tests.rig.processes import parent_of

from .conftest import (
    FinishedRun,
    assert_same_cells,
    assert_same_runs,
    busy_loops,
    launch,
    repeated,
    run_plan,
)

BOOT_LIMIT_S = 120
BOOTED_AGREES_TO = 0.01
BUSY_LOOPS = 3
CPU_THREAD = "ALL CPUs/TCG"
NUDGE_S = 0.05
NUDGE_PAUSE_S = 0.00002
NUDGES_MIN = 500
LEAPING, LEAP_SECONDS = ("bundled", "control-chip"), 4
REPEATS, REPEATS_LIMIT_S = 100, 10_800


@pytest.fixture
def load() -> Iterator[None]:
    """Loads this machine with busy loops during a test, for 120 s at most."""
    with busy_loops(BUSY_LOOPS, limit_s=120):
        yield


def _is_nudgeable(process: int) -> bool:
    """Returns True for a QEMU of this test with CPU threads; before it has them SIGALRM ends it."""
    try:
        threads = [path.read_text() for path in Path(f"/proc/{process}/task").glob("*/comm")]
        parent = process
        while parent not in (0, os.getpid()):
            parent = parent_of(parent)
    except (OSError, ValueError):
        return False  # the process has ended
    return f"{CPU_THREAD}\n" in threads and parent == os.getpid()


def _nudge(stop: threading.Event, nudged: list[int]) -> None:
    while not stop.is_set():
        processes = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal()]
        ours = [process for process in processes if _is_nudgeable(process)]
        until = time.monotonic() + NUDGE_S
        while time.monotonic() < until and not stop.wait(NUDGE_PAUSE_S):
            for process in ours:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGALRM)
                    nudged.append(process)


@pytest.fixture
def nudged() -> Iterator[list[int]]:
    """Wakes the main loop of each QEMU of this test with signals; yields the id for each signal."""
    stop = threading.Event()
    processes: list[int] = []
    nudger = threading.Thread(target=_nudge, args=(stop, processes))
    nudger.start()
    yield processes
    stop.set()
    nudger.join()


@pytest.mark.long("another run of smoke; quick: a run under load")
def test_wakeups_of_the_main_loop_at_any_time_change_nothing(
    smoke: FinishedRun, paths: Paths, tmp_path: Path, nudged: list[int]
) -> None:
    again = run_plan(paths, tmp_path / "out", "--plan", "smoke")
    assert_same_runs(paths, smoke.out, again.out)
    assert len(nudged) >= NUDGES_MIN


@pytest.mark.usefixtures("load")
def test_leap_second_in_a_guest_does_not_depend_on_the_host(paths: Paths, tmp_path: Path) -> None:
    names = (f"ablation-wall-clock.{name}.250mips.1c.leap-second*" for name in LEAPING)
    words = ["--plan", "full", "--subject", "bundled", "--jobs", "1", *repeated("--cell", names)]
    run = run_plan(paths, tmp_path / "out", *words)
    assert run.exit_code == ExitCode.PASS, run.output
    assert len(run.results.cells) == LEAP_SECONDS


@pytest.mark.parametrize(
    ("words", "reset_min"),
    [
        (["--plan", "smoke", "--cell", "write.*"], 1),
        pytest.param(
            *(["--cell", "pairs.bundled*"], 3),
            marks=pytest.mark.long("all pairs of our flashrom, twice; quick: a few cells of smoke"),
        ),
    ],
    ids=["one speed", "many speeds and kinds of tick"],
)
def test_guest_that_ran_other_cells_gives_results_equal_to_the_nanosecond(
    paths: Paths, tmp_path: Path, words: list[str], reset_min: int
) -> None:
    apart = run_plan(paths, tmp_path / "apart", *words, "--no-reuse")
    reused = run_plan(paths, tmp_path / "reused", *words, "--jobs", "1")
    assert_same_runs(paths, apart.out, reused.out)
    logs = [log.read_text(encoding="utf-8") for log in reused.out.glob("*/qemu.log")]
    assert sum(log.startswith(RESET_NOTE) for log in logs) >= reset_min
    assert not any(RESET_NOTE in log.read_text() for log in apart.out.glob("*/qemu.log"))


@pytest.mark.usefixtures("load")
@pytest.mark.parametrize(
    "cells",
    [
        pytest.param(("write.*", "demonstration.bundled*"), id="some"),
        pytest.param(
            ("*",), id="all", marks=pytest.mark.long("another run of smoke; quick: some cells")
        ),
    ],
)
def test_second_run_under_load_is_equal_to_the_nanosecond(
    smoke: FinishedRun, paths: Paths, tmp_path: Path, cells: tuple[str, ...]
) -> None:
    again = run_plan(paths, tmp_path / "out", "--plan", "smoke", *repeated("--cell", cells))
    assert_same_cells(again.out, smoke.out)


def test_libvirt_gives_the_events_of_plain_qemu(
    smoke: FinishedRun, paths: Paths, tmp_path: Path
) -> None:
    words = ["--plan", "smoke", "--connect", "embed", "--cell", "write.*"]
    behind = run_plan(paths, tmp_path / "out", *words)
    assert behind.exit_code == ExitCode.PASS, behind.output
    assert len(behind.results.cells) == 3
    assert_same_cells(behind.out, smoke.out)


def test_comparison_with_a_run_that_lacks_cells_is_inconclusive(
    smoke: FinishedRun, paths: Paths, tmp_path: Path
) -> None:
    part = run_plan(paths, tmp_path / "out", "--plan", "smoke", "--cell", "write.*trixie*")
    compared = launch(paths, "compare", "--exact", str(smoke.out), str(part.out))
    assert compared.returncode == ExitCode.INCONCLUSIVE, compared.stdout


@contextlib.asynccontextmanager
async def booted(hardware: Hardware, folder: Path, *, limit_s: float) -> AsyncIterator[QemuMachine]:
    """Boots a guest and waits until it pauses; yields its machine."""
    machine = QemuMachine(hardware, log=folder / "qemu.log", cpu=0)
    try:
        await machine.start()
        await machine.wait_paused(limit_s=limit_s)
        yield machine
    finally:
        await machine.stop()


def _image(paths: Paths) -> GuestImage:
    recipes = read_recipes(paths.checkout)
    return provide_guest_image(recipes.guest, paths, lambda _: None)


def test_cell_of_a_booted_guest_takes_as_long_as_that_of_a_restored_guest(
    smoke: FinishedRun, paths: Paths, tmp_path: Path
) -> None:
    restored = smoke.cell("write", "debian:trixie")
    cell = msgspec.json.decode((smoke.out / restored.id / "cell.json").read_bytes(), type=Cell)
    recipes, image = read_recipes(paths.checkout), _image(paths)
    subject = provide_subject(cell.subject, recipes, paths, lambda _: None)
    chip = read_chips(paths.checkout)[cell.chip]
    archive = write_payload(cell, chip, spec_text(cell, chip, "GD25Q16(B)", subject), tmp_path)
    hardware = replace(
        boot_hardware(shape_of(cell), image, paths.qemu_preload, tmp_path / "console.log"),
        fw_cfg={CELL_FW_CFG: archive, SUBJECT_FW_CFG: Path(subject.archive)},
    )

    async def boot_and_finish() -> dict[str, bytes]:
        async with booted(hardware, tmp_path, limit_s=BOOT_LIMIT_S) as machine:
            return await finish_guest(machine, shape_of(cell), tmp_path)

    write_entries(asyncio.run(boot_and_finish()), tmp_path, region_of(cell, chip))
    events = read_events(tmp_path)
    took_ns = needed(events, SubjectEnd).t_ns - needed(events, SubjectStart).t_ns
    assert took_ns == pytest.approx(restored.time_ns.total, rel=BOOTED_AGREES_TO)


def test_guest_that_never_pauses_is_lost(smoke: FinishedRun, paths: Paths, tmp_path: Path) -> None:
    image = _image(paths)
    hollow = tmp_path / "hollow.cpio"
    hollow.write_bytes(b"")
    cell = (smoke.out / smoke.results.cells[0].id / "cell.json").read_bytes()
    shape = shape_of(msgspec.json.decode(cell, type=Cell))
    console = tmp_path / "console.log"
    hardware = replace(boot_hardware(shape, image, paths.qemu_preload, console), initrd=hollow)

    async def boot() -> None:
        async with booted(hardware, tmp_path, limit_s=3):
            pass

    with pytest.raises(OverdueGuestError) as caught:
        asyncio.run(boot())
    assert caught.value.is_busy  # A kernel without init loops after its panic.


@pytest.mark.long("1,000 cells: 25 minutes; quick: a second run under load")
def test_selfcheck_of_100_repetitions_passes(paths: Paths, tmp_path: Path) -> None:
    words = ["--repeats", str(REPEATS), "--out", str(tmp_path / "out")]
    done = launch(paths, "selfcheck", "determinism", *words, limit_s=REPEATS_LIMIT_S)
    assert done.returncode == ExitCode.PASS, done.stdout + done.stderr
