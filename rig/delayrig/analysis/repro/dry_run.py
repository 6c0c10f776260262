# SPDX-License-Identifier: GPL-2.0-or-later
"""The commands behind a cell, to be pasted: QEMU's whole command line, or both of a host's."""

import os
import shlex
from collections.abc import Sequence
from pathlib import Path

from delayrig.lanes.host.spec import PORT, Spec, cpus_text
from delayrig.lanes.host_lane import ANY_PORT
from delayrig.lanes.live.packed_guest import PackedGuest
from delayrig.machine.arguments import LIBRARY_PATH, Hardware, pinned, preloading, qemu_arguments
from delayrig.machine.qemu import TUNABLES
from delayrig.machine.snapshot import restored

DRY_PORT = 34567
LINE_PORT, STAGE_PORT = DRY_PORT + 1, DRY_PORT + 2


def qemu_command(hardware: Hardware, snapshot: Path | None, cpu: int) -> list[str]:
    """Lines for a shell: what boots, or the snapshot restored, with QEMU's monitor at hand."""
    machine = restored(hardware, snapshot) if snapshot else hardware
    environment = TUNABLES | preloading(machine.preload, os.environ.get(LIBRARY_PATH, ""))
    before = [f"{name}={shlex.quote(value)}" for name, value in environment.items()]
    words = [machine.shape.platform.program, *qemu_arguments(machine, monitor_fd=None)]
    lines = ["# QEMU, with its monitor on this terminal:"]
    lines += pasted(words, [*before, *pinned(cpu, [])])
    lines += ["# what the rig says over the monitor; type it there:"]
    if snapshot and machine.incoming:
        lines += [
            "migrate_set_capability x-ignore-shared on",
            f"migrate_incoming {_quoted(f'file:{machine.incoming}')}",
        ]
    lines += [
        "cont",
        "# the guest pauses itself when its cell is done; its console is in",
        f"#   {machine.console}",
        "quit",
    ]
    return lines


def _quoted(word: str) -> str:
    """As QEMU's monitor takes a word with spaces (monitor/hmp.c, get_str())."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def live_commands(packed: PackedGuest, folder: Path) -> list[str]:
    """Lines for five shells: two emulators, the guest's line, QEMU, and the speeds of its cores."""
    hardware, control = packed.hardware, "UNIX-SENDTO:pace"
    words = [hardware.shape.platform.program, *qemu_arguments(hardware, monitor_fd=None)]
    before = [f"{name}={shlex.quote(value)}" for name, value in TUNABLES.items()]
    return [
        "# the emulator, in a shell of its own:",
        f"cd {shlex.quote(str(packed.emulator_folder))}",
        *pasted(packed.emulator),
        "# the one before which the subject rehearses, in another one:",
        f"cd {shlex.quote(str(packed.stage_folder))}",
        *pasted(packed.stage),
        "# the line to the guest's agent, in another one (socat is not of the rig):",
        f"socat - TCP-LISTEN:{packed.line_port},bind=127.0.0.1,reuseaddr",
        "# QEMU, with its monitor on this terminal:",
        f"cd {shlex.quote(str(folder))}",
        *pasted(words, before),
        "# what the rig says over the monitor; type it there:",
        "cont",
        "# the speeds of the cores, once the line says `ready`; it boots with all there is:",
        f"cd {shlex.quote(str(folder))}",
        *(f"echo {shlex.quote(word)} | socat - {control}" for word in packed.speeds),
        "# what the rig says over the line; type it there (images/agent/channel.h):",
        "#   go        after `ready`: starts the subject",
        "#   accepted  when that one has connected: what the cell does then is done",
        "#   finish    after `ended`: the guest pauses itself, and its console is in",
        f"#   {hardware.console}",
    ]


def host_commands(spec: Spec, folder: Path) -> list[str]:
    """Lines for two shells: the emulator, and the subject, which comes after."""
    port = str(DRY_PORT)
    emulator = [word.replace(ANY_PORT, f"tcp:127.0.0.1:{port}") for word in spec.emulator]
    subject = [word.replace(PORT, port) for word in spec.subject]
    start = ["taskset", "--cpu-list", cpus_text(spec.cpus)] if spec.pinned else []
    lines = [
        "# the emulator, in a shell of its own:",
        f"cd {shlex.quote(str(folder))}",
        *pasted(emulator),
        "# the subject, in another one:",
        f"cd {shlex.quote(str(folder))}",
        *pasted(subject, start),
    ]
    if spec.lines:
        lines += ["# what the session does to the subject meanwhile (images/agent/spec.h):"]
        lines += [f"#   {line}" for line in spec.lines]
    return lines


def pasted(words: Sequence[str], before: Sequence[str] = ()) -> list[str]:
    """One command, an option a line; what stands `before` it is on its first line."""
    lines = [" ".join([*before, shlex.quote(words[0])])]
    for word in words[1:]:
        if word.startswith("-"):
            lines.append(f"    {shlex.quote(word)}")
        else:
            lines[-1] += f" {shlex.quote(word)}"
    return [*(f"{line} \\" for line in lines[:-1]), lines[-1]]
