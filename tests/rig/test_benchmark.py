# SPDX-License-Identifier: GPL-2.0-or-later
"""The cost of cells, folded from the times of their stages, for each job."""

from pathlib import Path

import msgspec
import pytest
from delayrig.features.selfcheck.benchmark import fold_stages, job_costs, read_stages, sample
from delayrig.lanes.stages import ENDED, FILE_NAME, PACK
from delayrig.model.phases import TimeSplit
from delayrig.model.result import Results

from tests.rig.builders import make_cell, make_result, make_run_header

LONG = make_result(
    make_cell(chip="M25P80"),
    time_ns=TimeSplit(total=11_000_000_000),
    chip_busy_ns=10_500_000_000,
    transfers=13_000,
)
SHORT = make_result(make_cell(chip="GD25Q16C"), chip_busy_ns=0)
SKIPPED = make_result(make_cell(chip="W25Q64FV"))


@pytest.fixture
def stages(tmp_path: Path) -> dict[str, dict[str, float]]:
    lengths = {SHORT.id: {PACK: 0.001, ENDED: 0.1}, LONG.id: {PACK: 0.003, ENDED: 3.5}}
    for cell, found in lengths.items():
        (tmp_path / cell).mkdir()
        (tmp_path / cell / FILE_NAME).write_bytes(msgspec.json.encode(found))
    return read_stages(tmp_path, results())


def results() -> Results:
    return Results(run=make_run_header(), cells=[SHORT, LONG, SKIPPED])


def test_cells_that_left_no_stages_are_left_out(stages: dict[str, dict[str, float]]) -> None:
    assert list(stages) == [SHORT.id, LONG.id]


def test_stages_are_folded_over_all_cells(stages: dict[str, dict[str, float]]) -> None:
    (pack, job) = fold_stages(list(stages.values()))
    assert [pack.name, job.name] == [PACK, ENDED]
    assert [pack.median_s, pack.total_s] == pytest.approx([0.002, 0.004])
    assert [job.median_s, job.total_s] == pytest.approx([1.8, 3.6])


def test_dearest_job_comes_first_beside_what_its_chip_took(
    stages: dict[str, dict[str, float]],
) -> None:
    (long, short) = job_costs(stages, results())
    assert (long.cell, long.job_s, long.total_s, long.transfers) == (LONG.id, 3.5, 11.0, 13_000)
    assert long.times_faster == pytest.approx(3.0)
    assert (short.cell, short.times_faster) == (SHORT.id, 0.0)


def test_cell_whose_subject_never_came_has_no_job() -> None:
    assert job_costs({LONG.id: {PACK: 0.003}}, results()) == []


def test_sample_is_spread_over_all_cells() -> None:
    cells = [make_cell(seed=seed) for seed in range(10)]
    assert [cell.seed for cell in sample(cells, 3)] == [0, 3, 6]
    assert sample(cells[:2], 8) == cells[:2]
