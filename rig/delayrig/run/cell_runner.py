# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs cells in their lane, and judges them from the files that they wrote."""

import asyncio
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from delayrig.base.atomic_file import replace_file
from delayrig.base.errors import BadInputError, LostGuestError, OverdueGuestError
from delayrig.base.scratch import NO_ROOM, full_scratch
from delayrig.hazards.of_cell import hazards_of, place_refusal
from delayrig.judge.judge import judge_cell, planned_result
from delayrig.lanes.lane import Assignment, Lane
from delayrig.lanes.stages import JUDGE, MARKS_NAME, StageWatch
from delayrig.model.cell import Cell, Programmer
from delayrig.model.chips import ChipFacts
from delayrig.model.lane import LaneName
from delayrig.model.programmers import BUILT_WITHOUT, device_of
from delayrig.model.result import CellResult, Verdict
from delayrig.plan.request import Request
from delayrig.run.resume import CELL, RESULT, first_try_kept
from delayrig.subjects import dummy
from delayrig.subjects.delay_function import DelayFunction, DelayOptions, find_watched
from delayrig.subjects.subject import (
    NO_FLASHROM,
    Subject,
    is_like_flashrom,
    is_own_build,
    known_name,
    may_know,
    wrong_machine,
)

NOT_PROVIDED = "not provided: "


@dataclass(frozen=True, kw_only=True)
class CellRunner:
    request: Request
    lane: Lane
    watched: Mapping[str, tuple[DelayFunction, ...]]
    """The delay functions and direct waits of each subject, by its label."""
    chip_names: Mapping[tuple[str, str], str]
    """The name of each chip in each packed program; empty if the program knows none of them."""

    def refusal(self, cell: Cell) -> str:
        chip = self.request.chips[cell.chip]
        refusal = self.lane.refusal(cell) or wrong_machine(cell.subject, cell.arch)
        if refusal:
            return refusal
        subject = self.lane.subject_of(cell)
        if subject is None:
            return (
                "no libflashrom.so.1 of this subject is known: put the library that was built with"
                " it next to the program"
            )
        if not self.chip_names[subject.label, chip.name]:
            if not is_like_flashrom(subject.program_bytes, self.request.chips.values()):
                return NO_FLASHROM
            return f"this flashrom knows none of the names {', '.join(chip.flashrom_names)}"
        if cell.programmer is Programmer.DUMMY:
            return dummy.refusal(chip, subject.program_bytes)
        if refusal := _driving_refusal(cell, chip, subject):
            return refusal
        refusals = (hazard.refusal(subject) for hazard in hazards_of(cell))
        return next((refusal for refusal in refusals if refusal), "")

    def refuse(self, cell: Cell) -> CellResult | None:
        missing = self.lane.missing(cell)
        reason = f"{NOT_PROVIDED}{missing.what}" if missing else self.refusal(cell)
        if not reason:
            return None
        refused = self._unjudged(cell, Verdict.SKIPPED, reason)
        return msgspec.structs.replace(refused, not_provided=missing.what if missing else "")

    async def run(self, cell: Cell, cpu: int) -> CellResult:
        """Runs and judges a cell, and writes its result to its folder.

        A cell that the rig lost is run once more. Its folder keeps the files of the first try, too.
        """
        try:
            folder = cell_folder(cell, self.request.out)
            result = await self._measure(cell, folder, cpu)
            if result.verdict is Verdict.INFRA_ERROR and self.request.retries_lost:
                with first_try_kept(folder):
                    folder = cell_folder(cell, self.request.out)
                    second = await self._measure(cell, folder, cpu)
                result = msgspec.structs.replace(second, retried_after=result.reason)
            keep_result(result, folder)
        except OSError as error:
            raise _explained(error, self.request.out) from error
        return result

    def lost(self, cell: Cell, reason: str) -> CellResult:
        """Returns and writes the result of a cell that was lost together with its worker."""
        result = self._unjudged(cell, Verdict.INFRA_ERROR, reason)
        keep_result(result, cell_folder(cell, self.request.out))
        return result

    def assignment(self, cell: Cell, folder: Path, cpu: int) -> Assignment:
        subject, device = self.lane.subject_of(cell), device_of(cell)
        assert subject is not None
        named = device.chip_name if device else ""
        return Assignment(
            cell=cell,
            chip=self.request.chips[cell.chip],
            chip_name=named or self.chip_names[subject.label, cell.chip],
            subject=subject,
            folder=folder,
            cpu=cpu,
            watch=StageWatch(),
            marks=folder / MARKS_NAME if self.request.stages else None,
            delays=self.watched[subject.label],
        )

    async def _measure(self, cell: Cell, folder: Path, cpu: int) -> CellResult:
        given = self.assignment(cell, folder, cpu)
        try:
            host_s = await self.lane.run_cell(given)
            planned = msgspec.structs.replace(self._planned(cell), host_s=host_s)
            result = await asyncio.to_thread(
                judge_cell, cell, given.chip, folder, planned, subject=given.subject
            )
        except LostGuestError as error:
            return self._unjudged(cell, *verdict_of_lost(cell, error))
        given.watch.ended(JUDGE)
        if self.request.stages:
            given.watch.write(folder)
        return result

    def _planned(self, cell: Cell) -> CellResult:
        chip = self.request.chips[cell.chip]
        return planned_result(cell, chip, rerun=rerun_command(cell, self.request))

    def _unjudged(self, cell: Cell, verdict: Verdict, reason: str) -> CellResult:
        return msgspec.structs.replace(self._planned(cell), verdict=verdict, reason=reason)


