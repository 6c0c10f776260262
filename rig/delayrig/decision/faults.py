# SPDX-License-Identifier: GPL-2.0-or-later
"""The faults of two cells in the same place, compared: which are new, and which were there before.

A fault is identified by what stays the same between two builds: the witness, the requested time and
the functions of the call stack; for the chip, the broken rule and the command.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import msgspec
from msgspec.structs import replace

from delayrig.base.durations import rounded
from delayrig.hazards import hazard_of
from delayrig.hazards.hazard import Hazard
from delayrig.judge.chip import DOUBTFUL_GRADES
from delayrig.judge.site_waits import UNKNOWN, functions_of, length_class_ns, wait_of
from delayrig.model.evidence import Evidence, Witness
from delayrig.model.lane import EXACT_LANE
from delayrig.model.result import UNSAFE, CellResult, SiteWaits, Verdict

INSTRUCTIONS = 64
"""The most instructions by which the code around the same wait may differ in two builds."""
COMMAND_INSTRUCTIONS = 2048
"""The same for the code between two commands to the part."""
LACK_PART_MAX = 0.05
"""The fraction by which the missing time of the same wait may grow: interruptions are random."""
COMMAND_LACK_PART_MAX = 0.15
"""The same for commands: a program at realtime priority waits as long, but sends them faster."""
PERIODS_TO_MEET = 4
"""A hazard is sure to interrupt a wait once the program has waited this many hazard periods."""
OFTEN_MIN, MET_SELDOM = 16, 4
"""The smallest number of short waits whose share is judged, and a factor.

If waits are shorter than a hazard's period by this factor, it cannot interrupt half of them.
"""
JOB, DATA = "job", "data"
"""The kinds of faults that are not about time."""


class Change(StrEnum):
    """The change of a fault; the gravest first."""

    NEW = "new"
    WORSE = "worse"
    AS_BEFORE = "as_before"
    BETTER = "better"
    MENDED = "mended"

    @property
    def gravity(self) -> int:
        """Returns a number that sorts changes, the gravest first."""
        return list(Change).index(self)


FAILED = (Verdict.OP_FAILED, Verdict.HUNG)
REFUSING = (Change.NEW, Change.WORSE)
NOTHING_CUT: Mapping[str, range] = {}
ENDLESS_NS = 2**63


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """One fault of a place, as the baseline has it and as the candidate has it."""

    change: Change
    witness: str
    """`chip`, `bus` or `delay`; `data` or `job` if the fault is not about time."""
    what: str
    """The fault's text, which is the same for two builds. The file of known faults matches it."""
    where: str = ""
    """The call stack, with lines where they are known."""
    rule: str = ""
    """The rule of the part that was broken."""
    asked_ns: int | None = None
    before_ns: tuple[int, int] | None = None
    """Its duration in the baseline: shortest and longest."""
    now_ns: tuple[int, int] | None = None
    margin_ns: int | None = None
    """The margin, negative if the wait is too short; null if it has none."""
    count: int = 1

    @property
    def is_of_rig(self) -> bool:
        """Returns True for a wait that the rig itself requests: it has no caller."""
        is_wait = self.witness == Witness.DELAY and self.asked_ns is not None
        return is_wait and not self.where

    @property
    def gravity(self) -> tuple[int, bool, int]:
        """Returns a key that sorts faults, the gravest first."""
        return self.change.gravity, self.is_of_rig, self.margin_ns or 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """One fault of one cell, as if it were new."""

    fault: Fault
    key: tuple[str, ...]
    """Its identity besides the length; `UNKNOWN` for a stripped program's callers."""
    length_ns: int = 0
    lack_ns: int = 0
    error_ns: int = 0
    is_often: bool = False
    """True if more of its waits are cut short than the cell's hazards can interrupt."""

    @property
    def witness(self) -> str:
        return self.fault.witness

    def changed(self, change: Change, before_ns: tuple[int, int] | None) -> Fault:
        """Returns the fault with its change, and its duration in the baseline."""
        return replace(self.fault, change=change, before_ns=before_ns)


