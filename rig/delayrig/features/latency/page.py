# SPDX-License-Identifier: GPL-2.0-or-later
"""latency.html: all measurements and their meaning on one page."""

from collections.abc import Iterable

from markupsafe import Markup

from delayrig.features.latency import charts, explain, rows
from delayrig.features.latency.explain import MEANING, Said
from delayrig.features.latency.result import LatencyReport, MachineReport, Reading
from delayrig.features.latency.result import Section as Part
from delayrig.features.latency.rows import Machines, read_proposal
from delayrig.present.pages.page import (
    Section,
    bullets,
    code,
    details,
    paragraph,
    paragraphs,
    render_page,
    table_html,
)
from delayrig.present.tables import Table, words_and_figures

SWEEP_ROWS = 40
"""The approximate number of rows of the table beside a sweep's chart."""


def latency_page(report: LatencyReport) -> bytes:
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
    machines = report.machines
    counts = [explain.early_of(machine) for machine in machines]
    early, waits = sum(early for early, _ in counts), sum(waits for _, waits in counts)
    names = ", ".join(machine.title for machine in machines)
    lines = [f"{each.title}: {explain.say_verdict(each)}" for each in machines]
    lines.append(f"{early} of {waits:,} waits ended early. Measured: {names}.")
    if not report.complete:
        lines.insert(0, "Interrupted: some of the requested machines are missing.")
    doubts = [f"In doubt on {each.title}: {each.doubt}." for each in machines if each.doubt]
    slack = _said((machine, explain.say_slack(machine)) for machine in machines[:1])
    return paragraphs(lines) + slack + paragraphs([*doubts, MEANING] if doubts else [])


def _said(found: Iterable[tuple[MachineReport, Said | None]]) -> Markup:
    """Returns a line for each machine, then the meaning of the figures, without repetitions."""
    pairs = [(machine, said) for machine, said in found if said is not None]
    if not pairs:
        return Markup("")
    meaning = " ".join(dict.fromkeys(said.meaning for _, said in pairs if said.meaning))
    items = bullets(_named(machine, said.figures) for machine, said in pairs)
    return items + paragraphs([meaning] if meaning else [])


def _named(machine: MachineReport, words: str) -> Markup:
    return Markup("<strong>{}</strong>: {}").format(machine.title, words)


def _table(machines: Machines) -> Markup:
    proposal = read_proposal()
    figures, energy = rows.proposal_rows(machines), rows.energy_rows(machines)
    body = paragraph(
        "nop does nothing, so it shows the cost of measuring. sched_yield gives the CPU to any"
        " process that waits for it: a system call and a turn of the scheduler. nanosleep 1u and"
        " 100u ask for that many microseconds. clock_gettime() is called right before and after. A"
        " wait never ends early, and may end as late as the timer slack, the timer's interrupt and"
        " other processes make it."
    )
    body += paragraph(
        f"The figures of the proposal are from: {proposal.source} ({proposal.method})."
    )
    body += table_html(figures) + _chart(charts.table_chart(machines), figures)
    quantiles = table_html(rows.quantile_rows(machines))
    body += details("With median and 99th percentile", quantiles)
    return body + table_html(energy) if energy.rows else body


def _timers(machines: Machines) -> Markup:
    body = paragraph(
        "High-resolution timers expire when they are due; without them a timer is looked at when"
        " the tick comes. The tick itself may be periodic, stop on idle CPUs (NO_HZ idle), or also"
        " where a single task runs (full NO_HZ). That a resolution of 1 ns is reported means that"
        " high-resolution timers are on, not that anything is that exact."
    )
    body += paragraphs(_named(machine, machine.timers.sentence) for machine in machines)
    return body + table_html(rows.timer_rows(machines))


def _interfaces(machines: Machines) -> Markup:
    body = paragraph(
        "cyclictest is the one of rt-tests: a SCHED_FIFO task of priority 99 with a period of 1 ms,"
        " woken by one interface after the other. The isochronous task below it is the measuring"
        " program's own; with /dev/cpu_dma_latency held at 0 the CPUs may not enter idle states"
        " that take time to leave. An overrun is a period that began only when the next was due."
    )
    for say, found in (
        (explain.say_cyclictest, rows.cyclictest_rows(machines)),
        (explain.say_periods, rows.period_rows(machines)),
    ):
        body += _said((machine, say(machine)) for machine in machines)
        if found.rows:
            body += table_html(found)
    return body


