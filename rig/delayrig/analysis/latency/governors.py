# SPDX-License-Identifier: GPL-2.0-or-later
"""cpufreq governors: set for a series, and put back as they were, whatever happens.

What was there is written to a file before anything is changed. A rig that was killed finds it at
its next start, and puts it back then.
"""

from pathlib import Path

import msgspec

from delayrig.base.atomic_file import write_atomically
from delayrig.base.errors import RigFaultError

CPUS = Path("/sys/devices/system/cpu")
JOURNAL = "latency-governors.json"


class Governors:
    """Those of all CPUs of this machine. Without cpufreq there are none."""

    def __init__(self, journal: Path, cpus: Path = CPUS) -> None:
        self._journal = journal
        self._files = {
            str(path): path for path in sorted(cpus.glob("cpu[0-9]*/cpufreq/scaling_governor"))
        }
        self.restore()

    @property
    def known(self) -> tuple[str, ...]:
        """What can be set, the one in force first; empty where there is no choice."""
        for path in self._files.values():
            try:
                now = path.read_text(encoding="ascii").strip()
                offered = path.with_name("scaling_available_governors")
                names = offered.read_text(encoding="ascii").split()
            except OSError:
                return ()
            return (now, *(name for name in names if name not in (now, "userspace")))
        return ()

    def set_all(self, name: str) -> None:
        """On every CPU; raises `OSError` where this user may not, with all as it was."""
        if not self._journal.is_file():
            before = {key: path.read_text(encoding="ascii") for key, path in self._files.items()}
            self._journal.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(self._journal, msgspec.json.encode(before))
        try:
            for path in self._files.values():
                path.write_text(name, encoding="ascii")
        except OSError:
            self.restore()
            raise

    def restore(self) -> None:
        """Puts back what the file says was there; does nothing where nothing was changed."""
        if not self._journal.is_file():
            return
        before = msgspec.json.decode(self._journal.read_bytes(), type=dict[str, str])
        failed = []
        for key, value in before.items():
            try:
                if key in self._files:
                    self._files[key].write_text(value.strip(), encoding="ascii")
            except OSError as error:
                failed.append(f"{key}: {error.strerror}")
        if failed:
            raise RigFaultError(
                f"governors could not be put back: {'; '.join(failed)}",
                hint=f"{self._journal} says what they were; start again as root",
            )
        self._journal.unlink()
