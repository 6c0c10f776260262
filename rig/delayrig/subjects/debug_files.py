# SPDX-License-Identifier: GPL-2.0-or-later
"""Debug files of distribution packages, so that places in stripped programs have names.

They are fetched by build ID from the archive's debug packages, and only lines are read from them.
Delay functions are found without them, so that a verdict does not depend on the archive.
"""

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from delayrig.base.atomic_file import whole_folder
from delayrig.base.errors import NotProvidedError
from delayrig.base.paths import Paths, Preparing, find_paths
from delayrig.model.platform import PLATFORMS, Arch, labelled
from delayrig.subjects.debug_packages import fetch_debug_files
from delayrig.subjects.finder.debug_info import build_id, separate_files
from delayrig.subjects.symbols import Symbols, read_symbols

FOLDER = "debug-files"
FILE_NAME = "lines.debug"
NOT_THERE = ("404  Not Found", "403  Forbidden", "No such file", "does not have a Release file")
"""apt's messages for what an archive does not have. Other failures may pass."""


def provide_debug_files(
    name: str, parts: Iterable[Path], suite: str, arch: Arch, paths: Paths, preparing: Preparing
) -> None:
    """Fetches the debug files of a subject's parts, unless the archive answered before.

    Reports that in one line, with the reason if the archive has none. Nothing else depends on them.
    """
    builds = {build_id_of(part) for part in parts} - {""}
    folder = paths.images / FOLDER
    left = sorted(build for build in builds if not (folder / build).is_dir())
    if not left:
        return
    try:
        found = fetch_debug_files(suite, left, PLATFORMS[arch].debian)
        lacks = "" if found else "its debug packages do not have this build"
    except NotProvidedError as error:
        found, lacks = {}, error.cause
        if not any(words in lacks for words in NOT_THERE):
            left = []  # The next start asks again.
    for build in left:
        with whole_folder(folder / build) as made:
            if build in found:
                (made / FILE_NAME).write_bytes(found[build])
    said = f": none ({lacks}), so its places have no lines" if lacks else ""
    preparing(f"debug files of {labelled(name, arch)}{said}")


def lines_of(part: Path) -> Symbols:
    """Returns the symbols that name places in a file: its debug file's, else its own."""
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
