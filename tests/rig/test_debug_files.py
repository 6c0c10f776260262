# SPDX-License-Identifier: GPL-2.0-or-later
"""Debug packages of a local archive: they give a stripped program names and lines."""

import hashlib
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from delayrig.base.errors import NotProvidedError
from delayrig.base.paths import Paths, find_paths
from delayrig.model.platform import Arch
from delayrig.setup.apt import derive_debug_suite
from delayrig.setup.errors import SetupError
from delayrig.setup.scratch import OURS
from delayrig.subjects import debug_files, packages
from delayrig.subjects.debug_files import (
    build_id_of,
    debug_file_of,
    fetch_debug_files,
    lines_of,
    packages_of,
    provide_debug_files,
)
from delayrig.subjects.symbols import Symbols

TOOLS = ("apt-get", "dpkg-deb", "objcopy", "strip", "cc")
SUITE = "trixie"
PROGRAM = """\
static int waited;
static __attribute__((noinline)) void sp_synchronize(void) { waited++; }
int main(void)
{
\tsp_synchronize();
\treturn waited - 1;
}
"""
LINE_OF_WAIT = 2


@dataclass(frozen=True, kw_only=True)
class Built:
    program: Path
    """The stripped program."""
    debug: Path
    build: str
    wait_address: int


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    if missing := [tool for tool in TOOLS if shutil.which(tool) is None]:
        pytest.skip(f"not on this machine: {', '.join(missing)}")
    folder = tmp_path_factory.mktemp("built")
    whole, program, debug = folder / "whole", folder / "program", folder / "lines"
    (folder / "serprog.c").write_text(PROGRAM)
    run("cc", "-g", "-O1", "-Wl,--build-id=sha1", "-o", str(whole), "serprog.c", folder=folder)
    run("objcopy", "--only-keep-debug", str(whole), str(debug), folder=folder)
    run("strip", "-o", str(program), str(whole), folder=folder)
    address = Symbols(whole.read_bytes()).function("sp_synchronize")
    assert address is not None
    return Built(program=program, debug=debug, build=build_id_of(program), wait_address=address)


