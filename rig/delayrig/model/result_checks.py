# SPDX-License-Identifier: GPL-2.0-or-later
"""What a cell's result may hold beyond its types: names that stay in their folder, real times."""

from operator import attrgetter

import msgspec

ID_DOTS_MIN = 2
"""An id is a name, a subject and a place, at least."""
ID_BYTES_MAX = 255
"""What a file system takes for a name."""
NEVER_NEGATIVE = (
    *("region_bytes", "chip_busy_ns", "wire_ns", "overshoot_ns", "transfers", "context_switches"),
    *("cpu_ns.user", "cpu_ns.sys", "host_s"),
    *(f"time_ns.{phase}" for phase in ("total", "probe", "read", "erase", "write", "verify")),
)

_FIGURES_OF = attrgetter(*NEVER_NEGATIVE)


def id_fault(cell_id: str) -> str:
    """Why that is no cell's id, or no folder's name; empty where it is both."""
    if cell_id.count(".") < ID_DOTS_MIN:
        return "no cell's"
    if "/" in cell_id or "\\" in cell_id or ".." in cell_id or cell_id.startswith("."):
        return "no name of a folder below the run's"
    if not cell_id.isprintable() or len(cell_id.encode(errors="replace")) > ID_BYTES_MAX:
        return "no name of a folder"
    return ""


def negative_key(result: msgspec.Struct) -> str:
    """A figure of a cell's result that is below zero and cannot be; empty where there is none."""
    if min(_FIGURES_OF(result)) >= 0:
        return ""
    return next((key for key in NEVER_NEGATIVE if attrgetter(key)(result) < 0), "")
