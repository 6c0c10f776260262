# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs inside gdb: breakpoints in functions that have no name, such as those of stripped programs.

    delay-break FILE ADDRESS LINKED_AT

FILE is the name of the program or library, ADDRESS the function's in that ELF file, LINKED_AT where
that file's first segment begins. A library that is not loaded yet is waited for.
"""

import re

import gdb

FIRST_PART = re.compile(r"^\s*(0x[0-9a-f]+)(?:\s+0x[0-9a-f]+){2}\s+0x0\s.*?([^/\s]+)\s*$", re.M)
"""Of `info proc mappings`: where a file begins, and its name without folders."""


def loaded_at(file: str) -> int | None:
    """Where the process has the first part of the file; None where it has none of it."""
    try:
        told = gdb.execute("info proc mappings", to_string=True)
    except gdb.error:  # the process runs, or is gone
        return None
    return next((int(start, 16) for start, name in FIRST_PART.findall(told) if name == file), None)


class DelayBreak(gdb.Command):  # type: ignore[misc]  # gdb has no types
    """Stops in a function that is known by its address alone."""

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
