# SPDX-License-Identifier: GPL-2.0-or-later
"""latency.html: everything that was measured, and what is seen in it, on one page."""

from collections.abc import Iterable, Sequence

from markupsafe import Markup

from delayrig.analysis.latency import explain
from delayrig.analysis.latency.explain import Said
from delayrig.analysis.latency.host_interference import MEANING
from delayrig.analysis.latency.proposal import read_proposal
from delayrig.analysis.latency.result import LatencyReport, MachineReport, Reading
from delayrig.analysis.latency.series import Section as Part
from delayrig.present import latency_rows as rows
from delayrig.present.latency.charts import (
    Chart,
    growth_chart,
    slack_chart,
    steps_chart,
    sweep_chart,
    table_chart,
)
from delayrig.present.pages.charts import chart_html, svg_of
from delayrig.present.pages.page import Section, code, details, paragraph, render_page, table_html
from delayrig.present.tables import Table, words_and_figures

Machines = Sequence[MachineReport]
SWEEP_ROWS = 40
"""Of a sweep's many points, about so many stand in the table beside the chart."""


def latency_page(report: LatencyReport) -> bytes:
    """The whole file."""
    machines = report.machines
    return render_page(
        title="How late waits end",
        summary=_summary(report),
        sections=[
            Section(key="table", title="The proposal's table", body=_table(machines)),
            Section(key="timers", title="Timers and tick", body=_timers(machines)),
            Section(key="interfaces", title="Timer interfaces", body=_interfaces(machines)),
            Section(key="select", title="select, poll and ppoll", body=_select(machines)),
            Section(key="jitter", title="Sleep jitter and its growth", body=_jitter(machines)),
            Section(key="slack", title="Timer slack", body=_slack(machines)),
            Section(key="method", title="How this was measured", body=_method(report)),
        ],
    )


def _summary(report: LatencyReport) -> Markup:
    parts = (
        [] if report.complete else [paragraph("Interrupted: not all that was asked for is here.")]
    )
    machines = report.machines
    early = sum(explain.early_of(machine)[0] for machine in machines)
    waits = sum(explain.early_of(machine)[1] for machine in machines)
    names = ", ".join(machine.title for machine in machines)
    parts.append(paragraph(f"{early} of {waits:,} waits ended early. Measured: {names}."))
    parts.append(_said((machine, explain.say_slack(machine)) for machine in machines[:1]))
    parts += [
        paragraph(f"In doubt on {machine.title}: {machine.doubt}.")
        for machine in machines
        if machine.doubt
    ]
    if any(machine.doubt for machine in machines):
        parts.append(paragraph(MEANING))
    return Markup("").join(parts)


def _said(found: Iterable[tuple[MachineReport, Said | None]]) -> Markup:
    """A line for each machine, and what the figures mean once for all."""
    items, meanings = [], []
    for machine, said in found:
        if said is not None:
            line = Markup("<li><strong>{}</strong>: {}</li>")
            items.append(line.format(machine.title, said.figures))
            meanings.append(said.meaning)
    if not items:
        return Markup("")
    meaning = " ".join(dict.fromkeys(filter(None, meanings)))
    words = paragraph(meaning) if meaning else Markup("")
    return Markup("<ul>{}</ul>{}").format(Markup("").join(items), words)


def _table(machines: Machines) -> Markup:
    source = read_proposal().proposal
    figures, energy = rows.proposal_rows(machines), rows.energy_rows(machines)
    return Markup("").join(
        [
            paragraph(
                "nop does nothing: it is what measuring costs. sched_yield gives the CPU to whoever"
                " waits for it: a system call and a turn of the scheduler. nanosleep 1u and 100u"
                " ask for that many microseconds. clock_gettime() is called right before and after."
                " A wait never ends early, and may end as late as the timer slack, the timer's"
                " interrupt and other processes make it."
            ),
            paragraph(f"The figures of the proposal are from: {source.source} ({source.method})."),
            table_html(figures),
            _chart(table_chart(machines), figures),
            details("With median and 99th percentile", table_html(rows.quantile_rows(machines))),
            *(table_html(energy) for _ in energy.rows[:1]),
        ]
    )


def _timers(machines: Machines) -> Markup:
    said = [
        Markup("<p><strong>{}</strong>: {}</p>").format(machine.title, machine.timers.sentence)
        for machine in machines
    ]
    return Markup("").join(
        [
            paragraph(
                "High-resolution timers expire when they are due; without them a timer is looked at"
                " when the tick comes. The tick itself may be periodic, stop on idle CPUs (NO_HZ"
                " idle), or also where a single task runs (full NO_HZ). That a resolution of 1 ns"
                " is reported means that high-resolution timers are on, not that anything is that"
                " exact."
            ),
            *said,
            table_html(rows.timer_rows(machines)),
        ]
    )


def _interfaces(machines: Machines) -> Markup:
    parts = [
        paragraph(
            "cyclictest is the one of rt-tests: a SCHED_FIFO task of priority 99 with a period of"
            " 1 ms, woken by one interface after the other. The isochronous task below it is the"
            " measuring program's own; with /dev/cpu_dma_latency held at 0 the CPUs may not enter"
            " idle states that take time to leave. An overrun is a period that began only when the"
            " next was due."
        )
    ]
    for say, found in (
        (explain.say_cyclictest, rows.cyclictest_rows(machines)),
        (explain.say_periods, rows.period_rows(machines)),
    ):
        parts.append(_said([(machine, say(machine)) for machine in machines]))
        if found.rows:
            parts.append(table_html(found))
    return Markup("").join(parts)


