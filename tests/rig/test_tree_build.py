# SPDX-License-Identifier: GPL-2.0-or-later
"""Sources from git or a folder, and their builds."""

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from delayrig.base.bubblewrap import missing_confinement
from delayrig.base.errors import BadInputError, BuildError
from delayrig.base.paths import Paths
from delayrig.cli.option_types import SUBJECT, add_tree_option
from delayrig.model.platform import Arch
from delayrig.subjects import tree_build
from delayrig.subjects.git_tree import (
    Source,
    choose_baseline,
    is_known,
    is_uncommitted,
    known_source,
    sources_of,
    take_source,
)
from delayrig.subjects.library import provide_library
from delayrig.subjects.recipes import read_recipes
from delayrig.subjects.subject import check_subject, provide_subject, wrong_machine
from delayrig.subjects.symbols import read_symbols
from delayrig.subjects.tree_build import PACKAGES, _key, missing_packages, provide_tree

from tests.conftest import Bound
from tests.rig.builders import CHECKOUT
from tests.rig.git_commits import branched_from, commit_all, git
from tests.rig.processes import left_running
from tests.rig.upstream_tree import Files, laid_out, one_file, today


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Makes a tree of two commits; the first one has a tag."""
    folder = tmp_path / "tree"
    folder.mkdir()
    (folder / "Makefile").write_text("first\n")
    (folder / ".gitignore").write_text("*.o\n")
    commit_all(folder, "The first one")
    git(folder, "tag", "v1")
    (folder / "Makefile").write_text("second\n")
    commit_all(folder, "The second one, with more to say than what an answer has room for")
    return folder


def copied_files(source: Source, paths: Paths) -> dict[str, str]:
    folder = sources_of(source, paths)
    return {str(p.relative_to(folder)): p.read_text() for p in folder.rglob("*") if p.is_file()}


def test_revision_is_named_by_its_commit_and_copied_unchanged(tree: Path, paths: Paths) -> None:
    first, second = take_source("v1", tree, paths), take_source("HEAD", tree, paths)
    commit = git(tree, "rev-parse", "v1")[:12]
    assert first.name == f"git:v1-0-g{commit}"
    assert first.label == f"{commit} (The first one)"
    assert second.name.startswith("git:v1-1-g")
    assert second.label.endswith(" (The second one, with more to say than what an a...)")
    assert copied_files(first, paths) == {"Makefile": "first\n", ".gitignore": "*.o\n"}
    assert copied_files(second, paths)["Makefile"] == "second\n"
    assert known_source(first.name, paths) == first
    assert take_source("", tree, paths) == second, "the work tree is clean"
    assert not is_uncommitted(first.name)


def test_work_tree_has_uncommitted_files_and_no_ignored_ones(tree: Path, paths: Paths) -> None:
    (tree / "Makefile").write_text("third\n")
    (tree / "new.c").write_text("new\n")
    (tree / "a.o").write_text("made")
    (tree / ".git/info/exclude").write_text("notes\n")
    (tree / "notes").write_text("mine")
    before = git(tree, "status", "--porcelain"), (tree / ".git/index").read_bytes()
    objects = sorted(tree.glob(".git/objects/**/*"))
    source = take_source("", tree, paths)
    assert set(copied_files(source, paths)) == {"Makefile", "new.c", ".gitignore"}
    assert copied_files(source, paths)["Makefile"] == "third\n"
    assert "-dirty-" in source.name
    assert is_uncommitted(source.name)
    commit = git(tree, "rev-parse", "HEAD")[:12]
    assert source.label.startswith(f"uncommitted changes on {commit} (The second one, ")
    assert (git(tree, "status", "--porcelain"), (tree / ".git/index").read_bytes()) == before
    assert sorted(tree.glob(".git/objects/**/*")) == objects


def test_ignored_file_is_copied_if_it_is_tracked_and_a_removed_one_is_not(
    tree: Path, paths: Paths
) -> None:
    (tree / "kept.o").write_text("x")
    (tree / "removed.c").write_text("x")
    git(tree, "add", "--force", "kept.o")
    commit_all(tree, "kept")
    (tree / "removed.c").unlink()
    copied = set(copied_files(take_source("", tree, paths), paths))
    assert copied == {"kept.o", "Makefile", ".gitignore"}


def test_folder_without_git_is_copied_unchanged(tmp_path: Path, paths: Paths) -> None:
    folder = tmp_path / "unpacked"
    folder.mkdir()
    (folder / "Makefile").write_text("text\n")
    source = take_source("", folder, paths)
    assert source.name == f"git:{source.label}"
    assert source.label.startswith("unpacked-")
    assert is_uncommitted(source.name)
    assert copied_files(source, paths) == {"Makefile": "text\n"}
    with pytest.raises(BadInputError, match="in no repository"):
        take_source("HEAD", folder, paths)
    with pytest.raises(BadInputError, match="in no repository"):
        choose_baseline(folder)


@pytest.mark.parametrize("has_git", [False, True])
def test_folder_without_a_build_file_is_refused_before_it_is_copied(
    tmp_path: Path, paths: Paths, has_git: bool
) -> None:
    folder = laid_out({"a.c": "text\n", "below/Makefile": "all:\n"}, tmp_path / "plain")
    if has_git:
        commit_all(folder, "No build file")
        with pytest.raises(BadInputError, match=r"git:HEAD: has no meson.build and no Makefile"):
            take_source("HEAD", folder, paths)
    with pytest.raises(BadInputError, match=r"has no meson.build and no Makefile") as caught:
        take_source("", folder, paths)
    assert ("is no git work tree" in caught.value.message) is not has_git
    assert not (paths.images / "trees").exists()


def test_unknown_revision_or_source_is_refused(tree: Path, paths: Paths) -> None:
    for revision in ("v9", "--help", "v1:a.c"):
        with pytest.raises(BadInputError, match="no such commit"):
            take_source(revision, tree, paths)
    assert not is_known("git:v1", paths)
    with pytest.raises(BadInputError, match="was not taken"):
        known_source("git:v1", paths)


def test_baseline_without_an_upstream_is_the_commit_before_the_changes(
    tree: Path, tmp_path: Path
) -> None:
    choice = choose_baseline(tree)
    assert choice.revision == git(tree, "rev-parse", "v1")
    assert choice.why == "the commit before the last one"
    (tree / "a.c").write_text("not committed\n")
    assert choose_baseline(tree).revision == git(tree, "rev-parse", "HEAD")
    alone = tmp_path / "alone"
    alone.mkdir()
    (alone / "a.c").write_text("first\n")
    commit_all(alone, "only")
    with pytest.raises(BadInputError, match="no commit before"):
        choose_baseline(alone)


def test_baseline_of_a_branch_is_the_commit_where_it_left_upstream(
    tree: Path, tmp_path: Path
) -> None:
    clone = branched_from(tree, tmp_path / "clone", "topic")
    left = git(clone, "rev-parse", "HEAD")
    for text in ("third\n", "fourth\n"):
        (clone / "a.c").write_text(text)
        commit_all(clone, text)
    (clone / "a.c").write_text("not committed\n")
    choice = choose_baseline(clone)
    assert (choice.revision, choice.why) == (left, "where it left origin/main")


@pytest.mark.usefixtures("paths")
def test_option_accepts_folders_and_revisions_of_the_named_tree(tree: Path) -> None:
    @click.command()
    @click.argument("subject", type=SUBJECT)
    def command(subject: str) -> None:
        click.echo(subject)

    add_tree_option(command)
    named = CliRunner().invoke(command, ["git:v1", "--tree", str(tree)])
    assert named.output.startswith("git:v1-0-g")
    by_name = CliRunner().invoke(command, [named.output.strip()])
    assert by_name.output == named.output, "a known name needs no --tree"
    assert CliRunner().invoke(command, [str(tree)]).output.startswith("git:v1-1-g")
    refused = CliRunner().invoke(command, ["git:v9", "--tree", str(tree)])
    assert refused.exit_code == 2
    assert "--tree DIR" in refused.output


RECIPES = read_recipes(CHECKOUT)
LIBRARY = """
library('flashrom', srcs, soversion : '1', version : '1.0.0',
  c_args : cargs, include_directories : include_dir)
