# SPDX-License-Identifier: GPL-2.0-or-later
"""The symptoms that users see, and why a cell does not show one."""

from enum import StrEnum

from delayrig.base.errors import ExitCode
from delayrig.judge.exit_code import exit_code_of
from delayrig.model.cell import Job
from delayrig.model.result import CellResult, Verdict

SLOW_TIMES = 3
"""A job is slow if it takes this many times what part and link need."""
CHANGING = (Job.ERASE, Job.WRITE)


class Symptom(StrEnum):
    """The words of the command line."""

    CORRUPT = "corrupt"
    """The subject reports success, and the data is wrong."""
    VERIFY_FAILED = "verify-failed"
    """The subject itself finds that the data is wrong, or that a command had no effect."""
    HUNG = "hung"
    SLOW = "slow"


VERDICTS = {
    Symptom.CORRUPT: Verdict.CORRUPT,
    Symptom.VERIFY_FAILED: Verdict.OP_FAILED,
    Symptom.HUNG: Verdict.HUNG,
}

SAID = {Symptom.CORRUPT: True, Symptom.VERIFY_FAILED: False}
"""The answer of the subject to the question whether its job is done, which it is not."""


def shows(symptom: Symptom, result: CellResult) -> bool:
    """Returns True if the user would see the symptom in that cell."""
    if symptom is Symptom.SLOW:
        return result.job_done and result.time_ns.total >= SLOW_TIMES * needed_ns(result) > 0
    if result.verdict is Verdict.TOO_SHORT and symptom in SAID:
        return not result.job_done and result.said_done is SAID[symptom]
    return result.verdict is VERDICTS[symptom]


def needed_ns(result: CellResult) -> int:
    """Returns the time in which the part was busy or the link at work."""
    return result.chip_busy_ns + result.wire_ns


def exit_code(symptom: Symptom, result: CellResult) -> ExitCode:
    """Returns the code that a run of the cell ends with; of a slow one, that it is slower."""
    code = exit_code_of(result)
    return ExitCode.SLOWER if symptom is Symptom.SLOW and code is ExitCode.PASS else code


def why_not(symptom: Symptom, result: CellResult) -> str:
    """Returns why a cell does not show it, in words that cells of one cause share."""
    if result.verdict in (Verdict.SKIPPED, Verdict.INFRA_ERROR):
        return f"not run: {result.reason}"
    if symptom is Symptom.SLOW:
        return f"it took less than {SLOW_TIMES} times what part and link need"
    if result.verdict is Verdict.TOO_SHORT and result.job_done:
        if result.job in CHANGING:
            return "waits were cut short, but the part is polled, so that is harmless here"
        return "waits were cut short, but the job changes nothing in the part"
    if result.verdict is Verdict.OP_FAILED:
        return "it failed, and said so at once"
    if result.verdict is Verdict.HUNG:
        return "it did not end in the time that the search gives"
    if result.verdict is Verdict.PASS:
        return "no wait was cut short"
    return f"another symptom: {result.verdict}"
