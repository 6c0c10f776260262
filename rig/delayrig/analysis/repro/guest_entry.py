# SPDX-License-Identifier: GPL-2.0-or-later
"""What a guest is given so that somebody can look at its subject from within.

It starts in the subject's place, in its root, with its user, on its core, after the cell's hazards,
and becomes it (execve). The guest's image, and so its snapshot, stay as they are.
"""

import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from delayrig.analysis.repro.look import EXTRA_MS, Look
from delayrig.base.archive import unpack_archive, write_archive
from delayrig.base.errors import RigFaultError
from delayrig.images.subject import PROGRAM
from delayrig.images.unpacked_subjects import words_to_start

FOLDER = "rig"
SH = ["/rig/busybox", "sh"]
SCRIPT = "/rig/enter"
SUBJECT_WORD, DEADLINE_WORD = "subject ", "deadline_ms "
PROMPT = "guest# "
SUBJECT_STARTS = "[rig] the subject starts"
GDBSERVER_STARTS = "[rig] gdbserver starts"
BAUD = 115200
# Who traces it is told at once: the kernel's word for nobody is 0.
AWAIT_GDBSERVER = (
    "tracer=0",
    "while :; do",
    '\twhile read -r key value; do [ "$key" = TracerPid: ] && tracer=$value; done </proc/$$/status',
    '\t[ "$tracer" = 0 ] || break',
    "\t/rig/bin/sleep 0.1",
    "done",
)
USUAL_TERMINAL = (24, 80)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """Who comes in, and what they find."""

    look: Look
    console: str
    """The guest's name of its serial port, such as ttyS0."""
    busybox: Path
    gdbserver: Path | None = None
    """Its root, unpacked."""
    terminal: tuple[int, int] = USUAL_TERMINAL
    """Rows and columns."""
    term: str = "linux"


def subject_words_of(spec: str) -> list[str]:
    """The subject's command line in a cell's spec."""
    return [
        line.removeprefix(SUBJECT_WORD)
        for line in spec.splitlines()
        if line.startswith(SUBJECT_WORD)
    ]


def entered_spec(spec: str) -> str:
    """The cell's spec with the script in the subject's place, and time for a person."""
    lines = []
    for line in spec.splitlines():
        if line.startswith(DEADLINE_WORD):
            lines.append(f"{DEADLINE_WORD}{int(line.removeprefix(DEADLINE_WORD)) + EXTRA_MS}")
        elif not line.startswith(SUBJECT_WORD):
            lines.append(line)
    lines += [f"{SUBJECT_WORD}{word}" for word in (*SH, SCRIPT)]
    return "\n".join(lines) + "\n"


def enter_script(entry: Entry, subject: Sequence[str]) -> str:
    """What is run in the subject's place; `subject` are its words."""
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
    """gdbserver comes to the process that becomes the subject: that is what the cell acts on."""
    assert entry.gdbserver is not None
    server = words_in_guest(entry.gdbserver, "/rig/gdb")
    return [
        "/rig/bin/dmesg -n 1",  # what the kernel says there would be no word of the protocol
        f"/rig/bin/stty -F $tty {BAUD} raw -echo",
        "exec 4<>$tty",  # holds it open, so that nothing of the first request is lost
        f"echo {shlex.quote(GDBSERVER_STARTS)} >&4",
        f"{shlex.join([*server, '--once', '--attach'])} $tty $$ >/rig/gdbserver.log 2>&1 &",
        *AWAIT_GDBSERVER,
        f"exec {shlex.join(subject)} 4>&-",
    ]


def words_in_guest(root: Path, place: str) -> list[str]:
    """What starts the program of an unpacked root that lies at `place` of the subject's."""
    return [
        place + word.removeprefix(str(root)) if word.startswith(str(root)) else word
        for word in words_to_start(root)
    ]


def write_entered(archive: Path, entry: Entry, subject: Sequence[str], scratch: Path) -> Path:
    """The subject's archive with what the entry needs in it; written below `scratch`."""
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
    """Changes the cell's archive so that the script starts; returns the subject's words."""
    folder = scratch / "entered-cell"
    folder.mkdir()
    unpack_archive(archive, folder)
    spec = (folder / "spec").read_text(encoding="utf-8")
    (folder / "spec").write_text(entered_spec(spec), encoding="utf-8")
    write_archive(folder, archive)
    return subject_words_of(spec)
