# SPDX-License-Identifier: GPL-2.0-or-later
"""One graft from the tree to the summary: look, copy, commit, build, test, gate."""

import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from delayrig.analysis.gate.decision import FILE_NAME as GATE_FILE
from delayrig.analysis.gate.decision import Decision, read_decision
from delayrig.analysis.graft.build import Built, build
from delayrig.analysis.graft.repository import (
    changed_lines,
    commit_steps,
    copy_as_found,
    copy_tree,
    write_patches,
)
from delayrig.analysis.graft.steps import Step, plan_steps, read_ours
from delayrig.analysis.graft.summary import Graft, StepDone
from delayrig.analysis.graft.tree import Tree, find_tree, read_texts
from delayrig.base.die_with_parent import die_with_parent
from delayrig.base.errors import BadInputError, RigFaultError
from delayrig.base.scratch import ScratchFolder

ORIGINAL, GRAFTED, PATCHES, GATE = "original", "grafted", "patches", "gate"
STANDARD_ERROR = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A tree that the graft fits. Nothing is written yet."""

    root: Path
    tree: Tree
    steps: list[Step]

    @property
    def graft(self) -> Graft:
        done = [StepDone(title=step.title, files=sorted(step.changed)) for step in self.steps]
        return Graft(tree=str(self.root), system=self.tree.system, steps=done)


def plan_graft(root: Path, checkout: Path) -> Planned:
    """Raises `BadInputError` where the graft does not fit."""
    texts = read_texts(root)
    tree = find_tree(root, texts)
    return Planned(root=root, tree=tree, steps=plan_steps(tree, texts, read_ours(checkout)))


def check_folder(root: Path, folder: Path) -> None:
    """Whether `folder` may be made; raises `BadInputError`."""
    if folder.resolve().is_relative_to(root.resolve()):
        raise BadInputError(
            f"{folder}: lies in {root}, which is to stay as it is",
            hint="name another folder by --out or --patches",
        )
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadInputError(f"{folder}: is there already", hint="name a folder that is not")


def graft_patches(planned: Planned, to: Path) -> Graft:
    """Writes the series, and nothing else that stays."""
    with ScratchFolder() as name:
        scratch = Path(name)
        copy_tree(planned.root, scratch / GRAFTED)
        commit_steps(scratch / GRAFTED, planned.steps)
        to.mkdir(parents=True, exist_ok=True)
        patches = write_patches(scratch / GRAFTED, to)
        lines = changed_lines(scratch / GRAFTED)
    return msgspec.structs.replace(planned.graft, patches=patches, lines=lines)


def graft_copy(planned: Planned, out: Path, say: Callable[[str], None], *, tests: bool) -> Graft:
    """Makes both trees and the series in `out`, and builds and tests both trees."""
    out.mkdir(parents=True, exist_ok=True)
    say("copying the tree")
    copy_tree(planned.root, out / GRAFTED)
    copy_as_found(out / GRAFTED, out / ORIGINAL)
    commit_steps(out / GRAFTED, planned.steps)
    patches = write_patches(out / GRAFTED, out / PATCHES)
    built: dict[str, Built] = {}
    for side in (ORIGINAL, GRAFTED):
        say(f"building {side}")
        built[side] = build(out / side, planned.tree, out / f"{side}.log", tests=tests)
    return msgspec.structs.replace(
        planned.graft,
        patches=patches,
        lines=changed_lines(out / GRAFTED),
        original=built[ORIGINAL],
        grafted=built[GRAFTED],
    )


def gate_graft(graft: Graft, out: Path, options: Sequence[str], *, shown: bool) -> Decision:
    """The one against the other, by the command that everybody gates with."""
    assert graft.original is not None
    assert graft.grafted is not None
    sides = ["--baseline", f"path:{graft.original.program}"]
    sides += ["--candidate", f"path:{graft.grafted.program}"]
    words = ["-P", "-m", "delayrig", "gate", *sides, "--out", str(out / GATE), *options]
    # Its answer is in the summary.
    where = STANDARD_ERROR if shown else subprocess.DEVNULL
    subprocess.run(die_with_parent([sys.executable, *words]), stdout=where, check=False)
    if not (out / GATE / GATE_FILE).is_file():
        raise RigFaultError("the gate came to no decision", hint="its own words are above")
    return read_decision(out / GATE)


def tests_broken(graft: Graft) -> bool:
    """Whether the tree's own tests liked the original better."""
    before = graft.original.tests if graft.original else None
    now = graft.grafted.tests if graft.grafted else None
    return bool(before and now and now.failed > before.failed)