"""
ARCHIVE = """
libflashrom.a: $(LIB_OBJS)
	ar rcs $@ $^

flashrom: libflashrom.a
"""
PROCESSES_END_S, KILLS_LIMIT_S = 20, 600
needs_confinement = pytest.mark.skipif(
    bool(missing_confinement()), reason="no sandbox here; see test_confinement.py"
)


@pytest.fixture
def paths(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> Paths:
    """Returns paths with the test's own state, which commands of `rig/rig` use, too."""
    monkeypatch.setenv("FLASHROM_RIG_STATE", str(paths.state))
    return paths


def folders_of_builds(paths: Paths) -> list[Path]:
    """Returns the folders of finished builds and of copied sources."""
    trees = paths.images / "trees"
    return [*trees.glob("built-*"), *trees.glob("flashrom-rig-*")]


def source_of(files: Files, paths: Paths, tmp_path: Path) -> str:
    return take_source("", laid_out(files, tmp_path / "tree"), paths).name


def with_library() -> Files:
    files = today()
    return {**files, "meson.build": files["meson.build"] + LIBRARY}


@pytest.mark.skipif(not shutil.which("pkg-config"), reason="needs pkg-config")
def test_each_installed_library_of_drivers_changes_the_key_of_the_build(
    tree: Path, paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, keys = take_source("", tree, paths), set[str]()
    monkeypatch.setenv("PKG_CONFIG_LIBDIR", str(tmp_path))
    for name in PACKAGES:
        keys.add(_key(source))
        (tmp_path / f"{name}.pc").write_text(f"Name: {name}\nDescription: x\nVersion: 1\n")
    assert len(keys | {_key(source)}) == len(PACKAGES) + 1


def test_tree_is_built_once_with_library_lines_and_delay_function(
    paths: Paths, tmp_path: Path
) -> None:
    name, made = source_of(with_library(), paths, tmp_path), list[str]()
    check_subject(name, RECIPES, "--subject")
    folder = provide_tree(name, paths, made.append)
    assert made == [f"flashrom of {name.removeprefix('git:')}"]
    symbols = read_symbols(folder / "flashrom")
    address = symbols.function("default_delay")
    assert address is not None
    assert symbols.function("programmer_init") is not None
    subject = provide_subject(name, RECIPES, paths, made.append)
    library = provide_library(name, RECIPES, paths, made.append)
    assert subject.name == name
    assert library is not None
    assert library.delay_address
    assert len(made) == 1, "the build is used again"
    assert folders_of_builds(paths) == [folder], "no copy is left"
    assert wrong_machine(name, Arch.ARM64)


def test_tree_for_make_gets_a_shared_library_of_its_archive(paths: Paths, tmp_path: Path) -> None:
    files = one_file()
    name = source_of({**files, "Makefile": files["Makefile"] + ARCHIVE}, paths, tmp_path)
    folder = provide_tree(name, paths, print)
    assert read_symbols(folder / "libflashrom.so.1").function("default_delay")


def test_failed_build_shows_its_last_lines_and_its_log_and_leaves_no_folder(
    paths: Paths, tmp_path: Path
) -> None:
    name = source_of({**today(), "flashrom.c": "int broken(\n"}, paths, tmp_path)
    with pytest.raises(BuildError) as caught:
        provide_tree(name, paths, print)
    assert "broken" in caught.value.message
    log = Path(caught.value.hint.removeprefix("all of it is in ").partition(";")[0])
    assert "broken" in log.read_text()
    assert folders_of_builds(paths) == []


@pytest.mark.parametrize(
    ("log", "packages"),
    [
        ("sh: 4: /state/venv/bin/meson: not found", []),
        ("make: *** No targets specified and no makefile found.  Stop.", []),
        ("Run-time dependency libpci found: NO\na.c:1: error: expected ';'", []),
        ("a.c:1:10: fatal error: pcidev.h: No such file or directory", []),
        ("a.c:1:10: fatal error: pci/pci.h: No such file or directory", ["libpci-dev"]),
        ('ERROR: Dependency "libusb-1.0" not found, tried pkgconfig', ["libusb-1.0-0-dev"]),
        ("ld: cannot find -lftdi1: No such file or directory", ["libftdi1-dev"]),
        ("Checking for libjaylink headers... not found.", ["libjaylink-dev"]),
        ("ERROR: Unknown compiler(s): [['cc'], ['gcc']]", ["gcc"]),
        ("ERROR: Could not detect Ninja v1.8.2 or newer", ["ninja-build"]),
        ("sh: 8: make: not found", ["make"]),
    ],
)
def test_only_packages_that_the_build_missed_are_advised(
    log: str, packages: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert missing_packages(log) == packages


def test_build_whose_program_is_a_symbolic_link_is_refused(paths: Paths, tmp_path: Path) -> None:
    name = source_of({"Makefile": "all:\n\tln -s /etc/passwd flashrom\n"}, paths, tmp_path)
    with pytest.raises(BuildError):
        provide_tree(name, paths, print)


@needs_confinement
def test_build_cannot_reach_files_or_services_outside_its_copy(
    paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FLASHROM_RIG_UNCONFINED", raising=False)
    monkeypatch.setenv("SECRET", "mine")
    secret = tmp_path / "secret"
    secret.write_text("mine")
    service = socket.create_server(("127.0.0.1", 0))
    connect = f"exec 3<>/dev/tcp/127.0.0.1/{service.getsockname()[1]}"
    subprocess.run(["bash", "-c", connect], check=True)
    probe = f"""\
flashrom:
	! test -e {secret}
	! test -e {Path.home()}/.bashrc
	! touch /usr/mine
	bash -c true
	! bash -c '{connect}' 2>/dev/null
	test -z "$$SECRET"
	touch "$$HOME"/file
	id -u >uid
	cp /bin/true flashrom
"""
    with service:
        folder = provide_tree(source_of({"Makefile": probe}, paths, tmp_path), paths, print)
    assert (folder / "flashrom").stat().st_uid == os.geteuid()
    assert not (tmp_path / "tree" / "uid").exists()


def test_interrupted_build_leaves_no_folder_and_can_be_repeated(
    paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    name = source_of(today(), paths, tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(tree_build, "run_child", interrupted)
        with pytest.raises(KeyboardInterrupt):
            provide_tree(name, paths, print)
    assert folders_of_builds(paths) == []
    assert (provide_tree(name, paths, print) / "flashrom").is_file()


KILLED_BUILDS = """\
import os, sys
from pathlib import Path
from delayrig.subjects.tree_build import confined, run_build

def descendants(process):
    try:
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:
        return 0
    return sum(map(descendants, children), len(children))

places = [Path(sys.argv[1], name) for name in ("flashrom", "build", "left")]
for place in places:
    place.mkdir()
words = [*confined(places)[0], "sleep", sys.argv[3]]
for kill in range(int(sys.argv[2])):
    rig = os.fork()
    if rig == 0:
        run_build(words, sys.stderr, dict(os.environ))
        os._exit(0)
    while descendants(rig) < 1 + kill % 4:
        pass
    os.kill(rig, 9)
    os.waitpid(rig, 0)
"""
"""Starts builds, and kills each rig while the sandbox of its build forks its processes."""


@needs_confinement
@pytest.mark.bounds(kills=(40, 200))
def test_build_of_a_killed_rig_leaves_no_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bound: Bound
) -> None:
    monkeypatch.delenv("FLASHROM_RIG_UNCONFINED", raising=False)
    seconds = f"1000.{os.getpid()}"
    words = [sys.executable, "-c", KILLED_BUILDS, str(tmp_path), str(bound("kills")), seconds]
    subprocess.run(words, check=True, timeout=KILLS_LIMIT_S)
    assert left_running(seconds, PROCESSES_END_S) == []
