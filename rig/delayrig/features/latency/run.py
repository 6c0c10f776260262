# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures every requested place, and writes the results."""

import asyncio
import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from delayrig import __version__
from delayrig.base.atomic_file import write_atomically
from delayrig.base.errors import NOT_JSON
from delayrig.base.paths import Paths
from delayrig.features.latency.host_place import HOST, EnergyMeter, open_host
from delayrig.features.latency.measure import measure_place
from delayrig.features.latency.place import Place
from delayrig.features.latency.profile import GuestProfile, LiveProfile, measured_cpus
from delayrig.features.latency.result import (
    FILE_NAME,
    PAGE_NAME,
    LatencyReport,
    MachineReport,
    write_report,
)
from delayrig.features.latency.terminal import LatencyProgress
from delayrig.lanes.supplies import CpuPool
from delayrig.subjects.recipes import read_recipes


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyRequest:
    guests: Sequence[GuestProfile | LiveProfile]
    all_cores: bool
    core: int | None
    """The core of guests to measure on; None: the first."""
    host_cpus: tuple[int, ...]
    """The CPUs of this machine to measure on; empty: none."""
    quick: bool
    eaters: int = 1
    """The number of eaters on each loaded CPU."""
    jobs: int
    out: Path
    argv: Sequence[str]


async def run_latency(
    request: LatencyRequest, paths: Paths, progress: LatencyProgress
) -> LatencyReport:
    """Measures all places. Writes the file again after each, and finally with its page."""
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
            found = await measure_place(
                host,
                quick=request.quick,
                eaters=request.eaters,
                progress=progress,
                meter=EnergyMeter(),
            )
        keep(found)
    if guests := [profile for profile in request.guests if profile.name not in known]:
        await _measure_guests(request, guests, paths, progress, keep)
    done = report(complete=True)
    # A report is complete when it has its page, too.
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
    guests: Sequence[GuestProfile | LiveProfile],
    paths: Paths,
    progress: LatencyProgress,
    keep: Callable[[MachineReport], None],
) -> None:
    """Measures the guests, as many at a time as allowed, and keeps each when it ends."""
    # The libraries for guests are loaded only if a guest is requested.
    from delayrig.features.latency.guest_place import open_guest
    from delayrig.features.latency.live_place import open_live_guest

    recipes, pool = read_recipes(paths.checkout), CpuPool(request.jobs)

    async def measure(profile: GuestProfile | LiveProfile) -> MachineReport:
        cpus = measured_cpus(profile, all_cores=request.all_cores, core=request.core)
        place: Place
        match profile:
            case GuestProfile():
                place = await open_guest(profile, cpus, recipes, paths, pool, progress.preparing)
            case LiveProfile():
                place = await open_live_guest(profile, cpus, recipes, paths, progress.preparing)
        return await measure_place(
            place, quick=request.quick, eaters=request.eaters, progress=progress
        )

    turns = asyncio.Semaphore(request.jobs)

    async def in_turn(profile: GuestProfile | LiveProfile) -> None:
        async with turns:
            keep(await measure(profile))

    async with asyncio.TaskGroup() as group:
        for profile in guests:
            group.create_task(in_turn(profile))


def _write_pages(report: LatencyReport, out: Path) -> None:
    from delayrig.features.latency.charts import charts_of
    from delayrig.features.latency.page import latency_page
    from delayrig.present.pages.page import anchor

    for chart in charts_of(report.machines):
        write_atomically(out / f"{anchor(chart.title)}.svg", chart.svg_file())
    write_atomically(out / PAGE_NAME, latency_page(report))
