# SPDX-License-Identifier: GPL-2.0-or-later
"""A flashrom tree: its texts, and the files that a graft changes. Refuses unsuitable trees."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from delayrig.base.errors import BadInputError
from delayrig.features.graft.build_files import MesonSource, names_object

Texts = dict[str, str]

MESON = "meson.build"
OPTIONS = ("meson.options", "meson_options.txt")
MAKEFILES = ("Makefile", "GNUmakefile", "makefile")
LEFT_OUT = ".git"
BUILT = "build.ninja"
"""The file that marks a build folder, which has no sources."""
KEEPS_BYTES = {"encoding": "utf-8", "errors": "surrogateescape"}
DELAY = "default_delay"
SOURCE = "udelay.c"
HEADER = "platform/udelay.h"
TOP_FILE = "flashrom.c"
"""The file at the top of every flashrom tree, and of no other."""
DEFINED = r"^[a-z_][\w \t*()]*?\b{}\s*\([^;{{}}]*\)\s*\{{"
DELAY_DEFINED = re.compile(rf"^void\s+{DELAY}\s*\(\s*unsigned(\s+int)?\s+\w+\s*\)\s*\{{", re.M)
OLD_NAMES = ("internal_delay", "myusec_delay", DELAY)
EXTERN = re.compile(
    r"^(?!static)(?:\w[\w \t*]*|__attribute__[^\n]*)\b(\w+)\s*\([^;{}]*\)\s*\{", re.M
)
MAIN = re.compile(r"^int\s+main\s*\(", re.M)
PROGRAMMER_INIT = re.compile(r"^.*\b(?:flashrom_)?programmer_init\s*\(.*$", re.M)
NO_PROGRAM = ("tests/", "util/")
REPLACED = ("myusec_delay", "internal_sleep")
"""The functions whose calls become calls of `DELAY`. Some files for other systems define them."""
DROPPED = ("myusec_calibrate_delay",)
"""The functions whose calls are removed."""


def left_out(folder: str, names: list[str]) -> list[str]:
    """Returns the names to leave out: `.git` and build folders; for `shutil.copytree`."""
    inner = Path(folder)
    return [name for name in names if name == LEFT_OUT or (inner / name / BUILT).is_file()]


def read_texts(root: Path) -> Texts:
    """Returns all texts that a graft may read or change, by path from the root."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes().decode(**KEEPS_BYTES)
        for path in _files(root)
        if path.suffix in {".c", ".h"} or path.name in {MESON, *OPTIONS, *MAKEFILES}
    }


def write_texts(root: Path, texts: Texts) -> None:
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(text.encode(**KEEPS_BYTES))


