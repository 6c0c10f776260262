# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig latency` and `wakeup` measure how late waits end here and in guests."""

import os
import sys
from dataclasses import replace
from pathlib import Path

import click
import msgspec

from delayrig.base.atomic_file import write_atomically
from delayrig.base.errors import BadInputError
from delayrig.base.paths import find_paths
from delayrig.cli.command import RigCommand, until_interrupted
from delayrig.cli.option_types import FloatRange, number_option
from delayrig.cli.verbosity import make_console, print_json, progress_console, tables_or_json
from delayrig.features.latency.place import GUEST_LANES
from delayrig.features.latency.profile import (
    FORM,
    LIVE_FORM,
    SETS,
    parse_guests,
    parse_live_guests,
)
from delayrig.features.latency.series_plan import QUICK, USUAL
from delayrig.hazards.speed import GOVERNORS
from delayrig.model.lane import LaneName
from delayrig.present.console import say
from delayrig.run.out_folder import check_out, default_out

EATERS_MAX = GUEST_EATERS_MAX = 64
"""The limits for a CPU (images/latency/series.h) and a guest (images/agent/hazards.h)."""
DEFAULT_GOVERNORS = ("ondemand", "performance")


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
    help="Lane of the guests: live ones run in real time, each core at a speed of its own.",
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
@number_option("--eaters", 1, "CPU eaters on each CPU under load.", click.IntRange(1, EATERS_MAX))
@number_option("--jobs", 1, "Guests at a time.")
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
    """Measures how late sleeps, timers, select and poll end, and explains it.

    Without --guest it measures this machine: normal and SCHED_FIFO, idle and loaded. All settings
    are restored. What this user may not do is omitted and listed as missing.
    """
    # These imports load large libraries, for which no other command should wait.
    from delayrig.features.latency.run import LatencyRequest, run_latency
    from delayrig.features.latency.terminal import LatencyProgress, print_report

    folder = (out or default_out("latency")).absolute()
    live = lane == LaneName.LIVE
    if core is not None and all_cores:
        raise BadInputError("--core and --all-cores exclude each other", hint="leave one out")
    _check_lane(live=live, guests=guests, jobs=jobs)
    profiles = parse_live_guests(guests) if live else parse_guests(guests)
    here = _host_cpus(all_cores, core) if host or not guests else ()
    measured = []
    for profile in profiles:
        cpus = profile.measured_cpus(all_cores=all_cores, core=core)
        measured.append(replace(profile, cpus=cpus))
        _check_eaters(eaters, profile.cores)
    check_out(folder, [], name=None)
    request = LatencyRequest(
        guests=measured,
        host_cpus=here,
        extent=replace(QUICK if quick else USUAL, eaters=eaters),
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
    print_json(report)
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


@click.command(cls=RigCommand)
@click.option(
    "--governor",
    "governors",
    multiple=True,
    type=click.Choice(GOVERNORS),
    help="Governor of the guest; repeatable.  [default: ondemand and performance]",
)
@number_option(
    "--mips", 20.0, "The core's full speed; it idles at a quarter of it.", FloatRange(4, 200)
)
@number_option("--eaters", 2, "CPU eaters beside the sleeps.", click.IntRange(1, EATERS_MAX))
@number_option("--count", 200, "Sleeps of each measurement.", click.IntRange(10, 2000))
@click.option("--out", type=click.Path(path_type=Path), help="Folder for wakeup.json and .svg.")
@click.option("--connect", metavar="URI", help="Runs guests through this libvirt.")
@tables_or_json
def wakeup(
    governors: tuple[str, ...],
    mips: float,
    eaters: int,
    count: int,
    out: Path | None,
    connect: str | None,
) -> None:
    """Measures in guests in real time how late sleeps of 10 ms end, alone and beside CPU eaters.

    With ondemand the mean falls when the eaters run, because they keep the core fast. With
    performance it does not.
    """
    from delayrig.features.latency.wakeup import measure_governors, wakeup_chart, wakeup_table

    folder = out or default_out("wakeup")
    check_out(folder, [], name=None)
    work = measure_governors(
        governors or DEFAULT_GOVERNORS, mips, eaters, count, connect, find_paths()
    )
    report = until_interrupted(work, kept="nothing is kept")
    write_atomically(folder / "wakeup.json", msgspec.json.format(msgspec.json.encode(report)))
    write_atomically(folder / "wakeup.svg", wakeup_chart(report).svg_file())
    console = make_console()
    print_json(report)
    console.print(wakeup_table(report))
    for governor in dict.fromkeys(reading.governor for reading in report.readings):
        mean, median = report.change(governor)
        console.print(
            f"{governor}: beside eaters the mean is {mean:.2f} of what it is alone,"
            f" the median {median:.2f}"
        )
    if report.doubt:
        console.print(f"in doubt: this machine could not keep up: {report.doubt}", markup=False)
    console.print(f"{folder / 'wakeup.json'}, {folder / 'wakeup.svg'}", markup=False)
