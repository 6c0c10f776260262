# SPDX-License-Identifier: GPL-2.0-or-later
"""`gate.json`: the decision, its cells, and what could not be seen."""

from enum import StrEnum
from pathlib import Path

import msgspec

from delayrig.base.errors import BadInputError, ExitCode
from delayrig.decision.faults import REFUSING, Change, Fault
from delayrig.model.result import Verdict, read_versioned

SCHEMA = 1
PATH_PREFIX = "path:"
FILE_NAME = "gate.json"


class Outcome(StrEnum):
    """The result of a cell, or of all cells; the gravest first."""

    RIG_FAULT = "rig_fault"
    UNSAFE = "unsafe"
    SLOWER = "slower"
    DOUBT = "doubt"
    PASS = "pass"
    UNSEEN = "unseen"
    """The cell could not be judged, for a reason that does not prevent a Yes; `why` names it."""

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
    """The limits, in percent, of the additional time that a cell may take."""

    slowdown_pct: float = 2.0
    cpu_pct: float = 5.0
    total_slowdown_pct: float = 0.5
    """The limits of all exact cells together."""
    total_cpu_pct: float = 3.0


class Excess(msgspec.Struct, frozen=True, kw_only=True):
    """The candidate's additional time: `low_pct` to `high_pct`, which are equal if it is exact."""

    figure: str
    baseline_ns: int
    """The baseline's time plus `added_ns`."""
    candidate_ns: int
    added_ns: int = 0
    """The time that the baseline should have waited and did not, but the candidate waited."""
    low_pct: float
    high_pct: float
    limit_pct: float
    floor_ns: int = 0
    """An excess up to this refuses nothing, however large it is in percent."""
    outcome: Outcome

    @property
    def pct(self) -> float:
        return 100 * self.more_ns / self.baseline_ns

    @property
    def more_ns(self) -> int:
        """Returns the additional time, negative if the candidate took less."""
        return self.candidate_ns - self.baseline_ns

    @property
    def is_excused(self) -> bool:
        """Returns True if it exceeds the limit in percent, but is too small to be a reason."""
        return self.outcome is Outcome.PASS and self.low_pct > self.limit_pct


class GateCell(msgspec.Struct, frozen=True, kw_only=True):
    """The result of both subjects in one place of the plan; `id` is the candidate's cell."""

    id: str
    lane: str
    role: str
    outcome: Outcome
    why: str
    baseline: Verdict | None
    candidate: Verdict
    margin_ns: int | None
    """The margin of the worst new fault; null if it has none."""
    excess: list[Excess]
    rerun: str
    faults: list[Fault] = []
    """The faults of this place and their change, the gravest first."""

    @property
    def refusing(self) -> list[Fault]:
        """Returns the faults that are new here, or worse than the baseline's."""
        return [fault for fault in self.faults if fault.change in REFUSING]


class FaultGroup(msgspec.Struct, frozen=True, kw_only=True):
    """One fault in all cells that have it; the worst of them is shown."""

    fault: Fault
    cells: list[str]
    rerun: str
    known: str = ""
    """Why it is accepted, and until when, by the file of known faults."""


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """The flashrom of one side."""

    name: str
    label: str = ""
    """Its name in answers: its commit, or the name given with `--label`."""
    version: str = ""
    sha256: str = ""
    stored: str = ""
    """The run that it was taken from, if it was not run for this gate."""

    @property
    def title(self) -> str:
        """Returns the name of this flashrom for readers, without a path."""
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
    """The obstacles to a claim about all cells."""
    blind: list[str]
    """The number of judged delays; then the shortenings that could not have been seen."""
    plan: str
    seed: int
    limits: Limits
    baseline: Side
    candidate: Side
    total: list[Excess] = []
    """The excess of all exact cells together."""
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
        """Returns the cells that decided, the worst first."""
        return [cell for cell in self.cells if cell.outcome is self.outcome]


def read_decision(folder: Path) -> Decision:
    """Reads a gate's decision from its folder; raises `BadInputError` for anything else."""
    path = folder / FILE_NAME
    decision = read_versioned(path, Decision, schema=SCHEMA)
    if decision.exit_code not in EXIT_CODES.values():
        raise BadInputError(
            f"{path}: key 'exit_code' is {decision.exit_code}, which is no exit code of a gate",
            hint="restore the file, or run the gate again",
        )
    return decision
