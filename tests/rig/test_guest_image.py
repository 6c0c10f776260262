# SPDX-License-Identifier: GPL-2.0-or-later
"""Images and snapshots of guests, and the commands to enter or watch a cell."""

import asyncio
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from delayrig.base import digest
from delayrig.base.archive import unpack_archive, write_archive
from delayrig.base.errors import LostGuestError, NotProvidedError, RigFaultError
from delayrig.base.paths import Paths, find_paths
from delayrig.features import images
from delayrig.features.repro import guest_entry, watched_lane
from delayrig.features.repro.debugger import KILL, find_gdb, packet, words_on_subject
from delayrig.features.repro.look import EXTRA_MS, Look
from delayrig.features.repro.watched_lane import (
    host_commands,
    kept_awake,
    pasted,
    qemu_command,
    startable,
)
from delayrig.lanes.host.spec import PORT, Spec
from delayrig.lanes.payload import spec_text
from delayrig.machine import snapshot
from delayrig.machine.arguments import Hardware, console_chardev, qemu_arguments
from delayrig.machine.snapshot import UNUSED_DROPPED_AFTER_S, drop_unused
from delayrig.model.platform import Arch
from delayrig.model.shape import GuestShape
from delayrig.subjects import guest_image
from delayrig.subjects.guest_image import (
    GuestImage,
    provide_guest_image,
    provide_kernel,
    take_kernel,
)
from delayrig.subjects.recipes import GuestRecipe, KernelRecipe, read_recipes
from delayrig.subjects.subject import CYCLICTEST

from tests.rig.builders import CHECKOUT, make_cell, make_chip, make_subject
from tests.rig.running import run

KERNEL, BUSYBOX = b"a kernel", b"a busybox"


class Guest:
    """A state folder, and an archive that delivers `KERNEL` and `BUSYBOX`."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.paths = Paths(checkout=CHECKOUT, state=folder)
        self.messages: list[str] = []
        for program in (self.paths.agent_of("x86_64"), self.paths.emulator_of("x86_64")):
            program.parent.mkdir(parents=True, exist_ok=True)
            program.write_bytes(b"\x7fELF")
        patch.setattr(guest_image, "_fetch", self._give)

    def _give(self, _recipe: GuestRecipe, _arch: Arch, folder: Path, _paths: Paths) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "vmlinuz").write_bytes(KERNEL)
        (folder / "busybox").write_bytes(BUSYBOX)
        parts = {
            "kernel_sha256": digest.of_bytes(KERNEL),
            "busybox_sha256": digest.of_bytes(BUSYBOX),
            "packages": {},
        }
        (folder / "parts.json").write_bytes(msgspec.json.encode(parts))

    def provide(self) -> GuestImage:
        """Returns the image; `messages` are those of this call."""
        self.messages.clear()
        return provide_guest_image(read_recipes(CHECKOUT).guest, self.paths, self.messages.append)


@pytest.fixture
def guest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Guest:
    """Returns a guest whose image was provided once."""
    made = Guest(tmp_path, monkeypatch)
    made.provide()
    assert len(made.messages) == 1
    return made


def test_sound_image_is_reused(guest: Guest) -> None:
    first = guest.provide()
    assert guest.messages == []
    assert guest.provide() == first


@pytest.mark.parametrize("name", ["vmlinuz", "busybox", "parts.json"])
@pytest.mark.parametrize("content", [b"", b"a kernfl", b'{"kernel'])
def test_damaged_part_is_named_and_fetched_again(guest: Guest, name: str, content: bytes) -> None:
    image = guest.provide()
    (Path(image.kernel).parent / name).write_bytes(content)
    assert guest.provide() == image
    (message,) = guest.messages
    assert name in message
    assert Path(image.kernel).read_bytes() == KERNEL


@pytest.mark.parametrize("cut_bytes", [1, 100])
def test_damaged_initrd_is_packed_again(guest: Guest, cut_bytes: int) -> None:
    image = guest.provide()
    whole = Path(image.initrd).read_bytes()
    Path(image.initrd).write_bytes(whole[:-cut_bytes])
    assert guest.provide() == image
    assert Path(image.initrd).read_bytes() == whole


def test_kernel_has_the_architecture_of_its_recipe_even_if_it_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unpack(_suite: str, packages: list[str], root: Path, _arch: str) -> dict[str, str]:
        (root / "boot").mkdir(parents=True)
        (root / "boot/vmlinuz-6.1").write_bytes(KERNEL)
        return dict.fromkeys(packages, "6.1")

    monkeypatch.setattr(guest_image, "unpack_packages", unpack)
    recipe = KernelRecipe(suite="bookworm", package="linux-image-arm64", arch=Arch.ARM64)
    paths, messages = Paths(checkout=CHECKOUT, state=tmp_path), list[str]()
    made = [provide_kernel("arm", recipe, paths, messages.append) for _ in range(2)]
    assert [kernel.arch for kernel in made] == [Arch.ARM64] * 2
    assert len(messages) == 1


LOST_ARCH = Arch.I386


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Returns a list that receives each request; one architecture has no cyclictest."""
    found: list[object] = []

    def tool(name: str, _recipes: object, _paths: Paths, _say: object, arch: Arch) -> None:
        found.append((name, arch))
        if name == CYCLICTEST and arch is LOST_ARCH:
            raise NotProvidedError("rt-tests (i386)", "Mirror sync in progress?")

    monkeypatch.setattr(images, "provide_kernel", lambda name, *_: found.append(name))
    monkeypatch.setattr(images, "provide_live_image", lambda *_: found.append("live"))
    monkeypatch.setattr(images, "provide_tool", tool)
    return found


