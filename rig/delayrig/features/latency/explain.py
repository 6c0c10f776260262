# SPDX-License-Identifier: GPL-2.0-or-later
"""Sentences that explain the readings. A sentence whose figures are missing is omitted.

In a guest in real time, this machine may fail to hold a core to its speed in a window of 100 ms.
Waits that end in that window end later. The sentences say so, and the figures include these waits.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from delayrig.features.latency.result import (
    Cyclic,
    Kind,
    MachineReport,
    Reading,
    Section,
    Series,
)
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


def marked(text: str, *found: Reading | Cyclic | None) -> str:
    """Returns the text, with a mark if this machine fell behind during one of the readings."""
    return text + MARK if any(each and each.windows_not_kept for each in found) else text


def doubt_of(readings: Sequence[Reading], cyclic: Sequence[Cyclic]) -> str:
    """Returns a text on the windows and series in which this machine fell behind; empty if none."""
    found: list[Reading | Cyclic] = [*readings, *cyclic]
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
    fell_behind = any(each.windows_not_kept for each in found)
    return " (*: this machine fell behind meanwhile.)" if fell_behind else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackCut:
    """The median overshoot of one sleep with the usual and with the least slack."""

    request_ns: int
    usual: Reading
    least: Reading

    @property
    def readings(self) -> tuple[Reading, Reading]:
        return self.usual, self.least

    @property
    def usual_ns(self) -> int:
        return self.usual.late_ns_p50

    @property
    def least_ns(self) -> int:
        return self.least.late_ns_p50

    @property
    def ratio(self) -> float:
        return self.least_ns / self.usual_ns if self.usual_ns else 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A sentence of figures, and one about their meaning, which may hold for many machines."""

    figures: str
    meaning: str = ""


def slack_cuts(machine: MachineReport) -> list[SlackCut]:
    """Returns the effect of slack for each length, on the first measured CPU."""
    found = {
        (each.series.request_ns, each.series.slack_ns): each
        for each in reversed(machine.of(Section.SLACK))
        if each.statistics
    }
    return [
        SlackCut(
            request_ns=length_ns, usual=found[length_ns, USUAL_SLACK_NS], least=found[length_ns, 1]
        )
        for length_ns in sorted({length_ns for length_ns, _ in found})
        if {(length_ns, USUAL_SLACK_NS), (length_ns, 1)} <= found.keys()
    ]


def say_slack(machine: MachineReport) -> Said | None:
    """Says how much less late short sleeps end with a smaller timer slack."""
    cut = next((cut for cut in slack_cuts(machine) if cut.request_ns == 100_000), None)
    if cut is None:
        return None
    sentence = (
        f"A timer slack of 1 ns cuts the median overshoot of a 100 us sleep at normal priority from"
        f" {us(cut.usual_ns)} to {us(cut.least_ns)}, to {cut.ratio:.2f} of it."
        f"{say_doubt(cut.readings)}"
    )
    meaning = "Without high-resolution timers the tick decides, and slack changes nothing."
    if machine.timers.high_resolution:
        meaning = "What is left is the way from the timer's interrupt to the program."
    return Said(figures=sentence, meaning=meaning)


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """The median lateness of one interface by length."""

    wait: str
    policy: str
    load: str
    by_length: dict[int, Reading]

    @property
    def readings(self) -> list[Reading]:
        return list(self.by_length.values())

    @property
    def late_ns(self) -> dict[int, int]:
        return {length_ns: each.late_ns_p50 for length_ns, each in self.by_length.items()}

    @property
    def per_request(self) -> float | None:
        """Returns the additional lateness per requested time, from 100 ms to 1 s."""
        if not {100 * MS, S} <= self.late_ns.keys():
            return None
        return (self.late_ns[S] - self.late_ns[100 * MS]) / (S - 100 * MS)


def growths(machine: MachineReport) -> list[Growth]:
    found: dict[tuple[str, str, str], dict[int, Reading]] = {}
    for each in machine.of(Section.JITTER):
        if each.statistics:
            key = each.series.wait, each.series.policy, each.series.load
            found.setdefault(key, {})[each.series.request_ns] = each
    return [
        Growth(wait=wait, policy=policy, load=load, by_length=by_length)
        for (wait, policy, load), by_length in found.items()
    ]


