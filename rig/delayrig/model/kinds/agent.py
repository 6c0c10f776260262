# SPDX-License-Identifier: GPL-2.0-or-later
"""What a guest's agent writes of the guest and of its subject; in the host lane, the session.

The moment of each is its `t_ns`: the raw counter in virtual time, CLOCK_MONOTONIC of this machine
in real time.
"""

from typing import ClassVar, Literal

from delayrig.model.kinds.kind import Count, Kind, Ns, Timed, Writer


class OfBoth(Timed, frozen=True, kw_only=True):
    writers: ClassVar[tuple[Writer, ...]] = (Writer.AGENT, Writer.SESSION)


class OfAgent(Timed, frozen=True, kw_only=True):
    writers = (Writer.AGENT,)


class Guest(Kind, frozen=True, kw_only=True, tag="guest"):
    """The machine that the subject runs on."""

    writers = (Writer.AGENT, Writer.SESSION)

    schema: Literal[1] | None = None
    """The version of the stream; a session leaves it out."""
    t_ns: Ns
    kernel: str
    """Its release, as of uname(2)."""
    version: str
    """Its version, as of uname(2)."""
    machine: str
    """The architecture, as of uname(2)."""
    cores: int
    """How many there are."""
    cmdline: str
    """What the kernel was told."""
    clocksource: str
    """The clock by which the kernel keeps time; empty where it does not say."""
    load: float | None = None
    """Of the last minute, as of getloadavg(3); of a session alone."""


class ClockRate(Timed, frozen=True, kw_only=True, tag="clock_rate"):
    """How far CLOCK_MONOTONIC went, and how far the raw counter did meanwhile.

    In a live guest this machine's clock stands for the raw counter.
    """

    writers = (Writer.AGENT, Writer.SESSION, Writer.LIVE_LANE)

    raw_ns_min: Ns
    """The raw counter went this far at least."""
    raw_ns_max: Ns
    """And at most."""
    monotonic_ns: Ns
    """CLOCK_MONOTONIC went this far."""
    monotonic_at_ns: Ns
    """What it showed at `t_ns`."""
    timer_interrupts: Count | None = None
    """How often the timer interrupted all cores meanwhile; of an agent alone."""
    reading_ns_max: Ns | None = None
    """How well the moments of both readings are known; of the live lane alone."""


class Resumed(OfAgent, frozen=True, kw_only=True, tag="resumed"):
    """The guest goes on from its snapshot."""

    skipped_ns: Ns
    """How far the clock went on meanwhile."""


class SubjectStart(OfBoth, frozen=True, kw_only=True, tag="subject_start"):
    """The subject is started now."""

    cpus: str | None = None
    """The CPUs of this machine that it may use; of a session alone."""


class SubjectEnd(OfBoth, frozen=True, kw_only=True, tag="subject_end"):
    """The subject ended."""

    exit_code: int
    """-1 where a signal ended it."""
    signal: int
    """The signal that ended it, else 0."""
    timed_out: bool
    """Whether it was ended because its time was up."""
    user_ns: Ns
    """CPU time in the subject."""
    sys_ns: Ns
    """CPU time in the kernel for it."""
    voluntary_switches: Count
    """How often it gave up the CPU."""
    involuntary_switches: Count
    """How often the CPU was taken from it."""


class EmulatorEnd(Timed, frozen=True, kw_only=True, tag="emulator_end"):
    """The emulator's process ended."""

    writers = (Writer.AGENT, Writer.SESSION, Writer.LIVE_LANE)

    exit_code: Count
    """255 where a signal ended it."""
    signal: int | None = None
    """The signal that ended it, else 0; an agent leaves it out."""


class EmulatorRights(Timed, frozen=True, kw_only=True, tag="emulator_rights"):
    """Whether the emulator has real-time priority and locked memory; in a guest it always has."""

    writers = (Writer.SESSION, Writer.LIVE_LANE)

    realtime: bool
    """Whether it has both."""
    reason: str
    """What it said where it has not; else empty."""


class KernelMessage(OfAgent, frozen=True, kw_only=True, tag="kernel_message"):
    """The guest's kernel complained."""

    level: int
    """0 (emergency) to 4 (warning)."""
    text: str
    """What it said."""


class AgentError(OfBoth, frozen=True, kw_only=True, tag="agent_error"):
    """Something of the rig failed: the cell says nothing of its subject."""

    message: str
    """What failed."""
    detail: str
    """Why."""


class LeftOver(Timed, frozen=True, kw_only=True, tag="left_over"):
    """Processes were left when the cell was over, and were ended."""

    writers = (Writer.SESSION,)

    count: Count
    """How many."""


_OfMachine = Guest | ClockRate | Resumed
_OfProcesses = SubjectStart | SubjectEnd | EmulatorEnd | EmulatorRights
_OfTrouble = KernelMessage | AgentError | LeftOver
OfGuest = _OfMachine | _OfProcesses | _OfTrouble
