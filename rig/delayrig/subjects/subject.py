# SPDX-License-Identifier: GPL-2.0-or-later
"""Flashroms with the libraries that each needs: packed for a guest, unpacked for this machine."""

import os
import re
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from delayrig.base import digest
from delayrig.base.archive import FORMAT, unpack_archive, write_archive
from delayrig.base.atomic_file import replace_file, whole_folder
from delayrig.base.errors import NOT_JSON, BadInputError, UnknownNameError
from delayrig.base.paths import Paths, Preparing, find_paths
from delayrig.model.chips import ChipFacts
from delayrig.model.platform import PLATFORMS, Arch, labelled
from delayrig.setup.scratch import scratch_beside
from delayrig.subjects.debug_files import provide_debug_files
from delayrig.subjects.disguise import disguised, split_disguises
from delayrig.subjects.elf import Closure, collect_program, read_elf
from delayrig.subjects.git_tree import PREFIX as GIT_PREFIX
from delayrig.subjects.git_tree import known_source
from delayrig.subjects.known_bad import PREFIX as KNOWN_BAD_PREFIX
from delayrig.subjects.known_bad import PROGRAM as BUILT_PROGRAM
from delayrig.subjects.known_bad import own_mistakes, provide_known_bad
from delayrig.subjects.musl import LIBCS, build_name, musl_folders, provide_with_musl, split_libc
from delayrig.subjects.own_programs import library_folders, provide_own
from delayrig.subjects.packages import unpack_packages
from delayrig.subjects.recipes import ProgramRecipe, Recipes
from delayrig.subjects.seal import FILE_NAME as SEAL
from delayrig.subjects.seal import broken_seal, files_below, sealed, unsealed, write_seal
from delayrig.subjects.tree_build import provide_tree

BUNDLED = "bundled"
BRIDGE, CYCLICTEST = "socat", "cyclictest"
# Past mistakes of delay layers, reproduced in our own (flashrom/known_bad/README.md).
PAST_MISTAKES = (
    *("busy-threshold-100ms", "busy-threshold-1s", "calibrated-loop", "doubling-calibration-2003"),
    *("eintr-ignored", "ms-us-slip", "seconds-dropped", "threshold-turned-round"),
    *("trusting-getres", "two-percent-short", "us-ms-slip", "wait-before-buffered-write"),
    *("wall-clock", "wrap-32bit"),
)
# The proposal's changes, each added to those before (flashrom/steps/), and the same with waits that
# trust the delay layer and do not poll.
STEPS = ("calibrated-loop", "os-clock", "threshold-100us", "realtime", "slack-and-hybrid")
TRUSTING = "-trusting"
# The delay layer's fallbacks on the clocks and sleeps of other systems (flashrom/old_clocks/).
OLD_CLOCKS = ("dos", "windows", "windows-unknown", "bsd")
# Programs of this checkout, below the build folder: our own flashrom, its test builds by which the
# rig checks itself (flashrom/README.md), the smallest program that can write (emulators/README.md),
# and the one that measures the cost of sleeping (flashrom/bench/).
OWN_PROGRAMS = {
    BUNDLED: "flashrom/flashrom",
    "canary:bus": "flashrom/flashrom-canary",
    "canary:chip": "flashrom/flashrom-fixed-canary",
    "control:chip": "flashrom/flashrom-fixed",
    "floor": "emulators/yardstick/serprog-floor",
    "control:yardstick": "emulators/yardstick/yardstick",
    "canary:sleeps-short": "emulators/yardstick/yardstick-sleeps-short",
    "canary:sleeps-half": "emulators/yardstick/yardstick-sleeps-half",
    "canary:asks-short": "emulators/yardstick/yardstick-asks-short",
    "sleep-facts": "flashrom/bench/sleep-facts",
}
OWN_PROGRAMS |= {
    f"past-mistake:{n}": f"flashrom/past_mistakes/past-mistake-{n}" for n in PAST_MISTAKES
}
OWN_PROGRAMS |= {
    f"step:{n}{k}": f"flashrom/steps/step-{n}{k}" for n in STEPS for k in ("", TRUSTING)
}
OWN_PROGRAMS |= {f"old-clocks:{n}": f"flashrom/old_clocks/old-clocks-{n}" for n in OLD_CLOCKS}
PATH_PREFIX = "path:"
FORMS = (f"{GIT_PREFIX}REV", f"{PATH_PREFIX}BINARY")
"""How a user names builds of their own."""
LISTED_BY = f"`rig/rig subjects`, {' and '.join(FORMS)}"
ONE_MACHINE_PREFIXES = ("past-mistake:", "step:", "old-clocks:", "sleep-facts", GIT_PREFIX)
"""The prefixes of programs that are built here for only one architecture."""
PROGRAM = "/usr/sbin/flashrom"
"""The path of every subject in its root: no path of this machine goes into a guest."""
DRIVER = "serprog"
"""The driver of flashrom that almost all cells use, and no other program has."""
NO_FLASHROM = f"this does not look like a flashrom: it knows neither {DRIVER} nor any chip"
ARCHIVE = "subject.cpio"
ROOT_SEAL = "root.json"
PARTS = "parts"
"""The folder beside an archive with the files that are analysed on this machine as well."""
# Raise this number when packing changes, so that older caches are not used.
PACKING = 3


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    archive: str
    archive_sha256: str
    program_sha256: str
    packages: dict[str, str]
    arch: Arch = Arch.X86_64
    library: bool = False
    """True for a library, run by our library client; the digest is then the library's."""
    delay_address: int | None = None
    """The address of a library's delay function, if it is known."""
    package_version: str = ""
    """The upstream version of the flashrom package with this very program.

    It is empty for other programs, such as forks of flashrom.
    """

    @property
    def parts(self) -> dict[str, Path]:
        """Returns the program and its libflashrom as local files, by their paths in its root."""
        root = Path(self.archive).parent / PARTS
        files = (path for path in root.rglob("*") if path.is_file())
        return {f"/{path.relative_to(root)}": path for path in sorted(files)}

    @property
    def label(self) -> str:
        """Returns its name in results and in the lock."""
        return labelled(self.name, self.arch)

    @property
    def program_bytes(self) -> bytes:
        """Returns the bytes of all files, which contain the chip names that they know."""
        return b"\0".join([*(path.read_bytes() for path in self.parts.values()), b""])


