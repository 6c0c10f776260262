# SPDX-License-Identifier: GPL-2.0-or-later
"""Witness 3, the bus: finds the waits of a profile in the events, each as an interval.

A wait is seen as a gap between two requests. The gap begins with the reply to the first request,
whose time is taken before it is written. After a NOP the subject waits for no reply. So the gap
then begins with the arrival of the NOP: after `empty_ns` and by `arrived_ns`, or by `read_ns` if
the kernel recorded no arrival. The gap ends with the arrival of the next request: after its
`empty_ns`, and in virtual time at most the emulator's largest wake-up latency before its `read_ns`.
In real time the machine has other work, so a measured latency does not bound later ones.

A bridge between subject and emulator (socat, for a tty) may delay bytes for any time, and so may
QEMU's main loop, for the network of a guest in real time. Behind either, a request may have been
sent at any time since the subject's start, so a gap has no lower bound. Then a wait after a reply
can still be convicted, but no wait is judged good.

A subject may leave its waits to a programmer that offers them (O_DELAY). Then the programmer waits
between two requests, so only the wait after the first NOPs is observed.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from delayrig.judge.clock_error import ClockError, clock_error
from delayrig.model.cell import Cell, Role
from delayrig.model.events import Event, Request, first, of_kind, requests
from delayrig.model.evidence import ObservedWait
from delayrig.model.kinds.agent import SubjectStart
from delayrig.model.kinds.emulator import Serprog, Spi, Start
from delayrig.model.lane import LaneName
from delayrig.model.programmers import device_of
from delayrig.subjects.profiles.profile import (
    OPENS_BUSY_STATUS,
    OPENS_SYNC_NOPS,
    Profile,
    Wait,
    delay_address_of_digest,
    is_packaged_release,
    version_of_digest,
)
from delayrig.subjects.subject import Subject

STATUS_READ = "0x05"
STATUS_BUSY = 0x01
DELAY = "O_DELAY"
MONOTONIC = "monotonic"
"""The name of the emulator's clock if it is the clock of this machine."""
WATCHED_LANES = (LaneName.VIRTUAL, LaneName.LIVE)
"""The lanes in which QEMU sees the delays."""


class Bus(Enum):
    """The effect of the waits seen on the bus on the verdict."""

    CONVICTS = "convicts"
    """A short wait convicts. The subject is a release, or a canary or control in real time."""
    ACQUITS = "acquits"
    """A good wait counts, a short one does not. No other witness can judge the subject."""
    DESCRIBES = "describes"
    """The bus decides nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenBus:
    decides: Bus
    profile: Profile | None = None
    """The profile by which the bus decides; None if there is none, or if it decides nothing."""
    waits: list[ObservedWait] = field(default_factory=list)

    @property
    def convicting(self) -> list[ObservedWait]:
        return self.waits if self.decides is Bus.CONVICTS else []


@dataclass(frozen=True, slots=True, kw_only=True)
class _View:
    wake_ns: int | None
    """The largest time from the arrival of a request until the emulator reads it; None: unknown."""
    sent_since_ns: int | None
    """The earliest time at which a request may have been sent; None: bytes are not forwarded."""
    clock: ClockError


def wake_bound_ns(start: Start | None) -> int | None:
    """Returns the largest time from a request's arrival until it was read; None: unknown."""
    if start is None or start.clock == MONOTONIC:
        return None
    return start.wake_latency_ns_max


def leaves_waits(events: list[Event]) -> bool:
    return any(request.name == DELAY for request in of_kind(events, Serprog))


def is_known_release(subject: Subject) -> bool:
    """Returns True for the unmodified program of a release, known by its digest."""
    sha256 = subject.program_sha256
    return bool(
        is_packaged_release(subject.package_version)
        or version_of_digest(sha256)
        or delay_address_of_digest(sha256) is not None
    )


