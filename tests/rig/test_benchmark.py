# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig benchmark`: the cost of cells, of sending their folders, and of whole runs."""

import asyncio
import io
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from delayrig.base.errors import BadInputError
from delayrig.base.paths import find_paths
from delayrig.features.selfcheck import benchmark
from delayrig.features.selfcheck.benchmark import (
    RunCost,
    WayCost,
    WorkersBenchmark,
    fold_stages,
    job_costs,
    measure_carrying,
    measure_start,
    read_stages,
    sample,
)
from delayrig.features.selfcheck.terminal import ManyRuns, print_workers
from delayrig.lanes.stages import (
    ENDED,
    FILE_NAME,
    GUEST,
    LOAD,
    PACK,
    READ_BACK,
    STAGES,
    read_marks,
    stage_lengths,
)
from delayrig.model.phases import TimeSplit
from delayrig.model.result import Results, Verdict
from delayrig.plan.request import choose_cells
from delayrig.run.cell_runner import keep_result
from rich.console import Console

from tests.rig.builders import make_cell, make_result, run_of
from tests.rig.reported import job_events, keep_cell
from tests.rig.running import answer_of, install_script, run_python

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
    lengths_by_cell = {SHORT.id: {PACK: 0.001, ENDED: 0.1}, LONG.id: {PACK: 0.003, ENDED: 3.5}}
    for cell, lengths_s in lengths_by_cell.items():
        (tmp_path / cell).mkdir()
        (tmp_path / cell / FILE_NAME).write_bytes(msgspec.json.encode(lengths_s))
    return read_stages(tmp_path, results())


def results() -> Results:
    return run_of(SHORT, LONG, SKIPPED)


def test_cells_without_stages_are_left_out(stages: dict[str, dict[str, float]]) -> None:
    assert list(stages) == [SHORT.id, LONG.id]


def test_median_and_total_of_a_stage_are_over_all_cells(
    stages: dict[str, dict[str, float]],
) -> None:
    (pack, job) = fold_stages(list(stages.values()))
    assert [pack.name, job.name] == [PACK, ENDED]
    assert [pack.median_s, pack.total_s] == pytest.approx([0.002, 0.004])
    assert [job.median_s, job.total_s] == pytest.approx([1.8, 3.6])


def test_longest_job_comes_first_with_the_facts_of_its_cell(
    stages: dict[str, dict[str, float]],
) -> None:
    (long, short) = job_costs(stages, results())
    assert (long.cell, long.job_s, long.total_s, long.transfers) == (LONG.id, 3.5, 11.0, 13_000)
    assert long.times_faster == pytest.approx(3.0)
    assert (short.cell, short.times_faster) == (SHORT.id, 0.0)


def test_cell_without_the_end_of_its_subject_has_no_job() -> None:
    assert job_costs({LONG.id: {PACK: 0.003}}, results()) == []


def test_benchmark_is_refused_if_every_cell_was_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def skip_all(*_: object) -> Results:
        return run_of(make_result(verdict=Verdict.SKIPPED))

    monkeypatch.setattr(benchmark, "run_request", skip_all)
    paths = find_paths()
    choice = choose_cells(plan="smoke", subjects=(), seed=1, paths=paths)
    request = choice.request("smoke", tmp_path, seed=1, argv=[], jobs=1)
    progress = ManyRuns(Console(file=io.StringIO()))
    with pytest.raises(BadInputError, match="every cell was skipped"):
        asyncio.run(
            benchmark.benchmark_cells(
                request, paths, boots=1, progress=progress, began=progress.began
            )
        )


def test_sample_is_spread_evenly_over_all_cells() -> None:
    cells = [make_cell(seed=seed) for seed in range(10)]
    assert [cell.seed for cell in sample(cells, 3)] == [0, 3, 6]
    assert sample(cells[:2], 8) == cells[:2]


def keep_cells(run: Path) -> list[Path]:
    """Writes a run of three cells; returns its files."""
    for number in range(3):
        result = keep_cell(run, make_cell(name=f"n{number}"), job_events())
        keep_result(result, run / result.id)
    return sorted(path for path in run.rglob("*") if path.is_file())


def test_carrying_is_measured_as_means_and_changes_no_file(tmp_path: Path) -> None:
    before = [(path, path.read_bytes()) for path in keep_cells(tmp_path)]
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


def test_command_prints_the_cost_of_a_cell(tmp_path: Path) -> None:
    keep_cells(tmp_path)
    assert answer_of("benchmark", "carrying", tmp_path).startswith("3 cells; ")


SPENT_S = 0.5
SPEND = f"""
import time
while time.process_time() < {SPENT_S}: pass
"""
RUN = f"""
import pathlib, subprocess, sys, time
for name in ("a", "b", "c"):
    folder = pathlib.Path(sys.argv[1], name)
    folder.mkdir(parents=True)
    (folder / "result.json").touch()
    time.sleep(0.1)
subprocess.Popen([sys.executable, "-c", {SPEND!r}])
"""
MEASURE = """
import sys
from pathlib import Path
import msgspec
from delayrig.features.selfcheck.benchmark import measure_run
found = measure_run([sys.executable, "-c", sys.argv[1], sys.argv[2]], Path(sys.argv[2]))
print(msgspec.json.encode(found).decode())
"""