def known_subjects(recipes: Recipes) -> list[str]:
    """Returns the names that `--subject` takes; it takes `FORMS` as well."""
    known_bad = [f"{KNOWN_BAD_PREFIX}{name}" for name in own_mistakes()]
    return [*OWN_PROGRAMS, *known_bad, *recipes.subjects]


def is_own_build(name: str) -> bool:
    """Returns True for a build of the user."""
    return name.startswith((PATH_PREFIX, GIT_PREFIX))


def provide_tool(
    name: str, recipes: Recipes, paths: Paths, preparing: Preparing, arch: Arch = Arch.X86_64
) -> Subject:
    """Returns a program for a guest beside its subject, packed like one.

    `name` is BRIDGE, which connects a tty to the emulator's socket; CYCLICTEST, which `rig/rig
    latency` runs beside its own program; or a program of `[tools]`.
    """
    known = {**recipes.tools, BRIDGE: recipes.bridge, CYCLICTEST: recipes.cyclictest}
    recipe = known[name]
    if arch not in recipes.guest.kernel_packages:
        recipe = msgspec.structs.replace(recipe, suite=recipes.guest_of(arch).suite)
    return _provide_packaged(name, recipe, arch, paths, preparing)


def provide_latency_program(paths: Paths, arch: Arch = Arch.X86_64) -> Subject:
    """Returns the measuring program of `rig/rig latency`, packed like a subject."""
    built = str(paths.latency_program_of(arch))
    closure = collect_program(built, Path("/"), library_folders(arch, paths))
    return pack("rig-latency", closure, paths, arch)


