# SPDX-License-Identifier: GPL-2.0-or-later
"""The cells of a comparison, and their results, which may be those of an earlier start.

A folder holds one comparison: `inputs.json` describes it, `run-1` and so on hold its rounds. An
interrupted comparison is resumed. A folder of another comparison is refused, and one whose rounds
were begun with another rig or QEMU, too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from delayrig.base import digest
from delayrig.base.atomic_file import write_json
from delayrig.base.errors import BadInputError, RigFaultError
from delayrig.base.paths import Paths
from delayrig.features.threshold.answer import FILE_NAME
from delayrig.features.threshold.builds import Candidate, asks_for_priority
from delayrig.features.threshold.evidence import Evidence
from delayrig.features.threshold.figures import Measured, costs_of, skipped_jobs
from delayrig.features.threshold.guests import MachineList, Profile, job_of, moved, profile_of
from delayrig.features.threshold.sleep_facts import SUBJECT, SleepFacts, read_sleep_facts
from delayrig.judge.chip import margins_ns
from delayrig.lanes.header import host_facts
from delayrig.model.cell import WATCHING, Cell, Role
from delayrig.model.events import read_events
from delayrig.model.result import Results, Verdict, read_versioned
from delayrig.plan.request import Request
from delayrig.run.out_folder import check_out
from delayrig.run.resume import FILE_NAME as BEGUN
from delayrig.run.runner import Progress, run_request

INPUTS = "inputs.json"
SCHEMA = 1
LOW_RES = "low-res-timers"
THRESHOLD_PREFIX = "delay_minimum_sleep_us "


class Inputs(msgspec.Struct, frozen=True, kw_only=True):
    """The inputs of a comparison. Equal inputs make the same comparison."""

    schema: int = SCHEMA
    subject: str
    programs: dict[str, str]
    cells: list[str]
    seed: int
    lane: str
    rounds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Trials:
    """A comparison that can be started, or resumed."""

    subject: str
    candidates: Sequence[Candidate]
    request: Request
    rounds: int
    weights: Mapping[str, int]
    """Weights of profiles. They change no cell, so other weights need no other run."""
    machines: MachineList | None

    @property
    def inputs(self) -> Inputs:
        return Inputs(
            subject=self.subject,
            programs={str(each.value_us): each.sha256 for each in self.candidates},
            cells=[digest.of_value(cell)[:16] for cell in self.request.cells],
            seed=self.request.seed,
            lane=self.request.lane,
            rounds=self.rounds,
        )

    def folder(self, number: int) -> Path:
        """Returns the folder of a round; the first is 1."""
        return self.request.out / f"run-{number}"

    def cells(self, number: int) -> list[Cell]:
        """Returns the cells of a round. Later rounds write other bytes and repeat only the jobs."""
        if number == 1:
            return self.request.cells
        subjects = {candidate.subject for candidate in self.candidates}
        return [
            msgspec.structs.replace(cell, seed=cell.seed + number - 1)
            for cell in self.request.cells
            if cell.role is Role.MEASURE and cell.subject in subjects
        ]


def plan_trials(
    cells: Sequence[Cell], candidates: Sequence[Candidate], guests: Sequence[Profile]
) -> list[Cell]:
    """Returns the plan's cells, with its jobs in `guests` if given.

    `sleep-facts` also runs with coarse timers in each of these guests.
    """
    subjects = {candidate.subject for candidate in candidates}
    jobs = [cell for cell in cells if cell.role is Role.MEASURE and cell.subject in subjects]
    if not jobs:
        raise BadInputError(
            "--plan: has no cell for the programs to compare",
            hint="add a [[group]] or a [[cell]] without 'subject'",
        )
    watching = [cell for cell in cells if cell.role in WATCHING]
    sleeping = [cell for cell in cells if cell.subject == SUBJECT]
    if guests:
        jobs = moved(jobs, guests)
        sleeping = moved(sleeping, [*guests, *(_with_coarse_timers(each) for each in guests)])
    unique = {cell.id: cell for cell in [*watching, *sleeping, *jobs]}
    return list(unique.values())


def _with_coarse_timers(profile: Profile) -> Profile:
    hazards = profile.hazards if LOW_RES in profile.hazards else (LOW_RES, *profile.hazards)
    return msgspec.structs.replace(profile, hazards=hazards)


def claim_folder(trials: Trials) -> None:
    """Writes the inputs; raises `BadInputError` if the folder holds another comparison."""
    out, inputs = trials.request.out, trials.inputs
    path = out / INPUTS
    if not path.exists():
        check_out(out, trials.request.cells, name=FILE_NAME)
        write_json(path, inputs)
        return
    known = read_versioned(path, Inputs, schema=SCHEMA)
    for key in Inputs.__struct_fields__:
        if getattr(known, key) != getattr(inputs, key):
            raise BadInputError(
                f"--out {out}: holds another comparison, whose {INPUTS} differs in key {key!r}",
                hint="name another folder; to resume that comparison, give its options again",
            )


async def run_trials(trials: Trials, paths: Paths, progress: Progress) -> list[Results]:
    """Runs the missing cells, and returns all results of each round."""
    return [
        await _run_round(trials, number, paths, progress) for number in range(1, trials.rounds + 1)
    ]


async def _run_round(trials: Trials, number: int, paths: Paths, progress: Progress) -> Results:
    progress.preparing(f"round {number} of {trials.rounds}")
    folder = trials.folder(number)
    request = replace(
        trials.request,
        cells=trials.cells(number),
        out=folder,
        seed=trials.request.seed + number - 1,
        resume=(folder / BEGUN).is_file(),
    )
    return await run_request(request, paths, progress)


def evidence_of(trials: Trials, rounds: Sequence[Results]) -> Evidence:
    """Returns the evidence.

    Raises `RigFaultError` if the rig failed, and `BadInputError` if every job was skipped.
    """
    _check_rig(trials, rounds)
    measured = _measured(trials, rounds)
    jobs, left_out = dict.fromkeys(job_of(m.cell) for m in measured), skipped_jobs(measured)
    costs, unable = costs_of(measured), "left out, as some program could not do it"
    if not costs:
        raise BadInputError(
            f"{trials.subject}: every job was skipped for some value: {'; '.join(left_out)}",
            hint="give jobs that this flashrom can do: --plan FILE.toml",
        )
    return Evidence(
        subject=trials.subject,
        lane=trials.request.lane,
        seed=trials.request.seed,
        jobs=[job for job in jobs if job not in left_out],
        costs=costs,
        costs_by_round=[
            costs_of([msgspec.structs.replace(m, results=m.results[n : n + 1]) for m in measured])
            for n in range(len(rounds))
        ],
        sleep=_sleep(trials),
        weights=dict(trials.weights),
        realtime=all(asks_for_priority(each.program) for each in trials.candidates),
        present_us=trials.machines.present_us if trials.machines else None,
        machines=trials.machines.names if trials.machines else {},
        doubts=[*(f"{unable}: {job}" for job in left_out), *_contradictions(trials)],
        host=host_facts(),
    )


def _check_rig(trials: Trials, rounds: Sequence[Results]) -> None:
    """Raises `RigFaultError` if a canary or control is answered wrongly, or if a cell was lost."""
    roles = {cell.id: cell.role for cell in trials.request.cells}
    for results in rounds:
        for result in results.cells:
            watching = roles[result.id] in WATCHING
            if (watching and result.exit_code) or result.verdict is Verdict.INFRA_ERROR:
                raise RigFaultError(
                    f"the rig cannot be trusted here: {result.id} was {result.verdict},"
                    f" and should have been {result.expect}: {result.reason}",
                    hint=f"again: {result.rerun}",
                )


def _measured(trials: Trials, rounds: Sequence[Results]) -> list[Measured]:
    values = {candidate.subject: candidate.value_us for candidate in trials.candidates}
    found = [{result.id: result for result in results.cells} for results in rounds]
    return [
        Measured(
            value_us=values[cell.subject],
            cell=cell,
            results=[results[cell.id] for results in found],
            margin_ns=_margin_ns(trials, cell),
        )
        for cell in trials.request.cells
        if cell.subject in values and cell.role is Role.MEASURE
    ]


def _margin_ns(trials: Trials, cell: Cell) -> int | None:
    """Returns the least time from the part's readiness to a command, over all rounds."""
    margins: list[int] = []
    for number in range(1, trials.rounds + 1):
        folder = trials.folder(number) / cell.id
        if (folder / "events.jsonl").is_file():
            margins += margins_ns(read_events(folder))
    return min(margins, default=None)


def _sleep(trials: Trials) -> dict[str, SleepFacts]:
    found = {}
    for cell in trials.request.cells:
        folder = trials.folder(1) / cell.id
        if cell.subject == SUBJECT and (folder / "stdout.txt").is_file():
            found[profile_of(cell).name] = read_sleep_facts(folder)
    return found


def _contradictions(trials: Trials) -> list[str]:
    """Returns the programs that print another threshold than the one given for them."""
    found = []
    for candidate in trials.candidates:
        cells = [cell for cell in trials.request.cells if cell.subject == candidate.subject]
        texts = (trials.folder(1) / cell.id / "stdout.txt" for cell in cells)
        text = next((path.read_text(errors="replace") for path in texts if path.is_file()), "")
        printed = text.partition(THRESHOLD_PREFIX)[2].split(" ", 1)[0].strip(",")
        if printed.isdigit() and int(printed) != candidate.value_us:
            name = f"the program for {candidate.value_us} us"
            found.append(f"{name} says that its threshold is {printed} us")
    return found
