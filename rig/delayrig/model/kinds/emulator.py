# SPDX-License-Identifier: GPL-2.0-or-later
"""What the emulator writes: requests, what reached the part, and what the part did."""

from typing import Literal

from delayrig.model.kinds.kind import Count, Kind, Ns, Octet, Timed, Word, Writer


class _OfEmulator(Kind, frozen=True):
    writers = (Writer.EMULATOR,)


class _Timed(Timed, frozen=True, kw_only=True):
    writers = (Writer.EMULATOR,)


class Start(_OfEmulator, frozen=True, kw_only=True, tag="start"):
    """The first line: the part, and how well its clock keeps time."""

    schema: Literal[1]
    """The version of the stream."""
    t_ns: Ns
    chip: str
    """The part's name."""
    corner: str
    """Which of its figures are in force: `min`, `typ`, `max`, or another corner."""
    clock: str
    """The clock by which it lives: `monotonic`, `scripted`, or the raw counter, such as `tsc`."""
    clock_step_ns: Ns
    """How coarse that clock is."""
    clock_rate_error_ppm: Count
    """How far off its rate may be."""
    seed: Word
    """Of everything that is drawn."""
    native_delay: bool
    """Whether it does O_DELAY itself, in its own time."""
    wake_latency_ns_min: Ns | None
    """From before a sender's write until the bytes were read here, as measured: the least; null
    where it was not measured, or where a link or a fault holds something up."""
    wake_latency_ns_max: Ns | None
    """The same, at most."""
    size_bytes: Count
    """Of the part."""
    link: str | None
    """What `--link` came to; null for none."""
    faults: str | None
    """The words of `--fault`, with blanks between; null for none."""


class Accept(_Timed, frozen=True, tag="accept"):
    """A client was accepted."""


class Barrier(_Timed, frozen=True, kw_only=True, tag="barrier"):
    """The client was held until the rig had done what is due at its acceptance."""

    released_ns: Ns
    """When it was let go."""


class Serprog(_OfEmulator, frozen=True, kw_only=True, tag="serprog"):
    """A request that did not reach the part."""

    op: Octet
    """The request's opcode."""
    name: str
    """The request's name, such as `SYNCNOP`."""
    empty_ns: Ns
    """The last moment at which it was known not to have arrived."""
    read_ns: Ns
    """When it was read: the moment of the event."""
    arrived_ns: Ns | None = None
    """When all of it was here, as the kernel noted; missing where nobody knows before `read_ns`."""
    reply_ns: Ns
    """When its reply was written."""
    gap_ns: int | None
    """`read_ns` less the `reply_ns` before; null for the first request of a connection, negative
    for one sent without waiting for that reply."""
    ack: bool
    """False: it was refused (NAK). A SYNCNOP answered as it should is true."""


class Spi(_OfEmulator, frozen=True, kw_only=True, tag="spi"):
    """A transfer on an SPI bus."""

    op: Octet
    """The first byte, the command."""
    name: str
    """The command's name; `UNKNOWN` where the part has none."""
    addr: Count | None
    """As the part decodes it, of a page its first byte; null for a command without an address."""
    wlen: Count
    """Bytes written."""
    rlen: Count
    """Bytes read."""
    empty_ns: Ns
    """As in `serprog`."""
    read_ns: Ns
    """When its request was read: the moment of the event."""
    arrived_ns: Ns | None = None
    """As in `serprog`."""
    reply_ns: Ns
    """When its reply was written."""
    gap_ns: int | None
    """As in `serprog`."""
    wire_ns: Ns
    """How long it took on the wire; 0 without `--spi-wire-time`, or before a frequency was set."""
    sr: Octet
    """The status register after it: what 05h reads, or D7h of a DataFlash."""
    busy_left_ns: Ns
    """How long the part had still to work when it began."""
    busy_until_ns: Ns
    """The end of the last busy time, 0 before the first."""
    violation: str | None
    """The rule that it broke, such as `busy`; null for none."""
    margin_ns: int | None
    """How long after the part was ready it came, negative where it came too early; null where the
    part was owed no wait."""
    grade: str | None
    """How well the figure behind `margin_ns` is known; null where that is."""


