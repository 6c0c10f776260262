# SPDX-License-Identifier: GPL-2.0-or-later
"""A floor and a cell with the same work, which `rig/rig times` compares."""

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
from .plans import cell, plan, write_plan

# 128 KiB at the speed of the shipped plan `write-time`, whose snapshot it shares.
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
    return run_plan(paths, folder / "out", "--plan", write_plan(folder, PLAN))


def test_floor_passes_with_three_transfers_for_each_page_and_block(run: FinishedRun) -> None:
    floor = run.cell("floor", "floor")
    assert floor.verdict is Verdict.PASS, run.output
    assert (floor.chip_busy_ns, floor.region_bytes) == (0, 128 * 1024)
    assert floor.transfers == READS + 3 * (PAGES + BLOCKS)
    events = of_kind(read_events(run.out / floor.id), Spi)
    assert Counter(event.op for event in events)["0x02"] == PAGES


def test_program_takes_at_least_the_time_of_the_part_and_the_floor(run: FinishedRun) -> None:
    floor, cell = run.cell("floor", "floor"), run.cell("time", "bundled")
    assert cell.verdict is Verdict.PASS, run.output
    assert cell.transfers >= floor.transfers
    # At most two round trips of each change pass while the part is busy.
    round_trips_ns = floor.time_ns.total * (PAGES + BLOCKS) // floor.transfers
    assert cell.time_ns.total > cell.chip_busy_ns + floor.time_ns.total - 2 * round_trips_ns


def test_subject_ends_without_waiting_for_the_records_of_the_emulator(run: FinishedRun) -> None:
    events = read_events(run.out / run.cell("floor", "floor").id)
    (ended,) = of_kind(events, SubjectEnd)
    last = of_kind(events, Spi)[-1]
    # The emulator takes 25 ms to write the records of this cell.
    assert ended.t_ns - last.reply_ns < 10_000_000


def test_part_slower_than_its_datasheet_is_no_conviction(run: FinishedRun) -> None:
    assert run.cell("worn", "bundled").verdict is Verdict.OP_FAILED, run.output
    assert run.exit_code == ExitCode.PASS, run.output


def test_times_command_compares_the_cell_with_its_floor(run: FinishedRun, paths: Paths) -> None:
    done = launch(paths, "times", str(run.out), "--json")
    rows = {row["id"].partition(".")[0]: row for row in json.loads(done.stdout)}
    floor, cell = run.cell("floor", "floor"), run.cell("time", "bundled")
    assert rows.keys() == {"time", "worn"}
    assert rows["time"]["floor_ns"] == floor.time_ns.total
    assert rows["time"]["ratio"] == pytest.approx(
        cell.time_ns.total / (cell.chip_busy_ns + floor.time_ns.total), abs=1e-4
    )
    assert rows["worn"]["floor_ns"] is None  # The regions differ.
