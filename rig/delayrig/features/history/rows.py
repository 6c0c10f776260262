# SPDX-License-Identifier: GPL-2.0-or-later
"""Finished runs and gates that the history keeps, and the rows of a run."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from delayrig.base import digest
from delayrig.base.errors import ExitCode
from delayrig.base.text import plain
from delayrig.decision.decision import FILE_NAME, Decision, read_decision
from delayrig.decision.request import BASELINE, CANDIDATE, rounds_of
from delayrig.decision.two_runs import inputs_for, machine_of
from delayrig.features.history.schema import RunRow
from delayrig.judge.exit_code import exit_code_of_run
from delayrig.model.result import Results, read_results


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedRun:
    results: Results
    code: ExitCode
    side: str = ""
    round: int = 0


def run_row(results: Results, code: ExitCode, content: bytes) -> RunRow:
    """Returns the row of the run. The database chooses its number."""
    run = results.run
    return RunRow(
        started=plain(run.started),
        plan=plain(run.plan),
        lane=plain(results.cells[0].lane) if results.cells else "",
        seed=str(run.seed),
        rig_version=plain(run.rig_version),
        rig_commit=plain(run.commit),
        qemu_version=plain(run.qemu_version),
        host=plain(machine_of(run)),
        cells_planned=run.cells_planned,
        interrupted=run.interrupted,
        exit_code=int(code),
        results_sha256=digest.of_bytes(content),
    )


def cell_rows(number: int, results: Results) -> Iterator[dict[str, object]]:
    """Yields the columns of each cell of the run with that number."""

    @cache
    def inputs_sha256(arch: str, lane: str, hazards: tuple[str, ...], programmer: str) -> str:
        return digest.of_value(inputs_for(results.run, arch, lane, hazards, programmer))

    for position, cell in enumerate(results.cells):
        yield {
            "run": number,
            "position": position,
            "cell": plain(cell.id),
            "subject": plain(cell.subject.name),
            "subject_version": plain(cell.subject.version),
            "subject_sha256": plain(cell.subject.sha256),
            "lane": plain(cell.lane),
            "role": plain(cell.role),
            "arch": plain(cell.guest.arch),
            "hazards": plain("+".join(cell.hazards)),
            "chip": plain(cell.chip),
            "corner": plain(cell.corner),
            "programmer": plain(cell.programmer),
            "job": plain(cell.job),
            "verdict": str(cell.verdict),
            "expect": plain(cell.expect),
            "total_ns": cell.time_ns.total,
            "user_ns": cell.cpu_ns.user,
            "sys_ns": cell.cpu_ns.sys,
            "mips": cell.guest.mips[0] if cell.guest.mips else None,
            "cores": cell.guest.cores,
            "region_bytes": cell.region_bytes,
            "chip_busy_ns": cell.chip_busy_ns,
            "overshoot_ns": cell.overshoot_ns,
            "transfers": cell.transfers,
            "context_switches": cell.context_switches,
            "events_sha256": cell.events_sha256,
            "witness": "",
            "inputs_sha256": inputs_sha256(
                cell.guest.arch, cell.lane, tuple(cell.hazards), cell.programmer
            ),
        }


def finished_run(results: Results) -> FinishedRun:
    return FinishedRun(results=results, code=exit_code_of_run(results.cells, results.contrasts))


def finished_gate(folder: Path) -> tuple[list[FinishedRun], Decision]:
    decision = read_decision(folder)
    sides = [CANDIDATE] if decision.baseline.stored else [BASELINE, CANDIDATE]
    runs = [
        FinishedRun(
            results=read_results(path), code=ExitCode(decision.exit_code), side=side, round=number
        )
        for side in sides
        for number, path in enumerate(rounds_of(folder, side))
    ]
    return runs, decision


def read_finished(out: Path) -> tuple[list[FinishedRun], Decision | None]:
    """Reads an --out folder of a run or a gate; raises `BadInputError` for any other."""
    if (out / FILE_NAME).is_file():
        return finished_gate(out)
    return [finished_run(read_results(out))], None
