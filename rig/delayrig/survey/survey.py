# SPDX-License-Identifier: GPL-2.0-or-later
"""`survey.json`: a pure fold over the cells of a run of plan `survey`, or of any other."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from delayrig.cell import Probe
from delayrig.figures.waste import Watched, read_watched
from delayrig.profiles.profile import find_profile
from delayrig.result import CellResult, Results, Verdict, read_results
from delayrig.survey.calls import Requested, requested_of
from delayrig.survey.gaps import (
    Agreement,
    BusBound,
    KnownWait,
    agreement_of,
    bounds_of,
    known_waits,
)

SCHEMA = 1
FILE_NAME = "survey.json"
USABLE = (Verdict.PASS, Verdict.TOO_SHORT, Verdict.INCONCLUSIVE)


class Survey(msgspec.Struct, frozen=True, kw_only=True):
    """The whole file. `lines` say what it rests on, and what it cannot know."""

    schema: int = SCHEMA
    lines: list[str]
    calls: list[Requested]
    bus: list[BusBound]
    known: list[KnownWait]
    agreements: list[Agreement]


def survey_run(folder: Path) -> Survey:
    """What a run tells; raises `BadInputError` where there is none."""
    results = read_results(folder)
    usable = {cell.id: cell for cell in results.cells if cell.verdict in USABLE}
    watched = [each for each in read_watched(folder) if each.cell.id in usable]
    probed = [each for each in watched if each.cell.witness is Probe.DELAY]
    plain = [each for each in watched if each.cell.witness is not Probe.DELAY]
    calls = requested_of(probed)
    return Survey(
        lines=_lines(results, calls),
        calls=calls,
        bus=bounds_of(plain),
        known=[known for each in plain for known in _known(each, usable[each.cell.id])],
        agreements=[found for each in probed if (found := agreement_of(each))],
    )


def _known(watched: Watched, result: CellResult) -> list[KnownWait]:
    return known_waits(watched, find_profile(result.subject.version))


def _lines(results: Results, calls: Sequence[Requested]) -> list[str]:
    """For each subject, where its figures come from."""
    lines = []
    for name in dict.fromkeys(c.subject.name for c in results.cells if c.role == "measure"):
        program = any(call.subject == name and not call.library for call in calls)
        library = any(call.subject == name and call.library for call in calls)
        if program:
            lines.append(f"{name}: seen call by call, by probes on its delay function.")
        elif library:
            lines.append(
                f"{name}: the program's delay function is not known (it is stripped), so the bus"
                " alone tells of it, as bounds; its library is seen call by call."
            )
        else:
            lines.append(
                f"{name}: its delay function is not known (a stripped program), so all figures are"
                " bounds from the bus: no wait was longer than its gap. What a gap has above the"
                " usual time between two requests was waited or worked; the bus cannot tell which."
            )
    if results.run.interrupted:
        count, planned = len(results.cells), results.run.cells_planned
        lines.append(f"interrupted: the run holds {count} of {planned} cells.")
    failed = [cell for cell in results.cells if cell.verdict not in (*USABLE, Verdict.SKIPPED)]
    return [*lines, *(f"left out: {cell.id} was {cell.verdict}" for cell in failed)]