def test_each_recipe_is_provided_and_a_missing_part_is_a_warning(
    requests: list[object], capsys: pytest.CaptureFixture[str]
) -> None:
    images.prepare_on_demand(find_paths())
    recipes = read_recipes(CHECKOUT)
    each_arch = {(name, arch) for name in (CYCLICTEST, *recipes.tools) for arch in Arch}
    assert set(requests) == {*recipes.kernels, "live", *each_arch}
    assert capsys.readouterr().err == (
        "warning: the archive did not give rt-tests (i386): Mirror sync in progress?\n"
    )


NOW_S = 2_000_000_000


def made(folder: Path, name: str, unused_s: int, size_bytes: int = 1) -> Path:
    """Makes a folder such as a snapshot, of that size and last used that long ago."""
    place = folder / name
    place.mkdir(exist_ok=True)
    (place / f"{size_bytes}").write_bytes(bytes(size_bytes))
    os.utime(place, (NOW_S - unused_s, NOW_S - unused_s))
    return place


def left_of(folder: Path) -> set[str]:
    """Returns the names of what is left once unused snapshots are dropped."""
    drop_unused(folder, now_s=NOW_S)
    return {path.name for path in folder.iterdir()}


def test_snapshots_unused_for_long_are_dropped(tmp_path: Path) -> None:
    made(tmp_path, "new.snapshot", 0)
    made(tmp_path, "kept.snapshot", UNUSED_DROPPED_AFTER_S)
    made(tmp_path, "old.snapshot", UNUSED_DROPPED_AFTER_S + 1)
    made(tmp_path, "boot-of-another-run", NOW_S)
    assert left_of(tmp_path) == {"new.snapshot", "kept.snapshot", "boot-of-another-run"}
    drop_unused(tmp_path / "none", now_s=NOW_S)
    assert not (tmp_path / "none").exists()


def test_oldest_snapshots_are_dropped_for_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot, "ALL_BYTES_MAX", 2 * 4096)
    for hours in (0, 1, 7, 8, 9):
        made(tmp_path, f"{hours}h.snapshot", hours * 3600, 4096)
    assert left_of(tmp_path) == {"0h.snapshot", "1h.snapshot"}
    made(tmp_path, "1h.snapshot", 3600, 4097)
    assert left_of(tmp_path) == {"0h.snapshot", "1h.snapshot"}, "a run may still use it"


SPEC = spec_text(make_cell(), make_chip(), "GD25Q16(B)", make_subject())
WORDS = ["/usr/sbin/flashrom", "-c", "GD25Q16(B)"]
ENTRY = guest_entry.Entry(look=Look.SHELL, console="ttyS0", busybox=Path("/b/busybox"))


def test_entered_guest_has_the_script_as_subject_and_more_time() -> None:
    entered, words = guest_entry.entered_spec(SPEC)
    assert words[0] == "/usr/sbin/flashrom"
    assert guest_entry.entered_spec(entered)[1] == ["/rig/busybox", "sh", "/rig/enter"]
    changed = ("subject ", "deadline_ms ")
    kept = [line for line in SPEC.splitlines() if not line.startswith(changed)]
    assert [line for line in entered.splitlines() if not line.startswith(changed)] == kept
    assert f"deadline_ms {600_000 + EXTRA_MS}" in entered.splitlines()


