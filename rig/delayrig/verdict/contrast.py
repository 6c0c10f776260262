# SPDX-License-Identifier: GPL-2.0-or-later
"""What is not unsafe, and wrong all the same: a subject that must cost a multiple of another.

Both stand in the same cell, so that nothing but the subjects differs. The virtual lane gives each
figure exactly; there is no noise to allow for.
"""

from collections.abc import Callable, Iterable, Iterator

import msgspec

from delayrig.errors import BadInputError, nearest
from delayrig.result import CellResult, ContrastResult, ContrastVerdict, Verdict


class Contrast(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An entry of a plan: one of the bounds, as a multiple of what `against` needs."""

    cell: str
    subject: str
    against: str
    reason: str
    cpu_at_least: float | None = None
    time_at_least: float | None = None


FIGURES: dict[str, Callable[[CellResult], int]] = {
    "cpu": lambda cell: cell.total_cpu_ns,
    "time": lambda cell: cell.time_ns.total,
}


def check_contrast(contrast: Contrast, names: Iterable[str], where: str) -> None:
    """Raises `BadInputError` for one that could never be seen; `names` are the plan's cells."""
    known = list(names)
    if contrast.cell not in known:
        raise BadInputError(
            f"{where}.cell: unknown cell {contrast.cell!r}",
            hint=nearest(contrast.cell, known, what="cells"),
        )
    bounds = [_bound(contrast, figure) for figure in FIGURES]
    given = [bound for bound in bounds if bound is not None]
    if len(given) != 1 or given[0] <= 1:
        raise BadInputError(
            f"{where}: needs one bound above 1",
            hint="set either cpu_at_least or time_at_least, a multiple of the other's figure",
        )


def judge_contrasts(
    contrasts: Iterable[Contrast], cells: Iterable[CellResult]
) -> list[ContrastResult]:
    """Each contrast in each of its cells that both subjects ran in."""
    done = list(cells)
    return [
        _judge(contrast, cell, other)
        for contrast in contrasts
        for cell, other in _pairs(contrast, done)
    ]


def _pairs(contrast: Contrast, cells: list[CellResult]) -> Iterator[tuple[CellResult, CellResult]]:
    others = {cell.place: cell for cell in cells if cell.subject.name == contrast.against}
    for cell in cells:
        named = cell.id.partition(".")[0] == contrast.cell
        if named and cell.subject.name == contrast.subject and cell.place in others:
            pair = cell, others[cell.place]
            if not any(one.not_provided for one in pair):
                yield pair


def _judge(contrast: Contrast, cell: CellResult, other: CellResult) -> ContrastResult:
    figure = next(figure for figure in FIGURES if _bound(contrast, figure) is not None)
    at_least = _bound(contrast, figure)
    assert at_least is not None
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


def _bound(contrast: Contrast, figure: str) -> float | None:
    bound: float | None = getattr(contrast, f"{figure}_at_least")
    return bound