class Cycle(_OfEmulator, frozen=True, kw_only=True, tag="cycle"):
    """A whole command of a part that is not on SPI, its unlock cycles counted, or a read.

    A cycle that breaks a rule has its own line. Commands come before the `serprog` line of the
    O_EXEC that ran them, and share its moments.
    """

    op: Octet | None
    """The command byte, null for a read."""
    name: str
    """The command's name."""
    addr: Count
    """Of the command."""
    wlen: Count
    """Bytes written; those of one O_WRITEN count as one command."""
    rlen: Count
    """Bytes read; above 0 it is a read."""
    empty_ns: Ns
    """As in `serprog`."""
    read_ns: Ns
    """When its request was read: the moment of the event."""
    arrived_ns: Ns | None = None
    """As in `serprog`."""
    reply_ns: Ns
    """When its reply was written."""
    gap_ns: int | None
    """As in `serprog`."""
    start_ns: Ns
    """When its first cycle began: later than `read_ns` after delays of the same O_EXEC."""
    wire_ns: Ns
    """How long it took on the wire."""
    value: Octet | None
    """The last value read, null for a command."""
    busy_left_ns: Ns
    """As in `spi`."""
    busy_until_ns: Ns
    """As in `spi`."""
    violation: str | None
    """As in `spi`."""
    margin_ns: int | None
    """As in `spi`."""
    grade: str | None
    """As in `spi`."""


class Busy(_OfEmulator, frozen=True, kw_only=True, tag="busy"):
    """The part's work on the `spi` or `cycle` before."""

    kind: str
    """`erase`, `program`, `write_status`, `page_read` (into a buffer) or `suspend`."""
    op: Octet
    """The command that it is about."""
    addr: Count | None
    """As in `spi`."""
    start_ns: Ns
    """The moment of the event."""
    until_ns: Ns
    """When the part will be ready."""
    nominal_ns: Ns
    """How long it takes at this corner."""
    grade: str
    """How well that figure is known."""


class Refused(_Timed, frozen=True, tag="refused"):
    """Another client came while it had one, and was turned away."""


class FaultMade(_Timed, frozen=True, kw_only=True, tag="fault"):
    """A fault that was asked for, and done."""

    kind: str
    """Such as `drop`: the word of `--fault`."""
    at: str
    """What was counted: `reply-byte`, `request-byte`, `request` or `busy`."""
    nth: Count
    """Which one of them it was."""
    held_ns: Ns | None
    """How long it was held up, 0 for kinds that hold nothing, null for ever."""


class PowerLost(_Timed, frozen=True, tag="power_cut"):
    """Power went. The line stands before the first command after it, if one came."""


class StateBegins(_Timed, frozen=True, kw_only=True, tag="starts"):
    """From now on the part is in the state of `--starts`; a `busy` follows where it is at work."""

    state: str
    """The word of `--starts`."""


class GaveUp(_Timed, frozen=True, kw_only=True, tag="gave_up"):
    """The emulator hung up on a client that asked for too much."""

    bound: str
    """Of what there was too much."""
    count: Count
    """How much is allowed."""


class Disconnect(_Timed, frozen=True, tag="disconnect"):
    """The client is gone."""


class End(_Timed, frozen=True, kw_only=True, tag="end"):
    """The last line."""

    spi_transactions: Count
    """The `spi` lines."""
    cycle_transactions: Count
    """The `cycle` lines."""
    serprog_requests: Count
    """The `serprog` lines: requests that did not reach the part."""
    violations: Count
    """Rules that were broken."""
    faults: Count
    """The `fault` lines."""
    clean: bool
    """Whether its clock never ran backwards and no line was lost."""


_OfClient = Start | Accept | Barrier | Serprog | Spi | Cycle
_OfPart = Busy | Refused | FaultMade | PowerLost | StateBegins
OfEmulator = _OfClient | _OfPart | GaveUp | Disconnect | End
