# SPDX-License-Identifier: GPL-2.0-or-later
"""Which kinds each stream holds, and the one edge at which a line becomes an event.

Behind it every event is of a known kind, with all of its keys and no other, each of its type, and
no time is negative. A line that is not makes the guest a lost one.
"""

from collections.abc import Iterator
from typing import TypeVar

import msgspec

from delayrig.base.errors import LostGuestError
from delayrig.model.kinds.agent import (
    AgentError,
    ClockRate,
    EmulatorEnd,
    EmulatorRights,
    Guest,
    KernelMessage,
    LeftOver,
    Resumed,
    SubjectEnd,
    SubjectStart,
)
from delayrig.model.kinds.delay_plugin import (
    Abandon,
    Asking,
    Enter,
    Leave,
    Lost,
    PluginStart,
    Stack,
)
from delayrig.model.kinds.emulator import (
    Accept,
    Barrier,
    Busy,
    Cycle,
    Disconnect,
    End,
    FaultMade,
    GaveUp,
    PowerLost,
    Refused,
    Serprog,
    Spi,
    Start,
    StateBegins,
)
from delayrig.model.kinds.hazard import (
    CrowdRunning,
    CrowdStopped,
    HogsRunning,
    HogsStopped,
    Hotplugs,
    LeapAnnounced,
    LeapState,
    MemoryPressureBegin,
    MemoryPressureEnd,
    Migrations,
    Moved,
    RtThrottleSet,
    SiblingsRunning,
    SiblingsStopped,
    Stops,
    SubjectRights,
    WallClockStepped,
)
from delayrig.model.kinds.library_client import HostEnd, HostStart
from delayrig.model.kinds.pace import Pace, Speed, TraceEnd, TraceStart, Window

Transaction = Spi | Cycle
"""What reached the part: transfers on an SPI bus, commands and reads on any other."""
Request = Serprog | Transaction
"""What a client asked the emulator for."""
OfEmulator = (
    Start
    | Accept
    | Barrier
    | Request
    | Busy
    | Refused
    | FaultMade
    | PowerLost
    | StateBegins
    | GaveUp
    | Disconnect
    | End
)
OfHazard = (
    SiblingsRunning
    | SiblingsStopped
    | HogsRunning
    | HogsStopped
    | CrowdRunning
    | CrowdStopped
    | MemoryPressureBegin
    | MemoryPressureEnd
    | RtThrottleSet
    | SubjectRights
    | WallClockStepped
    | LeapAnnounced
    | LeapState
    | Stops
    | Moved
    | Migrations
    | Hotplugs
)
OfGuest = (
    Guest
    | ClockRate
    | Resumed
    | SubjectStart
    | SubjectEnd
    | EmulatorEnd
    | EmulatorRights
    | KernelMessage
    | AgentError
    | LeftOver
)
Event = OfGuest | OfHazard | OfEmulator | HostStart | HostEnd | Speed | Pace
"""A line of `events.jsonl`, or of one of the streams that it is made of."""
TraceLine = TraceStart | Speed | Window | TraceEnd
"""A line of `pace.jsonl`."""
PluginLine = PluginStart | Stack | Enter | Asking | Leave | Abandon | Lost
"""A line of the delay plugin's."""

Line = TypeVar("Line")

EVENTS: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)
TRACE: msgspec.json.Decoder[TraceLine] = msgspec.json.Decoder(TraceLine)
PLUGIN: msgspec.json.Decoder[PluginLine] = msgspec.json.Decoder(PluginLine)


def decoded(
    text: bytes, decoder: msgspec.json.Decoder[Line], *, source: str
) -> Iterator[tuple[bytes, Line]]:
    """Each line, and what it says; raises `LostGuestError` that names the line and its fault."""
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            yield line, decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise LostGuestError(f"{source}, line {number}: {error}") from error
