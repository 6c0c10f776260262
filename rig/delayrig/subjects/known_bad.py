# SPDX-License-Identifier: GPL-2.0-or-later
"""Known-bad builds (flashrom/known_bad/): their kinds, their changes, and their build.

Each is our flashrom and its library with one change. Only objects that the change affects are
compiled, by the commands of the usual build; the others are those of the usual build. The compiler
reads a tree of links to the sources, in which only the changed files are real.
"""

import re
import shlex
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path

import msgspec

from delayrig.base import digest
from delayrig.base.errors import BadInputError, RigFaultError, UnknownNameError
from delayrig.base.paths import Paths, find_paths
from delayrig.base.toml import read_toml
from delayrig.model.platform import Arch
from delayrig.subjects.own_programs import TAIL_LINES, run_merged
from delayrig.subjects.seal import fault_of, sealed_folder

PREFIX = "known-bad:"
"""The prefix of such a build in a subject's name."""
LISTED_BY = "`rig/rig selfcheck known-bad --list`"
FOLDER = Path("flashrom") / "known_bad"
PROGRAM = "flashrom"
LIBRARY = "libflashrom.so.1"
# Maps the names of files here to targets of the usual build.
TARGETS = {PROGRAM: "flashrom/flashrom", LIBRARY: "flashrom/lib/libflashrom.so.1.0.0"}
OBJECT_FOLDERS = (
    "flashrom/libflashrom-core.a.p/",
    *(f"{target}.p/" for target in TARGETS.values()),
)
LINKED_FOLDER = "emulators/"
"""The folder of objects that are linked unchanged: the chip model of the dummy programmer."""
BUILDS = "known-bad"
MADE_OF = "made-of"
# A change may cause warnings, as when a function is no longer called.
LENIENT = ("-Wno-error", "-Werror=implicit-function-declaration")


class Kind(StrEnum):
    """The answer that a gate must give."""

    UNSAFE = "unsafe"
    WASTEFUL = "wasteful"
    LEGAL = "legal"


class Sight(StrEnum):
    """The witness that must see it: a witness of short waits, the job's time, CPU time, or none."""

    CHIP = "chip"
    DELAY = "delay"
    TIME = "time"
    CPU = "cpu"
    NOBODY = "nobody"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One edit of a source, in which `old` must occur exactly once."""

    file: str
    """The path below flashrom/."""
    old: str
    new: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    name: str
    what: str
    origin: str
    """Where such a mistake was reported, or how it could happen."""
    kind: Kind
    sight: Sight
    change: list[Change]


class Entry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A mistake in its TOML file, whose class and witness apply if the mistake names none."""

    what: str
    origin: str
    kind: Kind | None = msgspec.field(name="class", default=None)
    sight: Sight | None = msgspec.field(name="witness", default=None)
    diff: str


class Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    schema: int
    kind: Kind = msgspec.field(name="class")
    sight: Sight = msgspec.field(name="witness", default=Sight.NOBODY)
    mistake: dict[str, Entry]

    def mistakes(self) -> list[Mistake]:
        return [
            Mistake(
                name=name,
                what=entry.what,
                origin=entry.origin,
                kind=entry.kind or self.kind,
                sight=entry.sight or self.sight,
                change=_changes_of(entry.diff),
            )
            for name, entry in self.mistake.items()
        ]


def _changes_of(diff: str) -> list[Change]:
    """Returns the changes of a diff, each of which begins with a line `@@ FILE`.

    Lines that begin with - are removed, and lines that begin with + added. The others are context.
    """
    changes = []
    for part in filter(None, re.split(r"^@@ ", diff, flags=re.MULTILINE)):
        file, *lines = part.splitlines(keepends=True)
        old = "".join(line.removeprefix("-") for line in lines if not line.startswith("+"))
        new = "".join(line.removeprefix("+") for line in lines if not line.startswith("-"))
        changes.append(Change(file=file.strip(), old=old, new=new))
    return changes


