# SPDX-License-Identifier: GPL-2.0-or-later
"""The symptoms that users see, and why a cell does not show one."""

from enum import StrEnum

from delayrig.base.durations import NS_PER_S
from delayrig.base.errors import ExitCode
from delayrig.model.cell import CHANGING
from delayrig.model.evidence import Witness
from delayrig.model.result import CellResult, Ending, Verdict

SLOW_TIMES, OWN_TIMES = 3, 1.5
"""The least ratios of slow work: to what the job needs, and to our flashrom's work there."""
STUCK = (Ending.OUT_OF_TIME, Ending.CUT_OFF)


class Symptom(StrEnum):
    """A symptom, by its word on the command line."""

    CORRUPT = "corrupt"
    """The subject reports success, and the data is wrong."""
    VERIFY_FAILED = "verify-failed"
    """The subject changed the part, and then reports a failure itself."""
    HUNG = "hung"
    SLOW = "slow"


def shows(symptom: Symptom, result: CellResult, own: CellResult | None = None) -> bool:
    """Returns True if the user would see the symptom in that cell.

    `own` is our flashrom's result in the same cell. If ours takes as long, the machine is slow.
    """
    if not was_run(result):
        return False
    match symptom:
        case Symptom.CORRUPT:
            return result.ending is Ending.DONE and not result.job_done
        case Symptom.VERIFY_FAILED:
            return result.ending is Ending.FAILED and _changed(result)
        case Symptom.HUNG:
            return result.ending in STUCK and not result.unfinished
        case Symptom.SLOW:
            return own is not None and may_be_slow(result) and not _why_not_slow(result, own)


def was_run(result: CellResult) -> bool:
    return result.verdict not in (Verdict.SKIPPED, Verdict.INFRA_ERROR)


def _changed(result: CellResult) -> bool:
    """Returns True if it began to erase or program. Other jobs may have a last phase `write`."""
    return result.job in CHANGING and result.time_ns.erase + result.time_ns.write > 0


def may_be_slow(result: CellResult) -> bool:
    """Returns True if the subject did the job, or was still at it when its time was over."""
    return was_run(result) and (result.job_done or result.unfinished)


def _why_not_slow(result: CellResult, own: CellResult) -> str:
    """Returns why the work is not slow; empty if it is.

    The job needs the shorter of the two times for which part and link were at work: one flashrom
    may erase in smaller blocks than necessary. Of an unfinished job only the time of ours counts.
    """
    if not own.job_done:
        return "our own flashrom cannot do that job there, so there is nothing to compare with"
    needs_ns = needed_ns(own) if result.unfinished else min(needed_ns(result), needed_ns(own))
    if not work_ns(result) >= SLOW_TIMES * needs_ns > 0:
        return f"its work took less than {SLOW_TIMES} times what part and link need"
    if not work_ns(result) >= OWN_TIMES * work_ns(own) > 0:
        return "our own flashrom takes nearly as long there"
    return ""


def work_ns(result: CellResult) -> int:
    """Returns the time after the probe, which waits for a second with any part."""
    return result.time_ns.total - result.time_ns.probe


def needed_ns(result: CellResult) -> int:
    """Returns the time in which the part was busy or the link at work."""
    return result.chip_busy_ns + result.wire_ns


def work_words(result: CellResult, own: CellResult) -> str:
    """Returns the figures that make it slow."""
    return f"its work after the probe took {_work_text(result)}; ours takes {_work_text(own)}"


def _work_text(result: CellResult) -> str:
    work_s, needed_s = work_ns(result) / NS_PER_S, needed_ns(result) / NS_PER_S
    return f"{work_s:.3f} s, with part or link busy for {needed_s:.3f} s"


def exit_code(symptom: Symptom, result: CellResult) -> ExitCode:
    """Returns the exit code of a run of the cell; `SLOWER` for a slow cell that is not unsafe."""
    code = result.exit_code
    is_safe = code in (ExitCode.PASS, ExitCode.INCONCLUSIVE)
    return ExitCode.SLOWER if symptom is Symptom.SLOW and is_safe else code


def why_not(result: CellResult, own: CellResult | None = None) -> str:
    """Returns why a cell does not show the symptom; cells with the same cause have equal texts."""
    if not was_run(result):
        return f"not run: {result.reason}"
    if own is not None:
        return _why_not_slow(result, own)
    match result.ending:
        case Ending.DONE if result.job_done:
            return _why_right(result)
        case Ending.DONE:
            return "the data is wrong, and it did not notice"
        case Ending.FAILED if _changed(result):
            return "it failed after it had begun to change the part, and said so"
        case Ending.FAILED:
            return "it failed before it changed the part, and said so"
        case Ending.CRASHED:
            return "it crashed"
        case _ if result.unfinished:
            return "it was still at work when its time was over"
        case _:
            return "it hung"


def _why_right(result: CellResult) -> str:
    if result.verdict is not Verdict.TOO_SHORT:
        return "no wait was cut short"
    if result.job not in CHANGING:
        return "waits were cut short, but the job changes nothing in the part"
    if any(item.witness is Witness.CHIP for item in result.evidence):
        return "a command came too early, but no data was lost"
    return "waits were cut short, but the part is polled, so that is harmless here"
