# SPDX-License-Identifier: GPL-2.0-or-later
"""The way into a running guest or host cell: its files, and the commands to paste."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from delayrig.base.archive import unpack_archive, write_archive
from delayrig.features.repro.debugger import KILL, attached_words, packet, remote_words
from delayrig.features.repro.guest_entry import (
    PROMPT,
    SUBJECT_STARTS,
    Entry,
    enter_script,
    entered_spec,
    subject_words_of,
    write_entered,
)
from delayrig.features.repro.look import EXTRA_MS, Look
from delayrig.features.repro.watched_lane import host_commands, pasted, qemu_command
from delayrig.features.repro.watchers import startable
from delayrig.lanes.host.spec import PORT, Spec
from delayrig.lanes.payload import spec_text
from delayrig.machine.arguments import Hardware, console_chardev, qemu_arguments
from delayrig.model.shape import GuestShape

from tests.rig.builders import make_cell, make_chip, make_subject

SPEC = spec_text(make_cell(), make_chip(), "GD25Q16(B)", make_subject())
WORDS = ["/usr/sbin/flashrom", "-c", "GD25Q16(B)"]
ENTRY = Entry(look=Look.SHELL, console="ttyS0", busybox=Path("/b/busybox"))


def test_script_takes_the_place_of_the_subject_and_nothing_else_but_time() -> None:
    entered = entered_spec(SPEC)
    assert subject_words_of(SPEC)[0] == "/usr/sbin/flashrom"
    assert subject_words_of(entered) == ["/rig/busybox", "sh", "/rig/enter"]
    changed = ("subject ", "deadline_ms ")
    kept = [line for line in SPEC.splitlines() if not line.startswith(changed)]
    assert [line for line in entered.splitlines() if not line.startswith(changed)] == kept
    assert f"deadline_ms {600_000 + EXTRA_MS}" in entered.splitlines()


@pytest.mark.parametrize("look", [Look.SHELL, Look.GDB])
def test_script_is_one_that_a_shell_reads(look: Look, tmp_path: Path) -> None:
    server = tmp_path / "gdbserver"
    (server / "usr/sbin").mkdir(parents=True)
    (server / "usr/sbin/flashrom").write_bytes(Path("/bin/sh").read_bytes())
    entry = replace(ENTRY, look=look, gdbserver=server)
    script = enter_script(entry, WORDS)
    subprocess.run(["sh", "-n"], input=script, text=True, check=True)
    assert "GD25Q16(B)" in script


def test_shell_ends_in_the_subject_itself() -> None:
    script = enter_script(ENTRY, WORDS)
    assert script.splitlines()[-1] == "exec /usr/sbin/flashrom -c 'GD25Q16(B)'"
    assert SUBJECT_STARTS in script
    assert PROMPT in script


def test_process_that_gdb_comes_to_is_the_one_that_becomes_the_subject(tmp_path: Path) -> None:
    server = tmp_path / "gdbserver"
    (server / "usr/sbin").mkdir(parents=True)
    (server / "usr/sbin/flashrom").write_bytes(Path("/bin/sh").read_bytes())
    lines = enter_script(replace(ENTRY, look=Look.GDB, gdbserver=server), WORDS).splitlines()
    (attaches,) = [line for line in lines if "--attach" in line]
    assert " $tty $$ " in attaches
    assert lines[-1] == "exec /usr/sbin/flashrom -c 'GD25Q16(B)' 4>&-"


def test_subject_of_an_entered_guest_has_the_script_beside_all_that_it_had(
    tmp_path: Path,
) -> None:
    root, scratch, busybox = tmp_path / "root", tmp_path / "scratch", tmp_path / "busybox"
    (root / "usr/sbin").mkdir(parents=True)
    scratch.mkdir()
    (root / "usr/sbin/flashrom").write_text("program")
    busybox.write_text("busybox")
    archive = tmp_path / "subject.cpio"
    write_archive(root, archive)
    before = archive.read_bytes()
    entered = write_entered(archive, replace(ENTRY, busybox=busybox), WORDS, scratch)
    assert archive.read_bytes() == before
    found = tmp_path / "found"
    found.mkdir()
    unpack_archive(entered, found)
    assert (found / "usr/sbin/flashrom").read_text() == "program"
    assert (found / "rig/busybox").read_text() == "busybox"
    assert (found / "rig/enter").read_text() == enter_script(replace(ENTRY, busybox=busybox), WORDS)


HARDWARE = Hardware(
    shape=GuestShape(icount_shift=4, cores=1),
    preload=Path("/t/preload.so"),
    kernel=Path("/k"),
    initrd=Path("/i"),
    console=Path("/c/console.log"),
)


def test_guest_that_is_talked_to_is_another_in_its_console_and_its_idle_time_alone() -> None:
    plain = qemu_arguments(HARDWARE, monitor_fd=5)
    talked = replace(HARDWARE, talk=Path("/s,1"), preload=None)
    changed = [
        (one, other)
        for one, other in zip(plain, qemu_arguments(talked, monitor_fd=5), strict=True)
        if one != other
    ]
    assert changed == [
        (console_chardev(HARDWARE), console_chardev(talked)),
        ("shift=4,sleep=off", "shift=4,sleep=on"),
    ]
    assert "path=/s,,1" in console_chardev(talked)
    assert "logfile=/c/console.log" in console_chardev(talked)


def test_command_to_paste_is_what_the_rig_starts_with_a_monitor_for_a_person() -> None:
    lines = qemu_command(HARDWARE, Path("/my snap"), 3)
    command = "\n".join(line for line in lines if not line.startswith("#"))
    assert 'migrate_incoming "file:/my snap/state"' in command
    assert "-monitor stdio" in command
    assert "taskset --cpu-list 3 qemu-system-x86_64" in command
    assert "LD_PRELOAD=preload.so" in command


def test_pasted_words_come_back_from_a_shell_as_they_were() -> None:
    words = ["printf", "%s\\n", "--a", "b c", "-d", "x='y' $z", "-e=f"]
    said = subprocess.run(
        ["sh", "-c", "\n".join(pasted(words))], capture_output=True, text=True, check=True
    ).stdout
    assert said.splitlines() == words[2:]


def test_commands_of_a_host_meet_at_one_port() -> None:
    spec = Spec(
        emulator=["/e", "--listen", "tcp:127.0.0.1:0"],
        subject=["/f", "-p", f"serprog:ip=127.0.0.1:{PORT}"],
        subject_file_bytes_max=1,
        cpus=[1],
        pinned=True,
        deadline_ms=1,
        lines=["hogs 2"],
    )
    text = "\n".join(host_commands(spec, Path("/folder")))
    assert text.count("127.0.0.1:34567") == 2
    assert "taskset --cpu-list 1 /f" in text
    assert "hogs 2" in text


def test_gdb_is_told_where_to_stop_once_the_process_is_the_subject() -> None:
    remote = remote_words("gdb", Path("/r"), Path("/s"), [Path("/src")], ["break here"])
    assert remote[-1] == "break here"
    assert remote.index("target remote /s") < remote.index("tcatch exec")
    assert remote_words("gdb", Path("/r"), Path("/s"), [], [])[-1] == "continue"
    attached = attached_words("gdb", 17, Path("/go"), [Path("/src")], ["break here"])
    assert attached[-1] == "break here"
    assert attached.index("tcatch exec") < attached.index("shell touch /go")


def test_packet_has_the_checksum_of_the_protocol() -> None:
    assert KILL == b"+$k#6b"
    assert packet("OK") == b"+$OK#9a"


def test_program_starts_by_itself_where_this_machine_has_its_linker(tmp_path: Path) -> None:
    here = Path("/lib64/ld-linux-x86-64.so.2")
    linker = tmp_path / "lib64/ld-linux-x86-64.so.2"
    linker.parent.mkdir()
    linker.write_bytes(here.read_bytes())
    words = [str(linker), "--library-path", "/root/lib", "/root/flashrom", "-V"]
    assert startable(words, tmp_path) == (["/root/flashrom", "-V"], "/root/lib")
    linker.write_bytes(b"another")
    assert startable(words, tmp_path) == (words, "")