def measured(code: str, out: Path, measure: str = MEASURE) -> subprocess.CompletedProcess[str]:
    """Measures in a new process, because `measure_run` waits for any child that ends."""
    return run_python("-c", measure, code, out)


def test_cpu_time_of_a_process_that_outlives_its_run_is_counted(tmp_path: Path) -> None:
    done = measured(RUN, tmp_path / "out")
    found = msgspec.json.decode(done.stdout, type=RunCost)
    assert found.cells == 3
    assert found.cpu_s >= SPENT_S
    assert found.under_way_s >= 0.15
    assert found.wall_s >= 0.3


def test_run_without_cells_is_a_rig_fault_with_the_error_of_the_run(tmp_path: Path) -> None:
    done = measured("raise SystemExit('no such plan')", tmp_path / "out")
    assert "RigFaultError" in done.stderr
    assert "no such plan" in done.stderr


@pytest.mark.parametrize("end", ["sys.exit(99)", "sys.exit(130)", "os.abort()"])
def test_run_that_breaks_off_has_no_cost(end: str, tmp_path: Path) -> None:
    done = measured(f"{RUN}\nimport os\n{end}", tmp_path / "out")
    assert "RigFaultError" in done.stderr


IGNORES_SIGINT = f"""#!{sys.executable}
import signal, sys, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
print("[1/9] pass", file=sys.stderr, flush=True)
time.sleep(20)
open(sys.argv[0] + ".ended", "w")
"""


def test_first_start_that_ignores_sigint_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_script(tmp_path / "rig" / "rig", IGNORES_SIGINT)
    monkeypatch.setattr(benchmark, "END_S", 0.1)
    (stage,) = measure_start(tmp_path, "smoke", tmp_path)
    assert stage.name == benchmark.LAUNCHER
    assert not (tmp_path / "rig" / "rig.ended").exists()


ONE_CELL = """#!/bin/sh
while [ "$1" != --out ]; do shift; done
mkdir -p "$2/only" && touch "$2/only/result.json"
"""
COMPARE = """
import sys
from pathlib import Path
from delayrig.features.selfcheck.benchmark import benchmark_workers
place = Path(sys.argv[2])
benchmark_workers(place, "smoke", 1, 1, place / "out", print)
"""


def test_workers_cannot_be_compared_with_a_plan_of_one_cell(tmp_path: Path) -> None:
    install_script(tmp_path / "rig" / "rig", ONE_CELL)
    done = measured("", tmp_path, COMPARE)
    assert "BadInputError: plan smoke" in done.stderr
    assert not (tmp_path / "out" / "here-1").exists()


def test_workers_are_compared_with_the_ratios_of_all_rounds() -> None:
    def way(words: list[str], *wall_s: float) -> WayCost:
        return WayCost(
            words=words,
            runs=[
                RunCost(cells=11, wall_s=took_s, cpu_s=2 * took_s, under_way_s=took_s - 5)
                for took_s in wall_s
            ],
        )

    found = WorkersBenchmark(
        here=way(["--jobs", "2"], 10, 20), workers=way(["--cluster", "local:2"], 15, 25)
    )
    assert found.here.cells_a_minute == pytest.approx(44)
    assert found.here.cells_a_minute_under_way == pytest.approx(60)
    page = io.StringIO()
    print_workers(found, Console(file=page, width=200, no_color=True))
    last = page.getvalue().splitlines()[-1]
    assert all(f"{ratio} times" in last for ratio in ("0.75", "0.67", "1.33"))


LOG = """\
123@100.000000:fw_cfg_select 0x55 key 0x0019 'file_dir', ret: 1
123@100.500000:fw_cfg_select 0x55 key 0x3f01 'unknown', ret: 0
qemu: something else
123@101.250000:fw_cfg_select 0x55 key 0x3f08 'unknown', ret: 0
123@101.500000:fw_cfg_select 0x55 key 0x3fff 'unknown', ret: 0
"""


def test_other_requests_of_the_guest_are_not_its_marks() -> None:
    assert read_marks(LOG) == [(GUEST[1], 100.5), (GUEST[8], 101.25)]


def test_stages_of_the_guest_are_between_those_of_the_host() -> None:
    marks = [("", 99.0), (PACK, 99.5), (LOAD, 100.0), (READ_BACK, 102.0)]
    lengths = stage_lengths([*marks, *read_marks(LOG)])
    assert list(lengths) == [PACK, LOAD, GUEST[1], GUEST[8], READ_BACK]
    assert lengths[GUEST[1]] == pytest.approx(0.5)
    assert sum(lengths.values()) == pytest.approx(3.0)


def test_every_mark_of_the_guest_is_a_stage() -> None:
    assert [name for name in STAGES if name.startswith("guest: ")] == list(GUEST.values())
