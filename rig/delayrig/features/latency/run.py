# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures every requested place, and writes the results.

At each place it measures the timers first, then the suitable series, then cyclictest.
"""

import asyncio
import dataclasses
import datetime as dt
import itertools
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec.structs import replace

from delayrig import __version__
from delayrig.base.atomic_file import write_atomically
from delayrig.base.errors import NOT_JSON
from delayrig.base.paths import Paths
from delayrig.features.latency import program_output
from delayrig.features.latency.explain import doubt_of
from delayrig.features.latency.host_place import ABSENT, HOST, EnergyMeter, open_host
from delayrig.features.latency.place import MissingError, Place
from delayrig.features.latency.profile import Profile
from delayrig.features.latency.result import (
    FILE_NAME,
    PAGE_NAME,
    Cyclic,
    Kind,
    LatencyReport,
    MachineReport,
    Reading,
    Series,
    write_report,
)
from delayrig.features.latency.series_plan import (
    TICKS_SPAN_NS,
    Extent,
    cyclictest_rounds,
    programme,
)
from delayrig.features.latency.terminal import LatencyProgress
from delayrig.lanes.supplies import CpuPool
from delayrig.model.lane import LaneName
from delayrig.subjects.recipes import read_recipes

CHUNK = 20
"""The number of series in one call of a place, at most SPEC_WORDS_MAX of images/agent/spec.h.

Progress is reported after each call.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyRequest:
    guests: Sequence[Profile]
    host_cpus: tuple[int, ...]
    """The CPUs of this machine to measure on; empty: none."""
    extent: Extent
    jobs: int
    out: Path
    argv: Sequence[str]


async def run_latency(
    request: LatencyRequest, paths: Paths, progress: LatencyProgress
) -> LatencyReport:
    """Measures all places. Writes the file again after each place, and finally the pages."""
    known = resumed(request)
    order = [HOST, *(profile.name for profile in request.guests)]
    started = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")

    def report(*, complete: bool) -> LatencyReport:
        return LatencyReport(
            rig_version=__version__,
            argv=list(request.argv),
            started=started,
            complete=complete,
            machines=[known[name] for name in order if name in known],
        )

    def keep(found: MachineReport) -> None:
        known[found.name] = found
        write_report(report(complete=False), request.out)

    if request.host_cpus and HOST not in known:
        async with open_host(paths, request.host_cpus) as host:
            found = await measure_place(host, request.extent, progress, EnergyMeter())
        keep(found)
    if guests := [profile for profile in request.guests if profile.name not in known]:
        await _measure_guests(request, guests, paths, progress, keep)
    done = report(complete=True)
    # Mark the report as complete only after its pages are written.
    await asyncio.to_thread(_write_pages, done, request.out)
    write_report(done, request.out)
    return done


def resumed(request: LatencyRequest) -> dict[str, MachineReport]:
    """Returns the machines, by name, that the same command finished before it was interrupted."""
    path = request.out / FILE_NAME
    try:
        before = msgspec.json.decode(path.read_bytes(), type=LatencyReport)
    except (OSError, *NOT_JSON):
        return {}
    same = before.argv == list(request.argv) and before.rig_version == __version__
    return {each.name: each for each in before.machines} if same and not before.complete else {}


async def _measure_guests(
    request: LatencyRequest,
    guests: Sequence[Profile],
    paths: Paths,
    progress: LatencyProgress,
    keep: Callable[[MachineReport], None],
) -> None:
    """Measures the guests, `jobs` at a time, and calls `keep` with each result."""
    # The libraries for guests are loaded only if a guest is requested.
    from delayrig.features.latency.guest_place import open_guest

    recipes, pool = read_recipes(paths.checkout), CpuPool(request.jobs)
    turns = asyncio.Semaphore(request.jobs)

    async def measure(profile: Profile) -> None:
        async with turns:
            place = await open_guest(profile, recipes, paths, pool, progress.preparing)
            keep(await measure_place(place, request.extent, progress))

    async with asyncio.TaskGroup() as group:
        for profile in guests:
            group.create_task(measure(profile))


def _write_pages(report: LatencyReport, out: Path) -> None:
    from delayrig.features.latency.charts import charts_of
    from delayrig.features.latency.page import latency_page
    from delayrig.present.pages.page import anchor

    for chart in charts_of(report.machines):
        write_atomically(out / f"{anchor(chart.title)}.svg", chart.svg_file())
    write_atomically(out / PAGE_NAME, latency_page(report))


