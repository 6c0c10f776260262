# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line: `rig/rig` and the list of its subcommands."""

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import click

from delayrig import __version__
from delayrig.cli.bug_report.command import bug_report
from delayrig.cli.cluster import scheduler, worker
from delayrig.cli.command import INTERRUPTED, nobody_reads
from delayrig.cli.completion import completion
from delayrig.cli.coverage import coverage
from delayrig.cli.documents import measure, reference
from delayrig.cli.export import export, schema, trace
from delayrig.cli.faults import faults
from delayrig.cli.figures import compare, parts, times, waste
from delayrig.cli.find.command import find
from delayrig.cli.gate import gate
from delayrig.cli.graft import graft
from delayrig.cli.history import history
from delayrig.cli.images import images
from delayrig.cli.latency import latency, wakeup
from delayrig.cli.like.command import like
from delayrig.cli.lists import chips, hazards, machines, plans, subjects
from delayrig.cli.option_types import add_tree_option
from delayrig.cli.proposal import proposal
from delayrig.cli.report import report
from delayrig.cli.repro import repro, shrink
from delayrig.cli.run import repeat_cells, run
from delayrig.cli.selfcheck import benchmark, selfcheck
from delayrig.cli.survey import survey
from delayrig.cli.threshold import threshold
from delayrig.cli.try_cells import try_flashrom
from delayrig.cli.verbosity import add_verbosity

P = ParamSpec("P")
R = TypeVar("R")

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
    """Ends as other programs do where it is interrupted, or where nobody reads what it says.

    Click ends with 1 there, which says that a wait was too short.
    """

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        return _ended(super().make_context)(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> object:
        return _ended(super().invoke)(ctx)


def _ended(function: Callable[P, R]) -> Callable[P, R]:
    @wraps(function)
    def inner(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except (KeyboardInterrupt, EOFError, click.Abort):
            click.echo("interrupted", err=True)
            sys.exit(INTERRUPTED)
        except BrokenPipeError:
            sys.exit(nobody_reads())

    return inner


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


for command in COMMANDS:
    add_tree_option(command)
    add_verbosity(command)
    main.add_command(command)