def run(*words: str, folder: Path) -> None:
    subprocess.run(words, cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def archive(built: Built, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Returns the source of a local archive, with debug packages of this build and of another."""
    top = tmp_path_factory.mktemp("archive")
    texts = [
        deb(top, "flashrom-dbgsym", "1.4.0-1", built.build, built.debug),
        deb(top, "flashrom-dbgsym", "1.4.0-2", "ab" * 20, built.debug),
    ]
    lists = top / f"dists/{SUITE}-debug/main/binary-amd64"
    lists.mkdir(parents=True)
    (lists / "Packages").write_text("\n".join(texts))
    content = (lists / "Packages").read_bytes()
    line = f" {hashlib.sha256(content).hexdigest()} {len(content)} main/binary-amd64/Packages\n"
    release = f"Suite: {SUITE}-debug\nArchitectures: amd64\nComponents: main\nSHA256:\n{line}"
    (top / f"dists/{SUITE}-debug/Release").write_text(release)
    return f"Types: deb\nURIs: file:{top}\nSuites: {SUITE}-debug\nComponents: main\nTrusted: yes\n"


def deb(top: Path, name: str, version: str, build: str, debug: Path) -> str:
    """Makes a debug package in the archive, and returns its stanza."""
    root = top / f"root-{version}"
    place = root / f"usr/lib/debug/.build-id/{build[:2]}/{build[2:]}.debug"
    place.parent.mkdir(parents=True)
    shutil.copyfile(debug, place)
    fields = f"Package: {name}\nVersion: {version}\nArchitecture: amd64\nMaintainer: nobody\n"
    fields += f"Build-Ids: {build}\nDescription: lines\n"
    (root / "DEBIAN").mkdir()
    (root / "DEBIAN/control").write_text(fields)
    file = top / f"{name}_{version}_amd64.deb"
    run("dpkg-deb", "--root-owner-group", "--build", str(root), str(file), folder=top)
    content = file.read_bytes()
    sha256 = hashlib.sha256(content).hexdigest()
    return f"{fields}Filename: ./{file.name}\nSize: {len(content)}\nSHA256: {sha256}\n"


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Paths:
    """Returns paths with a new state folder."""
    monkeypatch.setenv("FLASHROM_RIG_STATE", str(tmp_path / "state"))
    return find_paths()


def provide(built: Built, paths: Paths, log: list[str]) -> None:
    provide_debug_files("debian:trixie", [built.program], SUITE, Arch.X86_64, paths, log.append)


def test_address_in_a_stripped_program_gets_name_and_line(
    built: Built, archive: str, state: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Symbols(built.program.read_bytes()).where(built.wait_address).startswith("0x")
    monkeypatch.setattr(
        debug_files,
        "fetch_debug_files",
        lambda suite, builds, arch: fetch_debug_files(suite, builds, arch, archive),
    )
    messages: list[str] = []
    provide(built, state, messages)
    wanted = f"sp_synchronize (serprog.c:{LINE_OF_WAIT})"
    assert lines_of(built.program).where(built.wait_address) == wanted
    assert messages == ["debug files of debian:trixie"]
    provide(built, state, messages)
    assert len(messages) == 1, "it must be fetched once"


@pytest.mark.parametrize(
    ("cause", "requests"),
    [
        ("404  Not Found", 1),
        ("File not found - /d/dists/a (2: No such file or directory)", 1),
        ("Could not resolve 'archive.example'", 2),
        ("Could not connect to 192.0.2.1:8404 (192.0.2.1), connection timed out", 2),
        ("503  Service Unavailable", 2),
    ],
)
def test_archive_without_debug_packages_is_asked_once_and_an_unreachable_one_each_time(
    built: Built, state: Paths, monkeypatch: pytest.MonkeyPatch, cause: str, requests: int
) -> None:
    def refuse(*_: object) -> dict[str, bytes]:
        raise NotProvidedError("debug packages", cause)

    monkeypatch.setattr(debug_files, "fetch_debug_files", refuse)
    messages: list[str] = []
    provide(built, state, messages)
    provide(built, state, messages)
    message = f"debug files of debian:trixie: none ({cause}), so its places have no lines"
    assert messages == [message] * requests
    assert lines_of(built.program).where(built.wait_address).startswith("0x")


def test_machine_without_a_debian_archive_uses_a_subject_without_debug_files(
    built: Built, state: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> str:
        raise SetupError("no archive of Debian", "name one")

    monkeypatch.setattr(packages, "_targets", refuse)
    messages: list[str] = []
    provide(built, state, messages)
    cause = "none (no archive of Debian), so its places have no lines"
    assert messages == [f"debug files of debian:trixie: {cause}"]


def test_archive_without_the_build_id_gives_no_debug_file(archive: str) -> None:
    assert fetch_debug_files(SUITE, ["cd" * 20], "amd64", archive) == {}


def test_missing_archive_is_reported_with_its_cause(tmp_path: Path, built: Built) -> None:
    del built  # The fixture skips the test if apt is missing.
    source = f"Types: deb\nURIs: file:{tmp_path}/no\nSuites: a\nComponents: main\nTrusted: yes\n"
    with pytest.raises(NotProvidedError) as caught:
        fetch_debug_files("a", ["cd" * 20], "amd64", source)
    assert caught.value.cause


def test_debug_file_of_another_build_is_ignored(built: Built, state: Paths) -> None:
    folder = state.images / debug_files.FOLDER / built.build
    folder.mkdir(parents=True)
    shutil.copyfile("/bin/true", folder / debug_files.FILE_NAME)
    assert debug_file_of(built.program, state.images) is None


def test_package_is_chosen_by_build_id() -> None:
    index = (
        "Package: a-dbgsym\nVersion: 1\nBuild-Ids: 11 22\n\n"
        "Package: a-dbgsym\nVersion: 2\nBuild-Ids: 33\n\nPackage: b\nVersion: 9\n"
    )
    assert packages_of(index, ["22"]) == {"a-dbgsym=1"}
    assert packages_of(index, ["2"]) == set()


TARGETS = "http://archive.example/debian/|bookworm|oldstable||main|/etc/apt/sources.list:1|Debian\n"
DEBUG_TARGET = "http://debug.example/d/|trixie-debug|x||main|/etc/apt/sources.list:2|Debian\n"
OS_RELEASE = "ID=debian\nVERSION_CODENAME=bookworm\n"


@pytest.mark.parametrize(
    ("targets", "named", "uri"),
    [
        (TARGETS, "", "http://archive.example/debian-debug"),
        (TARGETS + DEBUG_TARGET, "", "http://debug.example/d/"),
        (TARGETS, "http://named.example/debian/", "http://named.example/debian-debug"),
    ],
)
def test_debug_packages_are_beside_the_archive_or_in_apt(
    targets: str, named: str, uri: str
) -> None:
    source = derive_debug_suite("trixie", targets, OS_RELEASE, {}, named=named)
    assert f"URIs: {uri}\nSuites: trixie-debug\n" in source


def test_scratch_folder_of_a_killed_fetch_has_a_name_that_later_starts_remove(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Apt:
        def __init__(self, folder: Path, *_: str) -> None:
            raise NotProvidedError(folder.name, "killed here")

    monkeypatch.setattr(debug_files, "_Apt", Apt)
    with pytest.raises(NotProvidedError) as caught:
        fetch_debug_files(SUITE, ["cd" * 20], "amd64", "a source")
    assert OURS.fullmatch(caught.value.what)
