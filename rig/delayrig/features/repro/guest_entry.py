# SPDX-License-Identifier: GPL-2.0-or-later
"""Prepares a guest so that somebody can examine its subject from within.

The entry is a script that starts instead of the subject: in its root, as its user, on its core, and
after the cell's hazards. It then becomes the subject (execve). The guest's image and snapshot are
not changed.
"""

import asyncio
import contextlib
import os
import shlex
import shutil
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from delayrig.base.archive import unpack_archive, write_archive
from delayrig.base.errors import LostGuestError, RigFaultError
from delayrig.base.paths import Paths
from delayrig.features.repro import debugger, terminal
from delayrig.features.repro.look import EXTRA_MS, EXTRA_S, Look
from delayrig.hazards.of_cell import shape_of
from delayrig.lanes.lane import Assignment
from delayrig.lanes.supplies import Supplies
from delayrig.machine.arguments import CELL_FW_CFG, SUBJECT_FW_CFG, Hardware
from delayrig.machine.session import CELL_LIMIT_S
from delayrig.subjects.delay_function import DelayOptions
from delayrig.subjects.subject import PROGRAM, Subject, provide_root, words_to_start

FOLDER = "rig"
SH = ["/rig/busybox", "sh"]
SCRIPT = "/rig/enter"
SUBJECT_WORD, DEADLINE_WORD = "subject ", "deadline_ms "
PROMPT = "guest# "
SUBJECT_STARTS = "[rig] the subject starts"
GDBSERVER_STARTS = "[rig] gdbserver starts"
BAUD = 115200
# TracerPid is 0 while no process traces this shell.
AWAIT_GDBSERVER = (
    "tracer=0",
    "while :; do",
    '\twhile read -r key value; do [ "$key" = TracerPid: ] && tracer=$value; done </proc/$$/status',
    '\t[ "$tracer" = 0 ] || break',
    "\t/rig/bin/sleep 0.1",
    "done",
)
USUAL_TERMINAL = (24, 80)
SOCKET = "console.socket"
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    look: Look
    console: str
    """The guest's name of its serial port, such as ttyS0."""
    busybox: Path
    gdbserver: Path | None = None
    """The root of the unpacked gdbserver."""
    terminal: tuple[int, int] = USUAL_TERMINAL
    term: str = "linux"


def entered_spec(spec: str) -> tuple[str, list[str]]:
    """Returns the specification that starts the script, and the subject's words."""
    lines, words = [], []
    for line in spec.splitlines():
        if line.startswith(SUBJECT_WORD):
            words.append(line.removeprefix(SUBJECT_WORD))
        elif line.startswith(DEADLINE_WORD):
            lines.append(f"{DEADLINE_WORD}{int(line.removeprefix(DEADLINE_WORD)) + EXTRA_MS}")
        else:
            lines.append(line)
    lines += [f"{SUBJECT_WORD}{word}" for word in (*SH, SCRIPT)]
    return "\n".join(lines) + "\n", words


def enter_script(entry: Entry, subject: Sequence[str]) -> str:
    """Returns the script that runs instead of the subject; `subject` are its words."""
    lines = [
        "#!/rig/busybox sh",
        "/rig/busybox mkdir -p /rig/bin",
        "/rig/busybox --install -s /rig/bin",
        f"tty=/dev/{entry.console}",
        *(_gdb_lines(entry, subject) if entry.look is Look.GDB else _shell_lines(entry, subject)),
    ]
    return "\n".join(lines) + "\n"


def _shell_lines(entry: Entry, subject: Sequence[str]) -> list[str]:
    rows, columns = entry.terminal
    banner = [
        "",
        "This is the guest, just before its subject starts. What the cell does to the subject",
        "has begun. `exit` starts the subject; Control-] ends everything.",
        f"  the subject's command line: {shlex.join(subject)}",
        "  the guest's own root is /proc/1/root; its emulator serves one client, the subject",
        "",
    ]
    return [
        f"/rig/bin/stty -F $tty {BAUD} sane rows {rows} cols {columns}",
        f"/rig/bin/printf '%s\\r\\n' {' '.join(map(shlex.quote, banner))} >$tty",
        f"PATH=/rig/bin:$PATH TERM={shlex.quote(entry.term)} PS1={shlex.quote(PROMPT)}"
        " /rig/bin/setsid /rig/bin/cttyhack /rig/busybox sh -i <$tty >$tty 2>&1",
        f"echo {shlex.quote(SUBJECT_STARTS)} >$tty",
        f"exec {shlex.join(subject)}",
    ]


def _gdb_lines(entry: Entry, subject: Sequence[str]) -> list[str]:
    """Returns lines that attach gdbserver to the process that becomes the subject.

    The process must stay the same, because the cell's hazards act on it.
    """
    assert entry.gdbserver is not None
    server = words_in_guest(entry.gdbserver, "/rig/gdb")
    return [
        "/rig/bin/dmesg -n 1",  # Messages of the kernel would disturb the protocol.
        f"/rig/bin/stty -F $tty {BAUD} raw -echo",
        "exec 4<>$tty",  # Hold the terminal open, so that no byte of the first request is lost.
        f"echo {shlex.quote(GDBSERVER_STARTS)} >&4",
        f"{shlex.join([*server, '--once', '--attach'])} $tty $$ >/rig/gdbserver.log 2>&1 &",
        *AWAIT_GDBSERVER,
        f"exec {shlex.join(subject)} 4>&-",
    ]


