# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows that under a governor that saves power, sleepers wake up sooner while others compute.

A guest's sleeps of 10 ms are measured alone and beside loops. Under `ondemand` loops bring the core
to its full speed, so waking the sleeper takes less time. Under `performance` the core always has
its full speed.
"""

import msgspec

from delayrig.base.durations import NS_PER_US
from delayrig.base.errors import LostGuestError
from delayrig.base.paths import Paths
from delayrig.cli.command import say_making
from delayrig.cli.verbosity import note
from delayrig.features.latency.program_output import parse_lines
from delayrig.hazards.speed import SLOWEST_PART
from delayrig.judge.trust import pace_fault
from delayrig.lanes.host.children import USUAL_SLACK_NS
from delayrig.lanes.live.pace import pace_events
from delayrig.lanes.live.program import Errand, LiveGuest, run_program
from delayrig.machine.live_image import provide_live_image
from delayrig.present.console import FittedTable, plain_table
from delayrig.present.pages.charts import Chart, Colour, new_figure
from delayrig.subjects.recipes import read_recipes
from delayrig.subjects.subject import Subject, provide_latency_program

SCHEMA = 1
REQUEST_NS = 10_000_000
REHEARSED = 5
DEADLINE_MS = 120_000


class Lateness(msgspec.Struct, frozen=True, kw_only=True):
    governor: str
    eaters: int
    count: int
    mean_ns: float
    median_ns: float
    deviation_ns: float


class WakeupReport(msgspec.Struct, frozen=True, kw_only=True):
    schema: int = SCHEMA
    mips_max: float
    mips_min: float
    request_ns: int = REQUEST_NS
    readings: list[Lateness]
    doubt: str = ""
    """A text on how far this machine did not keep up; empty if it did."""

    def change(self, governor: str) -> tuple[float, float]:
        """Returns the factors by which eaters change mean and median lateness."""
        alone, beside = (
            next(r for r in self.readings if r.governor == governor and bool(r.eaters) is crowded)
            for crowded in (False, True)
        )
        return beside.mean_ns / alone.mean_ns, beside.median_ns / alone.median_ns


def series_words(count: int, eaters: int) -> list[str]:
    """Returns the series for the measuring program: alone first, then beside the loops."""
    ordinary = f"slack_ns={USUAL_SLACK_NS}"
    plain = f"wait:wait=nanosleep,request_ns={REQUEST_NS},count={count},{ordinary},cpu=0"
    return [plain, f"{plain},eaters={eaters}"]


async def measure_governors(
    governors: tuple[str, ...],
    mips: float,
    eaters: int,
    count: int,
    connect: str | None,
    paths: Paths,
) -> WakeupReport:
    """Measures under each governor, in a guest of one core."""
    image = provide_live_image(read_recipes(paths.checkout).guest, paths, say_making)
    program = provide_latency_program(paths)
    readings: list[Lateness] = []
    doubts = []
    for governor in dict.fromkeys(governors):
        note(f"measuring under {governor}")
        guest = LiveGuest(
            core_mips=[mips], governor=governor, image=image, paths=paths, connect=connect
        )
        found, doubt = await measure_wakeups(guest, program, count=count, eaters=eaters)
        readings += found
        doubts += [f"{governor}: {doubt}"] if doubt else []
    return WakeupReport(
        mips_max=mips, mips_min=mips * SLOWEST_PART, readings=readings, doubt="; ".join(doubts)
    )


async def measure_wakeups(
    guest: LiveGuest, program: Subject, *, count: int, eaters: int
) -> tuple[list[Lateness], str]:
    """Measures both series in one guest of one core.

    Also returns a text on how far this machine missed the core's speed; empty if it kept up.
    """
    left = await run_program(guest, errand_of(program, count=count, eaters=eaters))
    trace = pace_events(left.trace, left.clock.begin.after_ns, left.clock.end.before_ns)
    text = left.entries.get("stdout.txt", b"")
    lines = parse_lines(text, expected=2, source="the live guest")
    found = [
        Lateness(
            governor=guest.governor,
            eaters=loops,
            count=line["count"],
            mean_ns=line["mean_ns"] - REQUEST_NS,
            median_ns=line["quantiles_ns"][50] - REQUEST_NS,
            deviation_ns=line["deviation_ns"],
        )
        for line, loops in zip(lines, (0, eaters), strict=True)
    ]
    if any(one.count < count for one in found):
        raise LostGuestError("the live guest measured less than it was asked for")
    return found, pace_fault(trace)


def errand_of(program: Subject, *, count: int, eaters: int) -> Errand:
    """Returns the errand for both series, preceded by a few sleeps of each that do not count."""
    return Errand(
        program=program,
        words=series_words(count, eaters),
        rehearsal=series_words(REHEARSED, eaters),
        deadline_ms=DEADLINE_MS,
    )


def wakeup_table(report: WakeupReport) -> FittedTable:
    made = plain_table(
        ["governor"], ["eaters", "sleeps", "late by us, mean", "median us", "deviation us"]
    )
    for each in report.readings:
        late_us = (ns / NS_PER_US for ns in (each.mean_ns, each.median_ns, each.deviation_ns))
        made.add_row(
            each.governor, f"{each.eaters}", f"{each.count}", *(f"{us:.0f}" for us in late_us)
        )
    return made


def wakeup_chart(report: WakeupReport) -> Chart:
    governors = list(dict.fromkeys(reading.governor for reading in report.readings))
    with new_figure(height_in=3.5) as figure:
        axes = figure.add_subplot()
        for crowded, colour, shift in ((False, Colour.FIRST, -0.2), (True, Colour.SECOND, 0.2)):
            beside = [each for each in report.readings if bool(each.eaters) is crowded]
            means = [each.mean_ns / NS_PER_US for each in beside]
            places = [at + shift for at in range(len(governors))]
            label = "beside CPU eaters" if crowded else "alone"
            axes.bar(places, means, width=0.36, color=colour, label=label)
        axes.set_xticks(range(len(governors)), governors)
        axes.set_ylabel("late by, us (mean)")
        axes.set_ylim(bottom=0)
        figure.legend(loc="outside upper left", ncols=2)
    words = "; ".join(
        f"{reading.governor}, {reading.eaters} eaters: {reading.mean_ns / NS_PER_US:.0f} us"
        for reading in report.readings
    )
    return Chart(title="How late a sleep of 10 ms ends", description=words, figure=figure)