@pytest.fixture
def server(tmp_path: Path) -> Path:
    """Returns the folder of a gdbserver, which is a shell here."""
    program = tmp_path / "gdbserver/usr/sbin/flashrom"
    program.parent.mkdir(parents=True)
    program.write_bytes(Path("/bin/sh").read_bytes())
    return tmp_path / "gdbserver"


@pytest.mark.parametrize("look", [Look.SHELL, Look.GDB])
def test_script_has_the_syntax_of_a_shell(look: Look, server: Path) -> None:
    script = guest_entry.enter_script(replace(ENTRY, look=look, gdbserver=server), WORDS)
    subprocess.run(["sh", "-n"], input=script, text=True, check=True)
    assert "GD25Q16(B)" in script


def test_script_for_a_shell_ends_with_the_subject() -> None:
    script = guest_entry.enter_script(ENTRY, WORDS)
    assert script.splitlines()[-1] == "exec /usr/sbin/flashrom -c 'GD25Q16(B)'"
    assert guest_entry.SUBJECT_STARTS in script
    assert guest_entry.PROMPT in script


def test_gdb_attaches_to_the_process_that_becomes_the_subject(server: Path) -> None:
    entry = replace(ENTRY, look=Look.GDB, gdbserver=server)
    lines = guest_entry.enter_script(entry, WORDS).splitlines()
    (attaches,) = [line for line in lines if "--attach" in line]
    assert " $tty $$ " in attaches
    assert lines[-1] == "exec /usr/sbin/flashrom -c 'GD25Q16(B)' 4>&-"


def test_entered_archive_has_the_script_and_the_files_of_the_subject(tmp_path: Path) -> None:
    root, scratch, busybox = tmp_path / "root", tmp_path / "scratch", tmp_path / "busybox"
    (root / "usr/sbin").mkdir(parents=True)
    scratch.mkdir()
    (root / "usr/sbin/flashrom").write_text("program")
    busybox.write_text("busybox")
    archive = tmp_path / "subject.cpio"
    write_archive(root, archive)
    before = archive.read_bytes()
    entry = replace(ENTRY, busybox=busybox)
    entered = guest_entry.write_entered(archive, entry, WORDS, scratch)
    assert archive.read_bytes() == before
    found = tmp_path / "found"
    found.mkdir()
    unpack_archive(entered, found)
    assert (found / "usr/sbin/flashrom").read_text() == "program"
    assert (found / "rig/busybox").read_text() == "busybox"
    assert (found / "rig/enter").read_text() == guest_entry.enter_script(entry, WORDS)


HARDWARE = Hardware(
    shape=GuestShape(icount_shift=4, cores=1),
    preload=Path("/t/preload.so"),
    kernel=Path("/k"),
    initrd=Path("/i"),
    console=Path("/c/console.log"),
)


def test_interactive_guest_differs_only_in_console_and_idle_time() -> None:
    plain = qemu_arguments(HARDWARE, monitor_fd=5)
    talked = replace(HARDWARE, talk=Path("/s,1"), preload=None)
    pairs = zip(plain, qemu_arguments(talked, monitor_fd=5), strict=True)
    changed = [(one, other) for one, other in pairs if one != other]
    assert changed == [
        (console_chardev(HARDWARE), console_chardev(talked)),
        ("shift=4,sleep=off", "shift=4,sleep=on"),
    ]
    assert "path=/s,,1" in console_chardev(talked)
    assert "logfile=/c/console.log" in console_chardev(talked)


def test_command_to_paste_loads_the_snapshot_and_has_a_monitor() -> None:
    lines = qemu_command(HARDWARE, Path("/my snap"), 3)
    command = "\n".join(line for line in lines if not line.startswith("#"))
    assert 'migrate_incoming "file:/my snap/state"' in command
    assert "-monitor stdio" in command
    assert "taskset --cpu-list 3 qemu-system-x86_64" in command
    assert "LD_PRELOAD=preload.so" in command


def test_pasted_arguments_are_quoted_for_a_shell() -> None:
    words = ["printf", "%s\\n", "--a", "b c", "-d", "x='y' $z", "-e=f"]
    assert run("sh", "-c", "\n".join(pasted(words))).stdout.splitlines() == words[2:]


