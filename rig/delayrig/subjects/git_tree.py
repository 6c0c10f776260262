# SPDX-License-Identifier: GPL-2.0-or-later
"""Takes flashrom's sources from git, or from a folder as it is, and changes nothing there.

A subject's name is `git:` and the description of its commit, so it names the same sources when a
branch moves. If there are uncommitted changes, the hash of the tree is added. The state keeps the
tree of each name, so that cells can run again from any folder.

Git writes only to a repository of our own, which borrows the objects of the user's.
"""

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from delayrig.base import digest
from delayrig.base.atomic_file import replace_file, whole_folder
from delayrig.base.die_with_parent import die_with_parent
from delayrig.base.errors import BadInputError
from delayrig.base.paths import Paths
from delayrig.setup.scratch import scratch_beside

PREFIX = "git:"
"""The prefix of a revision in a subject's name; alone it means the work tree as it is."""
FOLDER = "trees"
"""The folder's name below that of the images."""
BUILD_FILES = ("meson.build", "Makefile")
"""A tree of flashrom has one of them at its top."""
DIGITS = 12
SUBJECT_MAX = 50
COMMITTED = re.compile(rf"{PREFIX}(?:.+-\d+-g)?[0-9a-f]{{{DIGITS},}}")
"""The name of a commit, as `git describe` writes it."""
# Git runs no hook and no file monitor, which would be foreign programs, and keeps line endings.
SETTINGS = ("core.hooksPath=/dev/null", "core.autocrlf=false", "core.fsmonitor=false")
MAIN_BRANCHES = ("@{upstream}", "origin/HEAD", "origin/main", "origin/master")
# In a git hook, these variables name the hook's repository, so they must not reach our git.
OUTSIDE = re.compile(r"GIT_(?!CONFIG)")


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """The tree that a subject's name refers to."""

    name: str
    tree: str
    """Git's hash of all files."""
    label: str
    """Its name in texts for people."""
    folder: str
    """The folder that it was taken from, which may have changed since."""


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """A revision, and why it was chosen."""

    revision: str
    why: str


def take_source(revision: str, folder: Path, paths: Paths) -> Source:
    """Stores the sources of a revision, or the work tree as it is if there is no revision.

    A work tree includes untracked files, but not ignored ones. Raises `BadInputError`.
    """
    tree = top_of(folder)
    top = tree or folder
    commit = _commit(top, revision) if tree or revision else ""
    if not _can_be_built(top, commit if revision else ""):
        shown = f"{PREFIX}{revision}" if revision else folder
        kind = "" if tree else "is no git work tree, and "
        raise BadInputError(
            f"{shown}: {kind}has no {' and no '.join(BUILD_FILES)} at its top",
            hint="name the top folder of a source tree of flashrom",
        )
    with _borrowing(top, paths) as ours:
        source = _of_commit(top, commit) if revision else _of_work_tree(top, commit, ours)
        _export(source, ours, paths)
    replace_file(_record(source.name, paths), msgspec.json.encode(source))
    return source


def is_known(name: str, paths: Paths) -> bool:
    """Returns True if the state knows the tree of that name."""
    return name.startswith(PREFIX) and _record(name, paths).is_file()


def known_source(name: str, paths: Paths) -> Source:
    """Returns the tree of that name; raises `BadInputError` if none was taken under it."""
    if not is_known(name, paths):
        raise BadInputError(
            f"subject {name!r} was not taken from a tree yet",
            hint="run the command in that tree, or name it with --tree DIR",
        )
    return msgspec.json.decode(_record(name, paths).read_bytes(), type=Source)


def is_uncommitted(name: str) -> bool:
    """Returns True for sources that are in no commit. Only the state that took them has them."""
    return name.startswith(PREFIX) and not COMMITTED.fullmatch(name)


def sources_of(source: Source, paths: Paths) -> Path:
    """Returns the folder of its files."""
    return paths.images / FOLDER / f"source-{source.tree}"


def top_of(folder: Path) -> Path | None:
    """Returns the top of the work tree that has tracked files there.

    Returns None without git, and if git does not trust the owner: then it is a plain folder.
    """
    done = _run(folder, "rev-parse", "--show-toplevel")
    if done.returncode != 0:
        return None
    top = Path(done.stdout.strip())
    return top if top == folder.resolve() or _git(folder, "ls-files", "--", ".") else None


def choose_baseline(folder: Path) -> Choice:
    """Returns the revision to compare the work tree with; raises `BadInputError`.

    It is the commit at which the branch left its upstream branch. If the branch has no commits of
    its own, it is the last commit if there are uncommitted changes, else the commit before.
    """
    top = top_of(folder)
    if top is None:
        raise BadInputError(
            f"--tree {folder}: is in no repository that git reads, so its baseline is unknown",
            hint="see `git status` there; or name the --baseline, which may be a folder of sources",
        )
    head = _commit(top, "")
    for branch in MAIN_BRANCHES:
        base = _run(top, "merge-base", "HEAD", branch).stdout.strip()
        if base not in ("", head):
            name = _run(top, "rev-parse", "--abbrev-ref", branch).stdout.strip()
            return Choice(revision=base, why=f"where it left {name}")
    if _git(top, "status", "--porcelain"):
        return Choice(revision=head, why="the last commit, without uncommitted changes")
    before = _run(top, "rev-parse", "--verify", "--quiet", "HEAD~1").stdout.strip()
    if not before:
        raise BadInputError(
            f"--tree {folder}: knows no commit before this one",
            hint="fetch more of its history, or name the --baseline",
        )
    return Choice(revision=before, why="the commit before the last one")


