# SPDX-License-Identifier: GPL-2.0-or-later
"""Events about guest and subject, written by the agent or by the session of the host lane.

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
    """The machine of the subject."""

    writers = (Writer.AGENT, Writer.SESSION)

    schema: Literal[1] | None = None
    """The version of the stream."""
    t_ns: Ns
    kernel: str
    """The release, from uname(2)."""
    version: str
    """The version, from uname(2)."""
    machine: str
    """The architecture, from uname(2)."""
    cores: int
    """The number of cores."""
    cmdline: str
    """The kernel's command line."""
    clocksource: str
    """The clock source."""
    load: float | None = None
    """The load of the last minute; only of a session."""


class ClockRate(Timed, frozen=True, kw_only=True, tag="clock_rate"):
    """The progress of CLOCK_MONOTONIC, and of the raw counter in the same time.

    In a live guest this machine's clock replaces the raw counter.
    """

    writers = (Writer.AGENT, Writer.SESSION, Writer.LIVE_LANE)

    raw_ns_min: Ns
    """The least progress of the raw counter."""
    raw_ns_max: Ns
    """The greatest progress of the raw counter."""
    monotonic_ns: Ns
    """The progress of CLOCK_MONOTONIC."""
    monotonic_at_ns: Ns
    """The value of CLOCK_MONOTONIC at `t_ns`."""
    timer_interrupts: Count | None = None
    """The timer interrupts of the first core in that time; only of an agent."""
    reading_ns_max: Ns | None = None
    """The uncertainty of both readings; only on the live lane."""


class Resumed(OfAgent, frozen=True, kw_only=True, tag="resumed"):
    """The guest resumed from its snapshot."""

    skipped_ns: Ns
    """The progress of the clock in the meantime."""


class SubjectStart(OfBoth, frozen=True, kw_only=True, tag="subject_start"):
    """The subject is started now."""

    cpus: str | None = None
    """The CPUs of this machine that it may use; only of a session."""


class SubjectEnd(OfBoth, frozen=True, kw_only=True, tag="subject_end"):
    """The subject ended."""

    exit_code: int
    """The exit code; -1 if a signal ended it."""
    signal: int
    """The signal that ended it, else 0."""
    timed_out: bool
    """True if the rig ended it at its deadline."""
    user_ns: Ns
    """The CPU time in the subject."""
    sys_ns: Ns
    """The CPU time in the kernel for it."""
    voluntary_switches: Count
    """The number of times it gave up the CPU."""
    involuntary_switches: Count
    """The number of times the CPU was taken from it."""

    @property
    def is_success(self) -> bool:
        """Returns True if the subject reported success."""
        return not (self.timed_out or self.signal or self.exit_code)


class EmulatorEnd(Timed, frozen=True, kw_only=True, tag="emulator_end"):
    """The emulator's process ended."""

    writers = (Writer.AGENT, Writer.SESSION, Writer.LIVE_LANE)

    exit_code: Count
    """The exit code; 255 if a signal ended it."""
    signal: int | None = None
    """The signal that ended it, else 0; an agent omits it."""


class EmulatorRights(Timed, frozen=True, kw_only=True, tag="emulator_rights"):
    """The emulator's real-time priority and locked memory, on the live and host lanes."""

    writers = (Writer.SESSION, Writer.LIVE_LANE)

    realtime: bool
    """True if it has both."""
    reason: str
    """The reason if it does not have them."""


class KernelMessage(OfAgent, frozen=True, kw_only=True, tag="kernel_message"):
    """The guest's kernel complained, or named an instruction that its CPU lacks."""

    level: int
    """The severity: 0 (emergency) to 4 (warning); 6 for an instruction."""
    text: str
    """The message."""


class AgentError(OfBoth, frozen=True, kw_only=True, tag="agent_error"):
    """A part of the rig failed."""

    message: str
    """The part that failed."""
    detail: str
    """The reason."""


class LeftOver(Timed, frozen=True, kw_only=True, tag="left_over"):
    """Processes that were left at the end of the cell were ended."""

    writers = (Writer.SESSION,)

    count: Count
    """The number of processes."""


_OfMachine = Guest | ClockRate | Resumed
_OfProcesses = SubjectStart | SubjectEnd | EmulatorEnd | EmulatorRights
_OfTrouble = KernelMessage | AgentError | LeftOver
OfGuest = _OfMachine | _OfProcesses | _OfTrouble
