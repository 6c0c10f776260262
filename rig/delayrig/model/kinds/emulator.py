# SPDX-License-Identifier: GPL-2.0-or-later
"""Events of the emulator: requests, commands to the part, and its work."""

from typing import Literal

from delayrig.model.kinds.kind import Count, Kind, Ns, Octet, Timed, Word, Writer


class _OfEmulator(Kind, frozen=True):
    writers = (Writer.EMULATOR,)


class _Timed(Timed, frozen=True, kw_only=True):
    writers = (Writer.EMULATOR,)


class Start(_OfEmulator, frozen=True, kw_only=True, tag="start"):
    """The first line: the part, and the quality of the emulator's clock."""

    schema: Literal[1]
    """The version of the stream."""
    t_ns: Ns
    chip: str
    """The part's name."""
    corner: str
    """The figures in force: `min`, `typ`, `max`, or another corner."""
    clock: str
    """`monotonic`, `scripted`, a raw counter (`tsc`), or `virtual` if the part is in QEMU."""
    clock_step_ns: Ns
    """The step of the clock."""
    clock_rate_error_ppm: Count
    """The greatest error of its rate."""
    seed: Word
    """The seed of draws."""
    native_delay: bool
    """True if it executes O_DELAY."""
    wake_latency_ns_min: Ns | None
    """The shortest measured time from a sender's write to the read here.

    Null if a link or a fault delays something.
    """
    wake_latency_ns_max: Ns | None
    """The longest such time."""
    size_bytes: Count
    """The size of the part."""
    link: str | None
    """The words of `--link`."""
    faults: str | None
    """The words of `--fault`."""


class Accept(Timed, frozen=True, tag="accept"):
    """A client was accepted, or the subject opened the device that leads to the part."""

    writers = (Writer.EMULATOR, Writer.AGENT)


class Barrier(_Timed, frozen=True, kw_only=True, tag="barrier"):
    """The client was held until the rig had applied the hazards due at `accept`."""

    released_ns: Ns
    """The time of its release."""


class Serprog(_OfEmulator, frozen=True, kw_only=True, tag="serprog"):
    """A request that was refused, or is neither a transfer nor a read."""

    op: Octet
    """The request's opcode."""
    name: str
    """The request's name, such as `SYNCNOP`."""
    empty_ns: Ns
    """The last moment at which it had not arrived."""
    read_ns: Ns
    """The time at which it was read."""
    arrived_ns: Ns | None = None
    """The time at which it had arrived, by the kernel."""
    reply_ns: Ns
    """The time at which the reply was written."""
    gap_ns: int | None
    """The time from the previous `reply_ns` to `read_ns`.

    It is negative for a request sent before that reply.
    """
    ack: bool
    """False if it was refused (NAK). A SYNCNOP answered as it should is true."""


class Spi(_OfEmulator, frozen=True, kw_only=True, tag="spi"):
    """A transfer on an SPI bus."""

    op: Octet
    """The first byte, the command."""
    name: str
    """The command's name; `UNKNOWN` if the part has none."""
    addr: Count | None
    """The address as the part decodes it, or a page's first byte."""
    wlen: Count
    """The bytes written."""
    rlen: Count
    """The bytes read."""
    empty_ns: Ns
    """The moment, as in `serprog`."""
    read_ns: Ns
    """The time, as in `serprog`."""
    arrived_ns: Ns | None = None
    """The time, as in `serprog`."""
    reply_ns: Ns
    """The time at which the reply was written."""
    gap_ns: int | None
    """The gap, as in `serprog`."""
    wire_ns: Ns
    """The time on the wire; 0 without `--spi-wire-time` or a frequency."""
    sr: Octet
    """The status register after it: what 05h reads, or D7h of a DataFlash."""
    busy_left_ns: Ns
    """The remaining busy time when the transfer began."""
    busy_until_ns: Ns
    """The end of the last busy time, 0 before the first."""
    violation: str | None
    """The broken rule, such as `busy`."""
    margin_ns: int | None
    """The time between the command and its limit; negative if it came too early or too late."""
    grade: str | None
    """The certainty of the figure behind `margin_ns`."""