def _select(machines: Machines) -> Markup:
    body = paragraph(
        "select() takes microseconds, ppoll() nanoseconds and poll() milliseconds. Kernels without"
        " high-resolution timers count all of them in ticks. The patch that gave select()"
        " high-resolution timers (Linux, 2008) has this example: asked for 1,200 us, a kernel of"
        " 1000 Hz took 1,997 us."
    )
    for machine in machines:
        body += Markup("<h3>{}</h3>").format(machine.title)
        body += bullets(explain.say_waits(machine))
        body += _chart(charts.sweep_chart(machine), _sweep_rows(machine, Part.SWEEP))
        body += _chart(charts.steps_chart(machine), _sweep_rows(machine, Part.STEPS))
    return body


def _sweep_rows(machine: MachineReport, part: Part) -> Table:
    return words_and_figures(
        f"Some of the waits of {machine.title}",
        ["interface"],
        ["slack", "asked for us", "took us", "late by us"],
        [row for each in machine.of(part) for row in _thinned(each)],
    )


def _thinned(reading: Reading) -> list[list[str]]:
    step = max(1, len(reading.elapsed_ns) // SWEEP_ROWS)
    slack = "1 ns" if reading.series.slack_ns == 1 else "50 us"
    words = (f"{reading.series.wait}()", slack)
    return [
        [*words, *(f"{ns / 1e3:.1f}" for ns in (asked, took, took - asked))]
        for asked, took in reading.waits_ns[::step]
    ]


def _jitter(machines: Machines) -> Markup:
    grown = rows.growth_rows(machines)
    body = paragraph(
        "How late waits of 10 ms, 100 ms and 1 s ended, with and without CPU eaters (a loop on each"
        " CPU). On a machine that changes its CPUs' frequency, eaters may make wake-ups earlier, as"
        " they keep the frequency up."
    )
    body += _said((machine, explain.say_growth(machine)) for machine in machines)
    for growth in read_proposal().growth:
        sentence = explain.say_seed_growth(growth.sleep_ms, growth.late_us)
        body += paragraph(f"{growth.source} ({growth.note}): {sentence}")
    body += table_html(rows.jitter_rows(machines))
    for machine in machines:
        body += _chart(charts.growth_chart(machine), grown)
    power = rows.power_rows(machines)
    if power.rows:
        body += Markup("<h3>By governor and idle state</h3>") + table_html(power)
    return body


def _slack(machines: Machines) -> Markup:
    found = rows.slack_rows(machines)
    about = paragraph(
        "The timer slack of a thread (PR_SET_TIMERSLACK of prctl(2)) is how much later than asked"
        " the kernel may end its sleeps, so that wake-ups fall together: 50 us unless somebody"
        " changed it, and nothing for real-time policies."
    )
    slack = _said((machine, explain.say_slack(machine)) for machine in machines)
    return about + slack + (_chart(charts.slack_chart(machines), found) or table_html(found))


def _method(report: LatencyReport) -> Markup:
    machines = report.machines
    body = table_html(rows.place_rows(machines))
    body += paragraphs(_named(each, f"{each.about}.") for each in machines if each.about)
    body += paragraph(
        "Times are of CLOCK_MONOTONIC. Every figure includes one reading of the clock, whose cost"
        " is in the column of clock reads. That cost was measured twice: as the C library reads the"
        " clock, and by a system call. If the two differ, the C library needs no system call."
    )
    body += table_html(rows.clock_rows(machines))
    started = code(" ".join(report.argv))
    body += paragraph("Nothing was left changed on the machine. It was started with ", started, ".")
    missing = [f"{machine.title}: {what}" for machine in machines for what in machine.missing]
    if missing:
        body += Markup("<h3>What is missing</h3>") + bullets(missing)
    return body


def _chart(chart: charts.Chart | None, beside: Table) -> Markup:
    if chart is None:
        return Markup("")
    return paragraph(chart.words) + chart.html(caption=chart.title, table=beside)
