# SPDX-License-Identifier: GPL-2.0-or-later
"""gdb on this machine, with the subject's files, its sources and its delay functions."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from delayrig.base.errors import RigFaultError
from delayrig.model.platform import Arch
from delayrig.subjects.delay_function import (
    BY_DEBUG_INFORMATION,
    BY_SYMBOL,
    DelayOptions,
    find_delay_functions,
)
from delayrig.subjects.finder.debug_info import debug_folders
from delayrig.subjects.profiles.profile import known_delay_symbols
from delayrig.subjects.subject import Subject
from delayrig.subjects.symbols import read_symbols

GDB, GDB_OF_ALL = "gdb", "gdb-multiarch"
OF_GDB = (Arch.X86_64, Arch.I386)
"""The architectures that the gdb of a PC knows."""
COMMANDS = Path(__file__).with_name("gdb_delay_break.py")
NONE_KNOWN = (
    "echo No delay function of this program is known, so there is no breakpoint. Name it:"
    " --delay-symbol NAME or --delay-offset HEX\\n"
)


def find_gdb(arch: Arch) -> str:
    """Returns the program; raises `RigFaultError` if none is installed for that architecture."""
    names = [GDB, GDB_OF_ALL] if arch in OF_GDB else [GDB_OF_ALL]
    for name in names:
        if shutil.which(name):
            return name
    raise RigFaultError(
        f"there is no {names[0]} on this machine, but --gdb needs it",
        hint=f"install it: `apt-get install {names[0]}`; or take --shell",
    )


def words_on_subject(
    gdb: str,
    attach: str,
    *,
    sources: Sequence[Path],
    stops: Sequence[str],
    before: Sequence[str] = (),
    after: Sequence[str] = (),
) -> list[str]:
    """Returns gdb's command line for the process that becomes the subject after `attach`.

    Symbols of libraries are loaded only then.
    """
    directories = f"set directories {':'.join(map(str, sources))}:$cdir:$cwd"
    quiet = [*before, directories, "set auto-solib-add off", attach, "tcatch exec", *after]
    return gdb_words(gdb, [*quiet, "set auto-solib-add on", "continue", *stops])


def gdb_words(gdb: str, commands: Sequence[str]) -> list[str]:
    """Returns a command line that runs the commands and then waits for the user."""
    folders = ":".join(map(str, debug_folders()))
    first = [
        "set debuginfod enabled off",
        "set breakpoint pending on",
        f"set debug-file-directory {folders}",
    ]
    early = [word for command in first for word in ("-iex", command)]
    return [gdb, "-q", *early, *(word for command in commands for word in ("-ex", command))]


def packet(words: str) -> bytes:
    """Returns a packet of gdb's remote serial protocol, preceded by an acknowledgement."""
    return f"+${words}#{sum(words.encode()) % 256:02x}".encode()


KILL = packet("k")
"""The packet that kills the process. If gdb ended normally, nobody receives it."""


def delay_stops(subject: Subject, options: DelayOptions) -> list[str]:
    """Returns gdb's commands for the subject: a breakpoint by name, else breakpoints by address."""
    found = find_delay_functions(subject, options)
    named = {each.name for each in found if each.found_by in (BY_SYMBOL, BY_DEBUG_INFORMATION)}
    named |= set(options.symbols)
    for name in (*options.symbols, *known_delay_symbols()):
        if name in named:
            return [f"break {name}"]
    by_address = [
        f"delay-break {Path(each.file).name} {each.address:#x}"
        f" {read_symbols(each.part).linked_at:#x}"
        for each in found
        if not each.doubt
    ]
    return [f"source {COMMANDS}", *by_address] if by_address else [NONE_KNOWN]
