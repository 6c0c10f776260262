# SPDX-License-Identifier: GPL-2.0-or-later
"""The linters, and rules that every file of the checkout keeps."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from delayrig.base.paths import find_paths

from tests.conftest import Bound
from tests.rig.builders import CHECKOUT
from tests.rig.running import run

CONFIG = CHECKOUT / "rig" / "pyproject.toml"
PRODUCT_FOLDERS = {"emulators", "flashrom", "images"}
PYTHON_FOLDERS = ["rig", "tests", "emulators/gen"]
SOURCE_SUFFIXES = {".py", ".c", ".h", ".toml", ".build", ".options", ".sh"}
SPDX = "SPDX-License-Identifier: GPL-2.0-or-later"
NOT_OURS = {".git", ".rig", "__pycache__"}
# These are the addresses of the servers that the tests and the rig start.
LOOPBACK = {"localhost", "127.0.0.1", "::1"}


def tool(name: str) -> str:
    """Returns the path of a linter in the environment that runs this test."""
    path = Path(sys.executable).parent / name
    assert path.is_file(), f"{path} is missing: `rig/rig setup` installs it"
    return str(path)


def answer(*command: str) -> tuple[int, str]:
    """Runs a command in the checkout; returns its exit code and output."""
    done = run(*command, cwd=CHECKOUT)
    return done.returncode, done.stdout + done.stderr


@cache
def our_files() -> list[Path]:
    """Returns the files that git tracks or would add; without git, all but those in NOT_OURS."""
    git = shutil.which("git")
    if git is not None and (CHECKOUT / ".git").exists():
        listing = subprocess.run(
            [git, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=CHECKOUT,
            capture_output=True,
            check=False,
        )
        if listing.returncode == 0:
            names = [name.decode() for name in listing.stdout.split(b"\0") if name]
            return sorted({path for path in map(CHECKOUT.joinpath, names) if path.is_file()})
    return sorted(
        path
        for path in CHECKOUT.rglob("*")
        if path.is_file() and NOT_OURS.isdisjoint(path.relative_to(CHECKOUT).parts)
    )


def lines_with(pattern: re.Pattern[str]) -> list[str]:
    """Returns each line of our files that matches the pattern, with its place."""
    return [
        f"{path.relative_to(CHECKOUT)}:{number}: {line.strip()}"
        for path in our_files()
        for number, line in enumerate(path.read_text("utf-8", "replace").splitlines(), start=1)
        if pattern.search(line)
    ]


def test_our_files_contain_known_ones_and_no_state() -> None:
    names = {str(path.relative_to(CHECKOUT)) for path in our_files()}
    known = {"rig/rig", "rig/delayrig/model/cell.py", "meson.build", "tests/rig/test_lint.py"}
    assert known <= names
    assert not [name for name in names if name.startswith((".rig/", ".git/"))]


LINTERS = {
    "lint-imports": ["--config", str(CONFIG), "--no-cache"],
    "ruff check": ["--config", str(CONFIG), *PYTHON_FOLDERS],
    "ruff format": ["--check", "--config", str(CONFIG), *PYTHON_FOLDERS],
    "mypy": ["--strict", "--config-file", str(CONFIG), *PYTHON_FOLDERS],
}


@pytest.mark.parametrize("command", LINTERS)
def test_linter_finds_nothing_in_python(command: str) -> None:
    name, *words = command.split()
    code, output = answer(tool(name), *words, *LINTERS[command])
    assert code == 0, output


def test_clang_format_would_change_nothing() -> None:
    sources = [str(path) for path in our_files() if path.suffix in (".c", ".h")]
    assert sources
    code, output = answer(tool("clang-format"), "--dry-run", "-Werror", *sources)
    assert code == 0, output


def last_changed(commits: int) -> set[Path]:
    """Returns the files that the last commits and the work tree changed; empty without git."""
    if not (CHECKOUT / ".git").exists() or shutil.which("git") is None:
        return set()
    log = ("log", f"--max-count={commits}", "--format=", "--name-only", "-z")
    diff = ("diff", "--name-only", "-z", "HEAD")
    names = "\0".join(answer("git", *words)[1] for words in (log, diff)).split("\0")
    return {CHECKOUT / name.strip() for name in names}


@pytest.mark.bounds(commits=(20, 0))
def test_clang_tidy_finds_nothing(bound: Bound) -> None:
    """The build folder has the compile commands; .clang-tidy explains which checks are off.

    The quick tier checks only what the last commits changed, because all sources take four minutes.
    A clean source is checked again only if it, a header or a setting changes.
    """
    build, marks = find_paths().build, find_paths().state / "tests" / "clang-tidy"
    sources = [path for path in our_files() if path.suffix == ".c" and is_product(path)]
    assert sources
    marks.mkdir(parents=True, exist_ok=True)
    clean = {path: marks / digest for path, digest in tidy_digests(sources).items()}
    clang_tidy = (tool("clang-tidy"), "-p", str(build), "--quiet")

    def findings_in(path: Path) -> str:
        code, output = (0, "") if clean[path].exists() else answer(*clang_tidy, str(path))
        if code == 0:
            clean[path].touch()
        return output if code != 0 else ""

    recent = last_changed(bound("commits")) if bound("commits") else set()
    checked = [path for path in sources if path in recent or not recent]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(findings_in, checked))
    assert [output for output in found if output] == []
    for stale in set(marks.iterdir()) - set(clean.values()):
        stale.unlink()


def tidy_digests(sources: list[Path]) -> dict[Path, str]:
    """Returns by source a digest of it, of all headers, and of the settings of clang-tidy."""
    shared = hashlib.sha256((find_paths().build / "compile_commands.json").read_bytes())
    files = [path for path in our_files() if path.name == ".clang-tidy" or path.suffix == ".h"]
    for path in (*files, Path(tool("clang-tidy")), CHECKOUT / "tests" / "requirements.lock"):
        shared.update(b"%s\0%s\0" % (bytes(path), path.read_bytes()))
    digests = {}
    for path in sources:
        own = shared.copy()
        own.update(b"%s\0%s" % (bytes(path), path.read_bytes()))
        digests[path] = own.hexdigest()
    return digests


def test_changed_source_has_another_clang_tidy_digest(tmp_path: Path) -> None:
    source = tmp_path / "a.c"
    source.write_text("int a;\n", encoding="utf-8")
    first = tidy_digests([source])
    assert tidy_digests([source]) == first
    source.write_text("int b;\n", encoding="utf-8")
    assert tidy_digests([source]) != first


def is_product(path: Path) -> bool:
    """Returns True if the file becomes part of a program, not of a test."""
    return path.relative_to(CHECKOUT).parts[0] in PRODUCT_FOLDERS


def test_every_source_file_names_its_licence() -> None:
    contents = {path: path.read_bytes() for path in our_files()}
    sources = {
        path: content.decode()
        for path, content in contents.items()
        # An empty file, such as one that marks a package, has no content to license.
        if content and (path.suffix in SOURCE_SUFFIXES or content.startswith(b"#!"))
    }
    assert CHECKOUT / "rig" / "rig" in sources
    without_licence = [
        str(path.relative_to(CHECKOUT))
        for path, text in sources.items()
        if SPDX not in "\n".join(text.splitlines()[:3])
    ]
    assert without_licence == []


def test_no_file_names_this_machines_package_archive() -> None:
    apt = shutil.which("apt-get")
    if apt is None:
        pytest.skip("no apt here")
    _, sites = answer(apt, "indextargets", "--format", "$(SITE)")
    hosts = {urlsplit(site).hostname for site in sites.split()} - LOOPBACK
    for host in sorted(host for host in hosts if host is not None):
        assert lines_with(re.compile(rf"(?<![\w.-]){re.escape(host)}(?![\w-])")) == []


def test_no_file_names_the_folder_of_this_checkout() -> None:
    # A path of a single name, such as /src, would match unrelated text.
    if len(CHECKOUT.parts) > 2:
        assert lines_with(re.compile(rf"(?<![\w.-]){re.escape(str(CHECKOUT))}(?![\w-])")) == []


def test_no_file_has_a_conflict_marker() -> None:
    # They are built from parts, so that this file does not match.
    markers = ("<" * 7, "|" * 7, ">" * 7)
    any_of_them = "|".join(re.escape(marker) for marker in markers)
    assert lines_with(re.compile(rf"^(?:{any_of_them})(?: |$)")) == []
