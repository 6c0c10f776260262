# SPDX-License-Identifier: GPL-2.0-or-later
"""Packed subjects, unpacked to be started on this machine: each with its own libraries."""

import shutil
from pathlib import Path

from delayrig.base.archive import unpack_archive
from delayrig.base.atomic_file import whole_folder
from delayrig.images.elf import read_elf
from delayrig.images.seal import broken_seal, files_below, write_seal
from delayrig.images.subject import PROGRAM, Subject

SEAL = "root.json"


def root_of(subject: Subject) -> Path:
    """Where it is, once it is provided."""
    return Path(subject.archive).parent / "root"


def provide_root(subject: Subject) -> Path:
    """Beside its archive; another run may make it meanwhile. What is damaged is made again."""
    root = root_of(subject)
    seal = root.parent / SEAL
    if broken_seal(seal, root):
        shutil.rmtree(root, ignore_errors=True)
        with whole_folder(root) as made:
            unpack_archive(Path(subject.archive), made)
            write_seal(seal, made, files_below(made))
    return root


def words_to_start(root: Path) -> list[str]:
    """Its own dynamic linker starts it, and finds its own libraries alone."""
    program = root / PROGRAM.lstrip("/")
    interpreter = read_elf(program).interpreter
    if interpreter is None:
        return [str(program)]
    linker = root / interpreter.lstrip("/")
    return [str(linker), "--library-path", str(root / "lib"), str(program)]
