# SPDX-License-Identifier: GPL-2.0-or-later
"""The parcel of files that a guest leaves for the host. If it is incomplete, the guest is lost."""

import itertools

import pytest
from delayrig.base.errors import LostGuestError
from delayrig.machine.session import HEADER, MAGIC, parcel_bytes, unpack

WINDOW = 1 << 20
NO_RESULTS = "without leaving its results"


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


def test_unpacked_parcel_has_the_packed_files() -> None:
    assert unpack(TWO) == {"stdout.txt": b"hello\n", "image.sparse": bytes(range(256))}
    assert unpack(packed((b"empty", b""))) == {"empty": b""}
    assert unpack(packed()) == {}


@pytest.mark.parametrize("used", [24, len(TWO), WINDOW])
def test_length_from_the_header_to_the_whole_window_is_accepted(used: int) -> None:
    assert HEADER.size == 24
    header = MAGIC + used.to_bytes(8, "little") + bytes(8)
    assert parcel_bytes(header, window_bytes=WINDOW) == used
    assert parcel_bytes(TWO[:24], window_bytes=WINDOW) == len(TWO)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        *((magic + TWO[8:24], NO_RESULTS) for magic in (b"\0" * 8, b"FDRPARC2", MAGIC[::-1])),
        *((header, "has no header") for header in (b"", b"FDRP", MAGIC)),
        *(
            (MAGIC + used.to_bytes(8, "little") + bytes(8), f"claims {used} bytes")
            for used in (0, 23, WINDOW + 1, 1 << 40, (1 << 64) - 1)
        ),
    ],
    ids=itertools.count(),
)
def test_window_with_a_wrong_header_is_a_lost_guest(header: bytes, message: str) -> None:
    with pytest.raises(LostGuestError, match=message):
        parcel_bytes(header, window_bytes=WINDOW)


A, B = (b"a", b"1"), (b"b", b"2")
HUGE = (1 << 64) - 1


def entry(name_bytes: int, content_bytes: int) -> bytes:
    """Returns a parcel of one entry that claims these lengths but has two bytes."""
    lengths = name_bytes.to_bytes(8, "little") + content_bytes.to_bytes(8, "little")
    return packed(count=1) + lengths + b"ab"


@pytest.mark.parametrize(
    ("parcel", "message"),
    [
        *((TWO[:end], "cut short") for end in range(24, len(TWO))),
        *((packed(A, B, count=count), "cut short") for count in (3, 1 << 40, HUGE)),
        *((entry(*lengths), "cut short") for lengths in ((HUGE, 0), (0, HUGE), (2, 1))),
        *((TWO + more, "left over") for more in (b"\0", bytes(16))),
        (packed(A, B, count=1), "left over"),
        (packed(A, B, A), "'a' twice"),
        *((header, "no header") for header in (b"", b"FDRP", MAGIC)),
    ],
    ids=itertools.count(),
)
def test_malformed_parcel_is_a_lost_guest(parcel: bytes, message: str) -> None:
    with pytest.raises(LostGuestError, match=message):
        unpack(parcel)
