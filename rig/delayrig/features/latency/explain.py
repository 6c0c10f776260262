# SPDX-License-Identifier: GPL-2.0-or-later
"""Sentences that explain the readings. A sentence whose figures are missing is omitted.

In a guest in real time, this machine may fail to hold a core to its speed in a window of 100 ms.
Waits that end in that window end later. The sentences say so, and the figures include these waits.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from delayrig.features.latency.result import Cyclic, Kind, MachineReport, Reading, Section, Series
from delayrig.judge.trust import NOT_KEPT_PART_MAX
from delayrig.lanes.host.children import USUAL_SLACK_NS
from delayrig.lanes.live.pace import WINDOW_MS

MARK = " *"
MEANING = (
    "* While this was measured, this machine did not hold a core of the guest to its speed: its own"
    " delays are in the figure."
)
MS, S = 1_000_000, 1_000_000_000
SELECT_SLACK, SELECT_SLACK_NICE = 1e-3, 5e-3
"""The fraction of a wait by which select() may be late; the second at a nice value above 0."""
STEP_SHARE = 0.05
"""The tolerance, in ticks, within which the length of a wait is a whole number of ticks."""
EXAMPLE_NS = 1_200_000
TRIED_NS = 100_000
SLEEPS = ("nanosleep", "clock_nanosleep")
POLICIES = {"normal": "at normal priority", "SCHED_FIFO": "under SCHED_FIFO"}


def marked(text: str, *found: Reading | Cyclic) -> str:
    """Returns the text, with a mark if this machine fell behind during one of the readings."""
    return text + MARK if any(each.windows_not_kept for each in found) else text


def doubt_of(found: Sequence[Reading | Cyclic]) -> str:
    """Returns a text on the windows and series in which this machine fell behind; empty if none."""
    behind = [each.windows_not_kept for each in found if each.windows_not_kept]
    if not behind:
        return ""
    count, not_kept = sum(each.windows for each in found), sum(behind)
    sentence = (
        f"in {not_kept} of {count} windows of {WINDOW_MS} ms this machine did not hold a core to"
        f" its speed; {len(behind)} of {len(found)} series, marked *, have its delays in them"
    )
    if not_kept > count * NOT_KEPT_PART_MAX:
        sentence += ": that was often, so measure again when it is less busy"
    return sentence


def say_doubt(found: Iterable[Reading | Cyclic]) -> str:
    """Returns a remark for a sentence about these readings; empty if nothing is in doubt."""
    return marked("", *found) and " (*: this machine fell behind meanwhile.)"


class SlackCut(NamedTuple):
    """The readings of one sleep with the usual and with the least slack."""

    usual: Reading
    least: Reading

    @property
    def ratio(self) -> float:
        """Returns the part of the median overshoot that is left."""
        usual_ns = self.usual.late_ns_p50
        return self.least.late_ns_p50 / usual_ns if usual_ns else 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A sentence of figures, and one about their meaning, which may hold for many machines."""

    figures: str
    meaning: str = ""


def slack_cuts(machine: MachineReport) -> dict[int, SlackCut]:
    """Returns the effect of slack by length, on the first measured CPU."""
    found = {
        (each.series.request_ns, each.series.slack_ns): each
        for each in reversed(machine.of(Section.SLACK))
        if each.statistics
    }
    return {
        length_ns: SlackCut(found[length_ns, USUAL_SLACK_NS], found[length_ns, 1])
        for length_ns in sorted({length_ns for length_ns, _ in found})
        if {(length_ns, USUAL_SLACK_NS), (length_ns, 1)} <= found.keys()
    }


def say_slack(machine: MachineReport) -> Said | None:
    """Says how much less late short sleeps end with a smaller timer slack."""
    cut = slack_cuts(machine).get(TRIED_NS)
    if cut is None:
        return None
    sentence = (
        f"A timer slack of 1 ns cuts the median overshoot of a 100 us sleep at normal priority from"
        f" {us(cut.usual.late_ns_p50)} to {us(cut.least.late_ns_p50)}, to {cut.ratio:.2f} of it."
        f"{say_doubt(cut)}"
    )
    meaning = "Without high-resolution timers the tick decides, and slack changes nothing."
    if machine.timers.high_resolution:
        meaning = "What is left is the way from the timer's interrupt to the program."
    return Said(figures=sentence, meaning=meaning)


def by_length(
    machine: MachineReport, section: Section, setting_of: Callable[[Series], tuple[str, ...]]
) -> dict[tuple[str, ...], dict[int, Reading]]:
    """Returns the readings of a section by setting, and by length."""
    found: dict[tuple[str, ...], dict[int, Reading]] = {}
    for each in machine.of(section):
        if each.statistics:
            by_length = found.setdefault(setting_of(each.series), {})
            by_length[each.series.request_ns] = each
    return found


