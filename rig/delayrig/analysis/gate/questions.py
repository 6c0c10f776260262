# SPDX-License-Identifier: GPL-2.0-or-later
"""Questions that a plan must have answered, such as what signals do: a Yes rests on them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from delayrig.analysis.gate.decision import GateCell, Outcome
from delayrig.model.cell import place_of
from delayrig.model.result import Verdict

ANSWERED = (Outcome.PASS, Outcome.UNSAFE, Outcome.SLOWER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unasked:
    """A question to which no cell has an answer."""

    words: str
    is_doubt: bool
    """True if it prevents a Yes. A job that neither flashrom can do does not."""


def unasked_questions(cells: Sequence[GateCell], questions: Mapping[str, str]) -> list[Unasked]:
    """Returns the questions that no cell of theirs answered, in the order of the plan."""
    by_question: dict[str, list[GateCell]] = {}
    for cell in cells:
        if question := questions.get(place_of(cell.id)):
            by_question.setdefault(question, []).append(cell)
    return [
        _unasked(question, asked)
        for question, asked in by_question.items()
        if not any(cell.outcome in ANSWERED for cell in asked)
    ]


def _unasked(question: str, cells: Sequence[GateCell]) -> Unasked:
    undriven = all(cell.candidate in (Verdict.OP_FAILED, Verdict.HUNG) for cell in cells)
    return Unasked(words=f"not answered: {question}: {cells[0].why}", is_doubt=not undriven)
