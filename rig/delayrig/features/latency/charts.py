# SPDX-License-Identifier: GPL-2.0-or-later
"""The charts of the latency report, each with a text that explains it."""

from dataclasses import dataclass
from typing import Any

from delayrig.features.latency.explain import growths, marked, say_doubt, sweep_name
from delayrig.features.latency.result import MachineReport, Reading, Section
from delayrig.features.latency.rows import Machines, read_proposal
from delayrig.present.pages import charts
from delayrig.present.pages.charts import SERIES, Colour, new_figure

MARKS = ("o", "s", "^", "D", "v", "P")
SWEEP_POINTS = 250
LINES = ("-", "--", "-.", ":")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart(charts.Chart):
    """A chart with a text that says what it shows, and why."""

    words: str


def sweep_chart(machine: MachineReport) -> Chart | None:
    found = [each for each in machine.of(Section.SWEEP) if each.elapsed_ns]
    if not found:
        return None
    with new_figure(height_in=4) as figure:
        axes = figure.add_subplot()
        for colour, each in zip(SERIES, found, strict=False):
            _plot_sweep(axes, each, colour)
        # The axis is linear to 10 us and logarithmic above, so that microseconds and ticks are both
        # visible.
        axes.set_yscale("symlog", linthresh=10)
        _plain_numbers(axes.yaxis)
        axes.axhline(0, color=Colour.SOFT, linewidth=0.8)
        _label(axes, "asked for, us", "late by, us")
        figure.legend(loc="outside upper left", ncols=len(found))
    return Chart(
        title=f"Error of select, ppoll and poll on {machine.title}",
        words=_sweep_words(machine) + say_doubt(found),
        description="Lines: how late each wait from 1 to 2,000 us ended, by interface."
        + say_doubt(found),
        figure=figure,
    )


def _label(axes: Any, xlabel: str, ylabel: str, *, logarithmic: str = "") -> None:
    """Labels the axes and draws the grid. The axes named by letter become logarithmic."""
    for name in logarithmic:
        getattr(axes, f"set_{name}scale")("log")
        _plain_numbers(getattr(axes, f"{name}axis"))
    axes.set(xlabel=xlabel, ylabel=ylabel)
    axes.grid(visible=True)