class Cycle(_OfEmulator, frozen=True, kw_only=True, tag="cycle"):
    """A whole command of a part that is not on SPI, with its unlock cycles, or a read.

    A cycle that breaks a rule has its own line. Commands come before the `serprog` line of their
    O_EXEC, with its times. In QEMU `read_ns` is the moment of the first instruction, `reply_ns`
    that of the last. Reads of adjacent bytes are one line, and so are polls of a busy part.
    """

    op: Octet | None
    """The command byte."""
    name: str
    """The command's name."""
    addr: Count
    """The address of the command."""
    wlen: Count
    """The bytes written; one O_WRITEN counts as one command."""
    rlen: Count
    """The bytes read; 0 for a command."""
    empty_ns: Ns
    """The moment, as in `serprog`."""
    read_ns: Ns
    """The time, as in `serprog`."""
    arrived_ns: Ns | None = None
    """The time, as in `serprog`."""
    reply_ns: Ns
    """The time at which the reply was written."""
    gap_ns: int | None
    """The gap, as in `serprog`."""
    start_ns: Ns
    """The time at which the first cycle began: after `read_ns` and the delays of its O_EXEC."""
    wire_ns: Ns
    """The time on the wire."""
    value: Octet | None
    """The last value read."""
    busy_left_ns: Ns
    """The remaining busy time, as in `spi`."""
    busy_until_ns: Ns
    """The end, as in `spi`."""
    violation: str | None
    """The broken rule, as in `spi`."""
    margin_ns: int | None
    """The margin, as in `spi`."""
    grade: str | None
    """The certainty, as in `spi`."""


class Busy(_OfEmulator, frozen=True, kw_only=True, tag="busy"):
    """The work that the `spi` or `cycle` before it started."""

    kind: str
    """`erase`, `program`, `write_status`, `page_read` (into a buffer) or `suspend`."""
    op: Octet
    """The command that started it."""
    addr: Count | None
    """The address, as in `spi`."""
    start_ns: Ns
    """The start."""
    until_ns: Ns
    """The time at which the part will be ready."""
    nominal_ns: Ns
    """The duration at this corner."""
    grade: str
    """The certainty of that figure."""


class Refused(_Timed, frozen=True, tag="refused"):
    """A second client was turned away."""


class FaultMade(_Timed, frozen=True, kw_only=True, tag="fault"):
    """A requested fault was made."""

    kind: str
    """The word of `--fault`, such as `drop`."""
    at: str
    """The counted thing: `reply-byte`, `request-byte`, `request` or `busy`."""
    nth: Count
    """The number of that thing."""
    held_ns: Ns | None
    """The time that it held something up; null for ever, 0 if it held nothing."""


class PowerLost(_Timed, frozen=True, tag="power_cut"):
    """Power was lost. The line stands before the first command after that."""


class StateBegins(_Timed, frozen=True, kw_only=True, tag="starts"):
    """The part enters the state of `--starts`. A `busy` follows if it is at work."""

    state: str
    """The word of `--starts`."""


class GaveUp(_Timed, frozen=True, kw_only=True, tag="gave_up"):
    """The emulator hung up on a client that asked for too much."""

    bound: str
    """The exceeded limit."""
    count: Count
    """The value of the limit."""


class Disconnect(_Timed, frozen=True, tag="disconnect"):
    """The client is gone."""


class End(_Timed, frozen=True, kw_only=True, tag="end"):
    """The last line."""

    spi_transactions: Count
    """The number of `spi` lines."""
    cycle_transactions: Count
    """The number of `cycle` lines."""
    serprog_requests: Count
    """The number of `serprog` lines."""
    violations: Count
    """The number of broken rules."""
    faults: Count
    """The number of `fault` lines."""
    clean: bool
    """True if its clock never ran backwards and no line was lost."""


_OfClient = Start | Accept | Barrier | Serprog | Spi | Cycle
_OfPart = Busy | Refused | FaultMade | PowerLost | StateBegins
OfEmulator = _OfClient | _OfPart | GaveUp | Disconnect | End
