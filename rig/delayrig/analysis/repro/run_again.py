# SPDX-License-Identifier: GPL-2.0-or-later
"""A cell from its choice to what is said of it in the end."""

import contextlib
import shlex
from pathlib import Path

import click

from delayrig.analysis.repro.cell_text import describe_cell, describe_result
from delayrig.analysis.repro.choice import Chosen
from delayrig.analysis.repro.follow_files import Show, whole_lines
from delayrig.analysis.repro.look import Look
from delayrig.analysis.repro.reproduction import Reproduction, compare_reproduction
from delayrig.analysis.repro.watched_lane import check_look, opener, packed_commands
from delayrig.base.errors import ExitCode, LostGuestError
from delayrig.base.paths import Paths
from delayrig.base.preparing import Preparing
from delayrig.judge.not_provided import not_provided_lines
from delayrig.model.events import first, read_events
from delayrig.model.kinds.agent import SubjectStart
from delayrig.model.lane import LaneName
from delayrig.model.result import CellResult
from delayrig.plan.request import Request
from delayrig.run.runner import Quiet, run_request

__all__ = ["check_look", "commands_of", "run_again"]

LOOKED_INTO = (
    "Somebody looked in, so its times are not those of an undisturbed cell: nothing is compared."
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
    """Shows the cell as it goes, and what came of it; the exit code as of `run`.

    What is said `instead` stands where a comparison with the run before would. Who wants it
    `quiet` gets what came of it alone.
    """
    show: Show = _say_nothing if quiet else click.echo
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
    for line in [*again.lines, _left(folder, result, kept=kept)]:
        click.echo(line)
    return again.exit_code(result)


def _say_nothing(_line: str) -> None:
    """Of `-q`."""


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


def _left(folder: Path, result: CellResult, *, kept: bool) -> str:
    if kept:
        return f"kept: {folder}"
    return f"Nothing of it is kept; --keep leaves its folder. Again: {result.rerun}"


async def commands_of(request: Request, paths: Paths, preparing: Preparing) -> list[str]:
    """The commands behind the cell; what they are given is written to its folder."""
    (cell,) = request.cells
    folder = request.out / cell.id
    folder.mkdir(parents=True, exist_ok=True)
    lines = await packed_commands(request, paths, preparing, folder)
    return [f"# {shlex.quote(cell.id)}; what it is given is in {folder}", *lines]
