# SPDX-License-Identifier: GPL-2.0-or-later
"""Sources from git: revisions and work trees, and the comparison of two; none is modified."""

from dataclasses import replace
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from delayrig.base.errors import BadInputError
from delayrig.base.paths import Paths, find_paths
from delayrig.cli.option_types import SUBJECT, add_tree_option
from delayrig.subjects.git_tree import (
    Source,
    choose_baseline,
    is_known,
    known_source,
    sources_of,
    take_source,
)

from tests.rig.git_commits import branched_from, commit_all, git


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    """Returns paths with an empty state."""
    return replace(find_paths(), state=tmp_path / "state")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Makes a tree of two commits; the first one has a tag."""
    folder = tmp_path / "tree"
    folder.mkdir()
    (folder / "a.c").write_text("first\n")
    (folder / ".gitignore").write_text("*.o\n")
    commit_all(folder, "The first one")
    git(folder, "tag", "v1")
    (folder / "a.c").write_text("second\n")
    commit_all(folder, "The second one, with more to say than what an answer has room for")
    return folder


def files_of(source: Source, paths: Paths) -> dict[str, str]:
    folder = sources_of(source, paths)
    return {str(p.relative_to(folder)): p.read_text() for p in folder.rglob("*") if p.is_file()}


def test_revision_is_named_by_its_commit_and_taken_as_it_was(tree: Path, paths: Paths) -> None:
    first, second = take_source("v1", tree, paths), take_source("HEAD", tree, paths)
    commit = git(tree, "rev-parse", "v1")[:12]
    assert first.name == f"git:v1-0-g{commit}"
    assert first.label == f"{commit} (The first one)"
    assert second.name.startswith("git:v1-1-g")
    assert second.label.endswith(" (The second one, with more to say than what an a...)")
    assert files_of(first, paths) == {"a.c": "first\n", ".gitignore": "*.o\n"}
    assert files_of(second, paths)["a.c"] == "second\n"
    assert known_source(first.name, paths) == first


def test_clean_work_tree_is_its_last_commit(tree: Path, paths: Paths) -> None:
    assert take_source("", tree, paths) == take_source("HEAD", tree, paths)


def test_work_tree_has_what_is_not_committed_and_not_what_is_ignored(
    tree: Path, paths: Paths
) -> None:
    (tree / "a.c").write_text("third\n")
    (tree / "new.c").write_text("new\n")
    (tree / "a.o").write_text("made")
    (tree / ".git/info/exclude").write_text("notes\n")
    (tree / "notes").write_text("mine")
    before = git(tree, "status", "--porcelain"), (tree / ".git/index").read_bytes()
    objects = sorted(tree.glob(".git/objects/**/*"))
    source = take_source("", tree, paths)
    assert set(files_of(source, paths)) == {"a.c", "new.c", ".gitignore"}
    assert files_of(source, paths)["a.c"] == "third\n"
    assert "-dirty-" in source.name
    assert source.label.endswith(" with what is not committed")
    assert (git(tree, "status", "--porcelain"), (tree / ".git/index").read_bytes()) == before
    assert sorted(tree.glob(".git/objects/**/*")) == objects


def test_tracked_file_counts_though_it_is_ignored_and_a_removed_one_does_not(
    tree: Path, paths: Paths
) -> None:
    (tree / "kept.o").write_text("x")
    git(tree, "add", "--force", "kept.o")
    commit_all(tree, "kept")
    (tree / "a.c").unlink()
    assert set(files_of(take_source("", tree, paths), paths)) == {"kept.o", ".gitignore"}


def test_folder_without_git_is_taken_as_it_is(tmp_path: Path, paths: Paths) -> None:
    folder = tmp_path / "unpacked"
    folder.mkdir()
    (folder / "a.c").write_text("text\n")
    source = take_source("", folder, paths)
    assert source.name == f"git:{source.label}"
    assert source.label.startswith("unpacked-")
    assert files_of(source, paths) == {"a.c": "text\n"}
    with pytest.raises(BadInputError, match="no such commit"):
        take_source("HEAD", folder, paths)
    with pytest.raises(BadInputError, match="in no repository"):
        choose_baseline(folder)


@pytest.mark.parametrize("revision", ["v9", "--help", "v1:a.c"])
def test_revision_that_is_no_commit_is_refused(tree: Path, paths: Paths, revision: str) -> None:
    with pytest.raises(BadInputError, match="no such commit"):
        take_source(revision, tree, paths)


def test_name_that_was_never_taken_is_refused(paths: Paths) -> None:
    assert not is_known("git:v1", paths)
    with pytest.raises(BadInputError, match="was not taken"):
        known_source("git:v1", paths)


def test_without_an_upstream_the_commit_before_is_the_baseline(tree: Path) -> None:
    choice = choose_baseline(tree)
    assert choice.revision == git(tree, "rev-parse", "v1")
    assert choice.why == "the commit before the last one"


def test_what_is_not_committed_is_compared_with_the_last_commit(tree: Path) -> None:
    (tree / "a.c").write_text("third\n")
    assert choose_baseline(tree).revision == git(tree, "rev-parse", "HEAD")


def test_branch_is_compared_with_where_it_left_upstream(tree: Path, tmp_path: Path) -> None:
    clone = branched_from(tree, tmp_path / "clone", "topic")
    left = git(clone, "rev-parse", "HEAD")
    for text in ("third\n", "fourth\n"):
        (clone / "a.c").write_text(text)
        commit_all(clone, text)
    (clone / "a.c").write_text("not committed\n")
    choice = choose_baseline(clone)
    assert (choice.revision, choice.why) == (left, "where it left origin/main")


def test_only_commit_has_nothing_before_it(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("first\n")
    commit_all(tmp_path, "only")
    with pytest.raises(BadInputError, match="no commit before"):
        choose_baseline(tmp_path)


def test_option_takes_revisions_of_the_named_tree_and_folders(
    tree: Path, paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    @click.command()
    @click.argument("subject", type=SUBJECT)
    def command(subject: str) -> None:
        click.echo(subject)

    add_tree_option(command)
    monkeypatch.setenv("FLASHROM_RIG_STATE", str(paths.state))
    told = CliRunner().invoke(command, ["git:v1", "--tree", str(tree)])
    assert told.output.startswith("git:v1-0-g")
    again = CliRunner().invoke(command, [told.output.strip()])
    assert again.output == told.output, "what is known needs no tree"
    assert CliRunner().invoke(command, [str(tree)]).output.startswith("git:v1-1-g")
    refused = CliRunner().invoke(command, ["git:v9", "--tree", str(tree)])
    assert refused.exit_code == 2
    assert "--tree DIR" in refused.output
