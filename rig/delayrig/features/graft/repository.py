# SPDX-License-Identifier: GPL-2.0-or-later
"""A separate git repository for the copy of a tree: a commit for each step, and their patches."""

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from delayrig.base.die_with_parent import die_with_parent
from delayrig.base.errors import RigFaultError
from delayrig.features.graft.steps import Step
from delayrig.features.graft.tree import left_out, write_texts

AS_FOUND = "The tree as it was found"
FOUND, GRAFT = "as-found", "graft"
# The copy is ours, so the user's hooks, signatures and line ends must not apply to it.
SETTINGS = {
    "core.hooksPath": os.devnull,
    "core.autocrlf": "false",
    "commit.gpgsign": "false",
    "init.defaultBranch": GRAFT,
    "advice.detachedHead": "false",
}
OUTSIDE = re.compile(r"GIT_(?!AUTHOR|COMMITTER)")
NOBODY = {"user.name": "flashrom delay rig", "user.email": "rig@localhost"}
"""The author if git knows no name for the user."""


def copy_tree(root: Path, folder: Path) -> None:
    """Copies the tree into a new git repository, without `.git` and meson's build folders."""
    shutil.copytree(root, folder, symlinks=True, ignore=left_out)
    _git(folder, "init", "--quiet", "--template=")
    _commit(folder, AS_FOUND)
    _git(folder, "tag", FOUND)


def copy_as_found(grafted: Path, folder: Path) -> None:
    """Checks out the tree without the graft to `folder`, as a worktree of `grafted`."""
    _git(grafted, "worktree", "add", "--quiet", "--detach", str(folder.absolute()), FOUND)


def take_step(copy: Path, number: int, count: int) -> None:
    """Checks out the state after the first `number` of `count` steps."""
    _git(copy, "checkout", "--quiet", "--detach", f"{GRAFT}~{count - number}")


def drop_copy(grafted: Path, folder: Path) -> None:
    _git(grafted, "worktree", "remove", "--force", str(folder.absolute()))


def commit_steps(folder: Path, steps: Sequence[Step]) -> None:
    for step in steps:
        write_texts(folder, step.changed)
        _commit(folder, step.message)


def write_patches(folder: Path, to: Path) -> list[str]:
    """Writes the patches for `git am`; returns their names, in order."""
    words = ("format-patch", "--quiet", "--no-signature", "--output-directory", str(to.absolute()))
    _git(folder, *words, FOUND)
    return sorted(path.name for path in to.glob("*.patch"))


def changed_lines(folder: Path) -> str:
    """Returns the changed files of the whole graft, each with its number of changed lines."""
    return _git(folder, "diff", "--stat=72", FOUND, "HEAD")


def _commit(folder: Path, message: str) -> None:
    _git(folder, "add", "--all", "--force", ".")
    _git(folder, "commit", "--quiet", "--allow-empty", f"--message={message}")


def _git(folder: Path, *words: str) -> str:
    known = _run(folder, "var", "GIT_AUTHOR_IDENT").returncode == 0
    settings = SETTINGS if known else SETTINGS | NOBODY
    options = [word for key, value in settings.items() for word in ("-c", f"{key}={value}")]
    done = _run(folder, *options, *words)
    if done.returncode != 0:
        raise RigFaultError(
            f"git {words[0]} in {folder} ended with {done.returncode}: {done.stderr.strip()}",
            hint="run it there by hand",
        )
    return done.stdout


def _run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    # If the rig runs inside a git hook, these variables name another repository.
    meant = {name: text for name, text in os.environ.items() if not OUTSIDE.match(name)}
    return subprocess.run(
        die_with_parent(["git", *words]),
        cwd=folder,
        env=meant,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
