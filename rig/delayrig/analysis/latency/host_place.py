# SPDX-License-Identifier: GPL-2.0-or-later
"""This machine: the measuring program and cyclictest as its processes, and its governors."""

import asyncio
import contextlib
import os
import platform
import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from delayrig.analysis.latency import cyclictest
from delayrig.analysis.latency.governors import CPUS, JOURNAL, Governors
from delayrig.analysis.latency.place import Line, MissingError, PlaceFacts, Windows
from delayrig.analysis.latency.program_output import parse_lines
from delayrig.analysis.latency.series import Kind, Series
from delayrig.base.die_with_parent import die_with_parent
from delayrig.base.errors import RigFaultError
from delayrig.base.paths import Paths
from delayrig.base.scratch import ScratchFolder
from delayrig.machine.host_facts import kernel_line

HOST = "host"
REAL_TIME_REMEDY = (
    "run as root, with CAP_SYS_NICE and CAP_IPC_LOCK, or raise RLIMIT_RTPRIO and RLIMIT_MEMLOCK"
    " (`ulimit -r`, `ulimit -l`, limits.conf)"
)
LOAD_S_MAX = 120
"""How long eaters beside cyclictest turn at most; they are ended before."""


class HostPlace:
    """As `Place`. All that is changed is put back by `close`."""

    def __init__(self, program: Path, facts: PlaceFacts, governors: Governors) -> None:
        self._program = program
        self._facts = facts
        self._governors = governors

    @property
    def facts(self) -> PlaceFacts:
        """As `Place` has it."""
        return self._facts

    async def measure(self, words: Sequence[str]) -> list[Line]:
        """As `Place` has it."""
        text = await _answer([str(self._program), *words])
        return parse_lines(text, expected=len(words), source=self._program.name)

    async def cyclictest(self, words: Sequence[str], *, eaters: int) -> tuple[bytes, Windows]:
        """As `Place` has it. The load is the measuring program's own, beside a long sleep."""
        program = shutil.which(cyclictest.PROGRAM)
        if program is None:
            raise MissingError(
                f"{cyclictest.PROGRAM} is not installed: apt-get install {cyclictest.PACKAGE}"
            )
        with ScratchFolder() as folder:
            output = Path(folder) / "cyclictest.json"
            filled_in = [word.replace("OUTPUT", str(output)) for word in words]
            async with _load(self._program, eaters):
                await _be_told(program, filled_in)
            return output.read_bytes(), Windows()

    async def set_governor(self, name: str) -> None:
        """As `Place` has it."""
        try:
            if name:
                self._governors.set_all(name)
            else:
                self._governors.restore()
        except OSError as error:
            raise MissingError(f"governor {name} cannot be set: {error.strerror}") from error


@asynccontextmanager
async def open_host(
    paths: Paths, cpus: tuple[int, ...] = (), *, sysfs: Path = CPUS
) -> AsyncIterator[HostPlace]:
    """This machine; as it was when the context ends, however it does."""
    governors = Governors(paths.state / JOURNAL, sysfs)
    facts = host_place_facts(cpus or (min(os.sched_getaffinity(0)),), governors, sysfs)
    try:
        yield HostPlace(paths.latency_program, facts, governors)
    finally:
        governors.restore()


def host_place_facts(cpus: tuple[int, ...], governors: Governors, sysfs: Path) -> PlaceFacts:
    """What sysfs says of the first of those CPUs."""
    states = sorted((sysfs / f"cpu{cpus[0]}" / "cpuidle").glob("state*"))
    exits = [kernel_line(str(state / "latency")) for state in states]
    return PlaceFacts(
        name=HOST,
        lane=HOST,
        arch=platform.machine(),
        mips=None,
        cpus=cpus,
        governors=governors.known,
        idle_states=tuple(kernel_line(str(state / "name")) for state in states),
        idle_exit_us=tuple(int(text) for text in exits if text.isdecimal()),
    )


async def _answer(command: Sequence[str]) -> bytes:
    """What it prints; it is ended with this task."""
    process = await asyncio.create_subprocess_exec(
        *die_with_parent(command),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        said, complained = await process.communicate()
    finally:
        await _end(process)
    if process.returncode != 0:
        raise RigFaultError(
            f"{Path(command[0]).name} ended with {process.returncode}:"
            f" {complained.decode(errors='replace').strip()[:500]}",
            hint="run it by hand: " + " ".join(command),
        )
    return said


async def _be_told(program: str, words: Sequence[str]) -> None:
    """cyclictest; what it refuses this user is no fault of the rig's."""
    try:
        await _answer([program, *words])
    except RigFaultError as error:
        raise MissingError(f"{' '.join(error.message.split())}; {REAL_TIME_REMEDY}") from error


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await asyncio.shield(process.wait())


@asynccontextmanager
async def _load(program: Path, eaters: int) -> AsyncIterator[None]:
    """That many eaters on each CPU: those of one long wait of the measuring program."""
    if not eaters:
        yield
        return
    series = Series(
        kind=Kind.WAIT,
        wait="nanosleep",
        request_ns=LOAD_S_MAX // 2 * 1_000_000_000,
        count=2,
        eaters=eaters,
    )
    process = await asyncio.create_subprocess_exec(
        *die_with_parent([str(program), series.word]),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        await _end(process)
