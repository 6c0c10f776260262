# SPDX-License-Identifier: GPL-2.0-or-later
"""The parcel that a guest leaves for the host: if it is not complete, the guest is lost."""

import pytest
from delayrig.base.errors import LostGuestError
from delayrig.machine.session import HEADER, MAGIC, parcel_bytes, unpack

WINDOW = 1 << 20


def packed(*entries: tuple[bytes, bytes], count: int | None = None) -> bytes:
    """Packs a parcel in the layout of images/agent/cell.h, without code of the rig."""
    body = b"".join(
        len(name).to_bytes(8, "little") + len(content).to_bytes(8, "little") + name + content
        for name, content in entries
    )
    number = len(entries) if count is None else count
    used = 24 + len(body)
    return b"FDRPARC1" + used.to_bytes(8, "little") + number.to_bytes(8, "little") + body


TWO = packed((b"stdout.txt", b"hello\n"), (b"image.sparse", bytes(range(256))))


def test_parcel_gives_back_what_was_put_in() -> None:
    assert unpack(TWO) == {"stdout.txt": b"hello\n", "image.sparse": bytes(range(256))}
    assert unpack(packed((b"empty", b""))) == {"empty": b""}
    assert unpack(packed()) == {}


def test_header_tells_how_much_is_used() -> None:
    assert HEADER.size == 24
    assert parcel_bytes(TWO[:24], window_bytes=WINDOW) == len(TWO)


@pytest.mark.parametrize("magic", [b"\0" * 8, b"FDRPARC2", MAGIC[::-1]])
def test_window_without_the_magic_is_a_lost_guest(magic: bytes) -> None:
    with pytest.raises(LostGuestError, match="without leaving its results"):
        parcel_bytes(magic + TWO[8:24], window_bytes=WINDOW)


@pytest.mark.parametrize("used", [0, 23, WINDOW + 1, 1 << 40, (1 << 64) - 1])
def test_absurd_length_is_a_lost_guest(used: int) -> None:
    header = MAGIC + used.to_bytes(8, "little") + bytes(8)
    with pytest.raises(LostGuestError, match=f"claims {used} bytes"):
        parcel_bytes(header, window_bytes=WINDOW)


@pytest.mark.parametrize("used", [24, WINDOW])
def test_length_from_the_header_to_the_whole_window_is_taken(used: int) -> None:
    header = MAGIC + used.to_bytes(8, "little") + bytes(8)
    assert parcel_bytes(header, window_bytes=WINDOW) == used


def test_parcel_cut_short_anywhere_is_a_lost_guest() -> None:
    for end in range(24, len(TWO)):
        with pytest.raises(LostGuestError, match="cut short"):
            unpack(TWO[:end])


@pytest.mark.parametrize("more", [b"\0", bytes(16)])
def test_bytes_left_over_are_a_lost_guest(more: bytes) -> None:
    with pytest.raises(LostGuestError, match="left over"):
        unpack(TWO + more)


def test_fewer_entries_than_there_are_is_a_lost_guest() -> None:
    with pytest.raises(LostGuestError, match="left over"):
        unpack(packed((b"a", b"1"), (b"b", b"2"), count=1))


@pytest.mark.parametrize("count", [3, 1 << 40, (1 << 64) - 1])
def test_more_entries_than_there_are_is_a_lost_guest(count: int) -> None:
    with pytest.raises(LostGuestError, match="cut short"):
        unpack(packed((b"a", b"1"), (b"b", b"2"), count=count))


def test_name_that_comes_twice_is_a_lost_guest() -> None:
    with pytest.raises(LostGuestError, match="'a' twice"):
        unpack(packed((b"a", b"1"), (b"b", b"2"), (b"a", b"1")))


@pytest.mark.parametrize(("name", "content"), [((1 << 64) - 1, 0), (0, (1 << 64) - 1), (2, 1)])
def test_absurd_length_of_an_entry_is_a_lost_guest(name: int, content: int) -> None:
    header = packed(count=1)
    entry = name.to_bytes(8, "little") + content.to_bytes(8, "little") + b"ab"
    with pytest.raises(LostGuestError, match="cut short"):
        unpack(header + entry)


@pytest.mark.parametrize("header", [b"", b"FDRP", MAGIC])
def test_parcel_without_a_header_is_a_lost_guest(header: bytes) -> None:
    with pytest.raises(LostGuestError):
        parcel_bytes(header, window_bytes=4096)
    with pytest.raises(LostGuestError):
        unpack(header)