def _can_be_built(top: Path, commit: str) -> bool:
    """Returns True if the commit, or the folder as it is if there is none, has a build file."""
    if commit:
        return bool(_git(top, "ls-tree", "--name-only", commit, "--", *BUILD_FILES))
    return has_build_file(top)


def has_build_file(folder: Path) -> bool:
    return any((folder / name).is_file() for name in BUILD_FILES)


def _of_commit(top: Path, commit: str) -> Source:
    described = _git(top, "describe", "--tags", "--always", "--long", f"--abbrev={DIGITS}", commit)
    subject = _git(top, "log", "-1", "--format=%s", commit)
    short = subject if len(subject) <= SUBJECT_MAX else f"{subject[: SUBJECT_MAX - 3]}..."
    return Source(
        name=f"{PREFIX}{described}",
        tree=_git(top, "rev-parse", f"{commit}^{{tree}}"),
        label=f"{commit[:DIGITS]} ({short})",
        folder=str(top),
    )


def _of_work_tree(folder: Path, commit: str, ours: Path) -> Source:
    """Returns the tree of a folder. A folder that equals its last commit is that commit."""
    if commit:
        _git(ours, "read-tree", f"{commit}^{{tree}}")
    _git(ours, f"--work-tree={folder.absolute()}", "add", "--all", at=folder)
    tree = _git(ours, "write-tree")
    if not commit:
        name = f"{folder.resolve().name}-{tree[:DIGITS]}"
        return Source(name=f"{PREFIX}{name}", tree=tree, label=name, folder=str(folder.absolute()))
    last = _of_commit(folder, commit)
    if tree == last.tree:
        return last
    return Source(
        name=f"{last.name}-dirty-{tree[:DIGITS]}",
        tree=tree,
        label=f"uncommitted changes on {last.label}",
        folder=last.folder,
    )


def _commit(top: Path, revision: str) -> str:
    """Returns the hash of a commit; empty for the last commit of a tree that has none yet."""
    words = ("rev-parse", "--verify", "--quiet", "--end-of-options")
    done = _run(top, *words, f"{revision or 'HEAD'}^{{commit}}")
    if revision and _run(top, "rev-parse", "--git-dir").returncode != 0:
        raise BadInputError(
            f"{PREFIX}{revision}: {top.absolute()} is in no repository that git reads",
            hint="change to the tree, or name it with --tree DIR",
        )
    if done.returncode != 0 and revision:
        raise BadInputError(
            f"{PREFIX}{revision}: {top.name} has no such commit",
            hint="`git fetch --tags` there, or name another tree with --tree DIR",
        )
    return done.stdout.strip()


@contextmanager
def _borrowing(folder: Path, paths: Paths) -> Iterator[Path]:
    """Yields a repository of ours, which also finds the objects of the folder's repository."""
    theirs = _run(folder, "rev-parse", "--path-format=absolute", "--git-common-dir").stdout.strip()
    with scratch_beside(paths.images / FOLDER / "repository") as scratch:
        ours = scratch / "git"
        _git(scratch, "init", "--quiet", "--bare", "--template=", str(ours))
        if theirs:
            (ours / "info").mkdir()
            (ours / "objects" / "info" / "alternates").write_text(f"{theirs}/objects\n")
            excluded = Path(theirs) / "info" / "exclude"
            (ours / "info" / "exclude").write_bytes(
                excluded.read_bytes() if excluded.is_file() else b""
            )
        yield ours


def _export(source: Source, ours: Path, paths: Paths) -> None:
    """Writes the files of a tree. Git does not write through symbolic links of the tree."""
    folder = sources_of(source, paths)
    if not folder.is_dir():
        with whole_folder(folder) as made:
            _git(ours, "read-tree", source.tree)
            words = ("checkout-index", "--all", f"--prefix={made}/")
            _git(ours, f"--work-tree={made}", *words, at=made)


def _record(name: str, paths: Paths) -> Path:
    return paths.images / FOLDER / f"name-{digest.of_value(name)[:24]}.json"


def _git(repository: Path, *words: str, at: Path | None = None) -> str:
    done = _run(repository, *words, at=at)
    if done.returncode != 0:
        raise BadInputError(
            f"{repository}: git ended with {done.returncode}: {done.stderr.strip()}",
            hint="run `git status` there",
        )
    return done.stdout.strip()


def _run(repository: Path, *words: str, at: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Runs git in the repository's folder, or with a repository of ours in the folder `at`."""
    settings = [word for each in SETTINGS for word in ("-c", each)]
    own = [f"--git-dir={repository}"] if at else []
    return subprocess.run(
        die_with_parent(["git", "--no-optional-locks", *settings, *own, *words]),
        cwd=at or repository,
        env={name: text for name, text in os.environ.items() if not OUTSIDE.match(name)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
