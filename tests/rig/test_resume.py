# SPDX-License-Identifier: GPL-2.0-or-later
"""The order of a run's cells, lost cells, and interrupted and resumed runs."""

import asyncio
import os
import signal
import threading
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from delayrig.base.errors import BadInputError
from delayrig.base.interruption import until_signalled, whole_in_thread
from delayrig.base.paths import Paths
from delayrig.judge.exit_code import exit_code_of_run
from delayrig.lanes.scheduler import Grouping, Scheduler
from delayrig.model.cell import Cell
from delayrig.model.result import Results, Verdict
from delayrig.present.formats.report import report_of_run
from delayrig.present.results import answer
from delayrig.run.resume import FILE_NAME, FIRST_TRY, RESULT, Begun
from delayrig.run.runner import Quiet, run_request

from tests.rig.builders import make_cell, make_result, request_of, run_of
from tests.rig.running import refusal_of
from tests.rig.test_host_lane import SILENT, host_cell, replace_emulator, run_one

ONE, OTHER = host_cell(name="one", corner="typ"), host_cell(name="other", corner="typ")


def run(paths: Paths, out: Path, *cells: Cell, resume: bool, seed: int = 1) -> Results:
    request = replace(request_of(list(cells), out), resume=resume, seed=seed)
    return asyncio.run(run_request(request, paths, SILENT))


def events_of(out: Path, cell: Cell) -> bytes:
    """Returns the events of a cell. In real time they differ each time that it runs."""
    return (out / cell.id / "events.jsonl").read_bytes()


def test_finished_cells_are_kept_and_the_rest_is_run(paths: Paths, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = run(paths, out, ONE, OTHER, resume=False)
    before = {cell.name: events_of(out, cell) for cell in (ONE, OTHER)}
    (out / OTHER.id / RESULT).unlink()
    (out / OTHER.id / "left over").write_bytes(b"")
    (out / "results.json").unlink()
    messages: list[str] = []
    request = replace(request_of([ONE, OTHER], out), resume=True)
    again = asyncio.run(run_request(request, paths, Quiet(messages.append)))
    assert messages[-1] == "the rest: 1 of 2 cells are done"
    assert [cell.id for cell in again.cells] == [ONE.id, OTHER.id]
    assert again.cells[0] == first.cells[0]
    assert events_of(out, ONE) == before["one"]
    assert events_of(out, OTHER) != before["other"]
    assert not (out / OTHER.id / "left over").exists()
    assert again.run.started == first.run.started
    assert not again.run.interrupted


def test_lost_cell_or_one_with_other_inputs_is_run_again(paths: Paths, tmp_path: Path) -> None:
    (first,) = run(paths, tmp_path, ONE, resume=False).cells
    lost = msgspec.structs.replace(first, verdict=Verdict.INFRA_ERROR)
    (tmp_path / lost.id / RESULT).write_bytes(msgspec.json.encode(lost))
    (again,) = run(paths, tmp_path, ONE, resume=True).cells
    assert again.verdict is Verdict.PASS, again.reason
    before = events_of(tmp_path, ONE)
    changed = msgspec.structs.replace(ONE, seed=ONE.seed + 1)
    assert changed.id == ONE.id
    run(paths, tmp_path, changed, resume=True)
    assert events_of(tmp_path, ONE) != before


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("seed", "begun with 1, and this one has 2"),
        ("commit", "begun with 'of old'"),
        ("image_digests", "begun with others, and this one has others"),
        ("host", "begun with others"),
    ],
)
def test_run_with_another_header_is_not_resumed(
    paths: Paths, tmp_path: Path, key: str, message: str
) -> None:
    run(paths, tmp_path, ONE, resume=False)
    path = tmp_path / FILE_NAME
    begun = msgspec.json.decode(path.read_bytes(), type=Begun)
    host = msgspec.structs.replace(begun.run.host, kernel="0.01")
    other = {"seed": 1, "commit": "of old", "image_digests": {}, "host": host}
    header = msgspec.structs.replace(begun.run, **{key: other[key]})
    path.write_bytes(msgspec.json.encode(msgspec.structs.replace(begun, run=header)))
    with pytest.raises(BadInputError) as caught:
        run(paths, tmp_path, ONE, resume=True, seed=2 if key == "seed" else 1)
    assert f"key 'run.{key}'" in caught.value.message
    assert message in caught.value.message


def test_cpu_that_runs_at_another_frequency_is_no_other_machine(
    paths: Paths, tmp_path: Path
) -> None:
    first = run(paths, tmp_path, ONE, resume=False)
    path = tmp_path / FILE_NAME
    begun = msgspec.json.decode(path.read_bytes(), type=Begun)
    cpus = [msgspec.structs.replace(cpu, khz=800_000) for cpu in begun.run.host.cpu]
    host = msgspec.structs.replace(begun.run.host, cpu=cpus)
    header = msgspec.structs.replace(begun.run, host=host)
    path.write_bytes(msgspec.json.encode(msgspec.structs.replace(begun, run=header)))
    assert run(paths, tmp_path, ONE, resume=True).cells == first.cells


@pytest.mark.parametrize("command", [["run", "--plan", "smoke"], ["survey", "bundled"]])
@pytest.mark.parametrize(
    ("words", "message"), [([], "of which run?"), (["--out", "none"], "no run was begun there")]
)
def test_resume_without_a_begun_run_is_refused(
    command: list[str], words: list[str], message: str
) -> None:
    assert message in refusal_of(*command, "--resume", *words)


