# SPDX-License-Identifier: GPL-2.0-or-later
"""What a plan says of two subjects: one must cost a multiple of the other."""

from collections.abc import Iterable

import msgspec

from delayrig.base.errors import BadInputError, nearest

FIGURES = ("cpu", "time")


class Contrast(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An entry of a plan: one of the bounds, as a multiple of what `against` needs."""

    cell: str
    subject: str
    against: str
    reason: str
    cpu_at_least: float | None = None
    time_at_least: float | None = None


def check_contrast(contrast: Contrast, names: Iterable[str], where: str) -> None:
    """Raises `BadInputError` for one that could never be seen; `names` are the plan's cells."""
    known = list(names)
    if contrast.cell not in known:
        raise BadInputError(
            f"{where}.cell: unknown cell {contrast.cell!r}",
            hint=nearest(contrast.cell, known, what="cells"),
        )
    bounds = [bound_of(contrast, figure) for figure in FIGURES]
    given = [bound for bound in bounds if bound is not None]
    if len(given) != 1 or given[0] <= 1:
        raise BadInputError(
            f"{where}: needs one bound above 1",
            hint="set either cpu_at_least or time_at_least, a multiple of the other's figure",
        )


def bound_of(contrast: Contrast, figure: str) -> float | None:
    """Its bound for that figure; None where it has none."""
    bound: float | None = getattr(contrast, f"{figure}_at_least")
    return bound