def bus_of(cell: Cell, subject: Subject) -> Bus:
    """Returns what the bus may decide. Profiles describe the requests of serprog clients only."""
    if device_of(cell):
        return Bus.DESCRIBES
    if is_known_release(subject):
        return Bus.CONVICTS
    if cell.lane is not LaneName.VIRTUAL and cell.role is not Role.MEASURE:
        return Bus.CONVICTS
    return Bus.DESCRIBES if cell.lane in WATCHED_LANES else Bus.ACQUITS


def see_bus(cell: Cell, events: list[Event], subject: Subject, profile: Profile | None) -> SeenBus:
    decides = bus_of(cell, subject)
    if profile is None or decides is Bus.DESCRIBES:
        return SeenBus(decides=decides)
    waits = observe_waits(events, profile, cell.chip, is_forwarded=cell.is_forwarded)
    return SeenBus(decides=decides, profile=profile, waits=waits)


def observe_waits(
    events: list[Event], profile: Profile, chip: str, *, is_forwarded: bool
) -> list[ObservedWait]:
    started = first(events, SubjectStart)
    since_ns = started.t_ns if started else 0
    view = _View(
        wake_ns=None if is_forwarded else wake_bound_ns(first(events, Start)),
        sent_since_ns=since_ns if is_forwarded else None,
        clock=clock_error(events),
    )
    waits: list[ObservedWait] = []
    for wait in profile.wait:
        requested_ns = wait.requested_ns(chip)
        if requested_ns is not None:
            gaps = _gaps(events, wait)
            waits += [_measure(wait, requested_ns, *gap, view) for gap in gaps]
    return waits


def _gaps(events: list[Event], wait: Wait) -> Iterator[tuple[Request, Request]]:
    if wait.opens == OPENS_SYNC_NOPS:
        yield from _sync_gap(events)
    elif wait.opens == OPENS_BUSY_STATUS and not leaves_waits(events):
        yield from _status_gaps(events, wait.after)


def _sync_gap(events: list[Event]) -> Iterator[tuple[Request, Request]]:
    """Yields the gap from the last of the first NOPs to the SYNCNOP after it."""
    last_nop: Request | None = None
    for request in requests(events):
        if request.name == "NOP":
            last_nop = request
        else:
            if request.name == "SYNCNOP" and last_nop is not None:
                yield last_nop, request
            return


def _status_gaps(events: list[Event], after: list[str]) -> Iterator[tuple[Request, Request]]:
    """Yields the gaps between a status read that returned busy and the next status read.

    Only status reads after the opcodes in `after` count, and only on an SPI bus, because the
    opcodes of other buses mean other things.
    """
    operation = ""
    busy: Spi | None = None
    for request in requests(events):
        if not isinstance(request, Spi) or request.op != STATUS_READ:
            operation = request.op if isinstance(request, Spi) else ""
            busy = None
            continue
        if busy is not None and operation in after:
            yield busy, request
        busy = request if int(request.sr, 16) & STATUS_BUSY else None


def _measure(
    wait: Wait, requested_ns: int, opening: Request, closing: Request, view: _View
) -> ObservedWait:
    if wait.opens == OPENS_SYNC_NOPS:
        earliest_ns = opening.empty_ns if view.sent_since_ns is None else view.sent_since_ns
        latest_ns = opening.read_ns if opening.arrived_ns is None else opening.arrived_ns
    else:
        earliest_ns = latest_ns = opening.reply_ns
    closed_ns = closing.empty_ns
    if view.wake_ns is not None:
        closed_ns = max(closed_ns, closing.read_ns - view.wake_ns)
    elif view.sent_since_ns is not None:
        closed_ns = latest_ns
    return ObservedWait(
        kind=wait.kind,
        what=wait.what,
        requested_ns=requested_ns,
        shortest_ns=max(closed_ns - latest_ns, 0),
        longest_ns=closing.read_ns - earliest_ns,
        opened_ns=earliest_ns,
        clock_error_ns=view.clock.of_wait_ns(requested_ns),
    )