def groups(*names: str) -> Scheduler[str]:
    return Scheduler(names, grouping=lambda name: Grouping(name[0], name[1]))


def test_one_worker_does_all_families_the_largest_first() -> None:
    assert list(groups("a1", "b1", "a2", "b2", "b3").work()) == ["b1", "b2", "b3", "a1", "a2"]
    branches = groups("ay1", "ax1", "ay2", "ax2", "az1")  # Branches keep their order.
    assert list(branches.work()) == ["ay1", "ay2", "ax1", "ax2", "az1"]
    without_families = Scheduler([3, 1, 2], grouping=lambda _: Grouping())
    assert list(without_families.work()) == [3, 1, 2]
    assert list(groups().work()) == []


def test_urgent_work_is_done_before_the_larger_group() -> None:
    scheduler = Scheduler(
        ["a1", "a2", "a3", "b1", "b2"],
        grouping=lambda name: Grouping(name[0]),
        is_urgent=lambda name: name in ("b2", "a3"),
    )
    assert list(scheduler.work()) == ["a3", "a1", "a2", "b2", "b1"]


def test_each_worker_has_a_family_of_its_own_and_then_helps_another() -> None:
    scheduler = groups("a1", "a2", "a3", "b1", "b2")
    one, other = scheduler.work(), scheduler.work()
    assert [next(one), next(other), next(one), next(other)] == ["a1", "b1", "a2", "b2"]
    scheduler = groups("a1", "a2", "a3", "b1")
    one, other = scheduler.work(), scheduler.work()
    assert [next(one), next(other), next(other), next(one)] == ["a1", "b1", "a2", "a3"]
    assert list(one) == list(other) == []


DIES = "echo 'no luck today' >&2; exit 3"


def dies_once(tmp_path: Path) -> str:
    """Returns a script that dies in the first try of a cell.

    It also dies with --realtime, so that each try starts it only once without.
    """
    unprivileged = f'case "$*" in *--realtime=*) {DIES};; esac'
    once = f"if mkdir {tmp_path}/was-here 2>/dev/null; then {DIES}; fi"
    return f'{unprivileged}\n{once}\nexec "$real" "$@"'


def test_cell_lost_once_has_the_verdict_of_its_second_try(paths: Paths, tmp_path: Path) -> None:
    replace_emulator(paths, dies_once(tmp_path))
    out = tmp_path / "out"
    result = run_one(paths, out, host_cell())
    assert result.verdict is Verdict.PASS, result.reason
    assert "no luck today" in result.retried_after
    kept = msgspec.json.decode((out / result.id / RESULT).read_bytes())
    assert kept["retried_after"] == result.retried_after
    assert (out / result.id / FIRST_TRY / "cell.json").is_file()
    assert [entry.name for entry in out.iterdir() if entry.is_dir()] == [result.id]


def test_cell_lost_twice_is_lost(paths: Paths, tmp_path: Path) -> None:
    replace_emulator(paths, DIES)
    result = run_one(paths, tmp_path / "out", host_cell())
    assert result.verdict is Verdict.INFRA_ERROR
    assert result.retried_after


def test_lost_cell_is_not_run_again_if_retries_are_off(paths: Paths, tmp_path: Path) -> None:
    replace_emulator(paths, dies_once(tmp_path))
    request = replace(request_of([host_cell()], tmp_path), retries_lost=False)
    (result,) = asyncio.run(run_request(request, paths, SILENT)).cells
    assert (result.verdict, result.retried_after) == (Verdict.INFRA_ERROR, "")


def test_lost_cells_are_named_beside_the_answer() -> None:
    cells = [make_result(make_cell(name=f"c{number}")) for number in range(20)]
    cells[3] = msgspec.structs.replace(cells[3], verdict=Verdict.INFRA_ERROR, reason="it\nhung")
    cells[4] = msgspec.structs.replace(cells[4], retried_after="it died")
    results = run_of(*cells, cells_planned=20)
    code = exit_code_of_run(cells)
    assert code == 0
    assert ", 1 lost." in answer(results, code)
    report = report_of_run(results)
    assert f"Lost by the rig, so not judged: {cells[3].id}: it hung" in report.lines
    assert f"Lost by the rig and run once more: {cells[4].id}: it died" in report.lines
    assert report.cases[4].properties["retried_after"] == "it died"


@pytest.mark.parametrize("is_signalled", [True, False])
def test_fault_after_sigterm_is_an_interruption(is_signalled: bool) -> None:
    async def work() -> None:
        if is_signalled:
            os.kill(os.getpid(), signal.SIGTERM)
            with suppress(asyncio.CancelledError):
                await asyncio.Event().wait()
        raise RuntimeError("the guest's monitor is gone")

    with pytest.raises(asyncio.CancelledError if is_signalled else RuntimeError):
        asyncio.run(until_signalled(work()))


def test_uninterrupted_work_returns_its_result() -> None:
    async def work() -> int:
        return 7

    assert asyncio.run(until_signalled(work())) == 7


def test_interruption_waits_for_work_in_a_thread() -> None:
    begun, may_end, done = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        may_end.wait()
        done.set()

    async def interrupted() -> bool:
        task = asyncio.ensure_future(whole_in_thread(work))
        await asyncio.to_thread(begun.wait)
        task.cancel()
        asyncio.get_running_loop().call_soon(may_end.set)
        with pytest.raises(asyncio.CancelledError):
            await task
        return done.is_set()

    assert asyncio.run(interrupted())
