# SPDX-License-Identifier: GPL-2.0-or-later
"""Packed subjects, unpacked to be started on this machine: each with its own libraries."""

import contextlib
import tempfile
from pathlib import Path

from delayrig.base.archive import unpack_archive
from delayrig.images.elf import read_elf
from delayrig.images.subject import PROGRAM, Subject


def provide_root(subject: Subject) -> Path:
    """Beside its archive, made once; another run may do the same meanwhile."""
    archive = Path(subject.archive)
    root = archive.parent / "root"
    if not root.is_dir():
        with tempfile.TemporaryDirectory(dir=archive.parent) as scratch:
            made = Path(scratch) / "root"
            made.mkdir()
            unpack_archive(archive, made)
            with contextlib.suppress(OSError):
                made.rename(root)
    return root


def words_to_start(root: Path) -> list[str]:
    """Its own dynamic linker starts it, and finds its own libraries alone."""
    program = root / PROGRAM.lstrip("/")
    interpreter = read_elf(program).interpreter
    if interpreter is None:
        return [str(program)]
    linker = root / interpreter.lstrip("/")
    return [str(linker), "--library-path", str(root / "lib"), str(program)]
