# SPDX-License-Identifier: GPL-2.0-or-later
"""The common options of commands that run cells: which cells, and how."""

from dataclasses import dataclass, replace
from pathlib import Path

import click

from delayrig.base.paths import Paths
from delayrig.cli.command import UNCONFINED, Decorator, gathered, is_unconfined
from delayrig.cli.option_types import CELL, SUBJECT, plan_option, seed_option
from delayrig.cli.verbosity import note, noted
from delayrig.model.cell import Programmer
from delayrig.model.lane import LaneName
from delayrig.model.result import FILE_NAME as RESULTS
from delayrig.plan.check import CheckedPlan
from delayrig.plan.cluster import ClusterOptions, check_cluster
from delayrig.plan.request import (
    Choice,
    Request,
    cells_chosen,
    check_connect,
    read_checked_plan,
)
from delayrig.run.cluster.other_users import require_trust
from delayrig.run.out_folder import checked_out
from delayrig.subjects.delay_function import DelayOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterGiven:
    address: str | None
    tls: Path | None
    everyone: bool

    def options(self) -> ClusterOptions | None:
        """Returns the cluster, or None if all cells run here.

        Raises `BadInputError` for a wrong address, or one that other users can reach without TLS.
        """
        if not self.address:
            return None
        options = check_cluster(self.address, self.tls)
        if options.address:
            refuse_other_users(options, who="client of the scheduler", everyone=self.everyone)
        return options


def refuse_other_users(options: ClusterOptions, *, who: str, everyone: bool) -> None:
    """Refuses an address that other users can reach without TLS; warns of any other without TLS."""
    require_trust(options, who=who, everyone=everyone)
    if options.tls is None:
        note(f"warning: without --tls others can run any program as the {who}")


@dataclass(frozen=True, slots=True, kw_only=True)
class CellsOptions:
    plan: str
    subjects: tuple[str, ...]
    lane: LaneName | None
    patterns: tuple[str, ...]
    out: Path | None
    jobs: int | None
    seed: int
    connect: str | None
    cluster: ClusterGiven
    programmers: tuple[Programmer, ...]

    def read_plan(self, paths: Paths) -> CheckedPlan:
        return read_checked_plan(self.plan, subjects=self.subjects, paths=paths, lane=self.lane)

    def choose(self, plan: CheckedPlan) -> Choice:
        """Returns the chosen cells, and warns of a pattern that matches none of them.

        Raises `BadInputError` if there are none at all.
        """
        choice = cells_chosen(
            plan, patterns=self.patterns, seed=self.seed, programmers=self.programmers
        )
        for pattern in choice.unmatched:
            note(f"warning: no cell of {self.plan} matches --cell {pattern}")
        return choice

    def request(
        self,
        choice: Choice,
        argv: list[str],
        *,
        default_out: str = "",
        leaves: str = RESULTS,
        delay: DelayOptions | None = None,
        resume: bool = False,
    ) -> Request:
        """Returns a request to run `choice` in the user's folder, or else in one of a default name.

        A file `leaves` in the folder shows that an earlier run is there. Raises `BadInputError` for
        a folder that cannot be used, or if `connect` cannot run a cell.
        """
        folder = checked_out(
            self.out,
            choice.cells,
            by_default=default_out or self.plan,
            leaves=leaves,
            resume=resume,
        )
        check_connect(self.connect, choice.cells)
        return replace(
            choice.request(self.plan, folder, seed=self.seed, argv=argv, jobs=self.jobs),
            contrasts=choice.contrasts,
            connect=self.connect,
            cluster=self.cluster.options(),
            unconfined=is_unconfined(),
            programmers=self.programmers,
            delay=delay or DelayOptions(),
            resume=resume,
        )


lane_option = click.option(
    "--lane",
    type=click.Choice([name.value for name in LaneName]),
    callback=lambda _context, _option, given: LaneName(given) if given else None,
    help="Lane of the cells; default: the plan's. `host` needs no QEMU.",
)


unconfined_option = click.option(
    "--unconfined",
    is_flag=True,
    expose_value=False,
    callback=noted(UNCONFINED),
    help="Lane host: the subject runs with all your rights.",
)


connect_option = click.option(
    "--connect", metavar="URI", help="Runs guests through this libvirt; `embed` needs no daemon."
)
patterns_option = click.option(
    "--cell", "patterns", type=CELL, multiple=True, help="Only cells whose id matches; repeatable."
)
programmers_option = click.option(
    "--programmer",
    "programmers",
    metavar="PROGRAMMER",
    type=click.Choice([name.value for name in Programmer]),
    multiple=True,
    callback=lambda _context, _option, given: tuple(map(Programmer, given)),
    help="Programmer in place of serprog, where it reaches the chip; repeatable.",
)
tls_option = click.option(
    "--tls",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder with ca.pem, cert.pem and key.pem; other machines need it, except with k8s:FILE.",
)
trust_option = click.option(
    "--trust-everyone-here",
    "everyone",
    is_flag=True,
    help="Works without --tls; other users of this machine can then run programs as you.",
)


cluster_options = gathered(
    "cluster",
    ClusterGiven,
    click.option(
        "--cluster",
        "address",
        metavar="ADDRESS",
        help="Runs cells of virtual time on the workers of this scheduler: tcp://HOST:PORT."
        " local:N starts N workers here; slurm:FILE, pbs:FILE and k8s:FILE start them there.",
    ),
    tls_option,
    trust_option,
)
"""The options of the cluster, passed to the command as `cluster`."""


def cell_options(*, plan: str) -> Decorator:
    """Adds the options of cells, passed to the command as `cells`; `plan` is the default."""
    return gathered(
        "cells",
        CellsOptions,
        plan_option(plan),
        click.option(
            "--subject",
            "subjects",
            type=SUBJECT,
            multiple=True,
            help="Runs this flashrom instead; repeatable.",
        ),
        lane_option,
        unconfined_option,
        patterns_option,
        click.option(
            "--out", type=click.Path(path_type=Path), help="Folder for results and cells."
        ),
        click.option(
            "--jobs",
            type=click.IntRange(1),
            help="Cells at a time; default: one per CPU, per two (lane host) or per four (live).",
        ),
        seed_option,
        programmers_option,
        connect_option,
        cluster_options,
    )
