# SPDX-License-Identifier: GPL-2.0-or-later
"""The decision: a pure fold over the runs of both subjects.

Safety comes first, then performance, then doubt. What a plan expects of a cell is not asked: a
baseline that is known to be unsafe makes no candidate safe. known_faults.py has the one exception.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from msgspec.structs import replace

from delayrig.analysis.gate.decision import (
    EXIT_CODES,
    Decision,
    Excess,
    GateCell,
    Limits,
    Outcome,
    Side,
)
from delayrig.analysis.gate.decision_text import blind_spots, decision_lines, excess_words
from delayrig.analysis.gate.known_faults import is_as_before
from delayrig.analysis.gate.performance import PAIRS_MIN, excesses, floor_of, total_excesses
from delayrig.hazards import hazard_of
from delayrig.hazards.library_client import NOTHING_TO_ASK
from delayrig.judge.exit_code import WATCHING, is_expected, is_unwatched
from delayrig.judge.not_provided import not_provided_lines
from delayrig.model.cell import Role
from delayrig.model.lane import EXACT_LANE, REAL_TIME
from delayrig.model.result import CellResult, Results, RunHeader, Verdict

NOTHING_BESIDE = "no cell of the baseline was run to compare with, so its cost is unknown"
SAFE = "nothing too short"
AS_BEFORE = "as the baseline"


def decide(
    baseline: Sequence[Results], candidate: Sequence[Results], limits: Limits, *, stored: str = ""
) -> Decision:
    """The decision over all rounds; canaries and controls are those of the candidate's runs."""
    theirs, ours = _by_place(baseline), _by_place(candidate)
    watching = _watching_by_id(candidate)
    unlike = _unlike(baseline[0].run, candidate[0].run) if theirs else [NOTHING_BESIDE]
    exact = sum(cells[0].lane == EXACT_LANE for cells in ours.values())
    judge = _Judge(
        limits=limits,
        comparable=not unlike,
        stored=bool(stored),
        beside=_beside(candidate),
        intervals=2 * (len(ours) - exact),  # of time and of CPU time
        floor_ns=floor_of(exact),
    )
    cells = [judge.place(theirs.get(place, []), mine) for place, mine in ours.items()]
    not_run = "the candidate was not run in this cell of the baseline"
    missing = [mine[0] for place, mine in theirs.items() if place not in ours]
    cells += [_gate_cell(cell, Outcome.DOUBT, not_run) for cell in missing]
    unwatched = [role for role in WATCHING if is_unwatched(_of_all(candidate), role)]
    cells += [_watching(rounds, unwatched, judge.beside) for rounds in watching.values()]
    cells.sort(key=_gravity)
    doubts = [*unlike, *_unwatched(rounds[0] for rounds in watching.values())]
    total = total_excesses(cells, limits)
    outcome = _gravest(cells, doubts, total)
    decision = Decision(
        outcome=outcome,
        exit_code=EXIT_CODES[outcome],
        lines=[],
        doubts=doubts,
        blind=blind_spots([*chain(*ours.values())]),
        plan=candidate[0].run.plan,
        seed=candidate[0].run.seed,
        limits=limits,
        baseline=_side(theirs, stored),
        candidate=_side(ours, ""),
        total=total,
        cells=cells,
    )
    lines = [*decision_lines(decision), *not_provided_lines([*baseline, *candidate])]
    return replace(decision, lines=lines)


Places = dict[str, list[CellResult]]


def unanswered(candidate: Sequence[Results]) -> set[str]:
    """Canaries and controls that have told nothing yet, since this machine was busy."""
    watching = _watching_by_id(candidate)
    return {name for name, rounds in watching.items() if all(map(is_unheard, rounds))}


def _watching_by_id(runs: Sequence[Results]) -> Places:
    return _grouped((cell.id, cell) for cell in _of_all(runs) if Role(cell.role) in WATCHING)


