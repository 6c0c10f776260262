# SPDX-License-Identifier: GPL-2.0-or-later
"""The verdict of a cell: a pure function of its folder, so it can be computed again.

The first check that applies decides: faults of the rig, then proven short waits, then failures and
wrong data, then doubts. A cell without any of these passes.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import msgspec

from delayrig.base import digest
from delayrig.base.durations import in_full
from delayrig.base.errors import LostGuestError
from delayrig.base.text import last_lines, shown
from delayrig.hazards.artifacts import Artifacts, read_artifacts
from delayrig.hazards.of_cell import hazards_of, is_in_library
from delayrig.judge.bus import see_bus
from delayrig.judge.chip import (
    DOUBTFUL_GRADES,
    broken_rules,
    convict_commands,
    convict_end,
    doubt_of,
)
from delayrig.judge.ending import ending_of, is_flood, is_unfinished
from delayrig.judge.no_instruction import ILLEGAL, missing_instruction
from delayrig.judge.trust import Trust, trust_of
from delayrig.judge.waits import LEFT_TO_PROGRAMMER, JudgedWaits, judge_waits, see_waits
from delayrig.model import phases, workload
from delayrig.model.cell import Cell, Job, Programmer, Role
from delayrig.model.chips import ChipFacts
from delayrig.model.corner import is_beyond_the_datasheet
from delayrig.model.events import Event, first, needed, of_kind, transactions
from delayrig.model.evidence import Evidence, Witness
from delayrig.model.kinds.agent import EmulatorRights, Guest, SubjectEnd, SubjectStart
from delayrig.model.kinds.emulator import FaultMade, GaveUp, Start
from delayrig.model.lane import LaneName
from delayrig.model.programmers import BUILT_WITHOUT, device_of
from delayrig.model.result import (
    CellResult,
    CpuTime,
    EmulatorFacts,
    Ending,
    GuestFacts,
    SubjectFacts,
    Verdict,
    own_fault,
)
from delayrig.subjects.dummy import TIME_ALONE
from delayrig.subjects.profiles.profile import (
    Profile,
    find_profile,
    find_version,
    version_of_digest,
)
from delayrig.subjects.subject import Subject

LEFT_REASON = "; it left its waits to the programmer, so its own delays were hardly tried"
MORE_THAN_RECORDED = (
    "the subject was still at work when the record was full, after {count} transactions:"
    " choose a smaller region"
)
NOT_JUDGED = "it was not judged"
PROGRAMMER = "programmer"
UNKNOWN_NAME = re.compile(
    rf"^(?:Error: )?Unknown (?P<what>chip|{PROGRAMMER}) .{{1,160}}$", re.MULTILINE
)
"""The message of any flashrom, ours included, for an unknown name after `-c` or `-p`."""
FAILURE = re.compile("fail|error|cannot|could not|unable", re.IGNORECASE)
COMPLAINT_LINES = 6
MAY_BE_FAULTS = (Verdict.CORRUPT, Verdict.OP_FAILED, Verdict.HUNG)
"""The verdicts that requested faults may cause. They do not make a wait too short."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """The witnesses' results for a cell, on which its verdict rests."""

    trust: Trust
    evidence: list[Evidence]
    waits: JudgedWaits
    missing: str = ""
    """The instruction that the CPU of the guest does not have, if that ended the subject."""


class Finding(msgspec.Struct, frozen=True):
    verdict: Verdict
    reason: str


def judge_cell(
    cell: Cell, chip: ChipFacts, folder: Path, planned: CellResult, *, subject: Subject
) -> CellResult:
    """Returns the cell's result; raises `LostGuestError` if its folder holds impossible figures.

    `planned` is the cell's `planned_result()`.
    """
    try:
        result = _judge(cell, chip, folder, planned, subject)
    # Only numbers of hundreds of digits cause this error, and our programs write none.
    except ArithmeticError as error:
        raise LostGuestError(f"{folder}: makes no result: {error!r}") from error
    if fault := own_fault(result):
        raise LostGuestError(f"{folder}/events.jsonl: makes no result: {fault}")
    return result


