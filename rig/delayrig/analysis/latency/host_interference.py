# SPDX-License-Identifier: GPL-2.0-or-later
"""What of a guest of real time is this machine's doing: told, never averaged away.

Where a core was not held to its speed in a window of 100 ms, a wait that ended then ended later.
"""

from collections.abc import Iterable, Sequence

from delayrig.analysis.latency.result import Cyclic, Reading
from delayrig.judge.trust import NOT_KEPT_PART_MAX
from delayrig.lanes.live.pace import WINDOW_MS

MARK = " *"
MEANING = (
    "* While this was measured, this machine did not hold a core of the guest to its speed: its own"
    " delays are in the figure."
)


def marked(text: str, *found: Reading | Cyclic | None) -> str:
    """With a mark where this machine fell behind during one of them."""
    return text + MARK if any(each and each.windows_not_kept for each in found) else text


def doubt_of(readings: Sequence[Reading], cyclic: Sequence[Cyclic]) -> str:
    """In how many windows, and of how many series; empty where there were none."""
    found: list[Reading | Cyclic] = [*readings, *cyclic]
    count = sum(each.windows for each in found)
    not_kept = sum(each.windows_not_kept for each in found)
    if not not_kept:
        return ""
    behind = sum(bool(each.windows_not_kept) for each in found)
    said = (
        f"in {not_kept} of {count} windows of {WINDOW_MS} ms this machine did not hold a core to"
        f" its speed; {behind} of {len(found)} series, marked *, have its delays in them"
    )
    if not_kept > count * NOT_KEPT_PART_MAX:
        said += ": that was often, so measure again when it is less busy"
    return said


def say_doubt(found: Iterable[Reading | Cyclic]) -> str:
    """For a sentence that rests on them; empty where nothing is in doubt."""
    if not any(each.windows_not_kept for each in found):
        return ""
    return " (*: this machine fell behind meanwhile.)"