def _by_place(runs: Sequence[Results]) -> Places:
    return _grouped((cell.place, cell) for cell in _of_all(runs) if cell.role == Role.MEASURE)


def _of_all(runs: Iterable[Results]) -> list[CellResult]:
    return [cell for run in runs for cell in run.cells]


def _grouped(cells: Iterable[tuple[str, CellResult]]) -> Places:
    found: Places = {}
    for name, cell in cells:
        found.setdefault(name, []).append(cell)
    return found


def is_unheard(cell: CellResult) -> bool:
    """Whether a cell of real time says nothing, and there is nothing that would be hushed up."""
    return cell.lane != EXACT_LANE and cell.verdict is Verdict.INCONCLUSIVE and not cell.evidence


def _beside(candidate: Sequence[Results]) -> frozenset[str]:
    """Lanes of real time beside the exact one, in a gate of one round: asked for safety alone."""
    lanes = {cell.lane for cell in _of_all(candidate) if cell.role == Role.MEASURE}
    return frozenset(lanes - {EXACT_LANE} if EXACT_LANE in lanes and len(candidate) == 1 else ())


def _side(places: Places, stored: str) -> Side:
    """As the program is known; a library has a digest of its own."""
    cells = [*chain(*places.values())]
    known = [cell for cell in cells if cell.subject.sha256 and not cell.subject.library]
    subject = next((cell.subject for cell in known or cells), None)
    if subject is None:
        return Side(name="", stored=stored)
    return Side(name=subject.name, version=subject.version, sha256=subject.sha256, stored=stored)


def _unlike(baseline: RunHeader, candidate: RunHeader) -> list[str]:
    """Why times of two runs may differ though the subjects do not."""
    theirs, ours = _machinery(baseline), _machinery(candidate)
    names = [name for name in sorted(ours | theirs) if ours.get(name) != theirs.get(name)]
    found = []
    if names:
        found.append(
            f"the baseline was run with another {', '.join(names)}, so its times say nothing here:"
            " run it again"
        )
    if baseline.seed != candidate.seed:
        found.append(f"the baseline was run with seed {baseline.seed}, not {candidate.seed}")
    return found


def _machinery(header: RunHeader) -> dict[str, str]:
    """What decides times; other kernels are named by places, other lanes have no say."""
    return {
        name: value
        for name, value in header.image_digests.items()
        if not name.startswith(("subject ", "kernel ", *(f"{lane} " for lane in REAL_TIME)))
    }


def _unwatched(watching: Iterable[CellResult]) -> list[str]:
    names = " and no ".join(sorted(set(WATCHING) - {Role(cell.role) for cell in watching}))
    return [f"no {names} was run: nothing shows that the rig sees"] if names else []


def _gravest(cells: Iterable[GateCell], doubts: Sequence[str], total: Sequence[Excess]) -> Outcome:
    """A gate in which nothing passed has decided nothing."""
    blind = (Outcome.RIG_FAULT, Outcome.DOUBT)
    found = {c.outcome for c in cells if c.role == Role.MEASURE or c.outcome in blind}
    if Outcome.PASS in found:
        found |= {item.outcome for item in total}
    if doubts or Outcome.PASS not in found:
        found.add(Outcome.DOUBT)
    return min(found, key=lambda outcome: outcome.gravity)


def _gravity(cell: GateCell) -> tuple[int, bool, float]:
    """Orders cells, the worst first; lost data has no margin, and nothing is worse."""
    if cell.outcome is Outcome.UNSAFE:
        return cell.outcome.gravity, cell.margin_ns is not None, cell.margin_ns or 0
    beyond = max((item.pct - item.limit_pct for item in cell.excess), default=float("-inf"))
    return cell.outcome.gravity, False, -beyond


