# SPDX-License-Identifier: GPL-2.0-or-later
"""The device state of a paused machine, as a snapshot in a separate image.

QEMU can load this form repeatedly. All functions are pure functions of the image's bytes.

QEMU drops all translations when it loads the `cpu_common` section of a CPU, because it assumes that
RAM changed without its knowledge (QEMU hw/core/cpu-system.c). Here the rig tells QEMU which pages
changed (machine/ram_reset.py), so that section is left out. It contains whether a CPU is halted,
and which interrupts are pending. QEMU resets the system before each load. So both must already be
as after that reset: only the first CPU runs, and nothing is pending. A machine in another state
cannot be reset.

QEMU's CPUs take turns. A machine that is reset continues with the CPU after the last one; a new
machine starts with the first. This matters only if another CPU has work at the moment of the pause.
So no other CPU may have a timer that is due by then, and the agent sleeps for some seconds before
it pauses (images/agent/guest.c). A later timer ends the first CPU's turn; from then on the order is
the same.

QEMU does not save a constant icount shift, so it is added to the state. Then a machine that ran at
another speed continues at the new one.

Sources: QEMU docs/interop/qcow2 (header, "Snapshots"), docs/devel/migration/main ("Stream
structure"), migration/savevm.h, system/cpu-timers.c, accel/tcg/tcg-accel-ops-rr.c.
"""

import re
import struct

CLUSTER_BYTES = 1 << 19
"""The size of a cluster, larger than any state, so that a state is contiguous."""
TAG = "pause"

# The fields are magic, cluster bits, and number and offset of the snapshots.
_HEADER = struct.Struct(">4s16xI36xIQ")
_SNAPSHOT = struct.Struct(">32xII")  # The fields are the sizes of state and extra data.
_EXTRA = struct.Struct(">Q")  # The extra data begins with the size of the state.
_MAGIC, _STREAM = b"QFI\xfb", b"QEVM"
_CPU_COMMON = re.compile(
    rb"\x04(?P<id>.{4})\x0acpu_common(?P<number>.{4})\x00\x00\x00\x01(?P<halted>.{4})(?P<due>.{4})"
    rb"(?:\x05\x19cpu_common/crash_occurred\x00\x00\x00\x01.)?\x7e(?P=id)",
    re.DOTALL,
)
_CLOCK = re.compile(
    rb"\x05\x0ctimer/icount\x00\x00\x00\x01(?P<bias>.{8})(?P<count>.{8})", re.DOTALL
)
_APIC = re.compile(
    rb"\x04(?P<id>.{4})\x04apic(?P<number>.{4})\x00\x00\x00\x03.*?(?P<due>.{8})\x7e(?P=id)",
    re.DOTALL,
)
_SUBSECTION = struct.Struct(">BB18sI")  # The fields are mark, length of the name, name, version.
_SPEED_NAME = b"timer/icount/shift"
# The fields are the shift, and a difference that QEMU keeps if it adapts the shift.
_SPEED = struct.Struct(">hq")
_NEVER = -1
_EXIT_REQUEST = 1
"""A pending request that QEMU drops on loading."""


def made_loadable(image: bytes, *, cores: int, icount_shift: int) -> bytes | None:
    """Returns the image with a state that QEMU loads without dropping translations.

    Returns None if the machine cannot be reset to that state.
    """
    place = _state_in(image)
    if place is None:
        return None
    stream = image[place]
    sections = list(_CPU_COMMON.finditer(stream))
    if len(sections) != cores or not all(_is_as_reset(section) for section in sections):
        return None
    clock = _CLOCK.search(stream)
    if clock is None or (cores > 1 and not _first_cpu_begins(stream, cores, clock, icount_shift)):
        return None
    speed = _SUBSECTION.pack(5, len(_SPEED_NAME), _SPEED_NAME, 2) + _SPEED.pack(icount_shift, 0)
    kept = _CPU_COMMON.sub(b"", stream[: clock.end()] + speed + stream[clock.end() :])
    if len(kept) > len(stream):
        return None
    return image[: place.start] + kept.ljust(len(stream), b"\0") + image[place.stop :]


def _state_in(image: bytes) -> slice | None:
    if len(image) < _HEADER.size:
        return None
    magic, cluster_bits, snapshots, at = _HEADER.unpack_from(image)
    if magic != _MAGIC or snapshots != 1 or len(image) < at + _SNAPSHOT.size + _EXTRA.size:
        return None
    size, extra = _SNAPSHOT.unpack_from(image, at)
    if extra >= _EXTRA.size:
        (size,) = _EXTRA.unpack_from(image, at + _SNAPSHOT.size)
    cluster = 1 << cluster_bits
    begins = [b for b in range(0, len(image), cluster) if image.startswith(_STREAM, b)]
    if len(begins) != 1 or size > cluster:
        return None
    return slice(begins[0], begins[0] + size)


def _is_as_reset(section: re.Match[bytes]) -> bool:
    number, halted, due = map(int.from_bytes, section.group("number", "halted", "due"))
    return halted == (number > 0) and not due & ~_EXIT_REQUEST


def _first_cpu_begins(stream: bytes, cores: int, clock: re.Match[bytes], icount_shift: int) -> bool:
    timers = list(_APIC.finditer(stream))
    if len(timers) != cores:
        return False
    now_ns = _signed(clock["bias"]) + (_signed(clock["count"]) << icount_shift)
    due_ns = [_signed(timer["due"]) for timer in timers if any(timer["number"])]
    return all(due == _NEVER or due > now_ns for due in due_ns)


def _signed(field: bytes) -> int:
    return int.from_bytes(field, "big", signed=True)
