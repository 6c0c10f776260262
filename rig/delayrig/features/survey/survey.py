# SPDX-License-Identifier: GPL-2.0-or-later
"""`survey.json`: computed from the cells of a run, with every call that QEMU saw."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from delayrig.features.survey import gaps
from delayrig.hazards.of_cell import is_in_library
from delayrig.judge.waste import Watched, read_watched, took_ns, whole_delays
from delayrig.model.delays import DelayCall
from delayrig.model.lane import LaneName
from delayrig.model.result import Results, Verdict, read_results
from delayrig.subjects.profiles.profile import find_profile

SCHEMA = 1
FILE_NAME = "survey.json"
BOUNDS = (
    "all figures are bounds from the bus: no wait was longer than its gap. What a gap has above the"
    " usual time between two requests was waited or worked; the bus cannot tell which."
)
SHORT_US = 100
"""The threshold that the proposal recommends. Shorter waits do not sleep."""
USABLE = (Verdict.PASS, Verdict.TOO_SHORT, Verdict.INCONCLUSIVE)


class Requested(msgspec.Struct, frozen=True, kw_only=True):
    """All calls of one length, to the us, in one job."""

    subject: str
    library: bool
    """True if its libflashrom did the job, in our library client."""
    chip: str
    job: str
    requested_us: int
    count: int
    took_ns: int
    beyond_ns: int


def requested_of(watched: Iterable[Watched]) -> list[Requested]:
    """Returns the requests by subject, part and job in their order, the shortest first."""
    found: dict[tuple[str, bool, str, str], dict[int, list[DelayCall]]] = {}
    for each in watched:
        cell = each.cell
        key = (cell.subject, is_in_library(cell), cell.chip, cell.job.value)
        for call in whole_delays(each.delays):
            found.setdefault(key, {}).setdefault(call.requested_ns // 1000, []).append(call)
    return [
        Requested(
            subject=subject,
            library=library,
            chip=chip,
            job=job,
            requested_us=requested_us,
            count=len(calls),
            took_ns=took_ns(calls),
            beyond_ns=took_ns(calls) - sum(call.requested_ns for call in calls),
        )
        for (subject, library, chip, job), lengths in found.items()
        for requested_us, calls in sorted(lengths.items())
    ]


def answer_of(calls: Sequence[Requested]) -> str:
    if not calls:
        return "No wait was seen call by call."
    count, took = sum(each.count for each in calls), sum(each.took_ns for each in calls)
    short = [each for each in calls if each.requested_us < SHORT_US]
    part = 100 * sum(each.took_ns for each in short) / max(took, 1)
    lengths = [each.requested_us for each in calls]
    return (
        f"{count:,} waits of {min(lengths):,} to {max(lengths):,} us were asked for, and took"
        f" {took / 1e9:.3f} s; {sum(each.count for each in short):,} of them, of less than"
        f" {SHORT_US} us, took {part:.1f} % of that."
    )


class Survey(msgspec.Struct, frozen=True, kw_only=True):
    """The content of `survey.json`. `lines` name the evidence and its limits."""

    schema: int = SCHEMA
    lines: list[str]
    calls: list[Requested]
    bus: list[gaps.BusBound]
    known: list[gaps.KnownWait]
    agreements: list[gaps.Agreement]


def survey_run(folder: Path) -> Survey:
    """Surveys a run; raises `BadInputError` if there is none."""
    results = read_results(folder)
    usable = {cell.id: cell for cell in results.cells if cell.verdict in USABLE}
    watched = [each for each in read_watched(folder) if each.cell.id in usable]
    profiles = {name: find_profile(cell.subject.version) for name, cell in usable.items()}
    return Survey(
        lines=_lines(results, watched),
        calls=requested_of(watched),
        bus=gaps.bounds_of(watched),
        known=[
            known for each in watched for known in gaps.known_waits(each, profiles[each.cell.id])
        ],
        agreements=[found for each in watched if (found := gaps.agreement_of(each))],
    )


def _lines(results: Results, watched: Sequence[Watched]) -> list[str]:
    names = dict.fromkeys(cell.subject.name for cell in results.measured)
    lines = [f"{name}: {_source([w for w in watched if w.cell.subject == name])}" for name in names]
    if results.run.interrupted:
        count, planned = len(results.cells), results.run.cells_planned
        lines.append(f"interrupted: the run holds {count} of {planned} cells.")
    failed = [cell for cell in results.cells if cell.verdict not in (*USABLE, Verdict.SKIPPED)]
    return [*lines, *(f"left out: {cell.id} was {cell.verdict}" for cell in failed)]


def _source(watched: Sequence[Watched]) -> str:
    """Returns a sentence that says how the subject's waits are known in these cells."""
    seen = [each.delays for each in watched if each.delays]
    called = dict.fromkeys(d.function_of(call).name for d in seen for call in whole_delays(d))
    if called:
        return f"seen call by call, by QEMU, in {', '.join(called)}."
    if seen:
        return f"no call of its delay functions was seen, so {BOUNDS}"
    if any(each.cell.lane is LaneName.HOST for each in watched):
        return f"nobody sees delays on the host lane, so {BOUNDS}"
    return f"no delay function of it is known, so {BOUNDS}"