def _watching(
    rounds: Sequence[CellResult], unwatched: Sequence[Role], beside: frozenset[str]
) -> GateCell:
    """A canary or a control: as it must be, or the rig is blind. One good answer will do."""
    if rounds[0].not_provided:
        blind = Role(rounds[0].role) in unwatched
        outcome = Outcome.RIG_FAULT if blind else Outcome.UNSEEN
        why = f"{rounds[0].reason}{', and no other works' if blind else ''}"
        return _gate_cell(rounds[0], outcome, why)
    answers = [cell for cell in rounds if not is_unheard(cell)]
    cell = min(answers or rounds, key=is_expected)
    if is_expected(cell):
        return _gate_cell(cell, Outcome.PASS, f"{cell.role}: as it must be")
    if not answers:
        why = f"the {cell.role} gave no answer, so nothing shows that the rig sees: {cell.reason}"
        return _gate_cell(cell, Outcome.UNSEEN if cell.lane in beside else Outcome.DOUBT, why)
    must = "convicted" if Role(cell.role) is Role.CANARY else "acquitted"
    why = f"the {cell.role} was not {must}, so the rig says nothing: {cell.reason}"
    return _gate_cell(cell, Outcome.RIG_FAULT, why)


def _gate_cell(
    cell: CellResult,
    outcome: Outcome,
    why: str,
    *,
    before: CellResult | None = None,
    excess: Sequence[Excess] = (),
) -> GateCell:
    margins = [item.margin_ns for item in cell.evidence if item.margin_ns is not None]
    return GateCell(
        id=cell.id,
        lane=cell.lane,
        role=cell.role,
        outcome=outcome,
        why=why,
        baseline=before.verdict if before else None,
        candidate=cell.verdict,
        margin_ns=min(margins, default=None) if cell.verdict is Verdict.TOO_SHORT else None,
        excess=list(excess),
        rerun=cell.rerun,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judge:
    limits: Limits
    comparable: bool
    stored: bool
    beside: frozenset[str]
    intervals: int
    floor_ns: int

    def place(self, baseline: list[CellResult], candidate: list[CellResult]) -> GateCell:
        """The gravest that can be said of this place, over all rounds."""
        before = baseline[0] if baseline else None
        lost = [c for c in [*candidate, *baseline] if c.verdict is Verdict.INFRA_ERROR]
        if lost:
            return _gate_cell(lost[0], Outcome.RIG_FAULT, lost[0].reason, before=before)
        answers = [cell for cell in candidate if not is_unheard(cell)]
        enough = len(answers) >= PAIRS_MIN
        worst = min(answers if enough else candidate, key=lambda cell: ORDER.index(cell.verdict))
        match worst.verdict:
            case _ if is_as_before(worst, before):
                outcome, why = Outcome.UNSEEN, f"{AS_BEFORE}: {worst.verdict}: {worst.reason}"
            case Verdict.TOO_SHORT | Verdict.CORRUPT:
                outcome, why = Outcome.UNSAFE, f"{worst.verdict}: {worst.reason}"
            case Verdict.INCONCLUSIVE if worst.lane in self.beside:
                outcome, why = Outcome.UNSEEN, f"{worst.verdict}: {worst.reason}"
            case Verdict.INCONCLUSIVE | Verdict.OP_FAILED | Verdict.HUNG:
                outcome, why = Outcome.DOUBT, f"{worst.verdict}: {worst.reason}"
            case Verdict.SKIPPED:
                outcome, why = _skipped(worst, before)
            case _:
                return self._passed(baseline, candidate)
        return _gate_cell(worst, outcome, why, before=before)

    def _passed(self, baseline: list[CellResult], candidate: list[CellResult]) -> GateCell:
        """Nothing is wrong with the candidate but, perhaps, what it takes."""
        cell = next(cell for cell in candidate if cell.verdict is Verdict.PASS)
        if cell.lane in self.beside:
            return _gate_cell(cell, Outcome.PASS, f"{SAFE}; its time is not counted")
        if not baseline:
            return _gate_cell(cell, Outcome.DOUBT, f"{SAFE}; the baseline was not run in this cell")
        pairs = [
            (before, after)
            for before, after in zip(baseline, candidate, strict=False)
            if before.verdict is after.verdict is Verdict.PASS
        ]
        safe = "; ".join([SAFE, *_left_out([*baseline, *candidate])])
        if reason := _never_counted(cell):
            why = f"{safe}; {reason}, so its time is not counted"
            return _gate_cell(cell, Outcome.PASS, why, before=baseline[0])
        if uncounted := self._uncounted(baseline, cell):
            slower = self.comparable and self._is_slower_than_failed(baseline, cell)
            outcome = Outcome.DOUBT if slower else Outcome.PASS
            return _gate_cell(cell, outcome, f"{safe}; {uncounted}", before=baseline[0])
        if unclaimed := self._unclaimed(len(pairs), cell):
            return _gate_cell(cell, Outcome.DOUBT, f"{safe}; {unclaimed}", before=baseline[0])
        found = excesses(pairs, self.limits, intervals=self.intervals, floor_ns=self.floor_ns)
        outcomes = [Outcome.PASS, *(item.outcome for item in found)]
        outcome = min(outcomes, key=lambda outcome: outcome.gravity)
        told = [item for item in found if item.outcome is outcome]
        why = "; ".join([safe, *map(excess_words, told)])
        return _gate_cell(cell, outcome, why, before=pairs[0][0], excess=found)

    def _uncounted(self, baseline: list[CellResult], cell: CellResult) -> str:
        """Why times are not compared here; empty where they are."""
        answers = [before for before in baseline if not is_unheard(before)]
        failed = [before for before in answers if before.verdict is not Verdict.PASS]
        if failed:
            slower = self._is_slower_than_failed(baseline, cell)
            what = f"the baseline was {failed[0].verdict}"
            return f"{what}, and took less" if slower else f"{what}, so its time is no measure"
        return "" if self.comparable else "times cannot be compared"

    def _is_slower_than_failed(self, baseline: list[CellResult], cell: CellResult) -> bool:
        """Whether it exceeds a baseline that was not right: then nobody knows if that is waste."""
        failed = [b for b in baseline if b.verdict is not Verdict.PASS and not is_unheard(b)]
        allowed = 1 + self.limits.slowdown_pct / 100
        return bool(failed) and cell.time_ns.total > failed[0].time_ns.total * allowed

    def _unclaimed(self, rounds: int, cell: CellResult) -> str:
        """Why nothing can be claimed of real time; empty where it can."""
        if cell.lane == EXACT_LANE:
            return ""
        if self.stored:
            return "a stored baseline ran at another hour: real time is compared side by side"
        return f"{rounds} rounds of real time claim nothing" if rounds < PAIRS_MIN else ""


def _never_counted(cell: CellResult) -> str:
    """Why its time says nothing of the subject, whoever the baseline is; empty where it does."""
    reasons = (hazard_of(word).why_uncounted for word in cell.hazards)
    return next(filter(None, reasons), "")


def _left_out(rounds: Sequence[CellResult]) -> list[str]:
    """Of both subjects: what this machine did not let anybody judge."""
    count = sum(map(is_unheard, rounds))
    reasons = [cell.reason for cell in rounds if is_unheard(cell)][:1]
    return [f"{count} of {len(rounds)} runs gave no answer: {reason}" for reason in reasons]


ORDER = (
    *(Verdict.CORRUPT, Verdict.TOO_SHORT, Verdict.HUNG, Verdict.OP_FAILED),
    *(Verdict.INCONCLUSIVE, Verdict.INFRA_ERROR, Verdict.SKIPPED, Verdict.PASS),
)


def _skipped(cell: CellResult, before: CellResult | None) -> tuple[Outcome, str]:
    """What the baseline could not do either is no loss, nor is a function that is not there."""
    if cell.reason == NOTHING_TO_ASK or (before and before.verdict is Verdict.SKIPPED):
        return Outcome.UNSEEN, cell.reason
    return Outcome.DOUBT, f"skipped, which the baseline was not: {cell.reason}"
