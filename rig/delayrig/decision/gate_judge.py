# SPDX-License-Identifier: GPL-2.0-or-later
"""The decision: a pure function of the runs of both subjects.

Safety comes first, then performance, then doubt. A gate judges a change: what the baseline does
wrong as well is only a warning. What a plan expects of a cell is ignored.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import chain

from msgspec.structs import replace

from delayrig.decision.decision import (
    EXIT_CODES,
    Decision,
    Excess,
    FaultGroup,
    GateCell,
    Limits,
    Outcome,
    Side,
)
from delayrig.decision.decision_text import (
    blind_spots,
    decision_lines,
    excess_words,
    fault_words,
)
from delayrig.decision.faults import (
    FAILED,
    JOB,
    REFUSING,
    Change,
    Fault,
    compare_faults,
    lengths_cut,
)
from delayrig.decision.known_faults import KnownFault, mark_known, notes_on
from delayrig.decision.performance import (
    PAIRS_MIN,
    excesses,
    floor_of,
    is_measured,
    total_excesses,
)
from delayrig.hazards import hazard_of
from delayrig.hazards.library_client import NOTHING_TO_ASK
from delayrig.judge.chip import DOUBTFUL_GRADES, doubt_of
from delayrig.judge.exit_code import is_unwatched, not_provided_lines
from delayrig.model.cell import WATCHING, Role, place_of
from delayrig.model.lane import EXACT_LANE, REAL_TIME
from delayrig.model.platform import Arch, labelled
from delayrig.model.programmers import BUILT_WITHOUT
from delayrig.model.result import UNSAFE, CellResult, Results, RunHeader, Verdict

NOTHING_BESIDE = "no cell of the baseline was run to compare with, so its cost is unknown"
COUNTED_MIPS_MIN = 50
"""The slowest CPU whose times count. Slower ones take ms for a command, as no real machine does."""
SAFE = "nothing too short"
AS_BEFORE = "nothing is too short that was not before"
ANSWERED = (Outcome.PASS, Outcome.UNSAFE, Outcome.SLOWER)
"""The outcomes of a cell that answer a question of the plan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The inputs of a decision besides the runs."""

    limits: Limits = field(default_factory=Limits)
    absolute: bool = False
    """True if the candidate must be safe by itself, whatever the baseline does."""
    questions: Mapping[str, str] = field(default_factory=dict)
    """The plan's question by place; a Yes needs an answer to each."""
    known: Sequence[KnownFault] = ()
    today: date = field(default_factory=date.today)
    stored: str = ""
    """The run that the baseline was taken from."""
    labels: tuple[str, str] = ("", "")
    """The names of baseline and candidate."""
    reached: Sequence[str] = ()
    """Where changed waits were seen."""
    unreached: Sequence[str] = ()
    """Changed waits that no cell reached."""


