# SPDX-License-Identifier: GPL-2.0-or-later
"""Packed subjects beside the results of a gate, so that its cells can be repeated from its folder.

Each has a folder with the same files as in the images: the archive for guests, with the program and
all its libraries, and the parts that the rig analyses. `subject.json` describes it.
"""

import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from delayrig.base import digest
from delayrig.base.atomic_file import whole_folder
from delayrig.base.errors import NOT_JSON, BadInputError
from delayrig.base.paths import Paths, Preparing
from delayrig.model.cell import slug
from delayrig.model.platform import Arch, labelled
from delayrig.subjects.library import SUFFIX, provide_library
from delayrig.subjects.recipes import Recipes
from delayrig.subjects.seal import fault_of, sealed_folder
from delayrig.subjects.subject import ARCHIVE, PARTS, PROGRAM, Subject, provide_subject

FOLDER = "programs"
"""The folder's name below that of a gate."""
DESCRIBED = "subject.json"


def provide_program(
    name: str, recipes: Recipes, paths: Paths, preparing: Preparing, arch: Arch = Arch.X86_64
) -> Subject:
    """Returns the packed subject: the one saved with the run that is repeated, else a new one."""
    saved = _saved(name, recipes, paths, arch)
    return saved or provide_subject(name, recipes, paths, preparing, arch)


def provide_program_library(
    name: str, recipes: Recipes, paths: Paths, preparing: Preparing
) -> Subject | None:
    """Returns the packed library of the subject, saved or new; None if no library is known."""
    saved = _saved(f"{name}{SUFFIX}", recipes, paths, Arch.X86_64)
    return saved or provide_library(name, recipes, paths, preparing)


def is_saved(name: str, recipes: Recipes) -> bool:
    """Returns True if the subject or its library was saved with the run; neither is built then."""
    return any(subject.name in (name, f"{name}{SUFFIX}") for subject, _ in _described(recipes))


def save_programs(subjects: Iterable[Subject], folder: Path, called: Mapping[str, str]) -> None:
    """Saves each subject below the folder; `called` has other folder names for some subjects."""
    for subject in subjects:
        described = msgspec.structs.replace(subject, archive=ARCHIVE)
        name = subject.name.removesuffix(SUFFIX) if subject.library else subject.name
        library = SUFFIX.replace("/", "-") if subject.library else ""
        short = (called.get(name) or slug(name)) + library
        with whole_folder(folder / slug(labelled(short, subject.arch))) as made:
            _copy(Path(subject.archive).parent, made)
            (made / DESCRIBED).write_bytes(msgspec.json.format(msgspec.json.encode(described)))


def programs_beside(run: Path) -> str:
    """Returns the folder of saved programs, in the run's folder or beside it; else empty."""
    places = (run / FOLDER, run.absolute().parent / FOLDER)
    return next((str(place) for place in places if place.is_dir()), "")


def programs_in(folder: Path) -> list[Subject]:
    """Returns all programs that were saved in a folder, without copying them."""
    return [
        msgspec.structs.replace(subject, archive=str(place / ARCHIVE))
        for subject, place in _described_in(folder)
    ]


def _saved(name: str, recipes: Recipes, paths: Paths, arch: Arch) -> Subject | None:
    for subject, place in _described(recipes):
        if (subject.name, subject.arch) == (name, arch):
            return _installed(subject, place, paths)
    return None


def _described(recipes: Recipes) -> list[tuple[Subject, Path]]:
    return _described_in(Path(recipes.saved)) if recipes.saved else []


def _described_in(folder: Path) -> list[tuple[Subject, Path]]:
    found = []
    for file in sorted(folder.glob(f"*/{DESCRIBED}")):
        try:
            found.append((msgspec.json.decode(file.read_bytes(), type=Subject), file.parent))
        except NOT_JSON as error:
            raise BadInputError(f"{file}: {error}", hint="copy the gate's folder again") from error
    return found


def _installed(subject: Subject, place: Path, paths: Paths) -> Subject:
    """Copies a subject to the images of this rig; raises `BadInputError` if its digests differ."""
    program = place / PARTS / PROGRAM.lstrip("/")
    whole = digest.of_file(place / ARCHIVE) == subject.archive_sha256
    if not whole or (not subject.library and digest.of_file(program) != subject.program_sha256):
        raise BadInputError(
            f"{place}: is not the {subject.name} that was saved there: its digest differs",
            hint="copy the gate's folder again",
        )
    folder = paths.images / "subjects" / f"kept-{subject.archive_sha256[:24]}"
    if fault_of(folder):
        with sealed_folder(folder) as made:
            _copy(place, made)
    return msgspec.structs.replace(subject, archive=str(folder / ARCHIVE))


def _copy(packed: Path, made: Path) -> None:
    shutil.copyfile(packed / ARCHIVE, made / ARCHIVE)
    shutil.copytree(packed / PARTS, made / PARTS)
