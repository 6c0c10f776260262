# SPDX-License-Identifier: GPL-2.0-or-later
"""What this machine says of its energy: the counters of RAPL, else a battery that is used up."""

import time
from pathlib import Path

CLASSES = Path("/sys/class")
RAPL = "powercap/intel-rapl:*/energy_uj"
"""Of whole packages: what is below them has a second number."""
RANGE = "max_energy_range_uj"
BATTERY = "power_supply/*/power_now"
ABSENT = (
    "energy: no RAPL counter that this user may read (/sys/class/powercap; as a rule root alone"
    " may), and no battery in use that says its power"
)


class EnergyMeter:
    """Of the whole machine, other programs included."""

    def __init__(self, classes: Path = CLASSES) -> None:
        packages = (path for path in classes.glob(RAPL) if path.parent.name.count(":") == 1)
        self._counters = [path for path in packages if _number(path) is not None]
        self._batteries = [path for path in classes.glob(BATTERY) if _is_used(path)]
        self._began_uj: list[int] = []
        self._began_ns = 0

    @property
    def is_there(self) -> bool:
        return bool(self._counters or self._batteries)

    def begin(self) -> None:
        self._began_uj = [_number(path) or 0 for path in self._counters]
        self._began_ns = time.monotonic_ns()

    def mean_mw(self) -> int | None:
        """Power in that span, which ends now; of a battery what it says at the end."""
        if not self._counters:
            powers_uw = [_number(path) or 0 for path in self._batteries]
            return sum(powers_uw) // 1000 if powers_uw else None
        used_uj = sum(map(_used_uj, self._counters, self._began_uj))
        passed_ns = time.monotonic_ns() - self._began_ns
        return used_uj * 1_000_000 // passed_ns if passed_ns else None


def _used_uj(counter: Path, began_uj: int) -> int:
    """A counter begins anew after its range."""
    used_uj = (_number(counter) or 0) - began_uj
    return used_uj if used_uj >= 0 else used_uj + (_number(counter.parent / RANGE) or 0)


def _is_used(power: Path) -> bool:
    status = power.parent / "status"
    said = status.read_text(encoding="ascii", errors="replace") if status.is_file() else ""
    return said.strip() == "Discharging" and _number(power) is not None


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
