# SPDX-License-Identifier: GPL-2.0-or-later
"""Git repositories for tests."""

from pathlib import Path

from tests.rig.running import run

SETTINGS = (
    *("-c", "user.name=T", "-c", "user.email=t@example.org"),
    *("-c", "commit.gpgsign=false"),
)


def git(at: Path, *words: str | Path, limit_s: float | None = None) -> str:
    """Runs git, which must succeed within the limit; returns its output."""
    done = run("git", "-C", at, *SETTINGS, *words, timeout=limit_s)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def commit_all(at: Path, subject: str) -> str:
    """Commits all files, in a new repository if there is none; returns the hash."""
    if not (at / ".git").exists():
        git(at, "init", "--quiet", "--initial-branch=main")
    git(at, "add", "--all")
    git(at, "commit", "--quiet", f"--message={subject}")
    return git(at, "rev-parse", "HEAD")


def branched_from(origin: Path, clone: Path, branch: str) -> Path:
    """Clones a repository, switches to a new branch from its `main`, and returns the clone."""
    git(origin.parent, "clone", "--quiet", origin, clone)
    git(clone, "switch", "--quiet", "--track", "--create", branch, "origin/main")
    return clone
