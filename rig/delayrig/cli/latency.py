# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig latency`: how late waits end here, and in guests."""

import os
import sys
from pathlib import Path

import click

from delayrig.analysis.latency.live_profile import FORM as LIVE_FORM
from delayrig.analysis.latency.live_profile import parse_live_guests
from delayrig.analysis.latency.place import GUEST_LANES
from delayrig.analysis.latency.profile import FORM, SETS, measured_cpus, parse_guests
from delayrig.base.errors import BadInputError
from delayrig.base.paths import find_paths
from delayrig.cli.command import RigCommand, default_out, until_interrupted
from delayrig.cli.verbosity import make_console, progress_console, tables_or_json, tell_json
from delayrig.model.lane import LaneName
from delayrig.present.terminal.console import say

EATERS_MAX = GUEST_EATERS_MAX = 64
"""The programs' own limits: images/latency/series.h, and images/agent/loops.h of all in a guest."""


@click.command(cls=RigCommand)
@click.option(
    "--guest",
    "guests",
    multiple=True,
    metavar="GUEST",
    help=f"Measures in this guest: {FORM}; or a set: {', '.join(SETS)}. Repeatable. With --lane"
    f" live: {LIVE_FORM}.",
)
@click.option(
    "--lane",
    type=click.Choice([str(lane) for lane in GUEST_LANES]),
    default=str(LaneName.VIRTUAL),
    show_default=True,
    help="Which lane's guests: live ones run in real time, each core at a speed of its own.",
)
@click.option(
    "--host", is_flag=True, help="Measures this machine as well; alone it is the default."
)
@click.option("--all-cores", is_flag=True, help="Measures each CPU in turn, of guests as well.")
@click.option(
    "--core",
    type=click.IntRange(0),
    help="Measures on that CPU, of guests as well; default: the first.",
)
@click.option("--quick", is_flag=True, help="Fewer readings: some 20 s on this machine.")
@click.option(
    "--eaters",
    type=click.IntRange(1, EATERS_MAX),
    default=1,
    show_default=True,
    help="CPU eaters on each CPU, where it is loaded.",
)
@click.option(
    "--jobs", type=click.IntRange(1), default=1, show_default=True, help="Guests at a time."
)
@click.option("--out", type=click.Path(path_type=Path), help="Folder for JSON, SVG and the page.")
@tables_or_json
def latency(
    guests: tuple[str, ...],
    lane: str,
    host: bool,
    all_cores: bool,
    core: int | None,
    quick: bool,
    eaters: int,
    jobs: int,
    out: Path | None,
) -> None:
    """Measures how late sleeps, timers, select and poll end, and says why.

    Without --guest it measures this machine: normal and SCHED_FIFO, idle and loaded. Nothing is
    left changed. What this user may not do is left out, and said to be missing.
    """
    # Its page's libraries are large: nothing else shall wait for them.
    from delayrig.cli.latency_run import LatencyRequest, run_latency
    from delayrig.present.terminal.latency import LatencyProgress, print_report

    folder = (out or default_out("latency")).absolute()
    if folder.is_file():
        raise BadInputError(f"--out {folder}: is a file", hint="name a folder")
    live = lane == LaneName.LIVE
    if core is not None and all_cores:
        raise BadInputError("--core and --all-cores exclude each other", hint="leave one out")
    _check_lane(live=live, guests=guests, jobs=jobs)
    profiles = parse_live_guests(guests) if live else parse_guests(guests)
    here = _host_cpus(all_cores, core) if host or not guests else ()
    for profile in profiles:
        # Before anything is started: raises where there is no such core.
        measured_cpus(profile, all_cores=all_cores, core=core)
        _check_eaters(eaters, profile.cores)
    request = LatencyRequest(
        guests=profiles,
        all_cores=all_cores,
        core=core,
        host_cpus=here,
        quick=quick,
        eaters=eaters,
        jobs=jobs,
        out=folder,
        argv=["rig/rig", *sys.argv[1:]],
    )
    console = make_console()
    with LatencyProgress(progress_console()) as progress:
        report = until_interrupted(
            run_latency(request, find_paths(), progress),
            kept="nothing is left changed; machines that were measured in full are kept in"
            f" {folder}, and resumed by the same command with the same --out",
        )
    tell_json(report)
    print_report(report, console)
    say(console, f"page: {folder / 'latency.html'}")


def _check_lane(*, live: bool, guests: tuple[str, ...], jobs: int) -> None:
    if live and not guests:
        raise BadInputError(
            "--lane live: no guest is named", hint=f"add --guest 10:40, for example: {LIVE_FORM}"
        )
    if live and jobs > 1:
        raise BadInputError(
            f"--jobs {jobs}: guests of real time would take each other's time",
            hint="leave --jobs out: they are measured one after the other",
        )


def _check_eaters(eaters: int, cores: int) -> None:
    if eaters * cores > GUEST_EATERS_MAX:
        raise BadInputError(
            f"--eaters {eaters}: a guest of {cores} cores has no room for so many on each",
            hint=f"a guest takes {GUEST_EATERS_MAX} in all: --eaters {GUEST_EATERS_MAX // cores}",
        )


def _host_cpus(all_cores: bool, core: int | None) -> tuple[int, ...]:
    usable = sorted(os.sched_getaffinity(0))
    if core is not None and core not in usable:
        raise BadInputError(
            f"--core {core}: this process may not run there",
            hint=f"it may run on {', '.join(map(str, usable))}",
        )
    if core is not None:
        return (core,)
    return tuple(usable) if all_cores else tuple(usable[:1])
