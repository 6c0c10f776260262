# SPDX-License-Identifier: GPL-2.0-or-later
"""Packs a subject's libflashrom with images/library_client/, as an archive for a guest.

The client is the same for all subjects. The library, the C library and the dynamic linker are the
subject's own.
"""

import shutil
from pathlib import Path

import msgspec

from delayrig.base import digest
from delayrig.base.errors import RigFaultError
from delayrig.base.paths import Paths, Preparing
from delayrig.setup.scratch import scratch_beside
from delayrig.subjects.debug_files import provide_debug_files
from delayrig.subjects.disguise import disguised, split_disguises
from delayrig.subjects.elf import Closure, collect_program, read_elf
from delayrig.subjects.git_tree import PREFIX as GIT_PREFIX
from delayrig.subjects.known_bad import LIBRARY, provide_known_bad
from delayrig.subjects.known_bad import PREFIX as KNOWN_BAD_PREFIX
from delayrig.subjects.own_programs import provide_own
from delayrig.subjects.packages import unpack_packages
from delayrig.subjects.profiles.profile import delay_address_of_digest, known_delay_symbols
from delayrig.subjects.recipes import ProgramRecipe, Recipes
from delayrig.subjects.seal import again, fault_of, sealed_folder
from delayrig.subjects.subject import BUNDLED, PATH_PREFIX, Subject, flashrom_version, pack
from delayrig.subjects.symbols import read_symbols
from delayrig.subjects.tree_build import provide_tree

OWN_LIBRARIES = {
    BUNDLED: f"flashrom/lib/{LIBRARY}",
    "canary:bus": "flashrom/lib/libflashrom-canary.so",
    "canary:chip": "flashrom/lib/libflashrom-fixed-canary.so",
    "control:chip": "flashrom/lib/libflashrom-fixed.so",
    "past-mistake:eintr-ignored": "flashrom/past_mistakes/libpast-mistake-eintr-ignored.so",
}
"""The libraries of this checkout, below the build folder."""
SUFFIX = "/libflashrom"
"""The suffix of a subject's name for its library instead of its program."""
FETCHED = 1
"""Raise this number when the stored files of a package change."""


def provide_library(
    name: str, recipes: Recipes, paths: Paths, preparing: Preparing
) -> Subject | None:
    """Returns the subject's library in the library client; None if no library of it is known."""
    if name in recipes.subjects:
        recipe = recipes.subjects[name]
        return _packaged(name, recipe, paths, preparing) if recipe.library_package else None
    library = _own_library(name, paths, preparing)
    if library is None:
        return None
    return _pack(name, _files_needed(str(library), Path("/")), paths, preparing)


def _own_library(name: str, paths: Paths, preparing: Preparing) -> Path | None:
    """Returns one of our libraries, or the one that a build of flashrom put beside its program."""
    disguises, plain = split_disguises(name)
    if disguises:
        library = _own_library(plain, paths, preparing)
        return None if library is None else disguised(library, disguises, paths)
    if name in OWN_LIBRARIES:
        return provide_own(OWN_LIBRARIES[name], paths)
    if name.startswith(KNOWN_BAD_PREFIX):
        return provide_known_bad(name, paths) / LIBRARY
    if name.startswith(GIT_PREFIX):
        folder = provide_tree(name, paths, preparing)
    elif name.startswith(PATH_PREFIX):
        folder = Path(name.removeprefix(PATH_PREFIX)).absolute().parent
    else:
        return None
    places = (folder / LIBRARY, folder / "lib" / LIBRARY)
    return next((place for place in places if place.is_file()), None)


def _packaged(name: str, recipe: ProgramRecipe, paths: Paths, preparing: Preparing) -> Subject:
    key = digest.of_value(["library", FETCHED, recipe])[:24]
    folder = paths.images / "libraries" / key
    if fault := fault_of(folder):
        preparing(f"{recipe.library_package} of {recipe.suite}{again(folder, fault)}")
        _fetch(recipe, folder, paths)
    versions = msgspec.json.decode((folder / "packages.json").read_bytes(), type=dict[str, str])
    files = {path.name: path for path in sorted((folder / "lib").iterdir())}
    packed, version = _pack(name, files, paths, preparing), flashrom_version(versions)
    parts = packed.parts.values()
    provide_debug_files(packed.name, parts, recipe.suite, packed.arch, paths, preparing)
    return msgspec.structs.replace(packed, packages=versions, package_version=version)


def _fetch(recipe: ProgramRecipe, folder: Path, paths: Paths) -> None:
    """Stores the files that the library needs, so that a changed client fetches nothing again."""
    with scratch_beside(paths.images) as scratch:
        root = scratch / "root"
        versions = unpack_packages(recipe.suite, [recipe.library_package], root)
        found = sorted(root.glob(f"usr/lib/**/{LIBRARY}"))
        if not found:
            raise RigFaultError(
                f"the package brought no {LIBRARY}",
                hint="name the package that has it as library_package in images/recipes.toml",
            )
        with sealed_folder(folder) as made:
            (made / "lib").mkdir()
            for file, path in _files_needed(f"/{found[0].relative_to(root)}", root).items():
                shutil.copyfile(path, made / "lib" / file)
            (made / "packages.json").write_bytes(msgspec.json.encode(versions))


def _files_needed(library: str, root: Path) -> dict[str, Path]:
    """Returns the library and all files that it needs, by the names that the linker looks for.

    A C library needs its dynamic linker, so that is among them.
    """
    closure = collect_program(library, root)
    return {**closure.libraries, LIBRARY: closure.program}


def _pack(name: str, files: dict[str, Path], paths: Paths, preparing: Preparing) -> Subject:
    interpreter = read_elf(paths.library_client).interpreter or ""
    closure = Closure(
        program=paths.library_client,
        interpreter=(interpreter, files[Path(interpreter).name]),
        libraries=files,
    )
    sha256 = digest.of_file(files[LIBRARY])
    by_symbols = map(read_symbols(files[LIBRARY]).function, known_delay_symbols())
    return msgspec.structs.replace(
        pack(f"{name}{SUFFIX}", closure, paths, preparing=preparing),
        program_sha256=sha256,
        library=True,
        delay_address=next(filter(None, by_symbols), None) or delay_address_of_digest(sha256),
    )