def check_subject(name: str, recipes: Recipes, where: str) -> None:
    """Raises `BadInputError` for a subject that could not be packed. Fetches and builds nothing.

    `where` is the origin of the name: an option, or a key of a plan.
    """
    try:
        if name.startswith(PATH_PREFIX):
            _collect_path(name)
        elif not name.startswith(GIT_PREFIX):
            _check_known(name, recipes)
        else:
            known_source(name, find_paths())
    except BadInputError as error:
        raise BadInputError(f"{where}: {error.message}", hint=error.hint) from error


def check_flashrom(name: str, chips: Iterable[ChipFacts], where: str) -> None:
    """Raises `BadInputError` for a `path:` subject that is certainly no flashrom."""
    if name.startswith(PATH_PREFIX):
        closure = _collect_path(name)
        files = (closure.program, *closure.libraries.values())
        if not is_like_flashrom(b"".join(file.read_bytes() for file in files), chips):
            raise BadInputError(
                f"{where}: subject {name!r}: {NO_FLASHROM}",
                hint="give the path of a flashrom program: path:BINARY",
            )


def _check_known(name: str, recipes: Recipes) -> None:
    """Raises `BadInputError` for an unknown name; the rig disguises only programs of its own."""
    disguises, disguised_name = split_disguises(name)
    libc, plain = split_libc(disguised_name)
    packaged = recipes.subjects if disguises or libc else ()
    known = [each for each in known_subjects(recipes) if each not in packaged]
    if plain not in known:
        raise UnknownNameError(
            f"unknown subject {name!r}", name, known, what="subjects", listed_by=LISTED_BY
        )


def wrong_machine(name: str, arch: Arch) -> str:
    """Returns why guests of that architecture cannot run the subject; empty if they can."""
    disguises, plain = split_disguises(name)
    is_for_one = disguises or plain.startswith((*LIBCS, *ONE_MACHINE_PREFIXES))
    if is_for_one and arch is not Arch.X86_64:
        return f"{name} is built for {Arch.X86_64}, and the guest is {arch}"
    path = Path(name.removeprefix(PATH_PREFIX))
    if not name.startswith(PATH_PREFIX) or not path.is_file():
        return ""  # A program saved with a run needs no file here.
    machine = read_elf(path).machine
    if machine in PLATFORMS[arch].elf_machines:
        return ""
    return f"this program is built for {machine}, and the guest is {arch}"


def provide_subject(
    name: str, recipes: Recipes, paths: Paths, preparing: Preparing, arch: Arch = Arch.X86_64
) -> Subject:
    """Returns the packed subject, from the cache if nothing changed."""
    if name in recipes.subjects:
        recipe = recipes.subjects[name]
        subject = _provide_packaged(name, recipe, arch, paths, preparing)
        provide_debug_files(name, subject.parts.values(), recipe.suite, arch, paths, preparing)
        return subject
    disguises, plain = split_disguises(name)
    libc, plain = split_libc(plain)
    if plain in OWN_PROGRAMS or plain.startswith(KNOWN_BAD_PREFIX):
        own = (
            _with_musl(libc, plain, paths, preparing) if libc else _own_program(plain, paths, arch)
        )
        program = str(disguised(own, disguises, paths))
        folders = musl_folders(paths) if libc else library_folders(arch, paths)
        closure = collect_program(program, Path("/"), folders)
        return pack(name, closure, paths, arch, preparing)
    if name.startswith(GIT_PREFIX):
        program = str(provide_tree(name, paths, preparing) / BUILT_PROGRAM)
        return pack(name, collect_program(program, Path("/")), paths, arch, preparing)
    subject = pack(name, _collect_path(name), paths, arch, preparing)
    for pointer in sorted((paths.images / "recipes").glob("*.json")):
        kept, fault = _kept(pointer, paths)
        # A copy under another name is still the package's program.
        if kept and not fault and kept.program_sha256 == subject.program_sha256:
            return msgspec.structs.replace(subject, package_version=kept.package_version)
    return subject


def _own_program(name: str, paths: Paths, arch: Arch) -> Path:
    """Returns a program of this checkout, built from its present sources."""
    if name.startswith(KNOWN_BAD_PREFIX):
        return provide_known_bad(name, paths, arch) / BUILT_PROGRAM
    if arch is Arch.X86_64:
        return provide_own(OWN_PROGRAMS[name], paths)
    return paths.build_of(arch) / OWN_PROGRAMS[name]


