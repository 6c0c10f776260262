# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads what a guest left in its window of memory; the layout is in images/agent/parcel.h."""

import struct

from delayrig.base.errors import LostGuestError

MAGIC = b"FDRPARC1"
HEADER = struct.Struct("<8sQQ")
ENTRY = struct.Struct("<QQ")


def parcel_bytes(header: bytes, *, window_bytes: int) -> int:
    """How many bytes the parcel uses, header included; refuses a window with no parcel."""
    if len(header) < HEADER.size:
        raise LostGuestError("the guest's parcel has no header")
    magic, used, _ = HEADER.unpack_from(header)
    if magic != MAGIC:
        raise LostGuestError("the guest stopped without leaving its results")
    if not HEADER.size <= used <= window_bytes:
        raise LostGuestError(f"the guest's parcel claims {used} bytes")
    return int(used)


def unpack(parcel: bytes) -> dict[str, bytes]:
    """Every entry by name. Truncation, overlap, repeats or left-over bytes are a lost guest."""
    if len(parcel) < HEADER.size:
        raise LostGuestError("the guest's parcel has no header")
    _, _, count = HEADER.unpack_from(parcel)
    entries: dict[str, bytes] = {}
    at = HEADER.size
    for _ in range(count):
        if at + ENTRY.size > len(parcel):
            raise LostGuestError("the guest's parcel is cut short")
        name_bytes, content_bytes = ENTRY.unpack_from(parcel, at)
        at += ENTRY.size
        end = at + name_bytes + content_bytes
        if end > len(parcel):
            raise LostGuestError("the guest's parcel is cut short")
        name = parcel[at : at + name_bytes].decode("ascii", errors="replace")
        if name in entries:
            raise LostGuestError(f"the guest's parcel holds {name!r} twice")
        entries[name] = parcel[at + name_bytes : end]
        at = end
    if at != len(parcel):
        raise LostGuestError("the guest's parcel has bytes left over")
    return entries