def _judge(
    cell: Cell, chip: ChipFacts, folder: Path, planned: CellResult, subject: Subject
) -> CellResult:
    artifacts = read_artifacts(folder)
    events = artifacts.events
    version = subject_version(artifacts.stdout, subject)
    profile = find_profile(version)
    wrong_data = data_evidence(cell, chip, artifacts)
    bus = see_bus(cell, events, subject, profile)
    seen = see_waits(cell, artifacts, bus)
    waits = judge_waits(cell, artifacts, seen)
    trust = trust_of(cell, artifacts, seen.all)
    found = [*convict_commands(events), *convict_end(events), *waits.evidence, *wrong_data]
    evidence = [] if trust.lost_clock else found
    missing = missing_instruction(events, subject)
    observed = Observed(trust=trust, evidence=evidence, waits=waits, missing=missing)
    finding = find_verdict(cell, artifacts, observed)
    ended, ending = first(events, SubjectEnd), ending_of(events)
    return msgspec.structs.replace(
        planned,
        subject=msgspec.structs.replace(
            planned.subject,
            version=version,
            sha256=subject.program_sha256,
            library=subject.library,
            threshold_us=_threshold_us(profile, version, artifacts.stdout),
        ),
        guest=_guest_facts(cell, planned.guest, first(events, Guest)),
        verdict=finding.verdict,
        reason=finding.reason,
        evidence=evidence,
        judged=waits.judged,
        unjudged=waits.unjudged,
        delays=seen.count,
        waits=waits.by_site,
        not_waited_ns=sum(wait.short_by_ns for wait in seen.delays if wait.is_short),
        job_done=ending is Ending.DONE
        and all(one.witness is not Witness.IMAGE for one in evidence),
        ending=ending,
        unfinished=is_unfinished(events),
        smallest_visible_short_ns=waits.smallest_visible_short_ns,
        time_ns=_time_split(cell, events),
        cpu_ns=CpuTime(user=ended.user_ns, sys=ended.sys_ns) if ended else CpuTime(),
        chip_busy_ns=phases.chip_busy_ns(events),
        wire_ns=phases.wire_ns(events),
        overshoot_ns=phases.overshoot_ns(events),
        transfers=len(transactions(events)),
        context_switches=ended.voluntary_switches + ended.involuntary_switches if ended else 0,
        emulator=_emulator_facts(events),
        events_sha256=digest.of_file(folder / "events.jsonl"),
    )


def _time_split(cell: Cell, events: list[Event]) -> phases.TimeSplit:
    """Returns the subject's time by its phases; nothing if it did not start or end."""
    started, ended = first(events, SubjectStart), first(events, SubjectEnd)
    if not started or not ended:
        return phases.TimeSplit()
    reading = phases.first_read_of(cell.job)
    return phases.split_time(events, started.t_ns, ended.t_ns, first_read=reading)


def _guest_facts(cell: Cell, planned: GuestFacts, guest: Guest | None) -> GuestFacts:
    if guest is None:
        return planned
    return msgspec.structs.replace(
        planned,
        arch=guest.machine if cell.lane is LaneName.HOST else planned.arch,
        kernel=guest.kernel,
        cmdline=guest.cmdline,
        clocksource=guest.clocksource,
    )


def _emulator_facts(events: list[Event]) -> EmulatorFacts:
    """Returns the emulator's facts.

    In virtual time no event states its real-time rights, because it does not start without them.
    """
    start, rights = first(events, Start), first(events, EmulatorRights)
    if start is None:
        return EmulatorFacts()
    realtime = rights.realtime if rights else True
    return EmulatorFacts(realtime=realtime, wake_latency_ns_max=start.wake_latency_ns_max)


def subject_version(stdout: str, subject: Subject) -> str:
    """Returns the version that the program prints, else that of its package or digest.

    Debian's 1.3.0 prints none.
    """
    known = subject.package_version or version_of_digest(subject.program_sha256)
    return find_version(stdout) or known


def planned_result(cell: Cell, chip: ChipFacts, *, rerun: str) -> CellResult:
    """Returns the result of a cell that was not judged: its facts that the plan determines."""
    return CellResult(
        id=cell.id,
        lane=cell.lane,
        role=cell.role,
        subject=SubjectFacts(name=cell.subject, library=is_in_library(cell)),
        guest=GuestFacts(arch=cell.arch, mips=cell.mips, cores=cell.cores),
        hazards=list(cell.hazards),
        chip=cell.chip,
        corner=cell.corner,
        bus=chip.bus,
        programmer=cell.programmer,
        job=cell.job,
        region_bytes=workload.region_of(cell, chip).size_bytes,
        verdict=Verdict.INFRA_ERROR,
        expect=cell.expect,
        reason=NOT_JUDGED,
        rerun=rerun,
    )


