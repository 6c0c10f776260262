# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line: `rig/rig` and the list of its subcommands."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from delayrig import __version__
from delayrig.base.toml import complete_types
from delayrig.cli.command import INTERRUPTED, drop_output
from delayrig.cli.option_types import add_tree_option
from delayrig.cli.verbosity import add_verbosity
from delayrig.features.bug_report import bug_report
from delayrig.features.cluster import scheduler, worker
from delayrig.features.completion import completion
from delayrig.features.coverage.command import coverage
from delayrig.features.documents.command import measure, reference
from delayrig.features.export import export, schema, trace
from delayrig.features.faults.command import faults
from delayrig.features.figures import compare, parts, times, waste
from delayrig.features.find.command import find
from delayrig.features.gate.command import gate
from delayrig.features.graft.command import graft
from delayrig.features.history.command import history
from delayrig.features.images import images
from delayrig.features.latency.command import latency, wakeup
from delayrig.features.like.command import like
from delayrig.features.lists import chips, hazards, machines, plans, subjects
from delayrig.features.proposal.command import proposal
from delayrig.features.report.command import report
from delayrig.features.repro.command import repro, shrink
from delayrig.features.run.command import run
from delayrig.features.run.repeat import repeat_cells
from delayrig.features.run.try_cells import try_flashrom
from delayrig.features.selfcheck.command import benchmark, selfcheck
from delayrig.features.survey.command import survey
from delayrig.features.threshold.command import threshold

COMMANDS: tuple[click.Command, ...] = (
    *(run, try_flashrom, like, gate, repro, repeat_cells, shrink, find, compare, faults),
    *(report, bug_report, coverage, history, times, waste, trace, parts, export, schema),
    *(threshold, survey, proposal, graft),
    *(plans, chips, hazards, machines, subjects),
    *(worker, scheduler),
    *(latency, wakeup, benchmark, selfcheck, images, completion, reference, measure),
)
SETUP_HELP = """\
The launcher sets up what is missing before it runs a command. It has commands and options of its
own; the options may stand anywhere:

\b
  rig/rig setup     installs, builds and fetches everything now
  rig/rig doctor    says what is wrong with this installation
  rig/rig clean     removes all that set-up made
  --yes             sets up without asking
  --no-install      never installs a package
  --container       runs the command in a container (podman or docker)
  --archive URI     takes subjects and guests from this Debian archive
"""


class _Rig(click.Group):
    """The group of all commands.

    It exits as other programs do if it is interrupted or if its output is closed. Click would exit
    with 1, which means that a wait was too short.
    """

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        with _usual_exit_codes():
            return super().make_context(*args, **kwargs)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        for word in args:
            if any("\ud800" <= letter <= "\udfff" for letter in word):
                ctx.fail(f"{word!a} is not in UTF-8, as the rig's files are: rename it")
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        with _usual_exit_codes():
            return super().invoke(ctx)


@contextmanager
def _usual_exit_codes() -> Iterator[None]:
    try:
        yield
    except (KeyboardInterrupt, EOFError, click.Abort):
        click.echo("interrupted", err=True)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        sys.exit(drop_output())


@click.group(
    cls=_Rig,
    epilog=SETUP_HELP,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="rig/rig")
def main() -> None:
    """Runs flashrom in guests of many speeds against chips that keep their own time.

    It answers whether any operation was timed too short, and how long programming took.
    """
    complete_types()


for command in COMMANDS:
    add_tree_option(command)
    add_verbosity(command)
    main.add_command(command)
