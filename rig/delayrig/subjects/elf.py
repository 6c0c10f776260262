# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds the files that a program needs to run from its ELF headers, without running it.

The order of search is that of ld.so(8): DT_RPATH, FLASHROM_RIG_LIBRARY_PATH and LD_LIBRARY_PATH,
DT_RUNPATH, the folders of ld.so.conf, the built-in ones.
"""

import errno
import os
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection
from elftools.elf.segments import InterpSegment

from delayrig.base.errors import BadInputError

MACHINES = {
    "EM_X86_64": "x86_64-linux-gnu",
    "EM_386": "i386-linux-gnu",
    "EM_AARCH64": "aarch64-linux-gnu",
    "EM_ARM": "arm-linux-gnueabihf",
    "EM_RISCV": "riscv64-linux-gnu",
}
SYMLINKS_MAX = 40
MUSL_LOADER = "ld-musl-"
MUSL_ITSELF = re.compile(r"(ld-musl-|lib(c|pthread|rt|m|dl|util|xnet)\.)")
"""The beginnings of the names of libraries that are part of musl's dynamic linker.

Source: musl, "Design Concepts", and the names that Alpine's and Debian's linkers give (`libc.so`,
`libc.musl-x86_64.so.1`).
"""
# Like LD_LIBRARY_PATH, but without effect on the rig's own programs: these must not load libraries
# of another distribution.
LIBRARY_PATH = "FLASHROM_RIG_LIBRARY_PATH"


@dataclass(frozen=True, slots=True, kw_only=True)
class ElfFacts:
    """The facts of one file; `interpreter` is None for a static program or a library."""

    machine: str
    interpreter: str | None
    needed: tuple[str, ...]
    rpath: tuple[str, ...]
    """The folders for its libraries. Libraries without a runpath inherit them."""
    runpath: tuple[str, ...]

    @property
    def is_musl(self) -> bool:
        return Path(self.interpreter or "").name.startswith(MUSL_LOADER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Closure:
    program: Path
    interpreter: tuple[str, Path] | None
    """The path by which the kernel will look for it, and the file."""
    libraries: dict[str, Path]
    """The libraries by the names that the dynamic linker will look for."""


def read_elf(path: Path) -> ElfFacts:
    """Reads a file; raises `BadInputError` if it is no program or library for any guest."""
    try:
        with path.open("rb") as file:
            return _facts(ELFFile(file), path)
    except OSError as error:
        raise BadInputError(
            f"{path}: {error.strerror}", hint="name a flashrom program: path:BINARY"
        ) from error
    except (ELFError, UnicodeDecodeError) as error:
        raise BadInputError(
            f"{path}: not an ELF program ({error})",
            hint="name the program itself, not a script that starts it",
        ) from error


def _facts(elf: ELFFile, path: Path) -> ElfFacts:
    machine = str(elf["e_machine"])
    if machine not in MACHINES:
        raise BadInputError(
            f"{path}: built for {machine}, and no guest runs that",
            hint=f"build it for one of {', '.join(MACHINES)}",
        )
    if elf["e_type"] not in ("ET_EXEC", "ET_DYN"):
        raise ELFError("it is not linked")
    interpreters = (each for each in elf.iter_segments() if isinstance(each, InterpSegment))
    return ElfFacts(
        machine=machine,
        interpreter=next((each.get_interp_name() for each in interpreters), None),
        needed=tuple(_dynamic(elf, "DT_NEEDED", "needed")),
        rpath=_folders(_dynamic(elf, "DT_RPATH", "rpath")),
        runpath=_folders(_dynamic(elf, "DT_RUNPATH", "runpath")),
    )


def read_imports(path: Path) -> set[str]:
    """Returns the names that a program imports from its libraries."""
    with path.open("rb") as file:
        return {
            symbol.name
            for section in ELFFile(file).iter_sections()
            if section.name == ".dynsym" and isinstance(section, SymbolTableSection)
            for symbol in section.iter_symbols()
            if symbol["st_shndx"] == "SHN_UNDEF"
        }


def _folders(entries: list[str]) -> tuple[str, ...]:
    return tuple(folder for entry in entries for folder in entry.split(":") if folder)


def _dynamic(elf: ELFFile, kind: str, attribute: str) -> list[str]:
    return [
        str(getattr(tag, attribute))
        for section in elf.iter_sections()
        if isinstance(section, DynamicSection)
        for tag in section.iter_tags(kind)
    ]


def collect_program(program: str, root: Path, beside: tuple[str, ...] = ()) -> Closure:
    """Returns the program `program` (a path inside `root`) with its interpreter and libraries.

    The folders `beside` are searched before those that the user names. If a library is missing,
    raises `BadInputError` with its name and the file that needs it.
    """
    facts = read_elf(_resolve(root, program))
    interpreter = None
    if facts.interpreter is not None:
        found = _found_interpreter(root, program, facts.interpreter, beside)
        interpreter = (facts.interpreter, found)
    standard = _musl_folders(root, facts) if facts.is_musl else _standard_folders(root, facts)
    named = [*beside, *_named_folders(root)]
    libraries: dict[str, Path] = {}
    waiting = [_User(place=program, facts=facts, inherited=())]
    while waiting:
        user = waiting.pop()
        folders = user.search(named, standard)
        for name in user.facts.needed:
            if name not in libraries and not (facts.is_musl and MUSL_ITSELF.match(name)):
                place, libraries[name], found_facts = _find_library(root, name, user, folders)
                waiting.append(_User(place=place, facts=found_facts, inherited=user.own_rpath))
    return Closure(program=_resolve(root, program), interpreter=interpreter, libraries=libraries)


@dataclass(frozen=True, slots=True, kw_only=True)
class _User:
    """A file that needs libraries, and the folders inherited from the files that need it."""

    place: str
    facts: ElfFacts
    inherited: tuple[str, ...]

    @property
    def own_rpath(self) -> tuple[str, ...]:
        """Returns DT_RPATH of this file and of its users; DT_RUNPATH disables both."""
        return () if self.facts.runpath else (*self._placed(self.facts.rpath), *self.inherited)

    def search(self, named: list[str], standard: list[str]) -> list[str]:
        """Returns the folders to search for its libraries, in the order of ld.so(8)."""
        return [*self.own_rpath, *named, *self._placed(self.facts.runpath), *standard]

    def _placed(self, folders: tuple[str, ...]) -> tuple[str, ...]:
        origin = str(Path(self.place).parent)
        return tuple(f.replace("${ORIGIN}", origin).replace("$ORIGIN", origin) for f in folders)


def _found_interpreter(root: Path, program: str, interpreter: str, beside: tuple[str, ...]) -> Path:
    # A C library in a named folder works only with the dynamic linker beside it. Packages for a
    # merged /usr have the linker in /usr; without base-files, there is no link from / to it.
    named = [f"{folder}/{Path(interpreter).name}" for folder in [*beside, *_named_folders(root)]]
    for place in (*named, interpreter, f"/usr{interpreter}"):
        if path := _file_at(root, place):
            return path
    raise BadInputError(
        f"{program}: its dynamic linker {interpreter} is missing",
        hint="install the C library that it was built with, or link it statically",
    )


def _find_library(
    root: Path, name: str, user: _User, folders: list[str]
) -> tuple[str, Path, ElfFacts]:
    # A name with a slash is a path, which is not searched for.
    places = [name] if "/" in name else [f"{f}/{name}" for f in folders]
    for place in map(os.path.normpath, places):
        path = _file_at(root, place)
        if path and (facts := read_elf(path)).machine == user.facts.machine:
            return place, path, facts
    raise BadInputError(
        f"{user.place}: needs the library {name}, which is not there",
        hint=f"install it, or name its folder in {LIBRARY_PATH} or LD_LIBRARY_PATH",
    )


def _file_at(root: Path, place: str) -> Path | None:
    """Returns the file there, for a search that goes on without it."""
    with suppress(BadInputError):
        path = _resolve(root, place)
        return path if path.is_file() else None
    return None


def _named_folders(root: Path) -> list[str]:
    """Returns the folders of the two variables; none if `root` is not this machine's."""
    variables = (LIBRARY_PATH, "LD_LIBRARY_PATH") if root == Path("/") else ()
    return list(_folders([os.environ.get(variable, "") for variable in variables]))


