# SPDX-License-Identifier: GPL-2.0-or-later
"""The host: runs the measuring program and cyclictest here, sets governors and reads the energy.

Governors of cpufreq are restored, whatever happens. The old ones are written to a file before
anything is changed; if the rig is killed, the next `open_host()` restores them. Energy is read from
the counters of RAPL, else from a battery in use.
"""

import asyncio
import contextlib
import platform
import shutil
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from delayrig.base.atomic_file import write_atomically
from delayrig.base.die_with_parent import die_with_parent
from delayrig.base.errors import NOT_JSON, RigFaultError
from delayrig.base.paths import Paths
from delayrig.base.scratch import ScratchFolder
from delayrig.base.text import kernel_line
from delayrig.features.latency.place import Line, MissingError, PlaceFacts
from delayrig.features.latency.program_output import PACKAGE, PROGRAM, parse_lines
from delayrig.features.latency.result import Kind, Series

CPUS = Path("/sys/devices/system/cpu")
JOURNAL = "latency-governors.json"
HOST = "host"
REAL_TIME_REMEDY = (
    "run as root, with CAP_SYS_NICE and CAP_IPC_LOCK, or raise RLIMIT_RTPRIO and RLIMIT_MEMLOCK"
    " (`ulimit -r`, `ulimit -l`, limits.conf)"
)
LOAD_NS = 60_000_000_000
"""The length of each of two waits beside which eaters run; cyclictest ends long before."""
CLASSES = Path("/sys/class")
RAPL = "powercap/intel-rapl:*/energy_uj"
"""The counters of packages, and of their parts: the name of a part has a second colon."""
RANGE = "max_energy_range_uj"
BATTERY = "power_supply/*/power_now"
ABSENT = (
    "energy: no RAPL counter that this user may read (/sys/class/powercap; as a rule root alone"
    " may), and no battery in use that reports its power"
)


class Governors:
    """The cpufreq governors of all CPUs of this machine; empty without cpufreq."""

    def __init__(self, journal: Path, cpus: Path = CPUS) -> None:
        self._journal = journal
        self._files = sorted(cpus.glob("cpu[0-9]*/cpufreq/scaling_governor"))
        self.restore()

    @property
    def known(self) -> tuple[str, ...]:
        """Returns the governors that can be set, the present one first; empty if unknown."""
        if not self._files:
            return ()
        now = kernel_line(self._files[0])
        names = kernel_line(self._files[0].with_name("scaling_available_governors")).split()
        if not now or not names:
            return ()
        return (now, *(name for name in names if name not in (now, "userspace")))

    def set_all(self, name: str) -> None:
        """Sets the governor of every CPU, or restores all and raises `OSError`."""
        if not self._journal.is_file():
            before = {str(path): path.read_text(encoding="ascii") for path in self._files}
            self._journal.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(self._journal, msgspec.json.encode(before))
        try:
            for path in self._files:
                path.write_text(name, encoding="ascii")
        except OSError:
            self.restore()
            raise

    def restore(self) -> None:
        """Restores the governors in the journal, and deletes it. Does nothing without a journal."""
        if not self._journal.is_file():
            return
        try:
            before = msgspec.json.decode(self._journal.read_bytes(), type=dict[str, str])
        except NOT_JSON as error:
            raise RigFaultError(
                f"{self._journal}: is damaged, so nobody knows which governors were changed",
                hint="set them by hand (cpupower frequency-set), then delete the file",
            ) from error
        failed = []
        for path in self._files:
            try:
                value = before.get(str(path), "").strip()
                if value and path.read_text(encoding="ascii").strip() != value:
                    path.write_text(value, encoding="ascii")
            except OSError as error:
                failed.append(f"{path}: {error.strerror}")
        if failed:
            raise RigFaultError(
                f"governors could not be put back: {'; '.join(failed)}",
                hint=f"{self._journal} says what they were; start again as root",
            )
        self._journal.unlink()


