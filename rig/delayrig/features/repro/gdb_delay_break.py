# SPDX-License-Identifier: GPL-2.0-or-later
"""Sets breakpoints, inside gdb, in functions without a symbol, as in stripped programs.

delay-break FILE ADDRESS LINKED_AT

FILE is the name of the program or library, ADDRESS the function's address in that ELF file, and
LINKED_AT the address there of the file's first byte. If the library is not loaded yet, the
breakpoint is set when it is loaded.
"""

import re

import gdb

FIRST_PART = re.compile(r"^\s*(0x[0-9a-f]+)(?:\s+0x[0-9a-f]+){2}\s+0x0\s.*?([^/\s]+)\s*$", re.M)
"""A line of `info proc mappings` for offset 0 of a file: the address, and the base name."""


def loaded_at(file: str) -> int | None:
    """Returns where the process has mapped the beginning of the file; None if nowhere."""
    try:
        maps = gdb.execute("info proc mappings", to_string=True)
    except gdb.error:  # The process is running, or gone.
        return None
    return next((int(start, 16) for start, name in FIRST_PART.findall(maps) if name == file), None)


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