def decide(
    baseline: Sequence[Results], candidate: Sequence[Results], terms: Terms | None = None
) -> Decision:
    """Returns the decision over all rounds; the candidate's runs hold canaries and controls."""
    terms = terms or Terms()
    theirs, ours = _by_place(baseline), _by_place(candidate)
    watching = _watching_by_id(candidate)
    unlike = _unlike(baseline[0].run, candidate[0].run) if theirs else [NOTHING_BESIDE]
    beside = _beside(candidate)
    exact = sum(cells[0].lane == EXACT_LANE for cells in ours.values())
    judge = _Judge(
        terms=terms,
        comparable=not unlike,
        beside=beside,
        unheard=_unheard_lanes(watching.values(), beside),
        cut=lengths_cut(chain(*theirs.values())),
        intervals=2 * (len(ours) - exact),  # one of time, one of CPU time
        floor_ns=floor_of(exact),
    )
    cells = [judge.place(theirs.get(place, []), mine) for place, mine in ours.items()]
    unasked = unasked_questions(cells, terms.questions)
    not_run = "the candidate was not run in this cell of the baseline"
    missing = [mine[0] for place, mine in theirs.items() if place not in ours]
    cells += [_gate_cell(cell, Outcome.DOUBT, not_run) for cell in missing]
    unwatched = [role for role in WATCHING if is_unwatched(_of_all(candidate), role)]
    cells += [_watching(rounds, unwatched, judge.beside) for rounds in watching.values()]
    cells.sort(key=_gravity)
    doubts = [*unlike, *_unwatched(rounds[0] for rounds in watching.values())]
    doubts += [*(line for line, is_doubt in unasked.items() if is_doubt), *terms.unreached]
    groups = mark_known(_groups(cells), terms.known, terms.today)
    total = total_excesses(cells, terms.limits)
    outcome = _gravest(cells, doubts, total)
    decision = Decision(
        outcome=outcome,
        exit_code=EXIT_CODES[outcome],
        lines=[],
        doubts=doubts,
        blind=blind_spots([*chain(*ours.values())]),
        plan=candidate[0].run.plan,
        seed=candidate[0].run.seed,
        limits=terms.limits,
        baseline=_side(theirs, terms.stored, terms.labels[0]),
        candidate=_side(ours, "", terms.labels[1]),
        total=total,
        cells=cells,
        groups=groups,
        unasked=[*_not_judged(cells, judge.unheard), *unasked],
        reached=[*terms.unreached, *terms.reached],
    )
    lines = [
        *decision_lines(decision),
        *notes_on(groups, terms.known, terms.today),
        *not_provided_lines([*baseline, *candidate]),
    ]
    return replace(decision, lines=lines)


def _groups(cells: Sequence[GateCell]) -> list[FaultGroup]:
    """Returns each fault once with all its cells: the gravest change first, then the largest lack.

    Waits that the rig itself requests come after flashrom's. Those of one cell are one fault,
    whatever their times. All commands of a cell that break the same rule are one fault as well.
    """
    found: dict[tuple[Change, str, str], list[tuple[GateCell, Fault]]] = {}
    for cell in cells:
        for fault in cell.faults:
            is_of_cell = fault.is_of_rig or fault.rule
            place = f"{cell.id} {fault.rule}" if is_of_cell else fault.what
            key = fault.change, fault.witness, place
            found.setdefault(key, []).append((cell, fault))
    return sorted(map(_group, found.values()), key=lambda group: group.fault.gravity)


def _group(same: Sequence[tuple[GateCell, Fault]]) -> FaultGroup:
    cell, fault = min(same, key=lambda pair: pair[1].margin_ns or 0)
    names = dict.fromkeys([cell.id, *(each.id for each, _ in same)])
    others = len({each.what for _, each in same}) - 1
    if others:
        kind = "commands" if fault.rule else "times"
        fault = replace(fault, what=f"{fault.what} and {others} other {kind}")
    return FaultGroup(fault=fault, cells=[*names], rerun=cell.rerun)


def _unheard_lanes(
    watching: Iterable[Sequence[CellResult]], beside: frozenset[str]
) -> dict[str, str]:
    """Returns the lanes of `beside` in which no canary or no control gave an answer, and why."""
    found: dict[str, str] = {}
    heard = set()
    for rounds in watching:
        lane, role = rounds[0].lane, rounds[0].role
        if all(map(is_unheard, rounds)):
            found.setdefault(lane, f"its {role} gave no answer: {rounds[0].reason}")
        else:
            heard.add((lane, role))
    whole = [lane for lane in found if all((lane, role) in heard for role in WATCHING)]
    return {lane: why for lane, why in found.items() if lane in beside and lane not in whole}


def _not_judged(cells: Iterable[GateCell], unheard: Mapping[str, str]) -> list[str]:
    """Returns lines on cells in which both sides fail, and on cells in the lanes of `unheard`."""
    measured = [cell for cell in cells if cell.role == Role.MEASURE]
    failed = [
        cell for cell in measured if cell.outcome is Outcome.UNSEEN and cell.candidate in FAILED
    ]
    words = [f"{len(failed)} cells, such as {failed[0].id}: {failed[0].why}"] if failed else []
    return words + [
        f"{cell.id.partition('.')[0]} (lane {cell.lane}): {unheard[cell.lane]}"
        for cell in measured
        if cell.lane in unheard
    ]


