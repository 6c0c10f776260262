# SPDX-License-Identifier: GPL-2.0-or-later
"""Usage: chips_to_c.py TABLE.c NAMES.c CHIP.toml...: for the build; exit 2 for a bad chip file."""

from __future__ import annotations

import sys
from pathlib import Path

from chipgen.ctable import c_names, c_table
from chipgen.part import read_part
from chipgen.table import ChipFileError


def main(argv: list[str]) -> int:
    if len(argv) < 4:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        parts = [read_part(Path(name)) for name in argv[3:]]
    except ChipFileError as error:
        print(f"chips_to_c: {error}", file=sys.stderr)
        return 2
    Path(argv[1]).write_text(c_table(parts), encoding="utf-8")
    Path(argv[2]).write_text(c_names(parts), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