async def measure_place(
    place: Place, extent: Extent, progress: LatencyProgress, meter: EnergyMeter | None = None
) -> MachineReport:
    began_s = time.monotonic()
    facts, cpu = place.facts, place.facts.cpus[0]
    about, audit, ticks_line = await place.measure(
        [
            Series(kind=Kind.FACTS),
            Series(kind=Kind.AUDIT, cpu=cpu),
            Series(kind=Kind.TICKS, cpu=cpu, request_ns=TICKS_SPAN_NS),
        ]
    )
    ticks = program_output.ticks_of(TICKS_SPAN_NS, ticks_line)
    timers = program_output.timers_of(about, ticks, cpu)
    asked = programme(facts, extent, low_resolution=not timers.high_resolution)
    rounds = cyclictest_rounds(facts, extent)
    progress.begins(facts.name, len(asked) + len(rounds))
    missing = [ABSENT] if meter is not None and not meter.is_there else []
    readings = await _take(place, asked, progress, missing, meter)
    cyclic = await _take_cyclictest(place, rounds, progress, missing)
    if not facts.governors and facts.lane == LaneName.HOST:
        missing.append("cpufreq: this kernel offers no governors to choose from")
    if about["nice"] > 0:
        missing.append(f"figures at nice 0: this was run at nice {about['nice']}")
    known = {
        **dict.fromkeys(("clocksource", "clockevent", "idle_driver"), ""),
        **about,
        **dataclasses.asdict(facts),
        "mips": facts.mips,
        "cpus": len(facts.core_mips) or len(about["cpus"]),
        "measured_cpus": facts.cpus,
        "cmdline": _known_words(about.get("cmdline", "")),
        "slack_ns": facts.usual_slack_ns or about["slack_ns"],
        "timers": timers,
        "audit": audit,
        "ticks": ticks,
        "readings": readings,
        "cyclictest": cyclic,
        "missing": [*missing, *_say_refusals(readings)],
        "doubt": doubt_of([*readings, *cyclic]),
        "host_s": round(time.monotonic() - began_s, 1),
    }
    return msgspec.convert(known, MachineReport)


def _known_words(cmdline: str) -> str:
    """Returns the words of the kernel's command line about timers. Other words may be private."""
    known = "highres= nohz clocksource= tsc= isolcpus= idle= processor. intel_"
    return " ".join(word for word in cmdline.split() if word.startswith(tuple(known.split())))


async def _take(
    place: Place,
    asked: Sequence[Series],
    progress: LatencyProgress,
    missing: list[str],
    meter: EnergyMeter | None,
) -> list[Reading]:
    """Takes the readings in chunks of series with the same governor.

    The old governor is restored at the end. If energy is measured, a chunk is one series.
    """
    size = 1 if meter is not None and meter.is_there else CHUNK
    found: list[Reading] = []
    try:
        for governor, group in itertools.groupby(asked, key=lambda series: series.governor):
            series = list(group)
            try:
                await place.set_governor(governor)
            except MissingError as error:
                missing.append(str(error))
                progress.did(len(series))
                continue
            for chunk in (series[at : at + size] for at in range(0, len(series), size)):
                if meter is not None:
                    meter.begin()
                lines = await place.measure(chunk)
                mean_mw = meter.mean_mw() if meter is not None else None
                taken = map(program_output.reading_of, chunk, lines)
                found += [replace(each, mean_mw=mean_mw) for each in taken]
                progress.did(len(chunk))
    finally:
        await place.set_governor("")
    return found


async def _take_cyclictest(
    place: Place,
    rounds: Sequence[program_output.Round],
    progress: LatencyProgress,
    missing: list[str],
) -> list[Cyclic]:
    """Runs cyclictest with every interface; stops at a refusal, which would only repeat."""
    found = []
    for taken, each in enumerate(rounds):
        try:
            text, windows = await place.cyclictest(each.words, eaters=each.eaters)
        except MissingError as error:
            missing.append(str(error))
            progress.did(len(rounds) - taken)
            break
        read = program_output.read_cyclictest(text, each)
        if read.contradicts_itself:
            missing.append(_say_contradiction(read))
        else:
            found.append(replace(read, **windows))
        progress.did(1)
    return found


def _say_contradiction(read: Cyclic) -> str:
    load = "loaded" if read.loaded else "idle"
    return (
        f"cyclictest by {read.interface}, {load}: its figures contradict each other (least"
        f" {read.min_ns} ns, mean {read.mean_ns} ns, most {read.max_ns} ns): on so slow a CPU its"
        " timer starts before it has read the start time, which makes latencies negative"
    )


def _say_refusals(readings: Sequence[Reading]) -> list[str]:
    remedies = {
        "sched_setscheduler(SCHED_FIFO)": "run as root, with CAP_SYS_NICE, or raise"
        " RLIMIT_RTPRIO (`ulimit -r`, rtprio in limits.conf)",
        "/dev/cpu_dma_latency": "run as root, or give this user the device",
    }
    lines = []
    counts = Counter((each.refused, each.why) for each in readings if each.refused)
    for (call, why), count in counts.items():
        remedy = f"; {remedies[call]}" if call in remedies else ""
        lines.append(f"{call}: {why} ({count} series were not measured{remedy})")
    return lines