Places = dict[str, list[CellResult]]


def unanswered(candidate: Sequence[Results]) -> set[str]:
    """Returns the canaries and controls that have no answer in any round yet."""
    watching = _watching_by_id(candidate)
    return {name for name, rounds in watching.items() if all(map(is_unheard, rounds))}


def _watching_by_id(runs: Iterable[Results]) -> Places:
    return _grouped(lambda cell: cell.id, [each for run in runs for each in run.watching])


def _by_place(runs: Iterable[Results]) -> Places:
    return _grouped(lambda cell: cell.place, [each for run in runs for each in run.measured])


def _of_all(runs: Iterable[Results]) -> list[CellResult]:
    return [cell for run in runs for cell in run.cells]


def _grouped(name: Callable[[CellResult], str], cells: Iterable[CellResult]) -> Places:
    found: Places = {}
    for cell in cells:
        found.setdefault(name(cell), []).append(cell)
    return found


def is_unheard(cell: CellResult) -> bool:
    """Returns True for an inconclusive cell in real time without evidence; it can be ignored."""
    return cell.lane != EXACT_LANE and cell.verdict is Verdict.INCONCLUSIVE and not cell.evidence


def _beside(candidate: Sequence[Results]) -> frozenset[str]:
    """Returns the gate's lanes in real time if it has one round, and exact cells too; else none."""
    lanes = {cell.lane for cell in _of_all(candidate) if cell.role == Role.MEASURE}
    return frozenset(lanes - {EXACT_LANE} if EXACT_LANE in lanes and len(candidate) == 1 else ())


def _side(places: Places, stored: str, label: str) -> Side:
    """Returns name, version and digest of the program, rather than of its library."""
    cells = [*chain(*places.values())]
    known = [cell for cell in cells if cell.subject.sha256 and not cell.subject.library]
    subject = next((cell.subject for cell in known or cells), None)
    facts = {key: getattr(subject, key, "") for key in ("name", "version", "sha256")}
    return Side(**facts, stored=stored, label=label)


def _unlike(baseline: RunHeader, candidate: RunHeader) -> list[str]:
    """Returns why times of two runs may differ for equal subjects."""
    theirs, ours = _machinery(baseline), _machinery(candidate)
    names = [name for name in sorted(ours | theirs) if ours.get(name) != theirs.get(name)]
    found = []
    if names:
        found.append(
            f"the baseline was run with another {', '.join(names)}, so times cannot be compared:"
            " run it again"
        )
    if baseline.seed != candidate.seed:
        found.append(f"the baseline was run with seed {baseline.seed}, not {candidate.seed}")
    return found


def _machinery(header: RunHeader) -> dict[str, str]:
    """Returns the digests that decide virtual times.

    Leaves out subjects, lanes in real time, and kernels that only some cells name.
    """
    kernels = {labelled("kernel", arch) for arch in Arch}
    left_out = ("subject ", "kernel ", *(f"{lane} " for lane in REAL_TIME))
    return {
        name: value
        for name, value in header.image_digests.items()
        if name in kernels or not name.startswith(left_out)
    }


def _unwatched(watching: Iterable[CellResult]) -> list[str]:
    names = " and no ".join(sorted(set(WATCHING) - {Role(cell.role) for cell in watching}))
    return [f"no {names} was run: nothing shows that the rig detects faults"] if names else []