def find_verdict(cell: Cell, artifacts: Artifacts, observed: Observed) -> Finding:
    """Returns the verdict. Its reason counts requested faults if they may have caused it."""
    finding = _first_answer(cell, artifacts, observed)
    faults = of_kind(artifacts.events, FaultMade)
    if not faults or finding.verdict not in MAY_BE_FAULTS:
        return finding
    kinds = ", ".join(sorted({fault.kind for fault in faults}))
    return msgspec.structs.replace(
        finding, reason=f"{finding.reason} (after {len(faults)} faults on request: {kinds})"
    )


def _first_answer(cell: Cell, artifacts: Artifacts, observed: Observed) -> Finding:
    if untrusted := _untrusted(observed):
        return untrusted
    short = [item for item in observed.evidence if item.witness is not Witness.IMAGE]
    firm = [item for item in short if item.grade not in DOUBTFUL_GRADES]
    if short and (excuse := _excuse(cell, observed.trust, short)):
        return excuse
    if firm and not is_flood(artifacts.events):
        return Finding(Verdict.TOO_SHORT, describe(firm[0]))
    if failure := _failure(cell, artifacts, observed.missing):
        return failure
    corrupt = [item for item in observed.evidence if item.witness is Witness.IMAGE]
    if corrupt:
        return Finding(Verdict.CORRUPT, corrupt[0].what)
    if short:
        return Finding(Verdict.INCONCLUSIVE, f"{doubt_of(short[0])}: {describe(short[0])}")
    explained = {rule for hazard in hazards_of(cell) for rule in hazard.explained_rules}
    broken = [rule for rule in broken_rules(artifacts.events) if rule not in explained]
    if broken:
        reason = f"the subject broke the part's rules: {', '.join(broken)}"
        return Finding(Verdict.INCONCLUSIVE, reason)
    if gap := _idle(cell, artifacts) or observed.trust.doubt or observed.waits.gap:
        return Finding(Verdict.INCONCLUSIVE, gap)
    return _passed(cell, artifacts, observed.waits)


def _untrusted(observed: Observed) -> Finding | None:
    if fault := observed.trust.fault:
        return Finding(Verdict.INFRA_ERROR, fault)
    if lost := observed.trust.lost_clock:
        return Finding(Verdict.INCONCLUSIVE, lost)
    if fault := observed.waits.disagreement:
        return Finding(Verdict.INFRA_ERROR, fault)
    return None


def _passed(cell: Cell, artifacts: Artifacts, waits: JudgedWaits) -> Finding:
    if cell.programmer is Programmer.DUMMY and not transactions(artifacts.events):
        # The subject made none of its delays, so nothing is known about them.
        return Finding(Verdict.SKIPPED, TIME_ALONE)
    return Finding(Verdict.PASS, _pass_reason(waits))


def _idle(cell: Cell, artifacts: Artifacts) -> str:
    """Returns a fault if the subject reported success but sent nothing to the part.

    Only jobs that neither change nor return data need this check; after the others wrong data shows
    it. A device that hides which part it has answers probes itself, so there only `verify` counts.
    """
    device = device_of(cell)
    asking = (Job.VERIFY,) if device and device.chip_name else (Job.PROBE, Job.DETECT, Job.VERIFY)
    asks = cell.job in asking and cell.programmer is not Programmer.DUMMY
    if not asks or cell.role is Role.FLOOR or transactions(artifacts.events):
        return ""
    return f"the subject ended well, and sent nothing to the part: this was no {cell.job}"


def _excuse(cell: Cell, trust: Trust, short: list[Evidence]) -> Finding | None:
    if is_beyond_the_datasheet(cell.corner):
        reason = f"the part is slower than its datasheet allows: {describe(short[0])}"
        return Finding(Verdict.OP_FAILED, reason)
    if trust.altered_by:
        reason = f"{', '.join(trust.altered_by)} changed data of this job: {describe(short[0])}"
        return Finding(Verdict.INCONCLUSIVE, reason)
    return None


def _pass_reason(waits: JudgedWaits) -> str:
    left = LEFT_REASON if LEFT_TO_PROGRAMMER in waits.unjudged else ""
    classes = ", ".join(waits.judged)
    good = f"no wait of these was too short: {classes}" if classes else "it asked for no wait"
    return f"no command came too early, and {good}{left}{waits.untried}"


