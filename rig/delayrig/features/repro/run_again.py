# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a chosen cell, and explains it to a user who has not seen it before."""

import contextlib
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import click

from delayrig.base.durations import in_full
from delayrig.base.errors import ExitCode, LostGuestError
from delayrig.base.paths import Paths, Preparing
from delayrig.base.text import counted
from delayrig.decision.choice import Before, Chosen
from delayrig.features.repro.look import Look, Show, say_nothing, whole_lines
from delayrig.features.repro.watched_lane import opener, packed_commands
from delayrig.hazards import hazard_of
from delayrig.judge.exit_code import exit_code_of_run, not_provided_lines
from delayrig.model.cell import Cell, Job
from delayrig.model.chips import ChipFacts
from delayrig.model.events import first, read_events
from delayrig.model.evidence import Evidence, Witness
from delayrig.model.kinds.agent import SubjectStart
from delayrig.model.lane import EXACT_LANE, LaneName
from delayrig.model.phases import PHASES
from delayrig.model.result import CellResult, Verdict
from delayrig.plan.request import Request
from delayrig.run.runner import Quiet, run_request

WITNESSES = {
    Witness.CHIP: "The chip saw a command that came before it was ready.",
    Witness.BUS: "The bus saw it, as the gap between two requests of the subject.",
    Witness.DELAY: "The delay function itself was watched, by the raw counter.",
    Witness.IMAGE: "The bytes that the chip holds after the job show it.",
}
JOBS = {
    Job.PROBE: "looks which chip there is",
    Job.DETECT: "looks which of all chips there is",
    Job.READ: "reads",
    Job.ERASE: "erases",
    Job.WRITE: "erases, programs and verifies",
    Job.VERIFY: "verifies",
}
VERDICTS = {
    Verdict.PASS: "Nothing was too short.",
    Verdict.TOO_SHORT: "An operation was timed too short.",
    Verdict.CORRUPT: "It reported success, and the chip does not hold what it should.",
    Verdict.OP_FAILED: "It failed, and says so. That says nothing about its delays.",
    Verdict.HUNG: "It never ended.",
    Verdict.INCONCLUSIVE: "It cannot be judged beyond doubt.",
    Verdict.INFRA_ERROR: "The rig failed. That says nothing about the subject.",
    Verdict.SKIPPED: "It was not run.",
}
_ON_BUS = re.compile(r"bus at (\d+) ns")
_GUEST_TIME = re.compile(r"\bat (\d+) ns")
TIMES = ("events_sha256", "time_ns", "cpu_ns")
LOOKED_INTO = (
    "Somebody looked in, so its times are not those of an undisturbed cell: nothing is compared."
)


def describe_cell(cell: Cell, chip: ChipFacts) -> list[str]:
    lines = [
        f"cell      {cell.id}",
        f"subject   {cell.subject} {JOBS[cell.job]}"
        + ("" if cell.job in (Job.PROBE, Job.DETECT) else f" {cell.region_kib} KiB"),
        f"chip      {chip.name}, busy times {cell.corner}, over {cell.programmer}",
        f"where     {_where(cell)}",
    ]
    lines += [f"hazard    {word}: {hazard_of(word).about}" for word in cell.hazards]
    lines.append(f"seed      {cell.seed}")
    return lines


def _where(cell: Cell) -> str:
    if cell.lane is LaneName.HOST:
        return "this machine, by its own clock"
    speeds = " and ".join(f"{speed:g}" for speed in dict.fromkeys(cell.mips))
    cores = counted(cell.cores, "core")
    return f"an {cell.arch} guest of {cores} at {speeds} MIPS, on the {cell.lane} lane"


def describe_result(result: CellResult, first_ns: int = 0) -> list[str]:
    """Returns the verdict, all evidence and the times; the subject started at `first_ns`."""
    lines = [f"{result.verdict}: {VERDICTS[result.verdict]}"]
    for item in result.evidence:
        lines += [f"  {line}" for line in describe_evidence(item, first_ns)]
    if result.reason and (not result.evidence or result.verdict is not Verdict.TOO_SHORT):
        lines.append(f"  {result.reason}")
    lines += [f"  {line}" for line in _figures(result)]
    if result.judged:
        lines.append(f"  judged: {', '.join(result.judged)}")
    if result.unjudged:
        lines.append(f"  not judged: {', '.join(result.unjudged)}")
    return lines


