# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig wakeup`: sleepers wake up sooner while others compute, where a governor saves power."""

from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from delayrig.base.atomic_file import write_atomically
from delayrig.base.paths import Paths, find_paths
from delayrig.cli.command import RigCommand, default_out, say_making, until_interrupted
from delayrig.cli.verbosity import make_console, note, tables_or_json, tell_json
from delayrig.hazards.speed import GOVERNORS, SLOWEST_PART
from delayrig.images.recipes import read_recipes
from delayrig.machine.live_image import provide_live_image
from delayrig.present.terminal.console import FittedTable, plain_table

if TYPE_CHECKING:
    from delayrig.analysis.latency.wakeup import Lateness, WakeupReport
    from delayrig.present.pages.charts import Chart

NS_PER_US = 1000
DEFAULT_GOVERNORS = ("ondemand", "performance")


@click.command(cls=RigCommand)
@click.option(
    "--governor",
    "governors",
    multiple=True,
    type=click.Choice(GOVERNORS),
    help="Whom to measure under; repeatable.  [default: ondemand and performance]",
)
@click.option(
    "--mips",
    type=click.FloatRange(4, 200),
    default=20.0,
    show_default=True,
    help="The core's full speed; it idles at a quarter of it.",
)
@click.option(
    "--eaters", type=click.IntRange(1, 64), default=2, show_default=True, help="Loops beside it."
)
@click.option(
    "--count", type=click.IntRange(10, 2000), default=200, show_default=True, help="Sleeps each."
)
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
    """Measures in guests of real time how late sleeps of 10 ms end, alone and beside CPU eaters.

    Under ondemand the mean falls when the eaters run: they keep the core fast. Under performance it
    does not.
    """
    paths = find_paths()
    folder = out or default_out("wakeup")
    report = until_interrupted(
        _measure(governors or DEFAULT_GOVERNORS, mips, eaters, count, connect, paths),
        kept="nothing is kept",
    )
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / "wakeup.json", msgspec.json.format(msgspec.json.encode(report)))
    write_atomically(folder / "wakeup.svg", chart(report).svg_file())
    console = make_console()
    tell_json(report)
    console.print(table(report))
    for governor in dict.fromkeys(reading.governor for reading in report.readings):
        mean, median = report.change(governor)
        console.print(
            f"{governor}: beside eaters the mean is {mean:.2f} of what it is alone,"
            f" the median {median:.2f}"
        )
    if report.doubt:
        console.print(f"in doubt: this machine could not keep up: {report.doubt}", markup=False)
    console.print(f"{folder / 'wakeup.json'}, {folder / 'wakeup.svg'}", markup=False)


async def _measure(
    governors: tuple[str, ...],
    mips: float,
    eaters: int,
    count: int,
    connect: str | None,
    paths: Paths,
) -> "WakeupReport":
    from delayrig.analysis.latency.wakeup import WakeupReport, measure_wakeups
    from delayrig.images.subject import provide_latency_program
    from delayrig.lanes.live.program import LiveGuest

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


def table(report: "WakeupReport") -> FittedTable:
    figures = ("eaters", "sleeps", "late by us, mean", "median us", "deviation us")
    made = plain_table(("governor",), figures)
    for reading in report.readings:
        made.add_row(
            reading.governor,
            str(reading.eaters),
            str(reading.count),
            *(f"{ns / NS_PER_US:.0f}" for ns in (reading.mean_ns, reading.median_ns)),
            f"{reading.deviation_ns / NS_PER_US:.0f}",
        )
    return made


def chart(report: "WakeupReport") -> "Chart":
    from delayrig.present.pages.charts import Chart, Colour, new_figure

    governors = list(dict.fromkeys(reading.governor for reading in report.readings))
    with new_figure(height_in=3.5) as figure:
        axes = figure.add_subplot()
        for crowded, colour, shift in ((False, Colour.FIRST, -0.2), (True, Colour.SECOND, 0.2)):
            means = [
                reading.mean_ns / NS_PER_US
                for reading in report.readings
                if bool(reading.eaters) is crowded
            ]
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