def _gravest(cells: Iterable[GateCell], doubts: Sequence[str], total: Sequence[Excess]) -> Outcome:
    """Returns the gravest outcome; at least a doubt if no cell passed."""
    blind = (Outcome.RIG_FAULT, Outcome.DOUBT)
    found = {c.outcome for c in cells if c.role == Role.MEASURE or c.outcome in blind}
    if Outcome.PASS in found:
        found |= {item.outcome for item in total}
    if doubts or Outcome.PASS not in found:
        found.add(Outcome.DOUBT)
    return min(found, key=lambda outcome: outcome.gravity)


def _gravity(cell: GateCell) -> tuple[int, bool, bool, int, float]:
    """Returns a key that sorts cells: wrong data, then the shortest waits, then failed jobs.

    Waits of flashrom come before those that the rig itself requests, which have no caller, and new
    faults before those that became worse.
    """
    if cell.outcome is Outcome.UNSAFE:
        is_job = all(fault.witness == JOB for fault in cell.refusing)
        is_timed = cell.margin_ns is not None or is_job
        worst = cell.refusing[0]
        key = cell.outcome.gravity, is_timed, worst.is_of_rig, worst.change.gravity
        return *key, (worst.margin_ns or 0) + is_job
    beyond = max((item.pct - item.limit_pct for item in cell.excess), default=float("-inf"))
    return cell.outcome.gravity, False, False, 0, -beyond


def _watching(
    rounds: Sequence[CellResult], unwatched: Sequence[Role], beside: frozenset[str]
) -> GateCell:
    """Judges a canary or a control: a round must have an answer, and all answers must be right."""
    if rounds[0].not_provided:
        blind = Role(rounds[0].role) in unwatched
        outcome = Outcome.RIG_FAULT if blind else Outcome.UNSEEN
        why = f"{rounds[0].reason}{', and no other works' if blind else ''}"
        return _gate_cell(rounds[0], outcome, why)
    answers = [cell for cell in rounds if not is_unheard(cell)]
    cell = min(answers or rounds, key=lambda cell: cell.is_expected)
    if cell.is_expected:
        return _gate_cell(cell, Outcome.PASS, f"{cell.role}: as it must be")
    if not answers:
        why = (
            f"the {cell.role} gave no answer, so nothing shows that the rig detects faults:"
            f" {cell.reason}"
        )
        return _gate_cell(cell, Outcome.UNSEEN if cell.lane in beside else Outcome.DOUBT, why)
    must = "convicted" if Role(cell.role) is Role.CANARY else "acquitted"
    why = f"the {cell.role} was not {must}, so no verdict can be trusted: {cell.reason}"
    return _gate_cell(cell, Outcome.RIG_FAULT, why)


