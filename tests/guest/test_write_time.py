# SPDX-License-Identifier: GPL-2.0-or-later
"""A floor and the cell above it, in guests: the basis of `rig/rig times`."""

import json
from collections import Counter

import pytest
from delayrig.base.errors import ExitCode
from delayrig.base.paths import Paths
from delayrig.model.events import of_kind, read_events
from delayrig.model.kinds.agent import SubjectEnd
from delayrig.model.kinds.emulator import Spi
from delayrig.model.result import Verdict

from .conftest import FinishedRun, launch, run_plan
from .plans import cell, plan

# 128 KiB at the speed of the shipped plan `write-time`, so that both share a snapshot.
AT = 'mips = 500, cores = 1, job = "write", chip = "GD25Q16C"'
PLAN = plan(
    cell("time", f'{AT}, corner = "draw:5"', region_kib=128),
    cell("floor", f'{AT}, corner = "zero"', region_kib=128),
    'role = "floor"\nsubject = "floor"\n',
    cell("worn", f'{AT}, corner = "slow:400"'),
    '[[rule]]\nwhen = { corner = "slow:*" }\nexpect = "op_failed"\n',
    'reason = "no driver waits that long for such a part"\n',
)
PAGES, BLOCKS, READS = 512, 2, 2 * 3


@pytest.fixture(scope="module")
def run(paths: Paths, tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    folder = tmp_path_factory.mktemp("write-time")
    (folder / "plan.toml").write_text(PLAN)
    return run_plan(paths, folder / "out", "--plan", str(folder / "plan.toml"))


def test_floor_writes_the_region_with_three_transfers_a_change_and_passes(run: FinishedRun) -> None:
    floor = run.cell("floor", "floor")
    assert floor.verdict is Verdict.PASS, run.output
    assert (floor.chip_busy_ns, floor.region_bytes) == (0, 128 * 1024)
    assert floor.transfers == READS + 3 * (PAGES + BLOCKS)
    events = of_kind(read_events(run.out / floor.id), Spi)
    assert Counter(event.op for event in events)["0x02"] == PAGES


def test_program_above_the_floor_takes_longer_and_writes_the_same(run: FinishedRun) -> None:
    floor, cell = run.cell("floor", "floor"), run.cell("time", "bundled")
    assert cell.verdict is Verdict.PASS, run.output
    assert cell.transfers >= floor.transfers
    # At most two round trips of each change pass while the part is busy.
    round_trips_ns = floor.time_ns.total * (PAGES + BLOCKS) // floor.transfers
    assert cell.time_ns.total > cell.chip_busy_ns + floor.time_ns.total - 2 * round_trips_ns


def test_subject_ends_as_soon_as_it_hangs_up(run: FinishedRun) -> None:
    events = read_events(run.out / run.cell("floor", "floor").id)
    (ended,) = of_kind(events, SubjectEnd)
    last = of_kind(events, Spi)[-1]
    # It must not wait for the emulator, which takes 25 ms to write the records of this cell.
    assert ended.t_ns - last.reply_ns < 10_000_000


def test_part_slower_than_its_datasheet_fails_the_job_and_convicts_nobody(run: FinishedRun) -> None:
    assert run.cell("worn", "bundled").verdict is Verdict.OP_FAILED, run.output
    assert run.exit_code == ExitCode.PASS, run.output


def test_times_of_the_run_set_the_cell_on_its_floor(run: FinishedRun, paths: Paths) -> None:
    done = launch(paths, "times", str(run.out), "--json")
    rows = {row["id"].partition(".")[0]: row for row in json.loads(done.stdout)}
    floor, cell = run.cell("floor", "floor"), run.cell("time", "bundled")
    assert rows.keys() == {"time", "worn"}
    assert rows["time"]["floor_ns"] == floor.time_ns.total
    assert rows["time"]["ratio"] == pytest.approx(
        cell.time_ns.total / (cell.chip_busy_ns + floor.time_ns.total), abs=1e-4
    )
    assert rows["worn"]["floor_ns"] is None  # The regions differ.
