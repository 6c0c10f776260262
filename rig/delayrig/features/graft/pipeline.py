# SPDX-License-Identifier: GPL-2.0-or-later
"""One graft from the tree to the summary: check, copy, commit, build, test, gate.

`graft.json` is for programs, `summary.txt` for a mail. The copy is a git repository of its own,
with a commit for each step.
"""

import os
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec.structs import replace

from delayrig.base.die_with_parent import die_with_parent
from delayrig.base.errors import BadInputError, RigFaultError
from delayrig.base.scratch import ScratchFolder
from delayrig.decision.decision import FILE_NAME as GATE_FILE
from delayrig.decision.decision import Decision, read_decision
from delayrig.features.graft.build import Built, DoesNotBuildError, OwnTests, build
from delayrig.features.graft.build_files import UnknownBuildError
from delayrig.features.graft.steps import Step, plan_steps, read_ours
from delayrig.features.graft.tree import (
    TOP_FILE,
    Tree,
    find_tree,
    left_out,
    read_texts,
    write_texts,
)
from delayrig.model.cell import Role
from delayrig.model.result import UNSAFE

SCHEMA = 1
FILE_NAME, SUMMARY = "graft.json", "summary.txt"
WIDTH = 72
FIGURES = ("time", "CPU time")
ABOUT = """\
These patches put a delay layer into flashrom that waits by the OS clock
alone: nothing is calibrated, signals cut no wait short, and waits from
100 us on sleep."""
ORIGINAL, GRAFTED, STEPS = "original", "grafted", "steps"
PATCHES, GATE = "patches", "gate"
STANDARD_ERROR = 2
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


class StepDone(msgspec.Struct, frozen=True, kw_only=True):
    title: str
    files: list[str]


class Graft(msgspec.Struct, frozen=True, kw_only=True):
    """The content of `graft.json`. A part that was not requested is empty or None."""

    schema: int = SCHEMA
    tree: str
    system: str
    steps: list[StepDone]
    patches: list[str] = []
    lines: str = ""
    """The files that the graft changed, each with its number of changed lines."""
    original: Built | None = None
    grafted: Built | None = None
    gate: Decision | None = None


def mail_of(graft: Graft, again: str) -> str:
    """Returns the summary, in lines that fit a mail."""
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
        for built, name in ((graft.original, "the original"), (graft.grafted, "the graft")):
            line = line.replace(f"path:{built.program}", name) if built else line
        yield textwrap.indent(textwrap.fill(line, WIDTH - 2), "  ")
    yield ""
    before = sum(cell.baseline in UNSAFE for cell in measured)
    now = sum(cell.candidate in UNSAFE for cell in measured)
    yield _row("cells with a fault", str(before), str(now))
    for figure in FIGURES:
        items = [item for cell in measured for item in cell.excess if item.figure == figure]
        before_ns = sum(item.baseline_ns for item in items)
        now_ns = sum(item.candidate_ns for item in items)
        if before_ns:
            change = f"{100 * (now_ns - before_ns) / before_ns:+.1f} %"
            yield _row(figure, f"{before_ns / 1e9:.3f} s", f"{now_ns / 1e9:.3f} s", change)


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
    """Returns the plan; raises `BadInputError` if the graft does not fit."""
    # Another folder may hold very many texts, so they are not read.
    texts = read_texts(root) if (root / TOP_FILE).is_file() else {}
    try:
        tree = find_tree(root, texts)
        steps = plan_steps(tree, texts, read_ours(checkout))
    except UnknownBuildError as error:
        raise BadInputError(f"{root}/{error.message}", hint=error.hint) from error
    return Planned(root=root, tree=tree, steps=steps)


def check_folder(root: Path, folder: Path) -> None:
    """Raises `BadInputError` if `folder` is in the tree `root`, or exists and is not empty."""
    if folder.resolve().is_relative_to(root.resolve()):
        raise BadInputError(
            f"{folder}: lies in {root}, which is to stay as it is",
            hint="name another folder with --out or --patches",
        )
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadInputError(f"{folder}: is there already", hint="name a folder that does not exist")


def graft_patches(planned: Planned, to: Path, say: Callable[[str], None]) -> Graft:
    """Builds the tree before and after each step, and writes the patches. All else is temporary."""
    with ScratchFolder() as name:
        folder = Path(name, GRAFTED)
        copy_tree(planned, folder)
        build_steps(planned, folder, Path(name), say, range(len(planned.steps) + 1))
        return with_patches(planned, folder, to)


