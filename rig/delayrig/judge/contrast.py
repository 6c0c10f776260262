# SPDX-License-Identifier: GPL-2.0-or-later
"""Contrasts: a safe but wasteful past mistake must cost several times as much as another subject.

Both run in the same cell, so that only the subjects differ. The virtual lane gives each figure
exactly, without noise.
"""

from collections.abc import Callable, Iterable, Iterator

from delayrig.model.result import CellResult, ContrastResult, ContrastVerdict, Verdict
from delayrig.plan.schema import Contrast

FIGURES: dict[str, Callable[[CellResult], int]] = {
    "cpu": lambda cell: cell.total_cpu_ns,
    "time": lambda cell: cell.time_ns.total,
}


def judge_contrasts(
    contrasts: Iterable[Contrast], cells: Iterable[CellResult]
) -> list[ContrastResult]:
    """Returns the result of each contrast in each cell that both subjects ran."""
    done = list(cells)
    return [
        _judge(contrast, cell, other)
        for contrast in contrasts
        for cell, other in _pairs(contrast, done)
    ]


def _pairs(contrast: Contrast, cells: list[CellResult]) -> Iterator[tuple[CellResult, CellResult]]:
    provided = [cell for cell in cells if not cell.not_provided]
    others = {cell.place: cell for cell in provided if cell.subject.name == contrast.against}
    for cell in provided:
        named = cell.id.partition(".")[0] == contrast.cell
        if named and cell.subject.name == contrast.subject and cell.place in others:
            yield cell, others[cell.place]


def _judge(contrast: Contrast, cell: CellResult, other: CellResult) -> ContrastResult:
    ((figure, at_least),) = contrast.bounds.items()
    ours_ns, theirs_ns = FIGURES[figure](cell), FIGURES[figure](other)
    if {cell.verdict, other.verdict} != {Verdict.PASS} or theirs_ns == 0:
        verdict = ContrastVerdict.UNJUDGED
    elif ours_ns >= at_least * theirs_ns:
        verdict = ContrastVerdict.SEEN
    else:
        verdict = ContrastVerdict.MISSING
    return ContrastResult(
        cell=cell.id,
        against=other.id,
        figure=figure,
        at_least=at_least,
        ours_ns=ours_ns,
        theirs_ns=theirs_ns,
        verdict=verdict,
        reason=contrast.reason,
    )