def lengths_cut(cells: Iterable[CellResult]) -> dict[str, range]:
    """Returns, by hazard, the range of the lengths of waits that it cuts short.

    A hazard interrupts waits at random, and two programs request different lengths. So a length
    counts as cut if another one was cut, unless waits of a length between the two were surely
    interrupted and nevertheless waited to their end.
    """
    short = defaultdict[str, set[int]](set)
    met = defaultdict[str, dict[int, float]](lambda: defaultdict(float))
    for cell in cells:
        for hazard in striking(cell):
            for site in cell.waits:
                length = length_class_ns(site.requested_ns)
                if site.short:
                    short[hazard.name].add(length)
                met[hazard.name][length] += (
                    site.count * site.requested_ns / (hazard.phase_ns * PERIODS_TO_MEET)
                    if hazard.phase_ns
                    else site.count  # A hazard without a period interrupts each wait.
                )
    return {name: _range_cut(cut, met[name]) for name, cut in short.items()}


def _range_cut(cut: set[int], met: Mapping[int, float]) -> range:
    """Returns the range between the two whole lengths that are nearest to the cut ones.

    One is the longest whole length below all cut ones, the other the shortest above all of them. A
    length is whole if its waits were surely interrupted and nevertheless waited to their end.
    """
    whole = [ns for ns, times in met.items() if times >= 1]
    return range(
        1 + max((ns for ns in whole if ns < min(cut)), default=0),
        min((ns for ns in whole if ns > max(cut)), default=ENDLESS_NS),
    )


def striking(cell: CellResult) -> list[Hazard]:
    """Returns the cell's hazards that end a program's waits."""
    return [hazard for hazard in map(hazard_of, cell.hazards) if hazard.ends_waits]


def compare_faults(
    before: CellResult | None, now: CellResult, cut: Mapping[str, range] = NOTHING_CUT
) -> list[Fault]:
    """Returns the change of each fault of a place, the gravest first.

    Those that are new or worse come first, and among them flashrom's waits before those that the
    rig itself requests. `cut` is the result of `lengths_cut()` for the whole baseline.
    """
    old = [] if before is None else _faults_of(before)
    new = _faults_of(now)
    pairs = _matched(old, new, before, now)
    matched = {id(one) for pair in pairs for one in pair}
    # If the job fails in the baseline too, the change did not break it.
    shared = [pair for pair in pairs if pair[1].witness != JOB]
    found = [_changed(one, other, _slack_ns(now, one)) for one, other in shared]
    struck = [cut[each.name] for each in striking(now) if each.name in cut] if before else []
    was_done = before is not None and (before.job_done or before.verdict is Verdict.PASS)
    found += [
        _new(each, before, struck)
        for each in new
        if id(each) not in matched and (each.witness != JOB or was_done)
    ]
    found += [
        fault for each in old if id(each) not in matched and (fault := _gone(each, now)) is not None
    ]
    return sorted(
        found,
        key=lambda fault: (fault.change not in REFUSING, fault.is_of_rig, *fault.gravity),
    )


def _faults_of(cell: CellResult) -> list[_Found]:
    """Returns the faults of a cell that are beyond doubt."""
    if cell.verdict not in (*UNSAFE, *FAILED):
        return []
    delays = [_of_site(site, cell) for site in cell.waits if site.short]
    judged = {each.fault.asked_ns for each in delays}
    others = [
        _of_evidence(item)
        for item in cell.evidence
        if item.witness is not Witness.DELAY
        and item.grade not in DOUBTFUL_GRADES
        # A job that reports a failure may leave wrong data.
        and not (item.witness is Witness.IMAGE and cell.verdict in FAILED)
        # The bus witness reports the same short delay again.
        and not (item.witness is Witness.BUS and item.requested_ns in judged)
    ]
    found = [*delays, *others]
    if cell.verdict is Verdict.TOO_SHORT and not found:
        found = [_plain(Witness.DELAY, cell.reason, "")]
    if cell.verdict is Verdict.CORRUPT and not found:
        found = [_plain(DATA, f"wrong data: {cell.job} {cell.chip}", cell.reason)]
    if cell.lane == EXACT_LANE and not _may_be_done(cell):
        words = "the job never ends" if cell.verdict is Verdict.HUNG else "the job fails"
        found.append(_plain(JOB, f"{words}: {cell.job} {cell.chip}", cell.reason))
    return found


