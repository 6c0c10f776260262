# SPDX-License-Identifier: GPL-2.0-or-later
"""Saved states of QEMU, changed so that it keeps its translations when it loads them."""

import struct

import pytest
from delayrig.machine.device_state import made_loadable

CLUSTER_BITS = 16
SNAPSHOTS_AT = 1 << CLUSTER_BITS
STREAM_AT = 2 << CLUSTER_BITS
SHIFT = 4
NOW_NS = 1000 + (50 << SHIFT)
CRASHED = b"\x05\x19cpu_common/crash_occurred\x00\x00\x00\x01\x01"


def section(number: int, name: bytes, instance: int, version: int, fields: bytes) -> bytes:
    head = b"\x04" + struct.pack(">IB", number, len(name)) + name
    return (
        head + struct.pack(">II", instance, version) + fields + b"\x7e" + struct.pack(">I", number)
    )


def cpu(instance: int, *, halted: int, due: int, rest: bytes = b"") -> bytes:
    return section(
        3 + 3 * instance, b"cpu_common", instance, 1, struct.pack(">II", halted, due) + rest
    )


def apic(instance: int, due_ns: int) -> bytes:
    fields = bytes(range(40)) + struct.pack(">q", due_ns)
    return section(5 + 3 * instance, b"apic", instance, 3, fields)


def stream(*sections: bytes, speed: bytes = b"") -> bytes:
    clock = b"\x05\x0ctimer/icount" + struct.pack(">Iqq", 1, 1000, 50)
    timer = section(1, b"timer", 0, 2, bytes(24) + clock + speed)
    return b"QEVM\0\0\0\3" + timer + b"".join(sections) + b"\0"


def image(state: bytes, *, snapshots: int = 1, cluster_bits: int = CLUSTER_BITS) -> bytes:
    content = bytearray(3 << CLUSTER_BITS)
    header = struct.pack(">4sI12xI", b"QFI\xfb", 3, cluster_bits)
    content[: len(header)] = header
    content[60:72] = struct.pack(">IQ", snapshots, SNAPSHOTS_AT)
    entry = bytes(32) + struct.pack(">IIQ", len(state), 16, len(state))
    content[SNAPSHOTS_AT : SNAPSHOTS_AT + len(entry)] = entry
    content[STREAM_AT : STREAM_AT + len(state)] = state
    return bytes(content)


ONE = [cpu(0, halted=0, due=0, rest=CRASHED), apic(0, NOW_NS)]
TWO = [*ONE, cpu(1, halted=1, due=1), apic(1, NOW_NS + 16)]
SPEED = b"\x05\x12timer/icount/shift" + struct.pack(">Ihq", 2, SHIFT, 0)


def test_cpu_sections_are_removed_and_the_icount_shift_is_added() -> None:
    whole = image(stream(*TWO))
    made = made_loadable(whole, cores=2, icount_shift=SHIFT)
    assert made is not None
    assert b"cpu_common" not in made
    kept = stream(TWO[1], TWO[3], speed=SPEED)
    assert made[STREAM_AT : STREAM_AT + len(kept)] == kept
    assert len(made) == len(whole)
    assert made[:STREAM_AT] == whole[:STREAM_AT]


@pytest.mark.parametrize(
    "sections",
    [
        # The first CPU is halted, or another runs, has a pending interrupt or an unknown field.
        [cpu(0, halted=1, due=0), apic(0, -1), cpu(1, halted=1, due=0), apic(1, -1)],
        [*ONE, cpu(1, halted=0, due=0), apic(1, -1)],
        [*ONE, cpu(1, halted=1, due=2), apic(1, -1)],
        [*ONE, cpu(1, halted=1, due=0, rest=b"\x05\x03new"), apic(1, -1)],
        # The other CPU's timer is due or missing, or that CPU is missing as well.
        [*ONE, cpu(1, halted=1, due=0), apic(1, NOW_NS)],
        [*ONE, cpu(1, halted=1, due=0)],
        ONE,
    ],
)
def test_state_that_differs_from_a_new_machine_is_refused(sections: list[bytes]) -> None:
    assert made_loadable(image(stream(*sections)), cores=2, icount_shift=SHIFT) is None


@pytest.mark.parametrize(
    ("sections", "cores"), [(ONE, 1), ([*ONE, cpu(1, halted=1, due=0), apic(1, -1)], 2)]
)
def test_first_timer_may_be_due_and_the_others_off(sections: list[bytes], cores: int) -> None:
    assert made_loadable(image(stream(*sections)), cores=cores, icount_shift=SHIFT) is not None


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no image" * 100,
        image(stream(*ONE), snapshots=2),
        image(stream(*ONE), cluster_bits=7),
        image(b"other" + stream(*ONE)),
        image(stream(*ONE)) + stream(*ONE),
        image(stream(*ONE).replace(b"timer/icount", b"timer/others")),
    ],
    ids=["empty", "no image", "two states", "in pieces", "no state", "two streams", "no clock"],
)
def test_unknown_image_is_refused(content: bytes) -> None:
    assert made_loadable(content, cores=1, icount_shift=SHIFT) is None