def _gate_cell(
    cell: CellResult,
    outcome: Outcome,
    why: str,
    *,
    before: CellResult | None = None,
    excess: Sequence[Excess] = (),
    faults: Sequence[Fault] = (),
) -> GateCell:
    margins = [f.margin_ns for f in faults if f.change in REFUSING and f.margin_ns is not None]
    return GateCell(
        id=cell.id,
        lane=cell.lane,
        role=cell.role,
        outcome=outcome,
        why=why,
        baseline=before.verdict if before else None,
        candidate=cell.verdict,
        margin_ns=min(margins, default=None),
        excess=list(excess),
        rerun=cell.rerun,
        faults=list(faults),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judge:
    """A judge of single places; its fields are the same for all places of a gate."""

    terms: Terms
    comparable: bool
    """True if times of baseline and candidate can be compared."""
    beside: frozenset[str]
    """The lanes in real time whose cells are judged for safety alone."""
    unheard: Mapping[str, str]
    """By lane of `beside`: why its canary or control gave no answer, so no cell is judged."""
    cut: Mapping[str, range]
    intervals: int
    """The number of intervals of all comparisons in real time."""
    floor_ns: int

    def place(self, baseline: list[CellResult], candidate: list[CellResult]) -> GateCell:
        """Returns the gravest outcome of this place over all rounds."""
        before = _worst(baseline) if baseline else None
        lost = [c for c in [*candidate, *baseline] if c.verdict is Verdict.INFRA_ERROR]
        if lost:
            return _gate_cell(lost[0], Outcome.RIG_FAULT, lost[0].reason, before=before)
        worst = _worst(candidate)
        if worst.lane in self.unheard:
            why = f"not judged: {self.unheard[worst.lane]}"
            return _gate_cell(worst, Outcome.UNSEEN, why, before=before)
        faults = compare_faults(None if self.terms.absolute else before, worst, self.cut)
        refusing = [fault for fault in faults if fault.change in REFUSING]
        if refusing:
            why = fault_words(refusing[0])
            return _gate_cell(worst, Outcome.UNSAFE, why, before=before, faults=faults)
        if worst.verdict in UNSAFE and (doubts := _new_doubts(worst, before)):
            return _gate_cell(worst, Outcome.DOUBT, doubts, before=before, faults=faults)
        if worst.verdict in (Verdict.PASS, *UNSAFE):
            return self._passed(baseline, candidate, faults)
        outcome, why = self._unanswered(worst, before)
        return _gate_cell(worst, outcome, why, before=before, faults=faults)

    def _unanswered(self, cell: CellResult, before: CellResult | None) -> tuple[Outcome, str]:
        """Returns the outcome of a cell without an answer, and why; in most cases it is a doubt."""
        if cell.verdict is Verdict.SKIPPED:
            # The program may lack the function or driver that the cell needs.
            is_not_there = cell.reason == NOTHING_TO_ASK or cell.reason.startswith(BUILT_WITHOUT)
            if is_not_there or (before and before.verdict is Verdict.SKIPPED):
                return Outcome.UNSEEN, cell.reason
            return Outcome.DOUBT, f"skipped, which the baseline was not: {cell.reason}"
        still = "; it was still at work" if cell.unfinished else ""
        why = f"{cell.verdict}: {cell.reason}{still}"
        if cell.verdict is Verdict.INCONCLUSIVE and cell.lane in self.beside:
            return Outcome.UNSEEN, why
        if before is not None and _is_no_change(cell, before):
            words = "neither does the job" if cell.verdict in FAILED else "neither can be judged"
            return Outcome.UNSEEN, f"{words}: {why}"
        return Outcome.DOUBT, why

    def _passed(
        self, baseline: list[CellResult], candidate: list[CellResult], faults: Sequence[Fault]
    ) -> GateCell:
        """Returns the cell of a candidate that does nothing worse, judged by its cost."""
        cell = _worst(candidate)
        before = _worst(baseline) if baseline else None
        safe = SAFE if cell.verdict is Verdict.PASS else AS_BEFORE

        def passed(why: str, outcome: Outcome = Outcome.PASS) -> GateCell:
            words = f"{safe}; {why}"
            return _gate_cell(cell, outcome, words, before=before, faults=faults)

        if cell.lane in self.beside:
            return passed("its time is not counted")
        if before is None:
            return passed("the baseline was not run in this cell", Outcome.DOUBT)
        safe = "; ".join([safe, *_left_out([*baseline, *candidate])])
        if reason := _never_counted(cell):
            return passed(f"{reason}, so its time is not counted")
        if uncounted := self._uncounted(before):
            return passed(uncounted)
        pairs = [
            (one, other)
            for one, other in zip(baseline, candidate, strict=False)
            if is_measured(one) and is_measured(other)
        ]
        if unclaimed := self._unclaimed(len(pairs), cell):
            return passed(unclaimed, Outcome.DOUBT)
        found = excesses(pairs, self.terms.limits, intervals=self.intervals, floor_ns=self.floor_ns)
        outcomes = [Outcome.PASS, *(item.outcome for item in found)]
        outcome = min(outcomes, key=lambda outcome: outcome.gravity)
        shown = [item for item in found if item.outcome is outcome]
        why = "; ".join([safe, *map(excess_words, shown)])
        return _gate_cell(
            cell, outcome, why, before=pairs[0][0] if pairs else before, excess=found, faults=faults
        )

    def _uncounted(self, before: CellResult) -> str:
        """Returns why times are not compared here; empty if they are."""
        if not self.comparable:
            return "times cannot be compared"
        if is_measured(before) or is_unheard(before):
            return ""
        return f"the baseline was {before.verdict}, so its time cannot be compared"

    def _unclaimed(self, rounds: int, cell: CellResult) -> str:
        """Returns why nothing can be claimed about time; empty if something can."""
        if cell.lane == EXACT_LANE:
            return "" if rounds else "it was still at work, so its time is unknown"
        if self.terms.stored:
            return "a stored baseline ran earlier: in real time both must run side by side"
        return f"{rounds} rounds of real time show nothing" if rounds < PAIRS_MIN else ""


def _never_counted(cell: CellResult) -> str:
    """Returns why a gate never counts the time of this cell; empty if it may count it."""
    reasons = [hazard_of(word).why_uncounted for word in cell.hazards]
    if min(cell.guest.mips, default=COUNTED_MIPS_MIN) < COUNTED_MIPS_MIN:
        reasons.append("its CPU is slower than those that flashrom runs on")
    return next(filter(None, reasons), "")


def _left_out(rounds: Sequence[CellResult]) -> list[str]:
    """Returns a note on the runs of either subject that gave no answer; none if all gave one."""
    unheard = [cell for cell in rounds if is_unheard(cell)]
    count = f"{len(unheard)} of {len(rounds)} runs gave no answer"
    return [f"{count}: {cell.reason}" for cell in unheard[:1]]


def _worst(rounds: Sequence[CellResult]) -> CellResult:
    """Returns the gravest round. Those without an answer count only if too few have answered."""
    answers = [cell for cell in rounds if not is_unheard(cell)]
    enough = len(answers) >= PAIRS_MIN
    return min(answers if enough else rounds, key=lambda cell: ORDER.index(cell.verdict))


def _is_no_change(cell: CellResult, before: CellResult) -> bool:
    """Returns True if the baseline gave no answer for the same reasons."""
    if cell.verdict in FAILED:
        return before.verdict in FAILED
    return (
        before.verdict is cell.verdict
        and not _new_doubts(cell, before)
        and set(cell.unjudged) <= set(before.unjudged)
    )


def _new_doubts(cell: CellResult, before: CellResult | None) -> str:
    """Returns the first doubtful evidence that the baseline lacks; empty if there is none."""
    known = [
        (each.witness, each.rule, each.command) for each in (before.evidence if before else [])
    ]
    for item in cell.evidence:
        is_known = (item.witness, item.rule, item.command) in known
        if item.grade in DOUBTFUL_GRADES and not is_known:
            return f"new, and {doubt_of(item)}: {item.what}"
    return ""


ORDER = (
    *(Verdict.CORRUPT, Verdict.TOO_SHORT, Verdict.HUNG, Verdict.OP_FAILED),
    *(Verdict.INCONCLUSIVE, Verdict.INFRA_ERROR, Verdict.SKIPPED, Verdict.PASS),
)


def unasked_questions(cells: Iterable[GateCell], questions: Mapping[str, str]) -> dict[str, bool]:
    """Returns a line for each question that no cell of its own answered, in the plan's order.

    The value is True if that prevents a Yes. A job that neither flashrom can do does not.
    """
    by_question: dict[str, list[GateCell]] = {}
    for cell in cells:
        if question := questions.get(place_of(cell.id)):
            by_question.setdefault(question, []).append(cell)
    return {
        f"not answered: {question}: {asked[0].why}": not all(map(_is_undriven, asked))
        for question, asked in by_question.items()
        if not any(cell.outcome in ANSWERED for cell in asked)
    }


def _is_undriven(cell: GateCell) -> bool:
    """Returns True if the flashrom cannot do that job at all, or has no driver for it."""
    is_without = cell.candidate is Verdict.SKIPPED and cell.why.startswith(BUILT_WITHOUT)
    return is_without or cell.candidate in FAILED
