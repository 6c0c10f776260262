# SPDX-License-Identifier: GPL-2.0-or-later
"""A fault campaign, run by run."""

import click

from delayrig.analysis.faults.campaign import EmulatorEnd, FaultRun
from delayrig.analysis.faults.scenario import is_finding


def show_fault_run(run: FaultRun) -> None:
    """One line of a fault campaign; what it found, and how to see it again."""
    scenario = run.scenario
    told = (
        f"{run.end:8} {run.subject} {scenario.run}: {scenario.chip} {scenario.job} {scenario.fault}"
    )
    click.echo(f"{told} ({run.faults} faults, {run.host_s:.1f} s)")
    if is_finding(run.end) or run.emulator is EmulatorEnd.FAILED:
        click.echo(f"    exit code {run.exit_code}, emulator {run.emulator}; it said: {run.said}")
        click.echo(f"    again: {run.rerun}")