def _with_musl(libc: str, name: str, paths: Paths, preparing: Preparing) -> Path:
    """Returns a program of this checkout, linked with musl."""
    own = provide_with_musl(libc, OWN_PROGRAMS.get(name, OWN_PROGRAMS[BUNDLED]), paths, preparing)
    if not name.startswith(KNOWN_BAD_PREFIX):
        return own
    return provide_known_bad(name, paths, build_name(libc)) / BUILT_PROGRAM


def _collect_path(name: str) -> Closure:
    program = os.path.abspath(name.removeprefix(PATH_PREFIX))  # noqa: PTH100 - keeps links
    if Path(program).is_dir():
        raise BadInputError(
            f"subject {name!r}: {program} is a folder",
            hint="give the path of the program in it, or leave out path: for the folder of a run",
        )
    if not Path(program).is_file():
        raise BadInputError(
            f"subject {name!r}: there is no file {program}",
            hint="give the path of a flashrom program: path:BINARY",
        )
    return collect_program(program, Path("/"))


def _provide_packaged(
    name: str, recipe: ProgramRecipe, arch: Arch, paths: Paths, preparing: Preparing
) -> Subject:
    key = digest.of_value(["subject", PACKING, FORMAT, name, recipe, arch])
    pointer = paths.images / "recipes" / f"{key}.json"
    kept, fault = _kept(pointer, paths)
    if kept and not fault:
        return kept
    preparing(labelled(f"{recipe.package} of {recipe.suite}", arch) + fault)
    if kept:
        shutil.rmtree(Path(kept.archive).parent, ignore_errors=True)
    with scratch_beside(paths.images) as scratch:
        root = scratch / "root"
        versions = unpack_packages(recipe.suite, [recipe.package], root, PLATFORMS[arch].debian)
        packed = pack(name, collect_program(recipe.program, root), paths, arch, preparing)
    version = flashrom_version(versions)
    subject = msgspec.structs.replace(packed, packages=versions, package_version=version)
    pointer.parent.mkdir(parents=True, exist_ok=True)
    place = str(Path(subject.archive).relative_to(paths.images))
    pointed = msgspec.json.encode(msgspec.structs.replace(subject, archive=place))
    replace_file(pointer, sealed(pointed))
    return subject


def _kept(pointer: Path, paths: Paths) -> tuple[Subject | None, str]:
    """Returns the subject fetched before, and why it is to be fetched again."""
    try:
        subject = msgspec.json.decode(unsealed(pointer.read_bytes()) or b"", type=Subject)
    except FileNotFoundError:
        return None, ""
    except NOT_JSON:
        return None, f" again: {pointer.name} is damaged"
    # The pointer names its archive relative to the images, because that folder may be moved.
    archive = paths.images / subject.archive
    subject = msgspec.structs.replace(subject, archive=str(archive))
    if not archive.is_file() or digest.of_file(archive) != subject.archive_sha256:
        return subject, f" again: {ARCHIVE} is missing, or not as it was made"
    if not (archive.parent / SEAL).is_file():
        _seal(archive.parent)  # An older state has no seal. The archive is unchanged.
    fault = broken_seal(archive.parent / SEAL, archive.parent)
    return subject, f" again: {fault}" if fault else ""


def _seal(folder: Path) -> None:
    parts = (f"{PARTS}/{name}" for name in files_below(folder / PARTS))
    write_seal(folder / SEAL, folder, [ARCHIVE, *parts])


def flashrom_version(packages: dict[str, str]) -> str:
    """Returns the upstream version of flashrom or its library; empty if neither is there."""
    named = (packages[name] for name in ("flashrom", "libflashrom1") if name in packages)
    return upstream_version(next(named, ""))


def upstream_version(version: str) -> str:
    """Returns `1:1.3.0-2.1` without epoch and revision, if it has them: 1.3.0."""
    without_epoch = version.rpartition(":")[2]
    return without_epoch.rpartition("-")[0] or without_epoch