def graft_copy(planned: Planned, out: Path, say: Callable[[str], None], *, tests: bool) -> Graft:
    """Makes and builds both trees in `out`, builds each step between, then writes the patches.

    With `tests`, it also runs the tests of both trees, but not those of the steps between.
    """
    out.mkdir(parents=True, exist_ok=True)
    say("copying the tree")
    copy_tree(planned, out / GRAFTED)
    copy_as_found(out / GRAFTED, out / ORIGINAL)
    say(f"building {ORIGINAL}")
    original = build(out / ORIGINAL, planned.tree, out / f"{ORIGINAL}.log", tests=tests)
    with ScratchFolder() as name:
        between = range(1, len(planned.steps))
        build_steps(planned, out / GRAFTED, Path(name), say, between)
    say(f"building {GRAFTED}")
    with _blamed_on(planned, len(planned.steps)):
        grafted = build(out / GRAFTED, planned.tree, out / f"{GRAFTED}.log", tests=tests)
    done = with_patches(planned, out / GRAFTED, out / PATCHES)
    return replace(done, original=original, grafted=grafted)


def build_steps(
    planned: Planned, grafted: Path, scratch: Path, say: Callable[[str], None], numbers: range
) -> None:
    """Builds the tree after each of these numbers of steps, from the commits of `grafted`."""
    folder, log = scratch / STEPS, scratch / f"{STEPS}.log"
    copy_as_found(grafted, folder)
    try:
        for number in numbers:
            say(f"building with step {number}" if number else f"building {ORIGINAL}")
            left = len(planned.steps) - number
            _git(folder, "checkout", "--quiet", "--detach", f"{GRAFT}~{left}")
            with _blamed_on(planned, number):
                build(folder, planned.tree, log, tests=False)
    finally:
        _git(grafted, "worktree", "remove", "--force", str(folder.absolute()))


@contextmanager
def _blamed_on(planned: Planned, number: int) -> Iterator[None]:
    """Raises `BadInputError` for a failed build: the tree is at fault at step 0, else the graft."""
    try:
        yield
    except DoesNotBuildError as error:
        if number == 0:
            raise BadInputError(
                f"{planned.root}: could not be built:\n{error.tail}",
                hint="install what is missing, and start again; --out keeps the build's output",
            ) from error
        title = planned.steps[number - 1].title
        raise BadInputError(
            f"{planned.root}: the graft does not fit: with step {number} ({title}) the tree does"
            f" not build any more:\n{error.tail}",
            hint="no patch was written; the graft does not support the build of this tree yet",
        ) from error


def gate_graft(graft: Graft, out: Path, options: Sequence[str], *, shown: bool) -> Decision:
    """Runs `rig/rig gate` with the grafted tree against the original; returns the decision."""
    assert graft.original is not None
    assert graft.grafted is not None
    sides = ["--baseline", f"path:{graft.original.program}"]
    sides += ["--candidate", f"path:{graft.grafted.program}"]
    words = ["-P", "-m", "delayrig", "gate", *sides, "--out", str(out / GATE), *options]
    # Standard output is for the summary, which contains the gate's answer.
    where = STANDARD_ERROR if shown else subprocess.DEVNULL
    subprocess.run(die_with_parent([sys.executable, *words]), stdout=where, check=False)
    if not (out / GATE / GATE_FILE).is_file():
        raise RigFaultError("the gate came to no decision", hint="its output is above")
    return read_decision(out / GATE)


def tests_broken(graft: Graft) -> bool:
    """Returns True if more of the tree's own tests fail after the graft."""
    before = graft.original.tests if graft.original else None
    now = graft.grafted.tests if graft.grafted else None
    return bool(before and now and now.failed > before.failed)


def copy_tree(planned: Planned, folder: Path) -> None:
    """Copies the tree into a new git repository, and commits each step of the graft there.

    The copy has no `.git` of the tree, and none of meson's build folders.
    """
    shutil.copytree(planned.root, folder, symlinks=True, ignore=left_out)
    _git(folder, "init", "--quiet", "--template=")
    _commit(folder, AS_FOUND)
    _git(folder, "tag", FOUND)
    for step in planned.steps:
        write_texts(folder, step.changed)
        _commit(folder, step.message)


def copy_as_found(grafted: Path, folder: Path) -> None:
    """Checks out the tree without the graft to `folder`, as a worktree of `grafted`."""
    _git(grafted, "worktree", "add", "--quiet", "--detach", str(folder.absolute()), FOUND)


def with_patches(planned: Planned, folder: Path, to: Path) -> Graft:
    """Writes the patches for `git am`; returns the graft with their names and changed lines."""
    to.mkdir(parents=True, exist_ok=True)
    words = ("format-patch", "--quiet", "--no-signature", "--output-directory", str(to.absolute()))
    _git(folder, *words, FOUND)
    patches = sorted(path.name for path in to.glob("*.patch"))
    lines = _git(folder, "diff", "--stat=72", FOUND, "HEAD")
    return replace(planned.graft, patches=patches, lines=lines)


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
    # Inside a hook, git's variables name another repository, so git must not see them here.
    environment = {name: text for name, text in os.environ.items() if not OUTSIDE.match(name)}
    return subprocess.run(
        die_with_parent(["git", *words]),
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