def _files(root: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        dropped = left_out(folder, folders)
        folders[:] = sorted(name for name in folders if name not in dropped)
        paths = (Path(folder, name) for name in sorted(names))
        yield from (path for path in paths if path.is_file() and not path.is_symlink())


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """The files that a graft changes, as paths from the root."""

    delay: str
    """The file that defines `DELAY` on Linux."""
    header: str
    """The header that declares `DELAY`; the graft creates it if it is missing."""
    builds: tuple[str, ...]
    """The build files that list `delay` as a source."""
    options: str
    """The file with meson's options; empty if only make builds the tree."""
    cli: str
    """The file with `main()`, which opens the programmer."""

    @property
    def realtime(self) -> str:
        return str(PurePosixPath(self.delay).with_name("realtime.c"))

    @property
    def realtime_header(self) -> str:
        return self.header.removesuffix(HEADER) + "realtime.h"

    @property
    def system(self) -> str:
        return "meson" if self.options else "make"


def find_tree(root: Path, texts: Texts) -> Tree:
    """Returns the tree; raises `BadInputError` if the graft does not fit."""
    _check_project(root, texts)
    delay = _find_delay(root, texts)
    tree = Tree(
        delay=delay,
        header=_find_header(texts),
        builds=_find_builds(root, texts, delay),
        options=_find_options(texts),
        cli=_find_cli(root, texts),
    )
    _check_users(root, texts, delay)
    _check_places(root, texts, tree)
    return tree


def _check_project(root: Path, texts: Texts) -> None:
    if TOP_FILE not in texts:
        raise BadInputError(
            f"{root}: is not a flashrom source tree: looked for {TOP_FILE} at its top",
            hint="name the top folder of a checkout or of an unpacked release of flashrom",
        )
    if not any(name in texts for name in (MESON, *MAKEFILES)):
        raise BadInputError(
            f"{root}: looked for {MESON} or {MAKEFILES[0]} at its top, and found neither",
            hint="name the top folder of a tree that meson or make builds",
        )


def _find_delay(root: Path, texts: Texts) -> str:
    found = [name for name in _program_sources(texts) if DELAY_DEFINED.search(texts[name])]
    named = [name for name in found if PurePosixPath(name).name == SOURCE]
    if len(named) == 1:
        return named[0]
    _refuse_old(root, {name: text for name, text in texts.items() if name not in found})
    if found:
        raise BadInputError(
            f"{root / found[0]}: defines {DELAY}(): looked for one such file, called {SOURCE},"
            f" and found {', '.join(found)}",
            hint=f"give the file for Linux the name {SOURCE}, as flashrom has it",
        )
    raise BadInputError(
        f"{root}: no file defines void {DELAY}(unsigned int), which the graft replaces",
        hint="take a tree that has it; `git restore .` mends a changed checkout",
    )


def _refuse_old(root: Path, others: Texts) -> None:
    for name in _program_sources(others):
        for old in OLD_NAMES:
            if re.search(DEFINED.format(old), others[name], re.M):
                raise BadInputError(
                    f"{root / name}: this flashrom is too old: looked for void"
                    f" {DELAY}(unsigned int), found {old}()",
                    hint="take a newer one, such as 1.4",
                )


def _program_sources(texts: Texts) -> list[str]:
    return [name for name in texts if name.endswith(".c") and not name.startswith(NO_PROGRAM)]


def _find_header(texts: Texts) -> str:
    there = [name for name in texts if name.endswith(HEADER)]
    has_include = any(name.startswith("include/") for name in texts)
    return there[0] if there else f"include/{HEADER}" if has_include else HEADER


def named_in(build: str, source: str) -> str:
    """Returns the name of a source in a build file: meson lists sources, make lists objects."""
    name = os.path.relpath(source, PurePosixPath(build).parent)
    return name if build.endswith(MESON) else name.removesuffix(".c") + ".o"


def _find_builds(root: Path, texts: Texts, delay: str) -> tuple[str, ...]:
    found = []
    for build, text in texts.items():
        name = named_in(build, delay)
        if PurePosixPath(build).name in MAKEFILES and names_object(text, name):
            found.append(build)
        elif PurePosixPath(build).name == MESON and name in text:
            found += [build] if MesonSource(build, text).names(name) else []
    for top in sorted({name for name in (MESON, *MAKEFILES) if name in texts}):
        if not any(PurePosixPath(name).name == top for name in found):
            raise BadInputError(
                f"{root / top}: looked for {named_in(top, delay)} among the sources, here and in"
                f" each {top} below, and found none",
                hint=f"take a tree whose build names {delay}, as flashrom's does",
            )
    return tuple(found)


def _find_options(texts: Texts) -> str:
    if MESON not in texts:
        return ""
    return next((name for name in OPTIONS if name in texts), OPTIONS[-1])


def _find_cli(root: Path, texts: Texts) -> str:
    for name in _program_sources(texts):
        main = MAIN.search(texts[name])
        if main and PROGRAMMER_INIT.search(texts[name], main.start()):
            return name
    raise BadInputError(
        f"{root}: looked for the file whose main() calls programmer_init() or"
        " flashrom_programmer_init(), and found none",
        hint="take a tree with flashrom's command line, cli_classic.c",
    )


def _check_users(root: Path, texts: Texts, delay: str) -> None:
    """Raises `BadInputError` if the tree needs a function of the old file that ours lacks."""
    for function in set(EXTERN.findall(texts[delay])) - {DELAY, *REPLACED, *DROPPED}:
        for name in _program_sources(texts):
            if name != delay and re.search(rf"\b{function}\s*\(", texts[name]):
                raise BadInputError(
                    f"{root / delay}: defines {function}() as well, which {name} needs: looked for"
                    f" {DELAY}() alone",
                    hint=f"move {function}() into another file, then graft again",
                )


def _check_places(root: Path, texts: Texts, tree: Tree) -> None:
    for name in (tree.realtime, tree.realtime_header):
        if name in texts:
            raise BadInputError(
                f"{root / name}: is there already, and the graft would put its own in that place",
                hint="take a tree that was not grafted, or give that file another name",
            )
