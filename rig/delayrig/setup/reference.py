# SPDX-License-Identifier: GPL-2.0-or-later
"""Help and lists on a machine where the rig cannot run yet.

Help comes from the texts of `docs/reference/`, which the rig writes itself (`rig/rig reference`).
Lists that are tables in TOML are read from there, so that what a user adds is in them.
"""

import difflib
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from delayrig.setup.errors import UsageError
from delayrig.setup.layout import Layout

PROGRAM_TEXT = "rig"
BUS_WITHOUT_A_TABLE = "spi"


def help_text(layout: Layout, words: Sequence[str]) -> str:
    """Returns the help of the subcommand that the words begin with, else of the whole program."""
    for count in range(len(words), 0, -1):
        file = layout.help_texts / f"{'-'.join(words[:count])}.txt"
        if file.is_file():
            return file.read_text(encoding="utf-8")
    return (layout.help_texts / f"{PROGRAM_TEXT}.txt").read_text(encoding="utf-8")


def check_command(layout: Layout, command: str | None, own: Iterable[str]) -> None:
    """Raises an error with the nearest name if no command has this name."""
    known = {file.stem for file in layout.help_texts.glob("*.txt")} - {PROGRAM_TEXT}
    names = sorted({name for name in known if "-" not in name} | set(own))
    if command is None or not known or command in names:
        return
    close = difflib.get_close_matches(command.lower(), names, n=1, cutoff=0.5)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    raise UsageError(f"there is no command {command!r}{hint}")


def list_text(layout: Layout, name: str) -> str:
    return "".join(f"{line}\n" for line in LISTS[name](layout))


def _plans(layout: Layout, folder: str = "plans") -> Iterator[str]:
    for name, table in _tables(layout.package_path / "delayrig" / "plan" / folder):
        yield f"{name:12} {table['about']}"


def _chips(layout: Layout) -> Iterator[str]:
    for _, chip in _tables(layout.checkout / "emulators" / "chips"):
        bus = chip.get("bus", {}).get("kind", BUS_WITHOUT_A_TABLE)
        yield f"{chip['name']:12} {chip['vendor']:12} {bus:4} {chip['size_bytes'] >> 10:6} KiB"


def _written(layout: Layout, name: str) -> Iterator[str]:
    yield from (layout.reference / f"{name}.txt").read_text(encoding="utf-8").splitlines()


def _machines(layout: Layout) -> Iterator[str]:
    yield "(the speed of each core on this machine is known after `rig/rig setup`)"
    yield from _plans(layout, "machines")


def _tables(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for file in sorted(folder.glob("*.toml"), key=lambda file: file.stem):
        yield file.stem, tomllib.loads(file.read_text(encoding="utf-8"))


LISTS: dict[str, Callable[[Layout], Iterator[str]]] = {
    "plans": _plans,
    "chips": _chips,
    "hazards": partial(_written, name="hazards"),
    "machines": _machines,
    "subjects": partial(_written, name="subjects"),
}
