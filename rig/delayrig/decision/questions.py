# SPDX-License-Identifier: GPL-2.0-or-later
"""The questions of a plan, such as what signals do. A Yes needs an answer to each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from delayrig.decision.decision import GateCell, Outcome
from delayrig.decision.faults import FAILED
from delayrig.model.cell import place_of
from delayrig.model.programmers import BUILT_WITHOUT
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
    undriven = all(map(_is_undriven, cells))
    return Unasked(words=f"not answered: {question}: {cells[0].why}", is_doubt=not undriven)


def _is_undriven(cell: GateCell) -> bool:
    """Returns True if the flashrom cannot do that job at all, or has no driver for it."""
    is_without = cell.candidate is Verdict.SKIPPED and cell.why.startswith(BUILT_WITHOUT)
    return is_without or cell.candidate in FAILED
