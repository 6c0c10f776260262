# SPDX-License-Identifier: GPL-2.0-or-later
"""What a graft came to: `graft.json` for programs, `summary.txt` for a mail."""

import textwrap
from collections.abc import Iterator

import msgspec

from delayrig.analysis.gate.decision import Decision, Excess
from delayrig.analysis.graft.build import Built, OwnTests
from delayrig.judge.exit_code import UNSAFE
from delayrig.model.cell import Role

SCHEMA = 1
FILE_NAME, SUMMARY = "graft.json", "summary.txt"
WIDTH = 72
FIGURES = ("time", "CPU time")
ABOUT = """\
These patches put a delay layer into flashrom that waits by the OS clock
alone: nothing is calibrated, signals cut no wait short, and waits from
100 us on sleep."""


class StepDone(msgspec.Struct, frozen=True, kw_only=True):
    title: str
    files: list[str]


class Graft(msgspec.Struct, frozen=True, kw_only=True):
    """The whole answer; what was not asked for is None."""

    schema: int = SCHEMA
    tree: str
    system: str
    steps: list[StepDone]
    patches: list[str] = []
    lines: str = ""
    """Which files the graft changed, by how many lines."""
    original: Built | None = None
    grafted: Built | None = None
    gate: Decision | None = None


def mail_of(graft: Graft, again: str) -> str:
    """The summary, in lines that fit a mail."""
    count = len(graft.steps)
    parts = [
        f"Subject: [PATCH 0/{count}] Delays by the OS clock",
        ABOUT,
        "\n".join(f"  {n}/{count}  {step.title}" for n, step in enumerate(graft.steps, 1)),
        graft.lines.rstrip("\n"),
        "\n".join(_built(graft)),
        "\n".join(_gated(graft, graft.gate)) if graft.gate else "",
        f"Made by: {again}",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _built(graft: Graft) -> Iterator[str]:
    if graft.original is None or graft.grafted is None:
        return
    before, now = graft.original, graft.grafted
    yield f"{'':22}{'before':>20}{'now':>20}"
    yield _row(f"warnings ({graft.system})", str(before.warnings), str(now.warnings))
    if before.tests and now.tests:
        yield _row("the tree's own tests", _tests(before.tests), _tests(now.tests))


def _row(what: str, before: str, now: str, change: str = "") -> str:
    return f"{what:22}{before:>20}{now:>20}{change:>10}".rstrip()


def _tests(tests: OwnTests) -> str:
    count = tests.passed + tests.failed
    return f"{tests.passed} of {count} pass" if count else "none were run"


def _gated(graft: Graft, decision: Decision) -> Iterator[str]:
    measured = [cell for cell in decision.cells if cell.role == Role.MEASURE]
    yield f"Gate, plan '{decision.plan}', cells for each: {len(measured)}"
    for line in decision.lines:
        yield textwrap.indent(textwrap.fill(_without_paths(line, graft), WIDTH - 2), "  ")
    yield ""
    before = sum(cell.baseline in UNSAFE for cell in measured)
    now = sum(cell.candidate in UNSAFE for cell in measured)
    yield _row("cells with a fault", str(before), str(now))
    for figure in FIGURES:
        yield from _total([item for c in measured for item in c.excess if item.figure == figure])


def _without_paths(line: str, graft: Graft) -> str:
    for built, name in ((graft.original, "the original"), (graft.grafted, "the graft")):
        line = line.replace(f"path:{built.program}", name) if built else line
    return line


def _total(items: list[Excess]) -> Iterator[str]:
    before_ns = sum(item.baseline_ns for item in items)
    now_ns = sum(item.candidate_ns for item in items)
    if before_ns:
        change = f"{100 * (now_ns - before_ns) / before_ns:+.1f} %"
        yield _row(items[0].figure, f"{before_ns / 1e9:.3f} s", f"{now_ns / 1e9:.3f} s", change)
