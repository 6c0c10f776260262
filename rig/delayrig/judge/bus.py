# SPDX-License-Identifier: GPL-2.0-or-later
"""Witness 2, the bus: finds the waits of a profile in the events, each as an interval.

A gap is opened by a reply (stamped before it is written) or by requests that need none (known
not to have arrived at `empty_ns`, to be here at `arrived_ns` where the kernel noted that, and else
seen at `read_ns`), and closed by the next request: it came after `empty_ns`. In a guest it also
came not earlier than the emulator's largest wake-up latency before `read_ns`. On a machine that
has other things to do, no latency that was measured before says anything of later ones.

A bridge between subject and emulator (socat, for a tty) may hold bytes back for any time. Behind
one, a request may have been sent at any time since the subject's start, and nothing is known of
when the next one was sent but that it came: such waits can still be convicted after a reply,
and are never judged good.

A subject may leave its waits to a programmer that offers them (O_DELAY). What then passes between
two requests is the programmer's doing, so that only waits from before it was asked are observed.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from delayrig.images.profiles.profile import OPENS_BUSY_STATUS, OPENS_SYNC_NOPS, Profile, Wait
from delayrig.judge.clock_error import ClockError, clock_error
from delayrig.model.events import Event, Request, first, of_kind, requests
from delayrig.model.evidence import ObservedWait
from delayrig.model.kinds.agent import SubjectStart
from delayrig.model.kinds.emulator import Serprog, Spi, Start

STATUS_READ = "0x05"
STATUS_BUSY = 0x01
DELAY = "O_DELAY"
MONOTONIC = "monotonic"
"""The emulator's clock where it is this machine's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _View:
    wake_ns: int | None
    """The emulator reads a request at most this long after it arrived; None: not known."""
    sent_since_ns: int | None
    """Behind a bridge, the first moment at which a request may have been sent."""
    clock: ClockError


def wake_bound_ns(start: Start | None) -> int | None:
    """How late the emulator may have been to read what came; None: nobody knows."""
    if start is None or start.clock == MONOTONIC:
        return None
    return start.wake_latency_ns_max


def leaves_waits(events: list[Event]) -> bool:
    return any(request.name == DELAY for request in of_kind(events, Serprog))


def observe_waits(
    events: list[Event], profile: Profile, chip: str, *, bridged: bool
) -> list[ObservedWait]:
    started = first(events, SubjectStart)
    since_ns = started.t_ns if started else 0
    view = _View(
        wake_ns=None if bridged else wake_bound_ns(first(events, Start)),
        sent_since_ns=since_ns if bridged else None,
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
    """From the last NOP of a run to the SYNCNOP after it, at the start of a connection."""
    last_nop: Request | None = None
    for request in requests(events):
        if request.name == "NOP":
            last_nop = request
        else:
            if request.name == "SYNCNOP" and last_nop is not None:
                yield last_nop, request
            return


def _status_gaps(events: list[Event], after: list[str]) -> Iterator[tuple[Request, Request]]:
    """From a status read answered busy to the next one, within one of those operations.

    Only on an SPI bus: the opcodes of other buses mean other things.
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