def _figures(result: CellResult) -> list[str]:
    """Returns lines with the times of the cell, in seconds; none if it took no time."""
    if result.time_ns.total == 0:
        return []
    phases: dict[str, int] = {name: getattr(result.time_ns, name) for name in PHASES}
    rest_ns = result.time_ns.total - sum(phases.values())
    if any(phases.values()) and rest_ns > 0:
        phases["start-up and the rest"] = rest_ns
    parts = ", ".join(f"{name} {_seconds(ns)}" for name, ns in phases.items() if ns)
    return [
        f"time: {_seconds(result.time_ns.total)} s{f' ({parts})' if parts else ''}",
        f"CPU time: {_seconds(result.total_cpu_ns)} s, {result.context_switches} context switches",
        f"chip busy: {_seconds(result.chip_busy_ns)} s; ready before flashrom looked:"
        f" {_seconds(result.overshoot_ns)} s",
    ]


def _seconds(ns: int) -> str:
    return f"{ns / 1e9:.6f}"


def describe_evidence(item: Evidence, first_ns: int = 0) -> list[str]:
    times = f" ({item.count} times, the worst is shown)" if item.count > 1 else ""
    lines = [f"{item.what}{times}"]
    if item.requested_ns is not None and item.actual_ns is not None:
        shortest, longest = (in_full(ns, beside_ns=item.requested_ns) for ns in item.actual_ns)
        got = longest if shortest == longest else f"between {shortest} and {longest}"
        missing_ns = item.requested_ns - item.actual_ns[1]
        missing = in_full(missing_ns, beside_ns=item.requested_ns)
        too_little = f": at least {missing} too little" if missing_ns > 0 else ""
        lines += [f"  asked for: {in_full(item.requested_ns)}", f"  got:       {got}{too_little}"]
    elif item.margin_ns is not None and item.margin_ns < 0:
        lines.append(f"  too early: by {in_full(-item.margin_ns)}")
    lines.append(f"  witness:   {item.witness}. {WITNESSES[item.witness]}")
    if item.where:
        lines.append(f"  where:     {_place(item.where, first_ns)}")
    return lines


def _place(where: str, first_ns: int) -> str:
    """Replaces times of the guest's clock by times since the subject's start, if that is known."""
    if not first_ns:
        return where
    relative = _GUEST_TIME.sub(
        lambda at: f"{in_full(int(at[1]) - first_ns)} after the subject's start", where
    )
    on_bus = _ON_BUS.fullmatch(where)
    if not on_bus:
        return relative
    return f"{relative.removeprefix('bus ')} (find {on_bus[1]} in events.jsonl)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduction:
    lines: tuple[str, ...]
    is_rig_fault: bool = False
    """True if equal inputs gave different times in virtual time."""

    def exit_code(self, result: CellResult) -> ExitCode:
        """Returns the exit code of `run`, unless the rig is shown to be at fault."""
        return ExitCode.RIG_FAULT if self.is_rig_fault else exit_code_of_run([result])


def compare_reproduction(
    before: Before | None, now: CellResult, digests: Mapping[str, str]
) -> Reproduction:
    """Compares the result with the earlier one; `digests` are those of the present inputs."""
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
    elif other := [each for each in sorted(digests) if before.digests.get(each) != digests[each]]:
        # Inputs of the earlier run's other cells do not count.
        times = f"{_times_line(old, now)} This run had another {', '.join(other)}."
    else:
        is_rig_fault = True
        times = (
            f"{_times_line(old, now)} All inputs of the two runs are the same: this is a fault"
            " of the rig. `rig/rig compare --exact` names the first event that differs."
        )
    return Reproduction(lines=(verdict, times), is_rig_fault=is_rig_fault)


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
    """Runs the cell and prints its result; shows the cell while it runs, unless `quiet`.

    `instead` replaces the comparison with the run before.
    """
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
    """Shows the output of the subject, which a guest delivers only at the end of its cell."""
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
    """Returns the commands that make up the cell, and writes their inputs to its folder."""
    (cell,) = request.cells
    folder = request.out / cell.id
    folder.mkdir(parents=True, exist_ok=True)
    lines = await packed_commands(request, paths, preparing, folder)
    return [f"# {shlex.quote(cell.id)}; what it is given is in {folder}", *lines]