def describe(item: Evidence) -> str:
    if item.requested_ns is None or item.actual_ns is None:
        return item.what
    asked_ns, missing_ns = item.requested_ns, item.requested_ns - item.actual_ns[1]
    shortest, longest = (in_full(ns, beside_ns=asked_ns) for ns in item.actual_ns)
    seen = longest if shortest == longest else f"{shortest} to {longest}"
    missing = in_full(missing_ns, beside_ns=asked_ns)
    too_little = f", at least {missing} too little" if missing_ns > 0 else ""
    return f"{item.what}: {in_full(asked_ns)} asked, {seen} seen{too_little}"


def _unknown_name(cell: Cell, artifacts: Artifacts) -> str:
    """Returns the subject's message that it does not know the name of the part or programmer.

    Returns an empty text if there is none, or if the subject sent anything to the part. A search of
    the program's file for the name proves nothing, because it may also contain an unknown name.
    """
    said = UNKNOWN_NAME.search(shown(artifacts.output.decode(errors="replace")))
    if said is None or transactions(artifacts.events):
        return ""
    device = device_of(cell)
    without = f"{BUILT_WITHOUT}{device.driver}: " if device and said["what"] == PROGRAMMER else ""
    return f"{without}the subject says: {said[0].strip()}"


def _failure(cell: Cell, artifacts: Artifacts, missing: str) -> Finding | None:
    ended, given_up = needed(artifacts.events, SubjectEnd), first(artifacts.events, GaveUp)
    if given_up and given_up.bound == "records" and is_unfinished(artifacts.events):
        return Finding(Verdict.INCONCLUSIVE, MORE_THAN_RECORDED.format(count=given_up.count))
    if given_up:
        bound = f"{given_up.count} {given_up.bound.replace('-', ' ')}"
        what = f"the emulator hung up on the subject after {bound}"
    elif ended.timed_out:
        return Finding(Verdict.HUNG, "the subject did not end by its deadline")
    elif ended.signal:
        lacks = f": this CPU has no {missing}" if ended.signal == ILLEGAL and missing else ""
        what = f"the subject was ended by signal {ended.signal}{lacks}"
    elif ended.exit_code != 0:
        if unknown := _unknown_name(cell, artifacts):
            return Finding(Verdict.SKIPPED, unknown)
        what = f"the subject failed with exit code {ended.exit_code}"
    else:
        return None
    return Finding(Verdict.OP_FAILED, f"{what}: {_complaint(artifacts.output)}")


def _complaint(output: bytes) -> str:
    """Returns the last line about a failure among the last few lines, else the last line.

    flashrom prints a request to report the failure below that line.
    """
    lines = last_lines(output, COMPLAINT_LINES) or ["it printed nothing"]
    said = [line for line in lines if FAILURE.search(line)]
    return (said or lines)[-1]


def data_evidence(cell: Cell, chip: ChipFacts, artifacts: Artifacts) -> list[Evidence]:
    if artifacts.image is None:
        return []
    try:
        wrong = workload.wrong_granules(cell, chip, artifacts.image)
    except ValueError as error:
        raise LostGuestError(str(error)) from error
    found = []
    if wrong:
        what = f"{len(wrong)} granules of 4 KiB differ in the part"
        found.append(_data_fault(what, f"{wrong[0]:#x}"))
    # A subject that failed may leave no data; its exit code reports that.
    ended = first(artifacts.events, SubjectEnd)
    owes_data = cell.job is Job.READ and ended is not None and ended.exit_code == 0
    right = workload.final_content(cell, workload.region_of(cell, chip))
    if owes_data and (artifacts.read_back or b"") != right:
        found.append(_data_fault("what was read differs from the part", "read.bin"))
    return found


def _data_fault(what: str, where: str) -> Evidence:
    return Evidence(
        what=what,
        witness=Witness.IMAGE,
        requested_ns=None,
        actual_ns=None,
        margin_ns=None,
        grade="exact",
        where=where,
    )


def _threshold_us(profile: Profile | None, version: str, stdout: str) -> int | None:
    """Returns the threshold that the subject prints, else that of its profile."""
    printed = re.search(r"\bdelay_minimum_sleep_us[ =:]+([0-9]+)", stdout)
    if printed:
        return int(printed.group(1))
    return profile.threshold_of(version) if profile else None
