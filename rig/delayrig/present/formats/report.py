# SPDX-License-Identifier: GPL-2.0-or-later
"""The common content of all formats: the answer, and a case for each cell."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from delayrig.base.errors import BadInputError, ExitCode
from delayrig.decision.decision import FILE_NAME, Decision, GateCell, Outcome
from delayrig.decision.decision_text import fault_words
from delayrig.judge.exit_code import exit_code_of_run, not_provided_lines
from delayrig.model.evidence import Evidence
from delayrig.model.result import CellResult, Results, RunHeader, Verdict
from delayrig.present.results import answer, lost_lines, witness_line


class State(StrEnum):
    FAIL = "fail"
    ERROR = "error"
    """A fault of the rig."""
    DOUBT = "doubt"
    PASS = "pass"
    SKIP = "skip"


BAD = (State.FAIL, State.ERROR, State.DOUBT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A cell. `why` is one line, `evidence` are the lines below it."""

    state: State
    why: str
    cell: CellResult
    gated: GateCell | None = None
    """The gate's result for the cell; None in a run."""

    @property
    def evidence(self) -> list[str]:
        """Returns a line for each piece of evidence, or for each new fault if a gate found any."""
        if self.gated is not None and self.gated.refusing:
            faults = self.gated.refusing
            return [fault_words(fault) + _place(fault.where) for fault in faults]
        return [evidence_line(item) for item in self.cell.evidence]

    @property
    def id(self) -> str:
        return self.cell.id

    @property
    def total_s(self) -> float:
        """Returns the subject's time, by its own clock."""
        return self.cell.time_ns.total / 1e9

    @property
    def cpu_s(self) -> float:
        return self.cell.total_cpu_ns / 1e9

    @property
    def properties(self) -> dict[str, str]:
        cell = self.cell
        return {
            "verdict": cell.verdict,
            "expect": cell.expect,
            "role": cell.role,
            "lane": cell.lane,
            "subject": cell.subject.name,
            "subject_version": cell.subject.version,
            "subject_sha256": cell.subject.sha256,
            "mips": "/".join(dict.fromkeys(f"{mips:g}" for mips in cell.guest.mips)) or "none",
            "cores": f"{cell.guest.cores}",
            "hazards": "+".join(cell.hazards) or "none",
            "chip": cell.chip,
            "corner": cell.corner,
            "programmer": cell.programmer,
            "job": cell.job,
            "total_ns": f"{cell.time_ns.total}",
            "cpu_ns": f"{cell.total_cpu_ns}",
            "chip_busy_ns": f"{cell.chip_busy_ns}",
            "host_s": f"{cell.host_s:.3f}",
            "judged": " ".join(cell.judged),
            "unjudged": ", ".join(cell.unjudged),
            "rerun": cell.rerun,
            **({"retried_after": cell.retried_after} if cell.retried_after else {}),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A run, or a decision. The first of `lines` is the answer."""

    title: str
    lines: list[str]
    code: ExitCode
    cases: list[Case]
    run: RunHeader
    document: Results | Decision
    source_root: Path | None = None
    """The tree that the subject was built from, if the user names it."""

    def count(self, state: State) -> int:
        return sum(case.state is state for case in self.cases)

    @property
    def bad(self) -> list[Case]:
        """Returns the cells that need attention, the gravest first."""
        return sorted(
            (case for case in self.cases if case.state in BAD),
            key=lambda case: BAD.index(case.state),
        )


STATES = {
    ExitCode.PASS: State.PASS,
    ExitCode.UNSAFE: State.FAIL,
    ExitCode.RIG_FAULT: State.ERROR,
    ExitCode.SKIPPED: State.SKIP,
    ExitCode.INCONCLUSIVE: State.DOUBT,
}
STATES_OF_OUTCOMES = {
    Outcome.RIG_FAULT: State.ERROR,
    Outcome.UNSAFE: State.FAIL,
    Outcome.SLOWER: State.FAIL,
    Outcome.DOUBT: State.DOUBT,
    Outcome.PASS: State.PASS,
    Outcome.UNSEEN: State.SKIP,
}


def report_of_run(results: Results) -> Report:
    """Returns the report of a run, with cells rated by what their plan expects.

    Its lines are the answer, and a line on each part and cell that is missing.
    """
    code = exit_code_of_run(results.cells, results.contrasts)
    missing = not_provided_lines([results])
    return Report(
        title=f"plan {results.run.plan}",
        lines=[answer(results, code), *missing, *lost_lines(results.cells)],
        code=code,
        cases=[_case_of_run(cell) for cell in results.cells],
        run=results.run,
        document=results,
    )


def _case_of_run(cell: CellResult) -> Case:
    state = STATES[cell.exit_code]
    expected = state is State.PASS and cell.verdict is not Verdict.PASS
    mark = " (expected)" if expected else f" (expected {cell.expect})"
    why = f"{cell.verdict}{'' if cell.expect == 'pass' else mark}: {cell.reason}"
    return Case(state=state, why=why, cell=cell)


def report_of_gate(decision: Decision, runs: Sequence[Results]) -> Report:
    """Returns the report of a gate; `runs` are all rounds of both sides, the candidate's first.

    Each cell is shown as in the first round that gave it the deciding verdict.
    """
    known: dict[tuple[str, Verdict], CellResult] = {}
    for cell in (cell for run in runs for cell in run.cells):
        known.setdefault((cell.id, cell.verdict), cell)
    for decided in decision.cells:
        if (decided.id, decided.candidate) not in known:
            raise BadInputError(
                f"{FILE_NAME}: key 'cells': no results.json beside it says that {decided.id} was"
                f" {decided.candidate}",
                hint="a run of the gate was changed since: run the gate again",
            )
    return Report(
        title=f"gate: {decision.candidate.title} against {decision.baseline.title}",
        lines=[*decision.lines, *(f"Doubt: {doubt}" for doubt in decision.doubts)],
        code=ExitCode(decision.exit_code),
        cases=[
            Case(
                state=STATES_OF_OUTCOMES[cell.outcome],
                why=cell.why,
                cell=known[cell.id, cell.candidate],
                gated=cell,
            )
            for cell in decision.cells
        ],
        run=runs[0].run,
        document=decision,
    )


def evidence_line(item: Evidence) -> str:
    return witness_line(item) + _place(item.where)


def _place(where: str) -> str:
    """Returns the place in brackets; empty if it is unknown."""
    return f" [{where}]" if where else ""