@dataclass(frozen=True, slots=True, kw_only=True)
class HostPlace:
    """The `Place` that is this machine. The end of `open_host`'s context restores all changes."""

    program: Path
    facts: PlaceFacts
    governors: Governors

    async def measure(self, series: Sequence[Series]) -> list[Line]:
        text = await _output_of([str(self.program), *(each.word for each in series)])
        return parse_lines(text, expected=len(series), source=self.program.name)

    async def cyclictest(self, words: Sequence[str], *, eaters: int) -> tuple[bytes, Line]:
        """Runs cyclictest (see `Place`), which fails if this user lacks the rights.

        The load is the eaters that the measuring program runs during a long wait.
        """
        program = shutil.which(PROGRAM)
        if program is None:
            raise MissingError(f"{PROGRAM} is not installed: apt-get install {PACKAGE}")
        with ScratchFolder() as folder:
            output = Path(folder) / "cyclictest.json"
            async with _load(self.program, eaters):
                try:
                    await _output_of([program, *words, f"--json={output}"])
                except RigFaultError as error:
                    said = " ".join(error.message.split())
                    raise MissingError(f"{said}; {REAL_TIME_REMEDY}") from error
            return output.read_bytes(), {}

    async def set_governor(self, name: str) -> None:
        try:
            if name:
                self.governors.set_all(name)
            else:
                self.governors.restore()
        except OSError as error:
            raise MissingError(f"governor {name} cannot be set: {error.strerror}") from error


@asynccontextmanager
async def open_host(
    paths: Paths, cpus: tuple[int, ...], *, sysfs: Path = CPUS
) -> AsyncIterator[HostPlace]:
    """Yields this machine as a place, and restores it however the context ends."""
    governors = Governors(paths.state / JOURNAL, sysfs)
    states = sorted((sysfs / f"cpu{cpus[0]}" / "cpuidle").glob("state*"))
    exits = [kernel_line(state / "latency") for state in states]
    facts = PlaceFacts(
        name=HOST,
        lane=HOST,
        arch=platform.machine(),
        cpus=cpus,
        governors=governors.known,
        idle_states=tuple(kernel_line(state / "name") for state in states),
        idle_exit_us=tuple(int(text) for text in exits if text.isdecimal()),
    )
    try:
        yield HostPlace(program=paths.latency_program, facts=facts, governors=governors)
    finally:
        governors.restore()


async def _output_of(command: Sequence[str]) -> bytes:
    """Returns the output of a program; raises `RigFaultError` if it fails."""
    async with _running(command, asyncio.subprocess.PIPE) as process:
        output, errors = await process.communicate()
    if process.returncode != 0:
        raise RigFaultError(
            f"{Path(command[0]).name} ended with {process.returncode}:"
            f" {errors.decode(errors='replace').strip()[:500]}",
            hint="run it by hand: " + " ".join(command),
        )
    return output


@asynccontextmanager
async def _running(
    command: Sequence[str], output: int
) -> AsyncIterator[asyncio.subprocess.Process]:
    """Starts a program, and kills it at the end of the context if it still runs."""
    words, nothing = die_with_parent(command), asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(
        *words, stdin=nothing, stdout=output, stderr=output
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await asyncio.shield(process.wait())


@asynccontextmanager
async def _load(program: Path, eaters: int) -> AsyncIterator[None]:
    """Runs that many eaters on each CPU during the context, by a series with a long wait."""
    if not eaters:
        yield
        return
    series = Series(kind=Kind.WAIT, wait="nanosleep", request_ns=LOAD_NS, count=2, eaters=eaters)
    async with _running([str(program), series.word], asyncio.subprocess.DEVNULL):
        yield


class EnergyMeter:
    """A meter of the energy of the whole machine, including other programs."""

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
        """Returns the mean power since `begin()`, or without counters the batteries' power now."""
        if not self._counters:
            powers_uw = [_number(path) or 0 for path in self._batteries]
            return sum(powers_uw) // 1000 if powers_uw else None
        used_uj = sum(map(_used_uj, self._counters, self._began_uj))
        passed_ns = time.monotonic_ns() - self._began_ns
        return used_uj * 1_000_000 // passed_ns if passed_ns else None


def _used_uj(counter: Path, began_uj: int) -> int:
    """Returns the energy used since `began_uj`; the counter wraps at its range."""
    used_uj = (_number(counter) or 0) - began_uj
    return used_uj if used_uj >= 0 else used_uj + (_number(counter.parent / RANGE) or 0)


def _is_used(power: Path) -> bool:
    return kernel_line(power.parent / "status") == "Discharging" and _number(power) is not None


def _number(path: Path) -> int | None:
    try:
        return int(kernel_line(path))
    except ValueError:
        return None