def _driving_refusal(cell: Cell, chip: ChipFacts, subject: Subject) -> str:
    """Returns why that subject cannot drive that chip in the cell; empty if it can."""
    device = device_of(cell)
    if device is not None and not may_know(subject.program_bytes, device.driver):
        needs = f", which needs {device.library}" if device.library else ""
        return f"{BUILT_WITHOUT}{device.driver}{needs}"
    return place_refusal(cell, chip)


def keep_result(result: CellResult, folder: Path) -> None:
    """Writes the result to the cell's folder, from which a resumed run reads it."""
    replace_file(folder / RESULT, msgspec.json.format(msgspec.json.encode(result)))


def make_cell_runner(request: Request, lane: Lane) -> CellRunner:
    """Returns a runner, after analysing all programs under test."""
    found = filter(None, map(lane.subject_of, request.cells))
    subjects = {subject.label: subject for subject in found}
    contents = {program.label: program.program_bytes for program in lane.programs}
    return CellRunner(
        request=request,
        lane=lane,
        watched={
            # The user's delay function applies only to the user's own program.
            label: find_watched(
                subject, request.delay if is_own_build(subject.name) else DelayOptions()
            )
            for label, subject in subjects.items()
        },
        chip_names={
            (label, chip): known_name(content, facts.flashrom_names)
            for label, content in contents.items()
            for chip, facts in request.chips.items()
        },
    )


def verdict_of_lost(cell: Cell, error: LostGuestError) -> tuple[Verdict, str]:
    """Returns verdict and reason: inconclusive if the subject may only have needed more time."""
    limited = any(hazard.host_limit_s is not None for hazard in hazards_of(cell))
    cause = ""
    if limited and isinstance(error, OverdueGuestError):
        cause = "its waits keep the CPU busy, and the rig's limit came first: "
    elif isinstance(error, OverdueGuestError) and error.is_busy:
        cause = (
            "the guest was busy until the rig's limit: its subject may poll for ever, or "
            "need more time on this machine; `deadline_s` of a plan limits its guest time; "
        )
    verdict = Verdict.INCONCLUSIVE if cause else Verdict.INFRA_ERROR
    return verdict, f"{cause}{error.message}"


def cell_folder(cell: Cell, out: Path) -> Path:
    """Makes the cell's folder, with the cell in it, and returns it."""
    # libvirt needs absolute paths.
    folder = out.absolute() / cell.id
    folder.mkdir(parents=True, exist_ok=True)
    replace_file(folder / CELL, msgspec.json.format(msgspec.json.encode(cell)))
    return folder


def _explained(error: OSError, out: Path) -> Exception:
    if error.errno not in NO_ROOM:
        return error
    if place := full_scratch(error):
        return BadInputError(
            f"TMPDIR {place}: no space left; the finished cells are kept in {out}",
            hint="free some space there, or name another TMPDIR, and go on with --resume",
        )
    return BadInputError(
        f"--out {out}: no space left; the finished cells are kept",
        hint="free some space there, and go on with --resume",
    )


def rerun_command(cell: Cell, request: Request) -> str:
    again = request.again(cell) if request.again else _by_run(request, cell)
    words = ["rig/rig", *again]
    if is_own_build(cell.subject):
        words += request.delay.words
    return shlex.join(words)


def _by_run(request: Request, cell: Cell) -> list[str]:
    words = ["run", "--plan", request.plan, "--seed", str(request.seed)]
    words += ["--subject", cell.subject, "--cell", cell.id]
    words += [word for name in request.programmers for word in ("--programmer", name)]
    words += ["--lane", request.lane] if request.lane is not LaneName.VIRTUAL else []
    return words + (["--unconfined"] if request.unconfined else [])
