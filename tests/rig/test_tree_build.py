# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds of sources: each is made once, in a sandbox, with symbols, and never kept in part."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from delayrig.base.bubblewrap import missing_confinement
from delayrig.base.errors import BuildError
from delayrig.base.paths import Paths, find_paths
from delayrig.model.platform import Arch
from delayrig.subjects import tree_build
from delayrig.subjects.git_tree import take_source
from delayrig.subjects.library import provide_library
from delayrig.subjects.recipes import read_recipes
from delayrig.subjects.subject import check_subject, provide_subject, wrong_machine
from delayrig.subjects.symbols import read_symbols
from delayrig.subjects.tree_build import provide_tree

from tests.rig.builders import CHECKOUT
from tests.rig.upstream_tree import Files, laid_out, one_file, today

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
needs_confinement = pytest.mark.skipif(
    bool(missing_confinement()), reason="test_confinement.py tells of it"
)


@pytest.fixture
def paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Paths:
    """Returns paths with a state of its own that uses the usual build."""
    usual, state = find_paths(), tmp_path / "state"
    state.mkdir()
    (state / "build").symlink_to(usual.build)
    monkeypatch.setenv("FLASHROM_RIG_STATE", str(state))
    return replace(usual, state=state)


def taken(files: Files, paths: Paths, tmp_path: Path) -> str:
    return take_source("", laid_out(files, tmp_path / "tree"), paths).name


def with_library() -> Files:
    files = today()
    return {**files, "meson.build": files["meson.build"] + LIBRARY}


def test_tree_is_built_once_with_library_lines_and_delay_function(
    paths: Paths, tmp_path: Path
) -> None:
    name, made = taken(with_library(), paths, tmp_path), list[str]()
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
    assert len(made) == 1, "it was there"
    assert not list((paths.images / "trees").glob("flashrom-rig-*")), "no copy is left"
    assert wrong_machine(name, Arch.ARM64)


def test_tree_of_makes_own_gets_a_library_of_its_objects(paths: Paths, tmp_path: Path) -> None:
    files = one_file()
    name = taken({**files, "Makefile": files["Makefile"] + ARCHIVE}, paths, tmp_path)
    folder = provide_tree(name, paths, lambda _: None)
    assert read_symbols(folder / "libflashrom.so.1").function("default_delay")


def test_failed_build_names_its_last_lines_and_log_and_leaves_nothing(
    paths: Paths, tmp_path: Path
) -> None:
    name = taken({**today(), "flashrom.c": "int broken(\n"}, paths, tmp_path)
    with pytest.raises(BuildError) as caught:
        provide_tree(name, paths, lambda _: None)
    assert "broken" in caught.value.message
    log = Path(caught.value.hint.removeprefix("all of it is in ").partition(";")[0])
    assert "broken" in log.read_text()
    assert not list((paths.images / "trees").glob("built-*"))
    assert not list((paths.images / "trees").glob("flashrom-rig-*"))


def test_build_that_leaves_no_program_is_refused(paths: Paths, tmp_path: Path) -> None:
    name = taken({"Makefile": "all:\n\tln -s /etc/passwd flashrom\n"}, paths, tmp_path)
    with pytest.raises(BuildError):
        provide_tree(name, paths, lambda _: None)


@needs_confinement
def test_build_reaches_nothing_of_this_machine_but_its_copy(
    paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FLASHROM_RIG_UNCONFINED", raising=False)
    secret = tmp_path / "secret"
    secret.write_text("mine")
    probe = f"""\
flashrom:
	! test -e {secret}
	! test -e {Path.home()}/.bashrc
	! touch /usr/mine
	! (exec 3<>/dev/tcp/127.0.0.1/22) 2>/dev/null
	test -z "$$SECRET"
	id -u >uid
	cp /bin/true flashrom
"""
    monkeypatch.setenv("SECRET", "mine")
    folder = provide_tree(taken({"Makefile": probe}, paths, tmp_path), paths, lambda _: None)
    assert (folder / "flashrom").stat().st_uid == os.geteuid()
    assert not (tmp_path / "tree" / "uid").exists()


def test_interrupted_build_leaves_nothing_half(
    paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    name = taken(today(), paths, tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(tree_build, "run_child", interrupted)
        with pytest.raises(KeyboardInterrupt):
            provide_tree(name, paths, lambda _: None)
    assert not list((paths.images / "trees").glob("built-*"))
    assert not list((paths.images / "trees").glob("flashrom-rig-*"))
    assert (provide_tree(name, paths, lambda _: None) / "flashrom").is_file()
