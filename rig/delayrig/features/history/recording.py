# SPDX-License-Identifier: GPL-2.0-or-later
"""The history options of `run` and `gate`, and keeping their runs."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

import click

from delayrig.base.errors import RigError
from delayrig.cli.command import gathered
from delayrig.cli.verbosity import make_console
from delayrig.features.history.address import VARIABLE, Address, find_address, without_passwords
from delayrig.model.result import Results
from delayrig.present.console import say

history_url = click.option(
    "--history",
    "url",
    metavar="URL",
    help=f"The database of runs, as SQLAlchemy takes it; default: ${VARIABLE}, else SQLite"
    " among the user's data.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryOptions:
    url: str | None
    none: bool

    def address(self) -> Address | None:
        """Returns the history; None if nothing is kept. Raises `BadInputError` for a wrong URL."""
        return None if self.none else find_address(self.url, os.environ)


history_options = gathered(
    "history",
    HistoryOptions,
    history_url,
    click.option("--no-history", "none", is_flag=True, help="Keeps this run in no history."),
)
"""The options `--history` and `--no-history`, passed to the command as `history`."""


def own_words() -> list[str]:
    """Returns the command line without passwords."""
    return without_passwords(sys.argv[1:])


def record(address: Address | None, out: Path, results: Results | None = None) -> None:
    """Keeps a run with these results, or else the gate in `out` with its runs.

    If that fails it prints a warning, and neither is affected.
    """
    if address is None:
        return
    console = make_console(stderr=True)
    try:
        from delayrig.features.history.rows import finished_gate, finished_run
        from delayrig.features.history.store import History

        runs, decision = ([finished_run(results)], None) if results else finished_gate(out)
        added = History(address).add(runs, decision)
    except Exception as error:  # noqa: BLE001 (whatever it is, the run is on disk and whole)
        why = error.message if isinstance(error, RigError) else f"{type(error).__name__}: {error}"
        lines = [f"warning: not kept in the history: {why}"]
        lines += [f"  {error.hint}"] if isinstance(error, RigError) and error.hint else []
        lines += [f"  the run itself is whole; `rig/rig history add {out}` keeps it later"]
    else:
        numbers = ", ".join(str(number) for number in added.numbers)
        lines = [f"history: {numbers} in {address.label}"]
    say(console, *lines)