def words_in_guest(root: Path, place: str) -> list[str]:
    """Returns the words that start the program of an unpacked root, at `place` in the guest."""
    return [
        place + word.removeprefix(str(root)) if word.startswith(str(root)) else word
        for word in words_to_start(root)
    ]


def write_entered(archive: Path, entry: Entry, subject: Sequence[str], scratch: Path) -> Path:
    """Returns a copy of the subject's archive with the entry's files, written below `scratch`."""
    root = scratch / "entered"
    root.mkdir()
    unpack_archive(archive, root)
    inside = root / FOLDER
    if inside.exists():
        raise RigFaultError(f"{archive}: has a folder /{FOLDER} of its own")
    inside.mkdir()
    shutil.copyfile(entry.busybox, inside / "busybox")
    (inside / "busybox").chmod(0o755)
    if entry.gdbserver is not None:
        shutil.copytree(entry.gdbserver, inside / "gdb", symlinks=True)
    script = root / SCRIPT.lstrip("/")
    script.write_text(enter_script(entry, subject), encoding="utf-8")
    script.chmod(0o755)
    (root / PROGRAM.lstrip("/")).chmod(0o755)
    entered = scratch / "entered.cpio"
    write_archive(root, entered)
    return entered


def rewrite_cell(archive: Path, scratch: Path) -> list[str]:
    """Changes the cell's archive so that it starts the script; returns the subject's words."""
    folder = scratch / "entered-cell"
    folder.mkdir()
    unpack_archive(archive, folder)
    entered, words = entered_spec((folder / "spec").read_text(encoding="utf-8"))
    (folder / "spec").write_text(entered, encoding="utf-8")
    write_archive(folder, archive)
    return words


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """A shell or gdb, in a guest of one cell."""

    look: Look
    gdbserver: Subject | None
    delay: DelayOptions
    extra_s: int = EXTRA_S

    def entered(
        self, hardware: Hardware, assignment: Assignment, supplies: Supplies, scratch: Path
    ) -> Hardware:
        """Returns the machine with a console and the visitor's files, kept below `scratch`."""
        words = rewrite_cell(hardware.fw_cfg[CELL_FW_CFG], scratch)
        archive = Path(assignment.subject.archive)
        entry = self._entry(assignment, supplies)
        entered = write_entered(archive, entry, words, scratch)
        return replace(
            hardware,
            preload=None,
            talk=scratch / SOCKET,
            fw_cfg={**hardware.fw_cfg, SUBJECT_FW_CFG: entered},
        )

    def _entry(self, assignment: Assignment, supplies: Supplies) -> Entry:
        shape = shape_of(assignment.cell)
        image, size = supplies.images[shape.arch], shutil.get_terminal_size()
        return Entry(
            look=self.look,
            console=shape.platform.console,
            busybox=Path(image.initrd).parent / "busybox",
            gdbserver=provide_root(self.gdbserver) if self.gdbserver else None,
            terminal=(size.lines, size.columns),
            term=os.environ.get("TERM", "linux"),
        )

    async def beside(
        self, guest: Coroutine[Any, Any, T], assignment: Assignment, paths: Paths, scratch: Path
    ) -> T:
        """Waits for the guest, and for gdb until its user ends it; a shell ends with the guest."""
        visit = self._attend(assignment, paths, scratch)
        return await attended(guest, visit, stays=self.look is Look.GDB)

    async def _attend(self, assignment: Assignment, paths: Paths, scratch: Path) -> None:
        """Runs the shell until the subject starts, or gdb until its user ends it."""
        socket = scratch / SOCKET
        if self.look is Look.SHELL:
            await terminal.talk(socket, prompt=PROMPT, until=SUBJECT_STARTS)
            return
        await terminal.await_words(socket, GDBSERVER_STARTS)
        words = debugger.words_on_subject(
            debugger.find_gdb(assignment.cell.arch),
            f"target remote {socket}",
            sources=[paths.build],
            stops=debugger.delay_stops(assignment.subject, self.delay),
            before=[f"set sysroot {provide_root(assignment.subject)}", "set remotetimeout 60"],
        )
        await terminal.run_in_foreground(words)
        await terminal.say(socket, debugger.KILL)


async def attended(
    guest: Coroutine[Any, Any, T], visit: Coroutine[Any, Any, None], *, stays: bool
) -> T:
    """Runs the guest and the visit together, and returns the guest's result.

    If the guest ends first, waits for a visit that `stays`, and cancels any other. If the visit
    ends first, the guest must end within `CELL_LIMIT_S`.
    """
    guest_task, visit_task = asyncio.ensure_future(guest), asyncio.ensure_future(visit)
    try:
        await asyncio.wait({guest_task, visit_task}, return_when=asyncio.FIRST_COMPLETED)
        if not visit_task.done():
            guest_task.result()
            if stays:
                await visit_task
            return guest_task.result()
        visit_task.result()
        if not (await asyncio.wait({guest_task}, timeout=CELL_LIMIT_S))[0]:
            raise LostGuestError(
                f"the guest did not end within {CELL_LIMIT_S:g} s after its visitor left"
            )
        return guest_task.result()
    finally:
        for task in (guest_task, visit_task):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await task
