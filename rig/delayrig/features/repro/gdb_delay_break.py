# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs inside gdb: breakpoints in functions without a name, such as those of stripped programs.

delay-break FILE ADDRESS LINKED_AT

FILE is the name of the program or library, ADDRESS the function's address in that ELF file,
LINKED_AT the beginning of its first segment. If the library is not loaded yet, the breakpoint waits
for it.
"""

import re

import gdb

FIRST_PART = re.compile(r"^\s*(0x[0-9a-f]+)(?:\s+0x[0-9a-f]+){2}\s+0x0\s.*?([^/\s]+)\s*$", re.M)
"""A line of `info proc mappings` with the beginning of a file and its name without folders."""


def loaded_at(file: str) -> int | None:
    """Returns the address of the first part of the file in the process; None if there is none."""
    try:
        told = gdb.execute("info proc mappings", to_string=True)
    except gdb.error:  # The process runs, or is gone.
        return None
    return next((int(start, 16) for start, name in FIRST_PART.findall(told) if name == file), None)


class DelayBreak(gdb.Command):  # type: ignore[misc]  # gdb has no types
    """Stops in a function that is known only by its address."""

    def __init__(self) -> None:
        super().__init__("delay-break", gdb.COMMAND_BREAKPOINTS)

    def invoke(self, words: str, _: bool) -> None:
        """Sets the breakpoint, now or when the file is loaded."""
        file, address, linked_at = words.split()
        offset = int(address, 16) - int(linked_at, 16)

        def on_load(_: object) -> None:
            start = loaded_at(file)
            if start is not None:
                gdb.events.new_objfile.disconnect(on_load)
                gdb.Breakpoint(f"*{start + offset:#x}")

        gdb.events.new_objfile.connect(on_load)
        on_load(None)


DelayBreak()