def say_growth(machine: MachineReport) -> Said | None:
    """Explains why longer sleeps end later, if they do."""
    by_key = {(each.wait, each.policy, each.load): each for each in growths(machine)}
    select = by_key.get(("select", "normal", "idle"))
    sleep = by_key.get(("clock_nanosleep", "normal", "idle"))
    if select is None or sleep is None or not machine.timers.high_resolution:
        return None
    if select.per_request is None or sleep.per_request is None:
        return None
    measured = (
        f"From a wait of 100 ms to one of 1 s the median lateness of select() went from"
        f" {us(select.late_ns[100 * MS])} to {us(select.late_ns[S])}, that of clock_nanosleep()"
        f" from {us(sleep.late_ns[100 * MS])} to {us(sleep.late_ns[S])}."
        f"{say_doubt([*select.readings, *sleep.readings])}"
    )
    more = select.per_request - sleep.per_request
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
    left = [
        late - max(USUAL_SLACK_NS / 1e3, ms * 1e3 * SELECT_SLACK)
        for ms, late in zip(sleep_ms, late_us, strict=True)
    ]
    rest = ", ".join(
        f"{late:g} us at {ms} ms leave {us_left:.1f} us"
        for ms, late, us_left in zip(sleep_ms, late_us, left, strict=True)
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


def say_sweep(reading: Reading, jiffy_ns: int, *, high_resolution: bool | None) -> str:
    """Says how far the waits of a sweep were from their requests."""
    series = reading.series
    lengths = requests_ns(reading)
    if not lengths:
        return ""
    late = sorted(e - r for e, r in zip(reading.elapsed_ns, lengths, strict=True))
    slack = " at a slack of 1 ns" if series.slack_ns == 1 else ""
    sentence = (
        f"{series.wait}(){slack}: {len(late):,} waits of {us(lengths[0])} to {us(lengths[-1])} were"
        f" late by {us(late[len(late) // 2])} in the median, {us(late[-1])} at most;"
        f" {reading.early} ended early"
    )
    doubt = say_doubt([reading])
    if high_resolution:
        return f"{sentence}.{doubt}"
    on_steps = sum(jiffies_of(elapsed, jiffy_ns) is not None for elapsed in reading.elapsed_ns)
    return f"{sentence}; {on_steps:,} lasted a whole number of ticks of {us(jiffy_ns)}.{doubt}"


def say_example(machine: MachineReport) -> str:
    for each in machine.of(Section.SWEEP):
        took_ns = dict(zip(requests_ns(each), each.elapsed_ns, strict=True)).get(EXAMPLE_NS)
        if each.series.wait != "select" or each.series.slack_ns == 1 or took_ns is None:
            continue
        sentence = f"Asked for 1,200 us, select() took {took_ns / 1e3:,.1f} us"
        ticks = jiffies_of(took_ns, machine.timers.jiffy_ns)
        doubt = say_doubt([each])
        if machine.timers.high_resolution or ticks is None:
            return f"{sentence}.{doubt}"
        return f"{sentence}: {ticks} of the kernel's ticks of {us(machine.timers.jiffy_ns)}.{doubt}"
    return ""


def requests_ns(reading: Reading) -> list[int]:
    """Returns the requested length of each wait of a sweep."""
    series = reading.series
    return [series.from_ns + i * series.step_ns for i in range(len(reading.elapsed_ns))]


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
    """Returns by policy the first reading of idle sleeps of 100 us with the usual slack."""
    found: dict[str, Reading] = {}
    for each in machine.readings:
        if each.statistics and _is_usual_sleep(each.series):
            found.setdefault(each.series.policy, each)
    return found


def _is_usual_sleep(series: Series) -> bool:
    """Returns True for a sleep of 100 us on a machine that is idle and left as it is."""
    changed = series.eaters or series.governor or series.hold_us is not None
    is_sleep = series.kind is Kind.WAIT and series.wait in SLEEPS
    is_length = series.request_ns == TRIED_NS and series.slack_ns in (0, USUAL_SLACK_NS)
    return is_sleep and is_length and not changed


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