def _musl_folders(root: Path, facts: ElfFacts) -> list[str]:
    """Returns the folders that musl's dynamic linker searches.

    They are those in /etc/ld-musl-ARCH.path, or the defaults if there is no such file.
    """
    name = Path(facts.interpreter or "").name.partition(".")[0]
    file = root / "etc" / f"{name}.path"
    listed = file.read_text(errors="replace") if file.is_file() else ""
    return listed.replace(":", "\n").split() or ["/lib", "/usr/local/lib", "/usr/lib"]


def _standard_folders(root: Path, facts: ElfFacts) -> list[str]:
    triplet = MACHINES[facts.machine]
    wide = "lib32" if facts.machine == "EM_386" else "lib64"
    folders: list[str] = []
    for file in sorted((root / "etc/ld.so.conf.d").glob("*.conf")):
        lines = file.read_text(errors="replace").splitlines()
        folders += [line.strip() for line in lines if line.strip().startswith("/")]
    folders += [f"/lib/{triplet}", f"/usr/lib/{triplet}", f"/{wide}", f"/usr/{wide}"]
    return [*folders, "/lib", "/usr/lib", "/usr/local/lib"]


def _resolve(root: Path, path: str) -> Path:
    """Follows symbolic links as they would be followed inside `root`.

    Raises `BadInputError` if there are too many.
    """
    parts = list(Path(os.path.normpath(path)).parts[1:])
    here, links = root, 0
    while parts:
        step = here / parts.pop(0)
        if not step.is_symlink():
            here = step
            continue
        links += 1
        if links > SYMLINKS_MAX:
            raise BadInputError(
                f"{path}: {os.strerror(errno.ELOOP)}", hint=f"look for circular links in {root}"
            )
        inside = Path("/", here.relative_to(root), step.readlink())
        parts = [*Path(os.path.normpath(inside)).parts[1:], *parts]
        here = root
    return here