def _plain_numbers(axis: Any) -> None:
    """Labels the axis with plain numbers instead of powers of ten."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axis.set_minor_formatter(NullFormatter())


def _plot_sweep(axes: Any, reading: Reading, colour: Colour) -> None:
    """Draws groups of neighbouring points: their median as a line, their range as an area."""
    late_us = [(took_ns - asked_ns) / 1e3 for asked_ns, took_ns in reading.waits_ns]
    size = max(1, len(late_us) // SWEEP_POINTS)
    groups = [sorted(late_us[at : at + size]) for at in range(0, len(late_us), size)]
    asked_us = [asked_ns / 1e3 for asked_ns, _ in reading.waits_ns[::size]]
    least, middle, most = zip(*((g[0], g[len(g) // 2], g[-1]) for g in groups), strict=True)
    axes.fill_between(asked_us, least, most, color=colour, alpha=0.25, linewidth=0)
    axes.plot(
        asked_us, middle, color=colour, linewidth=1.2, label=marked(sweep_name(reading), reading)
    )


def _sweep_words(machine: MachineReport) -> str:
    if machine.timers.high_resolution:
        error = (
            "With high-resolution timers the error does not depend on the length: it is the timer"
            " slack (50 us, or 1 ns where asked for) and the way back to the program. poll() takes"
            " whole milliseconds: a request is rounded up, so that its error is a sawtooth of 1 ms."
        )
    else:
        error = (
            "Without high-resolution timers a wait ends at the first tick after its time: with one"
            f" tick in {machine.timers.jiffy_ns / 1e6:g} ms waits that are due before the same tick"
            " all end at it, so the longer ones of them are less late."
        )
    return (
        "How late waits ended, one of each length: the line is the median of neighbours, the area"
        f" their range. {error} Nothing may lie below zero: a wait must not end early."
    )


def steps_chart(machine: MachineReport) -> Chart | None:
    found = next((each for each in machine.of(Section.STEPS) if each.elapsed_ns), None)
    if found is None:
        return None
    jiffy_ms = machine.timers.jiffy_ns / 1e6
    requests, took = zip(*((a / 1e6, t / 1e6) for a, t in found.waits_ns), strict=True)
    with new_figure(height_in=4) as figure:
        axes = figure.add_subplot()
        axes.plot(requests, requests, color=Colour.SOFT, linewidth=1, label="asked for")
        axes.plot(requests, took, ".", markersize=4, color=Colour.FIRST, label="took")
        axes.set_yticks([jiffy_ms * count for count in range(int(max(took) / jiffy_ms) + 2)])
        _label(axes, "asked for, ms", "took, ms")
        axes.legend(loc="upper left")
    return Chart(
        title=f"Steps of select on {machine.title}",
        words=(
            f"How long select() took. It ends at a tick, one in {jiffy_ms:g} ms: the first that is"
            " not before its time. A wait that begins right after a tick, as each here does but the"
            " first, lasts a whole number of them."
            f"{say_doubt([found])}"
        ),
        description="Points on steps at whole ticks, above the line of what was asked for.",
        figure=figure,
    )


def table_chart(machines: Machines) -> Chart:
    bars = _bars(machines)
    with new_figure(height_in=1.2 + 0.24 * len(bars)) as figure:
        axes = figure.add_subplot()
        for number, (_, (mean, least, most), colour) in enumerate(bars):
            axes.plot([least, most], [number, number], color=colour, linewidth=2)
            axes.plot([mean], [number], "o", color=colour, markersize=5)
        axes.set_yticks(range(len(bars)), [name for name, *_ in bars])
        axes.invert_yaxis()
        axes.set_xscale("log")
        _plain_numbers(axes.xaxis)
        axes.axvline(100, color=Colour.SOFT, linewidth=0.8)
        axes.set_xlabel("us, from the least to the most; the dot is the mean")
        axes.grid(axis="x")
    return Chart(
        title="nanosleep of 100 us",
        words=(
            "How long a nanosleep() of 100 us took, idle. Under SCHED_FIFO there is no timer slack,"
            " and no ordinary process runs first: the mean is nearer to 100 us, and even more so"
            " the maximum. Machines of the proposal are grey."
        ),
        description="A line from least to most for each machine and policy, a dot at the mean.",
        figure=figure,
    )


def _bars(machines: Machines) -> list[tuple[str, tuple[float, float, float], Colour]]:
    """Returns name, figures and colour of our machines, then of those of the proposal."""
    bars = []
    for machine in machines:
        for each in machine.of(Section.TABLE):
            s, series = each.statistics, each.series
            wanted = series.request_ns == 100_000 and not series.eaters
            if wanted and s and series.cpu == machine.measured_cpus[0]:
                colour = Colour.SECOND if series.fifo else Colour.FIRST
                name = marked(f"{machine.title}, {series.policy}", each)
                bars.append((name, s.mean_least_most_us, colour))
    for theirs in read_proposal().machine:
        for policy, figures in (("normal", theirs.normal), ("SCHED_FIFO", theirs.fifo)):
            bars.append((f"{theirs.name}, {policy}", figures["nanosleep 100u"], Colour.REST))
    return bars


def growth_chart(machine: MachineReport) -> Chart | None:
    found = {key: each for key, each in growths(machine).items() if len(each) > 1}
    if not found:
        return None
    with new_figure(height_in=4) as figure:
        axes = figure.add_subplot()
        for number, ((wait, policy, load), each) in enumerate(found.items()):
            axes.plot(
                [ns / 1e6 for ns in sorted(each)],
                [each[ns].late_ns_p50 / 1e3 for ns in sorted(each)],
                marker=MARKS[number % len(MARKS)],
                linestyle=LINES[number % len(LINES)],
                color=SERIES[number % len(SERIES)],
                label=marked(f"{wait}(), {policy}, {load}", *each.values()),
            )
        _label(axes, "asked for, ms", "late by (median), us", logarithmic="xy")
        axes.legend(loc="upper left")
    return Chart(
        title=f"Lateness by length of the wait on {machine.title}",
        words=(
            "How late waits of 10 ms, 100 ms and 1 s ended. The slack of select() is 0.1 % of the"
            " wait where that is more than 50 us, so its lateness grows with the wait;"
            " clock_nanosleep() has the timer slack alone, and SCHED_FIFO none."
            f"{say_doubt(machine.of(Section.JITTER))}"
        ),
        description="Lines of the median lateness over the length, by interface, policy and load.",
        figure=figure,
    )


def slack_chart(machines: Machines) -> Chart | None:
    found = [
        (machine, each, each.statistics)
        for machine in machines
        for each in machine.of(Section.SLACK)
        if each.statistics
        and each.series.request_ns == 100_000
        and each.series.cpu == machine.measured_cpus[0]
    ]
    if not found:
        return None
    titles = list(dict.fromkeys(machine.title for machine, *_ in found))
    with new_figure(height_in=4) as figure:
        axes = figure.add_subplot()
        for machine, each, statistics in found:
            slack, style = ("1 ns", "--") if each.series.slack_ns == 1 else ("50 us", "-")
            late_ns = (max(1, ns - each.series.request_ns) for ns in statistics.quantiles_ns)
            axes.plot(
                [ns / 1e3 for ns in late_ns],
                range(len(statistics.quantiles_ns)),
                color=SERIES[titles.index(machine.title) % len(SERIES)],
                linestyle=style,
                label=marked(f"{machine.title}, {slack}", each),
            )
        _label(axes, "late by, us", "% of sleeps no later than that", logarithmic="x")
        axes.legend(loc="lower right")
    return Chart(
        title="Timer slack and sleeps of 100 us",
        words=(
            "How late clock_nanosleep() of 100 us ended at normal priority: solid at the usual"
            " slack of 50 us, dashed at 1 ns. The kernel may end a sleep anywhere within the slack,"
            " and does so at its end unless another timer wakes the CPU before."
            f"{say_doubt(each for _, each, _ in found)}"
        ),
        description="Two curves for each machine: the share of sleeps that ended no later.",
        figure=figure,
    )


def charts_of(machines: Machines) -> list[Chart]:
    """Returns all charts, in the order of the page."""
    made = [table_chart(machines), slack_chart(machines)]
    made += [make(each) for make in (growth_chart, sweep_chart, steps_chart) for each in machines]
    return [chart for chart in made if chart is not None]