def _may_be_done(cell: CellResult) -> bool:
    """Returns True unless it is sure that the job failed."""
    if cell.verdict is Verdict.OP_FAILED and any(hazard_of(word).may_fail for word in cell.hazards):
        return True
    return cell.job_done or cell.unfinished or cell.verdict is Verdict.CORRUPT


def _plain(witness: str, what: str, where: str) -> _Found:
    fault = Fault(change=Change.NEW, witness=witness, what=what, where=where)
    return _Found(fault=fault, key=(what,))


def _is_often(site: SiteWaits, cell: CellResult) -> bool:
    """Returns True if over half of a site's waits are short, but hazards can interrupt only few.

    `cell.waits` counts short and whole waits of a site separately, so both are summed.
    """
    periods_ns = [hazard.phase_ns for hazard in striking(cell) if hazard.phase_ns]
    if not periods_ns or site.short < OFTEN_MIN:
        return False
    meets_few = site.requested_ns * MET_SELDOM < min(periods_ns)
    same = [each.count for each in cell.waits if wait_of(each) == wait_of(site)]
    return meets_few and 2 * site.short > sum(same)


def _of_site(site: SiteWaits, cell: CellResult) -> _Found:
    functions = functions_of(site.callers)
    known = [name for name in functions if name != UNKNOWN]
    length_ns = length_class_ns(site.requested_ns)
    lack_ns = site.requested_ns - site.least_ns[1]
    fault = Fault(
        change=Change.NEW,
        witness=Witness.DELAY,
        what=f"{rounded(length_ns)} asked" + (f" in {known[0]}" if known else ""),
        where=" < ".join(site.callers),
        asked_ns=site.requested_ns,
        now_ns=site.least_ns,
        margin_ns=-lack_ns if lack_ns else None,
        count=site.short,
    )
    return _Found(
        fault=fault,
        key=functions,
        length_ns=length_ns,
        lack_ns=lack_ns,
        error_ns=site.error_ns,
        is_often=_is_often(site, cell),
    )


def _of_evidence(item: Evidence) -> _Found:
    if item.witness is Witness.IMAGE:
        return _plain(DATA, "wrong data in the part", item.what)
    if item.witness is Witness.BUS:
        key: tuple[str, ...] = (item.what,)
        what = item.what.removesuffix(" was too short")
    else:
        key = (item.rule, item.command)
        early = f"{item.command or 'a command'} too early for the part (rule {item.rule})"
        what = early if item.rule else item.what
    fault = Fault(
        change=Change.NEW,
        witness=item.witness,
        what=what,
        where=item.where,
        rule=item.rule,
        asked_ns=item.requested_ns,
        now_ns=item.actual_ns,
        margin_ns=item.margin_ns or None,
        count=item.count,
    )
    length_ns, lack_ns = item.requested_ns or 0, -(item.margin_ns or 0)
    return _Found(fault=fault, key=key, length_ns=length_ns, lack_ns=lack_ns)


def _matched(
    old: Sequence[_Found], new: Sequence[_Found], before: CellResult | None, now: CellResult
) -> list[tuple[_Found, _Found]]:
    """Pairs each fault of the candidate with one of the baseline, the surest pairs first.

    If other functions request the same time, and the old call stack is gone, the wait has moved. If
    the baseline had the new call stack as well, or the candidate still has the old one, they are
    two waits.
    """
    before_stacks, now_stacks = _stacks(before), _stacks(now)

    def is_moved(one: _Found, other: _Found) -> bool:
        is_gone = one.key not in now_stacks and other.key not in before_stacks
        is_wait = one.witness == other.witness == Witness.DELAY
        return is_wait and is_gone and one.length_ns == other.length_ns

    pairs: list[tuple[_Found, _Found]] = []
    free = list(old)
    left = sorted(new, key=lambda each: -each.lack_ns)
    for is_same in (_is_same, _is_same_place, is_moved):
        for each in list(left):
            found = [one for one in free if is_same(one, each)]
            if found:
                one = max(found, key=lambda one: (one.is_often is each.is_often, one.lack_ns))
                pairs.append((one, each))
                free.remove(one)
                left.remove(each)
    return pairs


