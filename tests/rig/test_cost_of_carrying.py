# SPDX-License-Identifier: GPL-2.0-or-later
"""The cost of carrying a cell's folder, measured on a run's own cells."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from delayrig.base.errors import BadInputError
from delayrig.features.selfcheck.cost_of_workers import measure_carrying
from delayrig.main import main
from delayrig.run.cell_runner import keep_result

from tests.rig.builders import make_cell
from tests.rig.reported import job_events, keep_cell


def kept(run: Path) -> list[Path]:
    for number in range(3):
        result = keep_cell(run, make_cell(name=f"n{number}"), job_events())
        keep_result(result, run / result.id)
    return sorted(path for path in run.rglob("*") if path.is_file())


def test_means_are_those_of_the_cells_that_are_there(tmp_path: Path) -> None:
    before = [(path, path.read_bytes()) for path in kept(tmp_path)]
    found = measure_carrying(tmp_path)
    assert found.cells == 3
    assert found.left_bytes == sum(len(content) for _, content in before) / 3
    assert 0 < found.packed_bytes < found.left_bytes
    assert found.pack_cpu_s > 0
    assert found.take_cpu_s > 0
    assert [(path, path.read_bytes()) for path, _ in before] == before
    assert len([*tmp_path.iterdir()]) == 3


def test_folder_without_cells_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="holds no cell"):
        measure_carrying(tmp_path)


def test_command_says_what_a_cell_costs(tmp_path: Path) -> None:
    kept(tmp_path)
    done = CliRunner().invoke(main, ["benchmark", "carrying", str(tmp_path)])
    assert done.exit_code == 0
    assert done.output.startswith("3 cells; a cell has ")
