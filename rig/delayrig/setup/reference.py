# SPDX-License-Identifier: GPL-2.0-or-later
"""Help and lists on a machine where the rig cannot run yet.

Help comes from the texts of `docs/reference/`, which the rig writes itself (`rig/rig reference`).
Lists of TOML files are read from the files, so that they include the files that a user adds.
"""

import difflib
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from delayrig.setup.errors import SetupError, UsageError
from delayrig.setup.layout import Layout

PROGRAM = ""
"""The words of the program itself, which has no subcommand."""
USAGE = re.compile(r"^(?=Usage: rig/rig)", re.MULTILINE)
BUS_WITHOUT_A_TABLE = "spi"


def help_texts(layout: Layout) -> dict[str, str]:
    """Returns the outputs of `--help` by the words of the subcommand, such as `history add`."""
    texts = [f"{text.rstrip()}\n" for text in USAGE.split(_help_file(layout)) if text]
    return {words_of(text): text for text in texts}


def words_of(text: str) -> str:
    """Returns the words of the subcommand that a help text describes."""
    return text.removeprefix("Usage: rig/rig").partition("[OPTIONS]")[0].strip()


def _help_file(layout: Layout) -> str:
    return layout.help_texts.read_text(encoding="utf-8") if layout.help_texts.is_file() else ""


def help_text(layout: Layout, words: Sequence[str]) -> str:
    """Returns the help of the subcommand that the words begin with, else of the whole program.

    Raises `SetupError` if the file of these texts is missing.
    """
    texts = help_texts(layout)
    if not texts:
        raise _missing(layout.help_texts)
    asked = (" ".join(words[:count]) for count in range(len(words), 0, -1))
    return next((texts[name] for name in asked if name in texts), texts[PROGRAM])


def check_command(layout: Layout, command: str | None, own: Iterable[str]) -> None:
    """Raises an error with the nearest name if no command has this name."""
    known = set(help_texts(layout)) - {PROGRAM}
    names = sorted({name for name in known if " " not in name} | set(own))
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
        yield f"{chip['name']:16} {chip['vendor']:12} {bus:8} {chip['size_bytes'] >> 10:6} KiB"


def _written(layout: Layout, name: str) -> Iterator[str]:
    file = layout.reference / f"{name}.txt"
    if not file.is_file():
        raise _missing(file)
    yield from file.read_text(encoding="utf-8").splitlines()


def _missing(file: Path) -> SetupError:
    return SetupError(f"{file} is missing", "restore the checkout (`git status`)")


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