def _is_same(one: _Found, other: _Found) -> bool:
    """Returns True for the same length and functions.

    Unknown functions, as in a stripped program, may be any.
    """
    same = one.witness == other.witness and one.length_ns == other.length_ns
    is_unknown = UNKNOWN in one.key or UNKNOWN in other.key
    return same and (is_unknown or one.key == other.key)


def _is_same_place(one: _Found, other: _Found) -> bool:
    """Returns True if the same functions request another time; False if functions are unknown."""
    known = UNKNOWN not in one.key and UNKNOWN not in other.key and bool(one.key)
    return known and one.witness == other.witness == Witness.DELAY and one.key == other.key


def _stacks(cell: CellResult | None) -> set[tuple[str, ...]]:
    return set() if cell is None else {functions_of(site.callers) for site in cell.waits}


def _slack_ns(cell: CellResult, found: _Found) -> int:
    """Returns by how much the same wait may be shorter by chance, as code and hazards vary."""
    mips = min(cell.guest.mips, default=0)
    instructions = INSTRUCTIONS if found.witness == Witness.DELAY else COMMAND_INSTRUCTIONS
    part = COMMAND_LACK_PART_MAX if found.witness == Witness.CHIP else LACK_PART_MAX
    code_ns = round(instructions * 1000 / mips) if mips else 0
    phases_ns = [hazard_of(word).phase_ns for word in cell.hazards]
    return code_ns + max(phases_ns, default=0) + round(part * max(found.lack_ns, 0))


def _changed(one: _Found, other: _Found, slack_ns: int) -> Fault:
    """Returns the change of a fault that both have."""
    slack_ns += one.error_ns + other.error_ns
    change = Change.AS_BEFORE
    lacks_more = other.lack_ns > one.lack_ns + slack_ns
    lacks_more = lacks_more and not _only_asks_longer(one.fault, other.fault, slack_ns)
    if lacks_more or (other.is_often and not one.is_often):
        change = Change.WORSE
    elif other.lack_ns < one.lack_ns - slack_ns:
        change = Change.BETTER
    return other.changed(change, one.fault.now_ns)


def _only_asks_longer(one: Fault, other: Fault, slack_ns: int) -> bool:
    """Returns True if more time is missing only because more is requested: it lasts as before."""
    if not (one.asked_ns and other.asked_ns and one.now_ns and other.now_ns):
        return False
    return other.asked_ns > one.asked_ns and other.now_ns[0] >= one.now_ns[0] - slack_ns


def _new(each: _Found, before: CellResult | None, struck: Sequence[range]) -> Fault:
    """Returns a fault of the candidate alone, with the baseline's wait at the same site.

    It is not new if a hazard cut waits of its length in the baseline as well: `struck` has these
    lengths.
    """
    good = (
        site.least_ns
        for site in (before.waits if before else [])
        if functions_of(site.callers) == each.key
        and length_class_ns(site.requested_ns) == each.length_ns
        and UNKNOWN not in each.key
    )
    by_chance = each.witness == Witness.DELAY and any(each.length_ns in cut for cut in struck)
    by_chance = by_chance and not each.is_often
    return each.changed(Change.AS_BEFORE if by_chance else Change.NEW, next(good, None))


def _gone(each: _Found, now: CellResult) -> Fault | None:
    """Returns the fault as mended; None if the candidate was not judged."""
    if now.verdict not in (Verdict.PASS, Verdict.TOO_SHORT):
        return None
    good = (
        site.least_ns
        for site in now.waits
        if length_class_ns(site.requested_ns) == each.length_ns and not site.short
    )
    fault = each.changed(Change.MENDED, each.fault.now_ns)
    return replace(fault, now_ns=next(good, None), margin_ns=None)
