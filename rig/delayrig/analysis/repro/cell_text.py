# SPDX-License-Identifier: GPL-2.0-or-later
"""A cell and what was found in it, in words for somebody who sees it for the first time."""

import re

from delayrig.base.durations import in_full
from delayrig.hazards import hazard_of
from delayrig.model.cell import Cell, Job
from delayrig.model.chips import ChipFacts
from delayrig.model.evidence import Evidence, Witness
from delayrig.model.lane import LaneName
from delayrig.model.result import CellResult, Verdict

WITNESSES = {
    Witness.CHIP: "The chip saw a command that came before it was ready.",
    Witness.BUS: "The bus saw it: the gap between two requests of the subject's.",
    Witness.DELAY: "The delay function itself was watched, by the raw counter.",
    Witness.IMAGE: "The bytes that the chip holds after the job show it.",
}
JOBS = {
    Job.PROBE: "looks which chip there is",
    Job.READ: "reads",
    Job.ERASE: "erases",
    Job.WRITE: "erases, programs and verifies",
    Job.VERIFY: "verifies",
}
VERDICTS = {
    Verdict.PASS: "Nothing was too short.",
    Verdict.TOO_SHORT: "An operation was timed too short.",
    Verdict.CORRUPT: "It reported success, and the chip does not hold what it should.",
    Verdict.OP_FAILED: "It failed, and says so. That tells nothing of its delays.",
    Verdict.HUNG: "It never ended.",
    Verdict.INCONCLUSIVE: "It cannot be judged beyond doubt.",
    Verdict.INFRA_ERROR: "The rig failed. That tells nothing of the subject.",
    Verdict.SKIPPED: "It was not run.",
}
_ON_BUS = re.compile(r"bus at (\d+) ns")
_MOMENT = re.compile(r"\bat (\d+) ns")


def describe_cell(cell: Cell, chip: ChipFacts) -> list[str]:
    """What is about to be run, a line each."""
    lines = [
        f"cell      {cell.id}",
        f"subject   {cell.subject} {JOBS[cell.job]}"
        + ("" if cell.job is Job.PROBE else f" {cell.region_kib} KiB"),
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
    cores = f"{cell.cores} core{'' if cell.cores == 1 else 's'}"
    return f"an {cell.arch} guest of {cores} at {speeds} MIPS, on the {cell.lane} lane"


def describe_result(result: CellResult, first_ns: int = 0) -> list[str]:
    """The verdict and all that it rests on; `first_ns` is when the subject started."""
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
    """Where its time went, in seconds, as tables have it; nothing where it took none."""
    if result.time_ns.total == 0:
        return []
    phases = {name: getattr(result.time_ns, name) for name in JOBS}
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
    """What was asked for, what it got, who saw it, and where."""
    times = f" ({item.count} times, the worst is shown)" if item.count > 1 else ""
    lines = [f"{item.what}{times}"]
    if item.requested_ns is not None and item.actual_ns is not None:
        shortest, longest = (in_full(ns, beside_ns=item.requested_ns) for ns in item.actual_ns)
        got = longest if shortest == longest else f"between {shortest} and {longest}"
        missing_ns = item.requested_ns - item.actual_ns[1]
        missing = in_full(missing_ns, beside_ns=item.requested_ns)
        too_little = f": at least {missing} too little" if missing_ns > 0 else ""
        lines += [
            f"  asked for: {in_full(item.requested_ns)}",
            f"  got:       {got}{too_little}",
        ]
    elif item.margin_ns is not None and item.margin_ns < 0:
        lines.append(f"  too early: by {in_full(-item.margin_ns)}")
    lines.append(f"  witness:   {item.witness}. {WITNESSES[item.witness]}")
    if item.where:
        lines.append(f"  where:     {_place(item.where, first_ns)}")
    return lines


def _place(where: str, first_ns: int) -> str:
    """A moment is said from the subject's start: nobody knows the boot's."""
    if not first_ns:
        return where
    said = _MOMENT.sub(
        lambda at: f"{in_full(int(at[1]) - first_ns)} after the subject's start", where
    )
    on_bus = _ON_BUS.fullmatch(where)
    return f"{said.removeprefix('bus ')} (find {on_bus[1]} in events.jsonl)" if on_bus else said
