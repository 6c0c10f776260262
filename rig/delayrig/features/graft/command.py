# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig graft`: our delay layer in a user's flashrom tree, built, tested and gated."""

import shlex
import sys
from pathlib import Path

import click
import msgspec

from delayrig.base.atomic_file import write_atomically, write_json
from delayrig.base.errors import BadInputError, ExitCode
from delayrig.base.paths import find_paths
from delayrig.cli.command import RigCommand
from delayrig.cli.option_types import PLAN_NAME
from delayrig.cli.verbosity import Verbosity, is_plain, note, print_json, tables_or_json, verbosity
from delayrig.features.graft import pipeline
from delayrig.features.history.recording import own_words
from delayrig.run.out_folder import default_out

VERBOSITY_WORDS = {Verbosity.QUIET: ["-q"], Verbosity.USUAL: [], Verbosity.VERBOSE: ["-v"]}


@click.command(cls=RigCommand)
@click.argument("tree", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--out", type=click.Path(path_type=Path), help="Folder for both trees and answers.")
@click.option(
    "--patches",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Builds each step, then writes the patches for `git am` there; tests and gates nothing.",
)
@click.option("--no-tests", is_flag=True, help="Leaves out the tree's own tests.")
@click.option("--no-gate", is_flag=True, help="Leaves out the gate.")
@click.option("--plan", type=PLAN_NAME, help="Plan of the gate.  [default: gate]")
@click.option("--jobs", type=click.IntRange(1), help="Cells of the gate at a time.")
@click.option("--dry-run", is_flag=True, help="Says what it would change, and ends.")
@tables_or_json
def graft(
    tree: Path,
    out: Path | None,
    patches: Path | None,
    no_tests: bool,
    no_gate: bool,
    plan: str | None,
    jobs: int | None,
    dry_run: bool,
) -> None:
    """Puts our delay layer into TREE, a flashrom source tree, and shows the effect.

    TREE stays as it is: a copy is changed, in the proposal's four steps, each of which must build.
    Both trees run their own tests, then the copy is gated against the original. The folder has the
    patches, and `summary.txt` for a mail. A tree that does not fit is refused beforehand.

    Exit codes are those of `gate`; 2 also if a tree is unsuitable or does not build, or if tests of
    its own fail that passed before.
    """
    planned = pipeline.plan_graft(tree, find_paths().checkout)
    if dry_run:
        _print_steps(planned.graft)
        return
    if patches:
        pipeline.check_folder(tree, patches)
        _print_steps(pipeline.graft_patches(planned, patches, note))
        click.echo(f"patches: {patches}, for `git am --signoff`")
        return
    folder = out or default_out("graft")
    pipeline.check_folder(tree, folder)
    options = ["--plan", plan] if plan else []
    options += ["--jobs", str(jobs)] if jobs else []
    options += ["--no-color"] if is_plain() else []
    options += VERBOSITY_WORDS[verbosity()]
    sys.exit(_graft(planned, folder, None if no_gate else options, tests=not no_tests))


def _print_steps(done: pipeline.Graft) -> None:
    print_json(done)
    for number, step in enumerate(done.steps, 1):
        click.echo(f"{number}. {step.title}\n   {', '.join(step.files)}")


def _graft(
    planned: pipeline.Planned, out: Path, gate_options: list[str] | None, *, tests: bool
) -> int:
    done = pipeline.graft_copy(planned, out, note, tests=tests)
    broken, shown = pipeline.tests_broken(done), verbosity() is not Verbosity.QUIET
    if gate_options is not None and not broken:
        done = msgspec.structs.replace(
            done, gate=pipeline.gate_graft(done, out, gate_options, shown=shown)
        )
    mail = pipeline.mail_of(done, shlex.join(["rig/rig", *own_words()]))
    write_atomically(out / pipeline.SUMMARY, mail.encode())
    write_json(out / pipeline.FILE_NAME, done)
    print_json(done)
    click.echo(f"{mail}\nsummary: {out / pipeline.SUMMARY}; patches: {out / 'patches'}")
    if broken:
        raise BadInputError(
            "tests of the tree fail that passed before", hint=f"see {out / 'grafted.log'}"
        )
    return done.gate.exit_code if done.gate else ExitCode.PASS
