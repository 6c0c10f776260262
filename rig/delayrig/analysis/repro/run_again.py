# SPDX-License-Identifier: GPL-2.0-or-later
"""A cell from its choice to what is said of it in the end: whether the same happened again."""

import contextlib
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import click

from delayrig.analysis.repro.cell_text import describe_cell, describe_result
from delayrig.analysis.repro.choice import Before, Chosen
from delayrig.analysis.repro.look import Look, Show, say_nothing, whole_lines
from delayrig.analysis.repro.watched_lane import opener, packed_commands
from delayrig.base.errors import ExitCode, LostGuestError
from delayrig.base.paths import Paths
from delayrig.base.preparing import Preparing
from delayrig.judge.exit_code import exit_code_of_run
from delayrig.judge.not_provided import not_provided_lines
from delayrig.model.events import first, read_events
from delayrig.model.kinds.agent import SubjectStart
from delayrig.model.lane import EXACT_LANE, LaneName
from delayrig.model.result import CellResult, Verdict
from delayrig.plan.request import Request
from delayrig.run.runner import Quiet, run_request

TIMES = ("events_sha256", "time_ns", "cpu_ns")
LOOKED_INTO = (
    "Somebody looked in, so its times are not those of an undisturbed cell: nothing is compared."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduction:
    lines: tuple[str, ...]
    is_rig_fault: bool = False
    """Equal images and seeds gave unequal times where time is exact."""

    def exit_code(self, result: CellResult) -> ExitCode:
        """As `run` has it, unless the rig is shown to be at fault."""
        return ExitCode.RIG_FAULT if self.is_rig_fault else exit_code_of_run([result])


def compare_reproduction(
    before: Before | None, now: CellResult, digests: Mapping[str, str]
) -> Reproduction:
    """`digests` are those of what it was run with now."""
    if before is None:
        return Reproduction(
            lines=("Nothing to compare it with: --from RUN names a run that has it.",)
        )
    old, is_rig_fault = before.result, False
    verdict = f"Something else happened: {now.verdict}; in the run before it was {old.verdict}."
    if old.verdict == now.verdict:
        verdict = f"The same thing happened again: {now.verdict}, as in the run before."
    if now.lane != EXACT_LANE:
        times = "Its times are those of a real clock, and differ from run to run."
    elif Verdict.INFRA_ERROR in (old.verdict, now.verdict) or not old.events_sha256:
        times = "One of the two was lost, so no times are compared."
    elif all(getattr(old, key) == getattr(now, key) for key in TIMES):
        times = (
            f"Times are equal to the nanosecond: {now.time_ns.total / 1e9:.9f} s in total, and each"
            f" event of the cell (SHA-256 {now.events_sha256[:12]})."
        )
    elif other := unequal_inputs(before, digests):
        times = f"{_times_line(old, now)} It was made with another {', '.join(other)}."
    else:
        is_rig_fault = True
        times = (
            f"{_times_line(old, now)} All that it was made with is the same: this is a fault"
            " of the rig. `rig/rig compare --exact` names the first event that differs."
        )
    return Reproduction(lines=(verdict, times), is_rig_fault=is_rig_fault)


def unequal_inputs(before: Before, digests: Mapping[str, str]) -> list[str]:
    """What the cell was made with then and is not now; of a run much is of other cells alone."""
    return [name for name in sorted(digests) if before.digests.get(name) != digests[name]]


def _times_line(old: CellResult, now: CellResult) -> str:
    return (
        f"Times are not equal: {now.time_ns.total / 1e9:.9f} s in total,"
        f" and {old.time_ns.total / 1e9:.9f} s before."
    )


async def run_again(
    chosen: Chosen,
    request: Request,
    paths: Paths,
    look: Look,
    *,
    kept: bool,
    instead: str = "",
    quiet: bool = False,
) -> ExitCode:
    """Shows the cell, and then what came of it: that alone where `quiet`.

    What is said `instead` replaces the comparison with the run before."""
    show: Show = say_nothing if quiet else click.echo
    for line in describe_cell(chosen.cell, chosen.chips[chosen.cell.chip]):
        show(line)
    show("")
    watching = Quiet(lambda what: show(f"making {what}"))
    results = await run_request(request, paths, watching, opener(look, show))
    (result,) = results.cells
    folder = request.out / result.id
    show("")
    if request.lane is not LaneName.HOST:
        _show_output(folder, show)
    for line in [*describe_result(result, _began_ns(folder)), *not_provided_lines([results])]:
        click.echo(line)
    instead = instead if look is Look.WATCH else LOOKED_INTO
    again = (
        Reproduction(lines=(instead,))
        if instead
        else compare_reproduction(chosen.before, result, results.run.image_digests)
    )
    click.echo("")
    left = f"Nothing of it is kept; --keep leaves its folder. Again: {result.rerun}"
    for line in [*again.lines, f"kept: {folder}" if kept else left]:
        click.echo(line)
    return again.exit_code(result)


def _show_output(folder: Path, show: Show) -> None:
    """What the subject printed, which a guest keeps to itself until its cell is done."""
    with contextlib.suppress(OSError):
        text = (folder / "stdout.txt").read_text(encoding="utf-8", errors="replace")
        for line in whole_lines("subject")(text + "\n"):
            show(line)
        show("")


def _began_ns(folder: Path) -> int:
    with contextlib.suppress(LostGuestError):
        began = first(read_events(folder), SubjectStart)
        return began.t_ns if began else 0
    return 0


async def commands_of(request: Request, paths: Paths, preparing: Preparing) -> list[str]:
    """The commands behind the cell; what they are given is written to its folder."""
    (cell,) = request.cells
    folder = request.out / cell.id
    folder.mkdir(parents=True, exist_ok=True)
    lines = await packed_commands(request, paths, preparing, folder)
    return [f"# {shlex.quote(cell.id)}; what it is given is in {folder}", *lines]