def growths(machine: MachineReport) -> dict[tuple[str, ...], dict[int, Reading]]:
    """Returns the readings of each interface, policy and load, by length."""
    return by_length(machine, Section.JITTER, lambda s: (s.wait, s.policy, s.load))


def growth_of(by_length: Mapping[int, Reading]) -> float | None:
    """Returns the additional median lateness per requested time, from 100 ms to 1 s."""
    if not {100 * MS, S} <= by_length.keys():
        return None
    return (by_length[S].late_ns_p50 - by_length[100 * MS].late_ns_p50) / (S - 100 * MS)


def say_growth(machine: MachineReport) -> Said | None:
    """Explains why longer sleeps end later, if they do."""
    found = growths(machine)
    select = found.get(("select", "normal", "idle"), {})
    sleep = found.get(("clock_nanosleep", "normal", "idle"), {})
    of_select, of_sleep = growth_of(select), growth_of(sleep)
    if of_select is None or of_sleep is None or not machine.timers.high_resolution:
        return None
    measured = (
        f"From a wait of 100 ms to one of 1 s the median lateness of select() went from"
        f" {us(select[100 * MS].late_ns_p50)} to {us(select[S].late_ns_p50)}, that of"
        f" clock_nanosleep() from {us(sleep[100 * MS].late_ns_p50)} to"
        f" {us(sleep[S].late_ns_p50)}.{say_doubt([*select.values(), *sleep.values()])}"
    )
    more = of_select - of_sleep
    share = SELECT_SLACK_NICE if machine.nice > 0 else SELECT_SLACK
    allowed = f"{share * 100:g} %"
    if not share / 2 < more < share * 2:
        unseen = f"The {allowed} by which select() may grow cannot be seen: too much else went on."
        return Said(figures=f"{measured} {unseen}")
    return Said(
        figures=f"{measured} That of select() grew by {more * 100:.2f} % of the wait more.",
        meaning=f"The kernel lets select() and poll() of ordinary processes be late by {allowed} of"
        " what was asked for (0.1 %, but 0.5 % at a nice value above 0; or by the timer slack,"
        " where that is more), so that wake-ups fall together. A real-time process has neither, and"
        " clock_nanosleep() has the timer slack alone, however long it sleeps.",
    )


def say_seed_growth(sleep_ms: Sequence[int], late_us: Sequence[float]) -> str:
    """Subtracts what the kernel allows from the figures of others, and describes the rest."""
    slack_us = USUAL_SLACK_NS / 1e3
    rest = ", ".join(
        f"{late:g} us at {ms} ms leave {late - max(slack_us, ms * 1e3 * SELECT_SLACK):.1f} us"
        for ms, late in zip(sleep_ms, late_us, strict=True)
    )
    return (
        "Less the larger of 50 us and 0.1 % of the wait, the figures of the course"
        f" ({rest}) no longer grow from 100 ms to 1 s: what looked like a deeper sleep is the slack"
        " of select(), by which Python's time.sleep() waited up to version 3.10. What is left"
        " between 10 ms and 100 ms fits a deeper idle state, and no more can be said without the"
        " machine."
    )


def jiffies_of(elapsed_ns: int, jiffy_ns: int) -> int | None:
    """Returns how many ticks a wait lasted; None if it did not end at one."""
    count = round(elapsed_ns / jiffy_ns)
    near = abs(elapsed_ns - count * jiffy_ns) <= STEP_SHARE * jiffy_ns
    return count if near and count else None


def say_waits(machine: MachineReport) -> list[str]:
    """Says how long select() took in the usual example, and how late each sweep was."""
    said = [
        _say_example(machine),
        *(_say_sweep(machine, each) for each in machine.of(Section.SWEEP)),
    ]
    return [sentence for sentence in said if sentence]


def _say_sweep(machine: MachineReport, reading: Reading) -> str:
    """Says how far the waits of a sweep were from their requests."""
    if not reading.elapsed_ns:
        return ""
    (first_ns, _), *_, (last_ns, _) = reading.waits_ns
    late = sorted(took_ns - asked_ns for asked_ns, took_ns in reading.waits_ns)
    sentence = (
        f"{sweep_name(reading)}: {len(late):,} waits of {us(first_ns)} to {us(last_ns)} were"
        f" late by {us(late[len(late) // 2])} in the median, {us(late[-1])} at most;"
        f" {reading.early} ended early"
    )
    if not machine.timers.high_resolution:
        jiffy_ns = machine.timers.jiffy_ns
        on_steps = sum(jiffies_of(ns, jiffy_ns) is not None for ns in reading.elapsed_ns)
        sentence += f"; {on_steps:,} lasted a whole number of ticks of {us(jiffy_ns)}"
    return f"{sentence}.{say_doubt([reading])}"