def test_commands_for_the_host_lane_use_one_port() -> None:
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


def test_gdb_sets_breakpoints_after_exec_of_the_subject() -> None:
    words = words_on_subject("gdb", "attach 1", sources=[Path("/s")], stops=["b here"], after=["x"])
    assert words[-1] == "b here"
    places = [words.index(word) for word in ("attach 1", "tcatch exec", "x", "continue")]
    assert places == sorted(places)
    assert words_on_subject("gdb", "attach 17", sources=[], stops=[])[-1] == "continue"


def test_plain_gdb_is_for_guests_of_x86_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "gdb").touch(mode=0o755)
    for arch in (Arch.X86_64, Arch.I386):
        assert find_gdb(arch) == "gdb"
    for arch in (Arch.ARM64, Arch.ARMHF, Arch.RISCV64):
        with pytest.raises(RigFaultError, match="gdb-multiarch"):
            find_gdb(arch)


def test_gdb_packet_has_its_checksum() -> None:
    assert KILL == b"+$k#6b"
    assert packet("OK") == b"+$OK#9a"


def test_program_starts_without_its_loader_if_this_machine_has_the_same(tmp_path: Path) -> None:
    here = Path("/lib64/ld-linux-x86-64.so.2")
    linker = tmp_path / "lib64/ld-linux-x86-64.so.2"
    linker.parent.mkdir()
    linker.write_bytes(here.read_bytes())
    words = [str(linker), "--library-path", "/root/lib", "/root/flashrom", "-V"]
    assert startable(words, tmp_path) == (["/root/flashrom", "-V"], "/root/lib")
    linker.write_bytes(b"another")
    assert startable(words, tmp_path) == (words, "")


def test_suite_of_guests_by_architecture() -> None:
    recipes = read_recipes(CHECKOUT)
    guests = {arch: recipes.guest_of(arch) for arch in Arch}
    assert guests.pop(Arch.RISCV64).suite == "trixie"
    assert {guest.suite for guest in guests.values()} == {"bookworm"}


def test_kernel_that_is_not_compressed_is_found(tmp_path: Path) -> None:
    (tmp_path / "boot").mkdir()
    (tmp_path / "boot" / "vmlinux-6.12-riscv64").write_bytes(KERNEL)
    take_kernel(tmp_path, "linux-image-riscv64", tmp_path / "vmlinuz")
    assert (tmp_path / "vmlinuz").read_bytes() == KERNEL


WAKES, LOST_AT = 5, 3


class Sleeper:
    """A machine that counts its wake-ups; it is lost at number `lost_at`, if that is not 0."""

    def __init__(self, lost_at: int = 0) -> None:
        self.woken = 0
        self.answering = False
        self.often = asyncio.Event()
        self._lost_at = lost_at

    async def wake(self) -> None:
        self.answering = True
        await asyncio.sleep(0)
        self.answering = False
        self.woken += 1
        if self.woken >= (self._lost_at or WAKES):
            self.often.set()
        if self.woken == self._lost_at:
            raise LostGuestError("it is gone")


@pytest.fixture(autouse=True)
def short_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watched_lane, "WAKE_EACH_S", 0.001)


def test_watched_machine_is_woken_until_the_watch_ends() -> None:
    async def watch() -> tuple[int, int]:
        machine: Any = Sleeper()
        async with kept_awake(machine):
            await machine.often.wait()
        woken = machine.woken
        await asyncio.sleep(0.05)
        assert not machine.answering
        return woken, machine.woken

    woken, later = asyncio.run(watch())
    assert woken >= WAKES
    assert later == woken


def test_lost_machine_is_not_woken_again() -> None:
    async def watch() -> int:
        machine: Any = Sleeper(lost_at=LOST_AT)
        async with kept_awake(machine):
            await machine.often.wait()
            await asyncio.sleep(0.05)
        return int(machine.woken)

    assert asyncio.run(watch()) == LOST_AT


def test_machine_is_not_woken_after_a_failed_watch() -> None:
    async def watch() -> None:
        machine: Any = Sleeper()
        try:
            async with kept_awake(machine):
                await machine.often.wait()
                raise RuntimeError
        finally:
            assert not machine.answering

    with pytest.raises(RuntimeError):
        asyncio.run(watch())
