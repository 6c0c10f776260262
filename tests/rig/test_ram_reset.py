# SPDX-License-Identifier: GPL-2.0-or-later
"""A reset of RAM, on processes that map a file as QEMU maps a guest's RAM."""

import mmap
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from delayrig.base.errors import LostGuestError
from delayrig.machine import ram_reset
from delayrig.machine.ram_reset import (
    DIGESTS,
    PAGE_BYTES,
    CannotResetError,
    Stretch,
    forget_translations,
    put_back,
    stale_stretches,
    write_digests,
)

PAGES = 64
# This program maps the file privately, writes to pages on command, and prints a byte of each.
MAPPER = """
import mmap, sys
with open(sys.argv[1], "rb") as file:
    ram = mmap.mmap(file.fileno(), 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_WRITE)
print("mapped", flush=True)
for line in sys.stdin:
    word, page = line.split()
    if word == "write":
        ram[int(page) * 4096 + 7] = 0xff
    print(ram[int(page) * 4096 + 7], flush=True)
"""


class Mapper:
    """A process that maps the file as its RAM."""

    def __init__(self, ram: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", MAPPER, str(ram)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._read_line() == "mapped"

    @property
    def pid(self) -> int:
        return self._process.pid

    def ask(self, word: str, page: int) -> int:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{word} {page}\n")
        self._process.stdin.flush()
        return int(self._read_line())

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()

    def _read_line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


@pytest.fixture
def ram(tmp_path: Path) -> Path:
    path = tmp_path / "ram of a guest"
    path.write_bytes(b"".join(bytes([page]) * PAGE_BYTES for page in range(PAGES)))
    return path


@pytest.fixture
def mapper(ram: Path) -> Iterator[Mapper]:
    with closing(Mapper(ram)) as mapper:
        yield mapper


def test_pages_that_were_written_are_found_and_put_back(mapper: Mapper, ram: Path) -> None:
    assert [mapper.ask("read", page) for page in (0, 5, PAGES - 1)] == [0, 5, PAGES - 1]
    assert stale_stretches(mapper.pid, ram, ram) == []
    for page in (3, 4, 9):
        assert mapper.ask("write", page) == 0xFF
    stretches = stale_stretches(mapper.pid, ram, ram)
    assert stretches == [Stretch(3 * 4096, 2 * 4096), Stretch(9 * 4096, 4096)]
    put_back(mapper.pid, ram, stretches, ram)
    assert [mapper.ask("read", page) for page in (3, 4, 9)] == [3, 4, 9]


def test_more_stretches_than_one_call_takes_are_all_put_back(
    mapper: Mapper, ram: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ram_reset, "VECTORS_MAX", 2)
    pages = range(1, PAGES, 13)
    for page in pages:
        mapper.ask("write", page)
    put_back(mapper.pid, ram, stale_stretches(mapper.pid, ram, ram), ram)
    assert [mapper.ask("read", page) for page in pages] == list(pages)


def test_short_write_to_the_guests_memory_is_a_lost_guest(
    mapper: Mapper, ram: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mapper.ask("write", 3)
    monkeypatch.setattr(ram_reset, "_write_to_process", lambda *_: PAGE_BYTES - 1)
    with pytest.raises(LostGuestError, match=f"process {mapper.pid}"):
        put_back(mapper.pid, ram, stale_stretches(mapper.pid, ram, ram), ram)


def test_holes_of_the_file_are_left_as_qemu_left_them(tmp_path: Path) -> None:
    ram = tmp_path / "sparse"
    with ram.open("wb") as file:
        file.truncate(PAGES * PAGE_BYTES)
        file.seek(8 * PAGE_BYTES)
        file.write(bytes([8]) * PAGE_BYTES)
        file.flush()
        has_holes = os.lseek(file.fileno(), 0, os.SEEK_DATA) > 0
    with closing(Mapper(ram)) as mapper:
        for page in (2, 8, 9):
            mapper.ask("write", page)
        put_back(mapper.pid, ram, stale_stretches(mapper.pid, ram, ram), ram)
        assert mapper.ask("read", 8) == 8
        # If the filesystem keeps no holes, these pages are written like any other.
        assert {mapper.ask("read", page) for page in (2, 9)} == {0xFF if has_holes else 0}


def test_process_that_does_not_map_the_whole_file_is_not_reset(ram: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_bytes(ram.read_bytes())
    with closing(Mapper(other)) as mapper, pytest.raises(CannotResetError, match="does not map"):
        stale_stretches(mapper.pid, ram, ram)
    with (
        ram.open("rb") as file,
        mmap.mmap(file.fileno(), PAGE_BYTES, mmap.MAP_PRIVATE),
        pytest.raises(CannotResetError, match="in one piece"),
    ):
        stale_stretches(os.getpid(), ram, ram)


def test_guest_that_changed_too_many_pages_is_not_reset(
    mapper: Mapper, ram: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ram_reset, "PAGES_MAX", 1)
    for page in (3, 4):
        mapper.ask("write", page)
    with pytest.raises(CannotResetError, match="2 pages"):
        stale_stretches(mapper.pid, ram, ram)


def another_snapshot(ram: Path, changed: dict[int, int]) -> Path:
    folder = ram.parent / "another"
    folder.mkdir()
    content = bytearray(ram.read_bytes())
    for page, value in changed.items():
        content[page * PAGE_BYTES : (page + 1) * PAGE_BYTES] = bytes([value]) * PAGE_BYTES
    other = folder / ram.name
    other.write_bytes(content)
    for path in (ram, other):
        write_digests(path)
    return other


def test_reset_to_another_snapshot_and_back_writes_the_pages_that_differ(
    mapper: Mapper, ram: Path
) -> None:
    other = another_snapshot(ram, {5: 0xAA, 6: 0, 9: 0xBB})
    for page in (3, 9):
        mapper.ask("write", page)
    stretches = stale_stretches(mapper.pid, ram, other)
    assert stretches == [Stretch(3 * 4096, 4096), Stretch(5 * 4096, 8192), Stretch(9 * 4096, 4096)]
    put_back(mapper.pid, ram, stretches, other)
    assert [mapper.ask("read", page) for page in (3, 4, 5, 6, 9)] == [3, 4, 0xAA, 0, 0xBB]
    put_back(mapper.pid, ram, stale_stretches(mapper.pid, ram, ram), ram)
    assert [mapper.ask("read", page) for page in (3, 4, 5, 6, 9)] == [3, 4, 5, 6, 9]


def test_digest_of_a_zero_page_is_that_of_a_hole(
    tmp_path: Path,
) -> None:
    written, sparse = tmp_path / "a" / "ram", tmp_path / "b" / "ram"
    for path in (written, sparse):
        path.parent.mkdir()
    written.write_bytes(bytes(2 * PAGE_BYTES) + b"x" * PAGE_BYTES)
    with sparse.open("wb") as file:
        file.seek(2 * PAGE_BYTES)
        file.write(b"x" * PAGE_BYTES)
    for path in (written, sparse):
        write_digests(path)
    one, other = (path.with_name(DIGESTS).read_bytes() for path in (written, sparse))
    assert one == other
    assert one[:32] == bytes(32)
    assert any(one[32:])


def test_reset_to_a_snapshot_of_another_size_is_refused(mapper: Mapper, ram: Path) -> None:
    other = another_snapshot(ram, {})
    with other.open("r+b") as file:
        file.truncate(PAGE_BYTES)
    write_digests(other)
    with pytest.raises(CannotResetError, match="have different sizes"):
        stale_stretches(mapper.pid, ram, other)


def answering(reply: Callable[[bytes], bytes]) -> tuple[socket.socket, list[bytes]]:
    """Returns a socket, and the list of the lines that its other end receives and answers."""
    ours, theirs = socket.socketpair()
    received: list[bytes] = []

    def serve() -> None:
        with theirs, theirs.makefile("rb") as lines:
            for line in lines:
                received.append(line.strip())
                answer = reply(line)
                if not answer:
                    return
                theirs.sendall(answer)

    threading.Thread(target=serve, daemon=True).start()
    return ours, received


def commands_for(base: int, *stretches: Stretch) -> list[bytes]:
    """Returns the commands that QEMU gets for these stretches of RAM at that physical address."""
    ours, received = answering(lambda _: b"OK\n")
    with ours:
        forget_translations(ours, base, list(stretches))
    return received


def test_qemu_gets_a_memset_at_the_physical_address_of_each_stretch() -> None:
    assert commands_for(0x4000_0000, Stretch(0, 4096), Stretch(0x3000, 0x2000)) == [
        *(b"memset 0x40000000 0x1000 0x0", b"memset 0x40003000 0x2000 0x0")
    ]
    # A long stretch is written in parts.
    parts = [b"memset 0x1000 0x10000 0x0", b"memset 0x11000 0x8000 0x0"]
    assert commands_for(0, Stretch(0x1000, 0x18000)) == parts
    # Thousands of stretches do not block each other.
    assert len(commands_for(0, *(Stretch(page * 8192, 4096) for page in range(20_000)))) == 20_000


@pytest.mark.parametrize("answer", [b"FAIL no such command\n", b""])
def test_qemu_that_refuses_or_hangs_up_is_a_lost_guest(answer: bytes) -> None:
    ours, _ = answering(lambda _: answer)
    with ours, pytest.raises(LostGuestError):
        forget_translations(ours, 0, [Stretch(0, 4096)] * 3)
