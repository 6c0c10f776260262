# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether the same thing happened again; a fold over two results of one cell."""

from collections.abc import Mapping
from dataclasses import dataclass

from delayrig.analysis.repro.choice import Before
from delayrig.base.errors import ExitCode
from delayrig.judge.exit_code import exit_code_of_run
from delayrig.model.lane import EXACT_LANE
from delayrig.model.result import CellResult, Verdict

TIMES = ("events_sha256", "time_ns", "cpu_ns")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduction:
    """What is to be said, and what it means for the exit code."""

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
    old = before.result
    verdict = _verdict_line(old, now)
    if now.lane != EXACT_LANE:
        return Reproduction(
            lines=(verdict, "Its times are those of a real clock, and differ from run to run.")
        )
    if Verdict.INFRA_ERROR in (old.verdict, now.verdict) or not old.events_sha256:
        return Reproduction(lines=(verdict, "One of the two was lost, so no times are compared."))
    unequal = [key for key in TIMES if getattr(old, key) != getattr(now, key)]
    if not unequal:
        return Reproduction(lines=(verdict, _equal_line(now)))
    other = unequal_inputs(before, digests)
    if other:
        return Reproduction(
            lines=(verdict, f"{_times_line(old, now)} It was made with another {', '.join(other)}.")
        )
    return Reproduction(
        lines=(
            verdict,
            f"{_times_line(old, now)} All that it was made with is the same: this is a fault"
            " of the rig. `rig/rig compare --exact` names the first event that differs.",
        ),
        is_rig_fault=True,
    )


def unequal_inputs(before: Before, digests: Mapping[str, str]) -> list[str]:
    """What the cell was made with then and is not now; of a run much is of other cells alone."""
    return [name for name in sorted(digests) if before.digests.get(name) != digests[name]]


def _verdict_line(old: CellResult, now: CellResult) -> str:
    if old.verdict == now.verdict:
        return f"The same thing happened again: {now.verdict}, as in the run before."
    return f"Something else happened: {now.verdict}; in the run before it was {old.verdict}."


def _equal_line(now: CellResult) -> str:
    total_s = now.time_ns.total / 1e9
    return (
        f"Times are equal to the nanosecond: {total_s:.9f} s in total, and each event of the cell"
        f" (SHA-256 {now.events_sha256[:12]})."
    )


def _times_line(old: CellResult, now: CellResult) -> str:
    return (
        f"Times are not equal: {now.time_ns.total / 1e9:.9f} s in total,"
        f" and {old.time_ns.total / 1e9:.9f} s before."
    )
