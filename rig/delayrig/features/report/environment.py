# SPDX-License-Identifier: GPL-2.0-or-later
"""The inputs of the runs, and how to repeat them."""

import shlex
from collections.abc import Iterator

from markupsafe import Markup

from delayrig.features.report.source import RunSource, Sources
from delayrig.present.pages.page import Section, code, paragraph

SHOWN_DIGITS = 16


def environment_section(sources: Sources) -> Section:
    body = paragraph(
        "Equal digests, seed and plan give equal times in guests, to the nanosecond: ",
        code("rig/rig compare --exact RUN1 RUN2"),
        " says whether two runs are the same. Below each cell stands the command that runs it"
        " again.",
    )
    body += Markup("").join(_run(run) for run in sources.runs)
    return Section(key="environment", title="Environment", body=body)


def _run(run: RunSource) -> Markup:
    again = shlex.join(["rig/rig", *_without_out(run.results.run.argv)])
    facts = Markup("").join(
        Markup("<div><dt>{}</dt><dd>{}</dd></div>").format(name, value)
        for name, value in _facts(run)
    )
    title = f"{run.label}: {run.path.name}" if run.label else run.path.name or "The run"
    heading = Markup("<h3>{}</h3>").format(title)
    return heading + Markup("<pre>{}</pre><dl>{}</dl>").format(again, facts)


def _without_out(argv: list[str]) -> list[str]:
    """Returns the arguments without --out, because a folder with results takes no others."""
    kept = [word for word in argv if not word.startswith("--out=")]
    if "--out" in kept:
        at = kept.index("--out")
        del kept[at : at + 2]
    return kept


def _facts(run: RunSource) -> Iterator[tuple[str, str]]:
    header = run.results.run
    host = header.host
    yield "plan", header.plan
    yield "started", header.started
    yield "cells", f"{len(run.results.cells)} of {header.cells_planned}"
    yield "rig", f"{header.rig_version} ({header.commit or 'no commit known'})"
    yield "seed", f"{header.seed}"
    yield "QEMU", header.qemu_version or "none"
    yield "libvirt", header.libvirt_version or "none"
    yield "host", f"{host.os}, kernel {host.kernel}, {host.machine}, {host.cpus} CPUs"
    yield "host's clock", host.clocksource or "not known"
    for cpu in host.cpu:
        told = [
            f"capacity {cpu.capacity}" if cpu.capacity else "",
            f"{cpu.khz_min or 0} to {cpu.khz_max} kHz" if cpu.khz_max else "",
            f"governor {cpu.governor}" if cpu.governor else "",
            f"idle states {', '.join(cpu.idle_states)}" if cpu.idle_states else "",
        ]
        yield f"CPU {cpu.cpu}", "; ".join(filter(None, told)) or "nothing known"
    yield "archive", "as locked" if header.lock == "same" else "has moved on since it was locked"
    for kernel in dict.fromkeys(c.guest.kernel for c in run.results.cells if c.guest.kernel):
        yield "kernel of cells", kernel
    for name, sha256 in header.image_digests.items():
        yield f"SHA-256 of {name}", sha256[:SHOWN_DIGITS]