def _select(machines: Machines) -> Markup:
    parts = [
        paragraph(
            "select() takes microseconds, ppoll() nanoseconds and poll() milliseconds. Kernels"
            " without high-resolution timers count all of them in ticks. The patch that gave"
            " select() high-resolution timers (Linux, 2008) has this example: asked for 1,200 us, a"
            " kernel of 1000 Hz took 1,997 us."
        )
    ]
    for machine in machines:
        parts.append(Markup("<h3>{}</h3>").format(machine.title))
        high = machine.timers.high_resolution
        said = [explain.say_example(machine)]
        said += [
            explain.say_sweep(each, machine.timers.jiffy_ns, high_resolution=high)
            for each in machine.of(Part.SWEEP)
        ]
        items = [Markup("<li>{}</li>").format(line) for line in filter(None, said)]
        parts.append(Markup("<ul>{}</ul>").format(Markup("").join(items)))
        parts.append(_chart(sweep_chart(machine), _sweep_rows(machine, Part.SWEEP)))
        parts.append(_chart(steps_chart(machine), _sweep_rows(machine, Part.STEPS)))
    return Markup("").join(parts)


def _sweep_rows(machine: MachineReport, part: Part) -> Table:
    found: list[list[str]] = []
    for each in machine.of(part):
        found += _thinned(each)
    return words_and_figures(
        f"Some of the waits of {machine.title}",
        ["interface"],
        ["slack", "asked for us", "took us", "late by us"],
        found,
    )


def _thinned(reading: Reading) -> list[list[str]]:
    pairs = list(zip(explain.requests_ns(reading), reading.elapsed_ns, strict=True))
    step = max(1, len(pairs) // SWEEP_ROWS)
    slack = "1 ns" if reading.series.slack_ns == 1 else "50 us"
    return [
        [
            f"{reading.series.wait}()",
            slack,
            *(f"{ns / 1e3:.1f}" for ns in (asked, took, took - asked)),
        ]
        for asked, took in pairs[::step]
    ]


def _jitter(machines: Machines) -> Markup:
    grown = rows.growth_rows(machines)
    parts = [
        paragraph(
            "How late waits of 10 ms, 100 ms and 1 s ended, with and without CPU eaters (a loop on"
            " each CPU). On a machine that changes its CPUs' frequency, eaters may make wake-ups"
            " earlier, as they keep the frequency up."
        )
    ]
    parts.append(_said((machine, explain.say_growth(machine)) for machine in machines))
    for growth in read_proposal().growth:
        said = explain.say_seed_growth(growth.sleep_ms, growth.late_us)
        parts.append(paragraph(f"{growth.source} ({growth.note}): {said}"))
    parts.append(table_html(rows.jitter_rows(machines)))
    parts += [_chart(growth_chart(machine), grown) for machine in machines]
    power = rows.power_rows(machines)
    if power.rows:
        parts.append(Markup("<h3>By governor and idle state</h3>"))
        parts.append(table_html(power))
    return Markup("").join(parts)


def _slack(machines: Machines) -> Markup:
    found = rows.slack_rows(machines)
    return Markup("").join(
        [
            paragraph(
                "The timer slack of a thread (PR_SET_TIMERSLACK of prctl(2)) is how much later than"
                " asked the kernel may end its sleeps, so that wake-ups fall together: 50 us unless"
                " somebody changed it, and nothing for real-time policies."
            ),
            _said((machine, explain.say_slack(machine)) for machine in machines),
            _chart(slack_chart(machines), found) or table_html(found),
        ]
    )


def _method(report: LatencyReport) -> Markup:
    missing = [
        Markup("<li>{}: {}</li>").format(machine.title, what)
        for machine in report.machines
        for what in machine.missing
    ]
    audit = rows.clock_rows(report.machines)
    about = [
        Markup("<p><strong>{}</strong>: {}.</p>").format(machine.title, machine.about)
        for machine in report.machines
        if machine.about
    ]
    return Markup("").join(
        [
            table_html(rows.place_rows(report.machines)),
            *about,
            paragraph(
                "Times are of CLOCK_MONOTONIC. One reading of the clock is in every figure, and is"
                " not taken off: that is what the column on clock reads says. It is taken once as"
                " the C library does, and once as a system call, to see that the former needs none."
            ),
            table_html(audit),
            paragraph(
                "Nothing was left changed on the machine. It was started with ",
                code(" ".join(report.argv)),
                ".",
            ),
            *(
                [Markup("<h3>What is missing</h3><ul>{}</ul>").format(Markup("").join(missing))]
                if missing
                else []
            ),
        ]
    )


def _chart(chart: Chart | None, beside: Table) -> Markup:
    if chart is None:
        return Markup("")
    svg = svg_of(chart.figure, title=chart.title, description=chart.description)
    return paragraph(chart.words) + chart_html(svg, caption=chart.title, table=beside)
