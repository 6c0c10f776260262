# SPDX-License-Identifier: GPL-2.0-or-later
"""Debug files of distribution packages: names and source lines of places in stripped programs.

They are fetched by build ID from the archive's debug packages. Delay functions are found without
them, so that a verdict does not depend on the archive.

Sources: deb822(5), "Build-Ids" of Debian's debug packages; apt.conf(5), "Dir"; apt-get(8),
"indextargets" and "download".
"""

import os
import re
import subprocess
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from delayrig.base.atomic_file import whole_folder
from delayrig.base.errors import NotProvidedError, RigFaultError
from delayrig.base.interruption import run_child
from delayrig.base.paths import Paths, Preparing, find_paths
from delayrig.base.scratch import ScratchFolder
from delayrig.model.platform import PLATFORMS, Arch, labelled
from delayrig.setup.apt import ANSWER_LIMITS, DATES_COMMAND, date_options, derive_debug_suite
from delayrig.setup.command import answer, redact
from delayrig.subjects.finder.debug_info import build_id, separate_files
from delayrig.subjects.packages import archive_source, cause_of
from delayrig.subjects.symbols import Symbols, read_symbols

WHAT = "debug packages"
CAT = "/usr/lib/apt/apt-helper"
FIELD = re.compile(r"^(Package|Version|Build-Ids): (.*)$", re.MULTILINE)
FOLDER = "debug-files"
FILE_NAME = "lines.debug"
NOT_THERE = ("404  Not Found", "403  Forbidden", "No such file", "does not have a Release file")
"""apt's messages if the archive does not have something. Other failures may be temporary."""


def provide_debug_files(
    name: str, parts: Iterable[Path], suite: str, arch: Arch, paths: Paths, preparing: Preparing
) -> None:
    """Fetches the debug files of a subject's parts, once for each build ID.

    Reports the result in one line, with the reason if there are none. An empty folder records that
    the archive has no file for a build ID; a failure that may be temporary leaves no record.
    """
    builds = {build_id_of(part) for part in parts} - {""}
    folder = paths.images / FOLDER
    left = sorted(build for build in builds if not (folder / build).is_dir())
    if not left:
        return
    try:
        found = fetch_debug_files(suite, left, PLATFORMS[arch].debian)
        cause = "" if found else "its debug packages do not have this build"
    except NotProvidedError as error:
        found, cause = {}, error.cause
        if not any(words in cause for words in NOT_THERE):
            left = []  # The next start asks again.
    for build in left:
        with whole_folder(folder / build) as made:
            if build in found:
                (made / FILE_NAME).write_bytes(found[build])
    reason = f": none ({cause}), so its places have no lines" if cause else ""
    preparing(f"debug files of {labelled(name, arch)}{reason}")


def lines_of(part: Path) -> Symbols:
    """Returns the symbols of a file's debug file; its own if there is no debug file."""
    return _lines_of(part, find_paths().images)


@cache
def _lines_of(part: Path, images: Path) -> Symbols:
    return read_symbols(debug_file_of(part, images) or part)


def debug_file_of(part: Path, images: Path) -> Path | None:
    """Returns the fetched debug file, or one on this machine, if the file itself has no lines."""
    with part.open("rb") as file:
        elf = ELFFile(file)
        if elf.has_dwarf_info(strict=True):
            return None
        build = build_id(elf)
        near = list(separate_files(elf, part, build))
    for place in [_file_of(build, images), *near]:
        if place.is_file() and build_id_of(place) == build:
            return place
    return None


def fetched_file(part: Path, images: Path) -> Path | None:
    """Returns the fetched debug file of a part; None if there is none."""
    build = build_id_of(part)
    file = _file_of(build, images)
    return file if build and file.is_file() else None


def _file_of(build: str, images: Path) -> Path:
    return images / FOLDER / build / FILE_NAME


def build_id_of(file: Path) -> str:
    """Returns the build ID; empty without one, and for a file that is no ELF file."""
    try:
        with file.open("rb") as opened:
            return build_id(ELFFile(opened))
    except ELFError:
        return ""


def fetch_debug_files(
    suite: str, builds: Sequence[str], architecture: str, source: str = ""
) -> dict[str, bytes]:
    """Returns the contents of debug files by build ID; omits builds that no debug package has.

    `source` is the text of a .sources file; empty for this machine's archive. Raises
    `NotProvidedError` if the archive does not exist or cannot be reached.
    """
    with ScratchFolder() as scratch:
        folder = Path(scratch)
        apt = _Apt(folder, architecture, source or _source(suite))
        apt.run("update", "--error-on=any")
        found = {}
        for package in sorted(packages_of(apt.index(), builds)):
            apt.run("download", package)
        for file in folder.glob("*.deb"):
            _run(["dpkg-deb", "-x", str(file), str(folder / "root")], folder)
        for build in builds:
            debug_file = folder / "root/usr/lib/debug/.build-id" / build[:2] / f"{build[2:]}.debug"
            if debug_file.is_file():
                found[build] = debug_file.read_bytes()
        return found


def _source(suite: str) -> str:
    try:
        return archive_source(suite, derive_debug_suite)
    except RigFaultError as error:
        raise NotProvidedError(WHAT, error.message, hint=error.hint) from error


def packages_of(index: str, builds: Sequence[str]) -> set[str]:
    """Returns the packages of an index, as `NAME=VERSION`, that have one of the builds."""
    stanzas = (dict(FIELD.findall(stanza)) for stanza in index.split("\n\n"))
    return {
        f"{fields['Package']}={fields['Version']}"
        for fields in stanzas
        if set(builds) & set(fields.get("Build-Ids", "").split())
    }


class _Apt:
    """An apt whose lists, cache and sources are in a private folder."""

    def __init__(self, folder: Path, architecture: str, source: str) -> None:
        self._folder = folder
        sources = folder / "debug.sources"
        sources.write_text(source, encoding="utf-8")
        sources.chmod(0o600)  # An address may hold a password.
        for subfolder in ("lists/partial", "cache/archives/partial"):
            (folder / subfolder).mkdir(parents=True)
        (folder / "status").touch()
        settings = [
            f'Dir::State::Lists "{folder}/lists"',
            f'Dir::State::Status "{folder}/status"',
            f'Dir::Cache "{folder}/cache"',
            f'Dir::Etc::SourceList "{sources}"',
            'Dir::Etc::SourceParts "-"',
            f'APT::Architecture "{architecture}"',
            f'APT::Architectures "{architecture}"',
            'APT::Sandbox::User "root"',
            'Acquire::Languages "none"',
            *ANSWER_LIMITS,
            *date_options(answer(DATES_COMMAND)),
        ]
        self._settings = folder / "apt.conf"
        text = "".join(f"{setting};\n" for setting in settings)
        self._settings.write_text(text, encoding="utf-8")

    def run(self, *words: str) -> str:
        return _run(["apt-get", "-q", *words], self._folder, self._settings)

    def index(self) -> str:
        """Returns the text of all package lists."""
        listed = self.run("indextargets", "--format", "$(FILENAME)", "Created-By: Packages")
        return "\n\n".join(
            _run([CAT, "cat-file", file], self._folder, self._settings) for file in listed.split()
        )


def _run(argv: list[str], folder: Path, settings: Path | None = None) -> str:
    try:
        done = run_child(
            argv,
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "LC_ALL": "C.UTF-8", "APT_CONFIG": str(settings or "")},
        )
    except OSError as error:
        raise NotProvidedError(WHAT, f"{argv[0]}: {error.strerror}") from error
    if done.returncode:
        raise NotProvidedError(WHAT, cause_of(redact(done.stderr)))
    return done.stdout