def read_mistakes(checkout: Path) -> dict[str, Mistake]:
    """Returns all known-bad builds by name; raises `BadInputError` for a wrong table."""
    mistakes: dict[str, Mistake] = {}
    for path in sorted((checkout / FOLDER).glob("*.toml")):
        for mistake in read_toml(path, Table).mistakes():
            name, kind, sight = mistake.name, mistake.kind, mistake.sight
            if name in mistakes:
                raise BadInputError(f"{path}: two are called {name!r}", hint="rename one")
            if (kind is Kind.LEGAL) != (sight is Sight.NOBODY):
                raise BadInputError(
                    f"{path}: {name!r} is {kind}, and its witness is {sight}",
                    hint="legal ones must have no witness, and all others must have one",
                )
            mistakes[name] = mistake
    return mistakes


@cache
def own_mistakes() -> dict[str, Mistake]:
    return read_mistakes(find_paths().checkout)


def find_mistake(name: str, mistakes: dict[str, Mistake]) -> Mistake:
    """Returns the build of that name; raises `BadInputError` with the nearest name."""
    try:
        return mistakes[name]
    except KeyError:
        raise UnknownNameError(
            f"there is no known-bad build {name!r}",
            name,
            mistakes,
            what="builds",
            listed_by=LISTED_BY,
        ) from None


def changed_sources(mistake: Mistake, checkout: Path) -> dict[str, str]:
    """Returns each changed source in full, by its path below flashrom/; raises `BadInputError`."""
    texts: dict[str, str] = {}
    for change in mistake.change:
        try:
            source = (checkout / "flashrom" / change.file).read_text(encoding="utf-8")
        except OSError as error:
            raise BadInputError(
                f"known-bad build {mistake.name!r}: flashrom/{change.file}: {error.strerror}",
                hint=f"correct the file's name in {FOLDER}/",
            ) from error
        text = texts.get(change.file, source)
        if text.count(change.old) != 1:
            raise BadInputError(
                f"known-bad build {mistake.name!r}: its text occurs {text.count(change.old)} times"
                f" in flashrom/{change.file}, but must occur once:\n{change.old}",
                hint=f"bring its change in {FOLDER}/ up to date with the source",
            )
        texts[change.file] = text.replace(change.old, change.new)
    return texts


class Command(msgspec.Struct, frozen=True):
    """The command of the usual build for an object (compile_commands.json)."""

    command: str
    file: str
    output: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Usual:
    """The usual build for one architecture."""

    build: Path
    commands: list[Command]
    linked: list[Command]
    """The commands of objects that are linked unchanged."""

    @property
    def prefix(self) -> str:
        """Returns the prefix of sources in its commands: `../../flashrom/`."""
        main = next(c.file for c in self.commands if c.file.endswith("/cli/main.c"))
        return main.removesuffix("cli/main.c")

    def users_of(self, files: Iterable[str]) -> list[Command]:
        """Returns the objects that contain any of these sources or headers."""
        wanted = {f"{self.prefix}{file}" for file in files}
        if all(file.endswith(".c") for file in wanted):
            return [command for command in self.commands if command.file in wanted]
        outputs = [command.output for command in self.commands]
        listing = _run(["ninja", "-t", "deps", *outputs], self.build, "asking ninja")
        users, output = set(), ""
        for line in listing.splitlines():
            if not line.startswith("    "):
                output = line.partition(":")[0]
            elif line.strip() in wanted:
                users.add(output)
        return [c for c in self.commands if c.file in wanted or c.output in users]


def provide_known_bad(name: str, paths: Paths, arch: str = Arch.X86_64) -> Path:
    """Returns the folder of the build with that subject's name; raises `BadInputError`."""
    return provide_build(find_mistake(name.removeprefix(PREFIX), own_mistakes()), paths, arch)


def provide_build(mistake: Mistake, paths: Paths, arch: str = Arch.X86_64) -> Path:
    """Returns the folder with program and library, from the cache if nothing changed."""
    folder = paths.state / BUILDS / arch / mistake.name
    usual = _usual_build(paths.build_of(arch))
    sources = changed_sources(mistake, paths.checkout)
    # The key covers all inputs of a build.
    parts = [*usual.commands, *usual.linked]
    objects = [[c.command, digest.of_file(usual.build / c.output)] for c in parts]
    key = digest.of_value([LENIENT, sources, objects])
    note = folder / MADE_OF
    if not fault_of(folder) and note.read_text(encoding="utf-8") == key:
        return folder
    shutil.rmtree(folder, ignore_errors=True)  # It is damaged or of other inputs.
    with sealed_folder(folder) as made:
        tree = _tree_of_links(paths.checkout / "flashrom", made.parent / "flashrom", sources)
        compiled = _compile(mistake, usual, sources, tree, made)
        # The usual build has no library for other architectures: their guests do not use one.
        targets = {command.output.partition(".p/")[0] for command in usual.commands}
        for name, target in TARGETS.items():
            if target not in targets:
                continue
            asked = _run(["ninja", "-t", "commands", target], usual.build, "asking ninja")
            words = _link_words(shlex.split(asked.splitlines()[-1]), compiled, made / name)
            _run(words, usual.build, f"building known-bad build {mistake.name!r}")
        (made / MADE_OF).write_text(key, encoding="utf-8")
    return folder