def pack(
    name: str,
    closure: Closure,
    paths: Paths,
    arch: Arch = Arch.X86_64,
    preparing: Preparing | None = None,
) -> Subject:
    """Packs the files. Equal files give the same archive, in a folder named by their digests."""
    program_sha256 = digest.of_file(closure.program)
    parts: list[object] = ["packed", PACKING, FORMAT, program_sha256]
    if closure.interpreter is not None:
        parts.append([closure.interpreter[0], digest.of_file(closure.interpreter[1])])
    parts += [[lib, digest.of_file(path)] for lib, path in sorted(closure.libraries.items())]
    folder = paths.images / "subjects" / digest.of_value(parts)[:24]
    archive = folder / ARCHIVE
    if folder.is_dir() and (fault := broken_seal(folder / SEAL, folder)):
        if preparing and (folder / SEAL).is_file():
            preparing(f"{labelled(name, arch)} again: {fault}")
        shutil.rmtree(folder)
    if not archive.is_file():
        _write(closure, folder)
    return Subject(
        name=name,
        archive=str(archive),
        archive_sha256=digest.of_file(archive),
        program_sha256=program_sha256,
        packages={},
        arch=arch,
    )


def _write(closure: Closure, folder: Path) -> None:
    with scratch_beside(folder) as root, whole_folder(folder) as made:
        (root / "lib").mkdir(parents=True)
        (root / "tmp").mkdir()
        # Every C library looks for libraries in /lib or in /lib64, in addition to other folders.
        (root / "lib64").symlink_to("lib")
        files = {PROGRAM: closure.program}
        files |= {n if "/" in n else f"lib/{n}": path for n, path in closure.libraries.items()}
        files |= dict([closure.interpreter] if closure.interpreter else [])
        for place, path in files.items():
            is_part = place == PROGRAM or Path(place).name.startswith("libflashrom")
            for top in (root, made / PARTS) if is_part else (root,):
                target = top / place.lstrip("/")
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)
                target.chmod(0o755)
        write_archive(root, made / ARCHIVE)
        _seal(made)


def knows_string(program: bytes, text: str) -> bool:
    """Returns True if the program contains `text` as a separate C string."""
    return re.search(rb"\0" + re.escape(text.encode()) + rb"\0", program) is not None


def may_know(program: bytes, text: str) -> bool:
    """Returns True if the program contains `text` as a string, or as the end of a longer one.

    A linker may store a string as the end of a longer one. So only a negative answer is certain: a
    program without the text does not know it.
    """
    return text.encode() + b"\0" in program


def is_like_flashrom(program: bytes, chips: Iterable[ChipFacts]) -> bool:
    """Returns True if the program may know the driver or one of the chips."""
    names = (name for chip in chips for name in chip.flashrom_names)
    return any(may_know(program, name) for name in (DRIVER, *names))


def known_name(program: bytes, names: Sequence[str]) -> str:
    """Returns the first of the names that the program knows, or else may know; else empty."""
    sure = (name for name in names if knows_string(program, name))
    return next(sure, next((name for name in names if may_know(program, name)), ""))


def root_of(subject: Subject) -> Path:
    """Returns the folder of its unpacked root."""
    return Path(subject.archive).parent / "root"


def provide_root(subject: Subject) -> Path:
    """Unpacks the root beside its archive, if it is missing or damaged.

    Another run may do so at the same time.
    """
    root = root_of(subject)
    seal = root.parent / ROOT_SEAL
    if broken_seal(seal, root):
        shutil.rmtree(root, ignore_errors=True)
        with whole_folder(root) as made:
            unpack_archive(Path(subject.archive), made)
            write_seal(seal, made, files_below(made))
    return root


def words_to_start(root: Path) -> list[str]:
    """Returns words that start the program in `root` with its own dynamic linker and libraries."""
    program = root / PROGRAM.lstrip("/")
    interpreter = read_elf(program).interpreter
    if interpreter is None:
        return [str(program)]
    linker = root / interpreter.lstrip("/")
    return [str(linker), "--library-path", str(root / "lib"), str(program)]
