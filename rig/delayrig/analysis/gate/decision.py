# SPDX-License-Identifier: GPL-2.0-or-later
"""`gate.json`: what was decided, of which cells, and what could not have been seen."""

from enum import StrEnum
from pathlib import Path

import msgspec

from delayrig.analysis.gate.faults import REFUSING, Change, Fault
from delayrig.base.errors import BadInputError, ExitCode
from delayrig.model.result import Verdict, read_versioned

SCHEMA = 1
PATH_PREFIX = "path:"
FILE_NAME = "gate.json"


class Outcome(StrEnum):
    """What the gate makes of a cell, and of all of them; the gravest first."""

    RIG_FAULT = "rig_fault"
    UNSAFE = "unsafe"
    SLOWER = "slower"
    DOUBT = "doubt"
    PASS = "pass"
    UNSEEN = "unseen"
    """Neither subject could be looked at there; `blind` says what that leaves out."""

    @property
    def gravity(self) -> int:
        return list(Outcome).index(self)


EXIT_CODES = {
    Outcome.RIG_FAULT: ExitCode.RIG_FAULT,
    Outcome.UNSAFE: ExitCode.UNSAFE,
    Outcome.SLOWER: ExitCode.SLOWER,
    Outcome.DOUBT: ExitCode.INCONCLUSIVE,
    Outcome.PASS: ExitCode.PASS,
}


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """How much more than the baseline a cell may take, in percent of that."""

    slowdown_pct: float = 2.0
    cpu_pct: float = 5.0
    total_slowdown_pct: float = 0.5
    """Of all exact cells together."""
    total_cpu_pct: float = 3.0


class Excess(msgspec.Struct, frozen=True, kw_only=True):
    """How much more the candidate took: `low_pct` to `high_pct`, which are one where exact."""

    figure: str
    baseline_ns: int
    """With what the baseline did not wait and should have."""
    candidate_ns: int
    added_ns: int = 0
    """The part of `baseline_ns` that the baseline did not wait."""
    low_pct: float
    high_pct: float
    limit_pct: float
    floor_ns: int = 0
    """No more than this is no reason, however much it is in percent."""
    outcome: Outcome

    @property
    def pct(self) -> float:
        return 100 * self.more_ns / self.baseline_ns

    @property
    def more_ns(self) -> int:
        """Less than nothing where it took less."""
        return self.candidate_ns - self.baseline_ns

    @property
    def is_excused(self) -> bool:
        """Beyond the limit in percent, and too little to be a reason."""
        return self.outcome is Outcome.PASS and self.low_pct > self.limit_pct


class GateCell(msgspec.Struct, frozen=True, kw_only=True):
    """One place of the plan, with both subjects in it; `id` is the candidate's."""

    id: str
    lane: str
    role: str
    outcome: Outcome
    why: str
    baseline: Verdict | None
    candidate: Verdict
    margin_ns: int | None
    """Of the worst new fault; null where that is no question of time."""
    excess: list[Excess]
    rerun: str
    faults: list[Fault] = []
    """What became of each fault of this place, the gravest first."""

    @property
    def refusing(self) -> list[Fault]:
        """The faults that are new here, or worse than the baseline's."""
        return [fault for fault in self.faults if fault.change in REFUSING]


class FaultGroup(msgspec.Struct, frozen=True, kw_only=True):
    """One fault in all cells that have it; the worst of them is shown."""

    fault: Fault
    cells: list[str]
    rerun: str
    known: str = ""
    """Why it is accepted, and until when, by the file of known faults."""


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """Which flashrom it was."""

    name: str
    label: str = ""
    """What answers call it: a commit, a version or the user's word."""
    version: str = ""
    sha256: str = ""
    stored: str = ""
    """The run that it was taken from, where it was not run for this."""

    @property
    def title(self) -> str:
        """Returns what a reader knows it by, which is no path."""
        if self.label or not self.name.startswith(PATH_PREFIX):
            return self.label or self.name
        digest = f" ({self.sha256[:8]})" if self.sha256 else ""
        return f"flashrom {self.version or 'of unknown version'}{digest}"


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """The whole file. `lines` say what was decided and why; `cells` begin with the worst."""

    schema: int = SCHEMA
    outcome: Outcome
    exit_code: int
    lines: list[str]
    doubts: list[str]
    """What is in the way of a claim about all cells."""
    blind: list[str]
    """Which shortenings could not have been seen."""
    plan: str
    seed: int
    limits: Limits
    baseline: Side
    candidate: Side
    total: list[Excess] = []
    """Of all exact cells together."""
    cells: list[GateCell]
    groups: list[FaultGroup] = []
    """Each fault once, the gravest change first."""
    unasked: list[str] = []
    """Questions of the plan that no cell answered, with the reason."""
    reached: list[str] = []
    """Where a changed wait was seen, or that no cell reached it."""

    def groups_of(self, *changes: Change) -> list[FaultGroup]:
        """Returns the faults with these changes, the worst first."""
        return [group for group in self.groups if group.fault.change in changes]

    @property
    def deciding(self) -> list[GateCell]:
        """The cells of which the decision was made, the worst first."""
        return [cell for cell in self.cells if cell.outcome is self.outcome]


def read_decision(folder: Path) -> Decision:
    """What a gate left in its folder; raises `BadInputError` for anything else."""
    path = folder / FILE_NAME
    decision = read_versioned(path, Decision, schema=SCHEMA)
    if decision.exit_code not in EXIT_CODES.values():
        raise BadInputError(
            f"{path}: key 'exit_code' is {decision.exit_code}, which no gate ends with",
            hint="mend the file, or run the gate again",
        )
    return decision