def sweep_name(reading: Reading) -> str:
    slack = " at a slack of 1 ns" if reading.series.slack_ns == 1 else ""
    return f"{reading.series.wait}(){slack}"


def _say_example(machine: MachineReport) -> str:
    for each in machine.of(Section.SWEEP):
        took_ns = dict(each.waits_ns).get(EXAMPLE_NS)
        if sweep_name(each) != "select()" or took_ns is None:
            continue
        sentence = f"Asked for 1,200 us, select() took {took_ns / 1e3:,.1f} us"
        ticks = jiffies_of(took_ns, machine.timers.jiffy_ns)
        if not machine.timers.high_resolution and ticks is not None:
            sentence += f": {ticks} of the kernel's ticks of {us(machine.timers.jiffy_ns)}"
        return f"{sentence}.{say_doubt([each])}"
    return ""


def say_periods(machine: MachineReport) -> Said | None:
    """Says how many periods of 1 ms were missed."""
    found = [each for each in machine.of(Section.PERIODS) if each.statistics]
    if not found:
        return None
    count = sum(each.statistics.count for each in found if each.statistics)
    over = sum(each.overruns for each in found)
    sentence = (
        f"{over} of {count} periods of 1 ms began only when the next was due.{say_doubt(found)}"
    )
    if not over or machine.timers.high_resolution:
        return Said(figures=sentence)
    tick = us(machine.timers.jiffy_ns)
    return Said(figures=sentence, meaning=f"With a tick of {tick} nothing can wake up every 1 ms.")


def say_cyclictest(machine: MachineReport) -> Said | None:
    """Says which interface wakes up earliest, and why."""
    idle = {each.interface: each for each in machine.cyclictest if not each.loaded}
    sleep = idle.get("clock_nanosleep")
    by_signal = [each for name, each in idle.items() if name != "clock_nanosleep"]
    if sleep is None or not by_signal or not machine.timers.high_resolution:
        return None
    others = " and ".join(f"{each.interface} {us(each.mean_ns)}" for each in by_signal)
    sentence = f"On average clock_nanosleep woke {us(sleep.mean_ns)} late, {others}."
    sentence += say_doubt(idle.values())
    if sleep.mean_ns > min(each.mean_ns for each in by_signal):
        return Said(figures=sentence)
    return Said(
        figures=sentence,
        meaning="Those expire as signals, which a thread has to be sent, and has to take, before it"
        " goes on; clock_nanosleep wakes it from the timer's interrupt itself.",
    )


def say_verdict(machine: MachineReport) -> str:
    """Says whether sleeps of 100 us are accurate enough for a threshold of 100 us."""
    found = _late_sleeps(machine)
    if not found:
        return "Whether a threshold of 100 us fits was not measured."
    late = ", ".join(f"{us(each.late_ns_p50)} {POLICIES[policy]}" for policy, each in found.items())
    fits = [policy for policy, each in found.items() if each.late_ns_p50 * 10 <= TRIED_NS]
    verdict = "threshold 100 may cost time; `rig/rig threshold` tells how much"
    if len(fits) == len(found):
        verdict = "threshold 100 fits"
    elif fits:
        verdict = f"threshold 100 fits {POLICIES[fits[0]]} alone"
    return (
        f"Sleeps of 100 us end late by {late} here (up to 10 us is accurate): {verdict}."
        f"{say_doubt(found.values())}"
    )


def _late_sleeps(machine: MachineReport) -> dict[str, Reading]:
    """Returns by policy the first reading of sleeps of 100 us with the usual slack.

    The machine was idle then, and left as it is.
    """
    found: dict[str, Reading] = {}
    for each in machine.readings:
        series = each.series
        changed = series.eaters or series.governor or series.hold_us is not None
        is_sleep = series.kind is Kind.WAIT and series.wait in SLEEPS
        is_length = series.request_ns == TRIED_NS and series.slack_ns in (0, USUAL_SLACK_NS)
        if each.statistics and is_sleep and is_length and not changed:
            found.setdefault(series.policy, each)
    return found


def early_of(machine: MachineReport) -> tuple[int, int]:
    """Returns how many waits ended early, and the number of all."""
    waits = [each for each in machine.readings if each.series.kind is not Kind.TICKS]
    total = sum(len(r.elapsed_ns) + (r.statistics.count if r.statistics else 0) for r in waits)
    return sum(each.early for each in waits), total


def us(ns: float) -> str:
    """Returns the time in the unit that suits it."""
    value = abs(ns)
    if value >= MS:
        return f"{ns / 1e6:.{1 if value >= 10 * MS else 2}f} ms"
    return f"{ns / 1e3:.{1 if value >= 100 else 2}f} us"