def _usual_build(build: Path) -> Usual:
    try:
        raw = (build / "compile_commands.json").read_bytes()
    except OSError as error:
        raise RigFaultError(
            f"{build}: the usual build is not there: {error.strerror}",
            hint="`rig/rig setup` makes it",
        ) from error
    known = msgspec.json.decode(raw, type=list[Command])
    made = [command for command in known if (build / command.output).is_file()]
    return Usual(
        build=build,
        commands=[c for c in made if c.output.startswith(OBJECT_FOLDERS)],
        linked=[c for c in made if c.output.startswith(LINKED_FOLDER)],
    )


def _tree_of_links(sources: Path, tree: Path, changed: dict[str, str]) -> Path:
    """Makes a copy of the source folder from links, in which only changed files are real."""
    tree.mkdir()
    folders = {Path(file).parent for file in changed}
    real = {parent for folder in folders for parent in (folder, *folder.parents)}
    for folder in sorted(real, key=lambda path: len(path.parts)):
        (tree / folder).mkdir(exist_ok=True)
        for entry in (sources / folder).iterdir():
            place = folder / entry.name
            if place not in real and str(place) not in changed:
                (tree / place).symlink_to(entry)
    for file, text in changed.items():
        (tree / file).write_text(text, encoding="utf-8")
    return tree


def _compile(
    mistake: Mistake, usual: Usual, sources: dict[str, str], tree: Path, made: Path
) -> dict[str, Path]:
    """Returns the new objects, by the outputs that they replace."""
    objects: dict[str, Path] = {}
    for number, command in enumerate(usual.users_of(sources)):
        place = objects[command.output] = made.parent / f"{number}.o"
        words = _moved(shlex.split(command.command), usual.prefix, tree)
        words[words.index("-o") + 1] = str(place)
        # The last -MF counts, so the usual build's own list of dependencies is not changed.
        words += ["-MF", f"{place}.d", *LENIENT]
        _run(words, usual.build, f"building known-bad build {mistake.name!r}")
    if not objects:
        raise BadInputError(
            f"known-bad build {mistake.name!r}: no object of flashrom depends on what it changes",
            hint="change a source that flashrom/meson.build names, or a header of one",
        )
    return objects


def _moved(words: list[str], prefix: str, tree: Path) -> list[str]:
    """Returns the command for sources in the tree. The objects still name the usual sources."""
    folder = prefix.rstrip("/")
    moved = [
        word.replace(folder, str(tree), 1) if word.removeprefix("-I").startswith(folder) else word
        for word in words
    ]
    return [*moved, f"-ffile-prefix-map={tree}={folder}"]


def _link_words(words: list[str], objects: dict[str, Path], place: Path) -> list[str]:
    """Puts new objects before the archive with the old ones, which are then not linked."""
    linked = [str(objects[word]) if word in objects else word for word in words]
    linked[linked.index("-o") + 1] = str(place)
    added = [str(new) for output, new in objects.items() if output.startswith(OBJECT_FOLDERS[0])]
    start = linked.index("-Wl,--start-group")
    return [*linked[:start], *added, *linked[start:]]


def _run(words: list[str], build: Path, what: str) -> str:
    done = run_merged(words, environment={"LC_ALL": "C"}, folder=build)
    if done.returncode != 0:
        tail = "\n".join(f"  {line}" for line in done.stdout.splitlines()[-TAIL_LINES:])
        raise BadInputError(
            f"{what} failed; the last lines:\n{tail}",
            hint="correct its change in flashrom/known_bad/; if that is right, `rig/rig setup`",
        )
    return done.stdout
