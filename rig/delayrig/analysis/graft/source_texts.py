# SPDX-License-Identifier: GPL-2.0-or-later
"""What a source tree says: its C files and build files, by their names from the tree's top."""

import os
from collections.abc import Iterator
from pathlib import Path

Texts = dict[str, str]

MESON = "meson.build"
OPTIONS = ("meson.options", "meson_options.txt")
MAKEFILES = ("Makefile", "GNUmakefile", "makefile")
LEFT_OUT = ".git"
BUILT = "build.ninja"
"""A folder with this in it holds no sources."""
KEEPS_BYTES = {"encoding": "utf-8", "errors": "surrogateescape"}


def left_out(folder: str, names: list[str]) -> list[str]:
    """Of the names in a folder those that are no sources; for `shutil.copytree`."""
    inner = Path(folder)
    return [name for name in names if name == LEFT_OUT or (inner / name / BUILT).is_file()]


def read_texts(root: Path) -> Texts:
    """All that a graft may have to look at or to change."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes().decode(**KEEPS_BYTES)
        for path in _files(root)
        if path.suffix in {".c", ".h"} or path.name in {MESON, *OPTIONS, *MAKEFILES}
    }


def write_texts(root: Path, texts: Texts) -> None:
    """Puts them in their places."""
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(text.encode(**KEEPS_BYTES))


def _files(root: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        dropped = left_out(folder, folders)
        folders[:] = sorted(name for name in folders if name not in dropped)
        paths = (Path(folder, name) for name in sorted(names))
        yield from (path for path in paths if path.is_file() and not path.is_symlink())
