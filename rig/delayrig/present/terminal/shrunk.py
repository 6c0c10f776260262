# SPDX-License-Identifier: GPL-2.0-or-later
"""How a conviction got simpler."""

import shlex

import click

from delayrig.analysis.shrink import Shrunk, Step


def show_step(step: Step) -> None:
    """One attempt to make a cell simpler."""
    click.echo(f"{'kept' if step.kept else 'no  '}  {step.what}: {step.verdict}")


def show_shrunk(shrunk: Shrunk, plan: str) -> None:
    """What was found, why, and the line that runs it."""
    click.echo()
    if not shrunk.complete:
        click.echo("The time was up: there may be a simpler one.")
    click.echo(f"{shrunk.result.verdict} {shrunk.cell.id}")
    click.echo(f"  {shrunk.result.reason}")
    click.echo(shlex.join(["rig/rig", "run", "--plan", plan, "--seed", str(shrunk.cell.seed)]))
