# SPDX-License-Identifier: GPL-2.0-or-later
"""What a guest's agent, or the session of the host lane, writes of the hazards that it makes."""

from typing import ClassVar

from delayrig.model.kinds.kind import Count, Kind, Ns, Writer


class _OfBoth(Kind, frozen=True):
    """Of a hazard that needs no guest."""

    writers: ClassVar[tuple[Writer, ...]] = (Writer.AGENT, Writer.SESSION)


class _OfAgent(Kind, frozen=True):
    """Of a hazard that takes place in guests alone."""

    writers: ClassVar[tuple[Writer, ...]] = (Writer.AGENT,)


class SiblingsRunning(_OfBoth, frozen=True, kw_only=True, tag="siblings_running"):
    """`busy-siblings`: the loops on the other cores run from now on."""

    t_ns: Ns
    count: Count
    """How many loops."""
    turns_min: Count | None = None
    """How many turns the slowest has done; an agent leaves it out where there is no schedule."""


class SiblingsStopped(_OfBoth, frozen=True, kw_only=True, tag="siblings_stopped"):
    """`busy-siblings`: they stand still, or are gone.

    An agent writes either `stdout_bytes`, at the acceptance, or the other two, by a schedule.
    """

    t_ns: Ns
    count: Count | None = None
    """How many loops."""
    turns_min: Count | None = None
    """How many turns the slowest has done."""
    stdout_bytes: Count | None = None
    """How much the subject had printed by then; missing where a schedule stopped them."""


class HogsRunning(_OfBoth, frozen=True, kw_only=True, tag="hogs_running"):
    """`hogs`: the loops on the subject's core run from now on."""

    t_ns: Ns
    count: Count
    """How many loops."""
    turns_min: Count
    """How many turns the slowest has done."""


class HogsStopped(_OfBoth, frozen=True, kw_only=True, tag="hogs_stopped"):
    """`hogs`: they are gone."""

    t_ns: Ns
    count: Count
    """As in `hogs_running`."""
    turns_min: Count
    """As in `hogs_running`."""


class CrowdRunning(_OfAgent, frozen=True, kw_only=True, tag="crowd_running"):
    """`hogs-each`: the loops on all cores run from now on."""

    t_ns: Ns
    count: Count
    """As in `hogs_running`."""
    turns_min: Count
    """As in `hogs_running`."""


class CrowdStopped(_OfAgent, frozen=True, kw_only=True, tag="crowd_stopped"):
    """`hogs-each`: they are gone."""

    t_ns: Ns
    count: Count
    """As in `hogs_running`."""
    turns_min: Count
    """As in `hogs_running`."""


class MemoryPressureBegin(_OfAgent, frozen=True, kw_only=True, tag="memory_pressure"):
    """`memory-pressure`: somebody touches new memory from now on."""

    t_ns: Ns
    reclaimed_pages: Count
    """What the kernel had reclaimed by then."""


class MemoryPressureEnd(_OfAgent, frozen=True, kw_only=True, tag="memory_pressure_end"):
    """`memory-pressure`: it is over."""

    t_ns: Ns
    reclaimed_pages: Count
    """What the kernel had reclaimed by then."""


class RtThrottleSet(_OfAgent, frozen=True, kw_only=True, tag="rt_throttle"):
    """`rt-throttle`: real-time tasks get no more than this from now on."""

    t_ns: Ns
    runtime_us: Count
    """Of each second, in microseconds."""


class SubjectRights(_OfBoth, frozen=True, kw_only=True, tag="subject_rights"):
    """`no-rt`: what the subject could have taken, once it was accepted."""

    t_ns: Ns
    cap_sys_nice: Count
    """1 where it has CAP_SYS_NICE, else 0."""
    rtprio_max: Count
    """Its limit of real-time priority."""


class WallClockStepped(_OfAgent, frozen=True, kw_only=True, tag="wall_clock_step"):
    """`wall-clock-step`: the wall clock was set."""

    t_ns: Ns


class LeapAnnounced(_OfAgent, frozen=True, kw_only=True, tag="leap_announced"):
    """`leap-second`: a leap second was announced to the kernel."""

    t_ns: Ns
    due_ns: Ns
    """When it is due."""


class LeapState(_OfAgent, frozen=True, kw_only=True, tag="leap_state"):
    """`leap-second`: what the kernel says of it when the subject has ended."""

    t_ns: Ns
    state: Count
    """As of adjtimex(2): 3 while the second lasts, 4 after it."""


class Stops(_OfBoth, frozen=True, kw_only=True, tag="stops"):
    """`stop-cont`: how often the subject was stopped."""

    t_ns: Ns
    count: Count
    """How many times."""


class Moved(_OfAgent, frozen=True, kw_only=True, tag="moved"):
    """`move`: the subject was put on another core."""

    t_ns: Ns
    core: Count
    """Which one."""


class Migrations(_OfBoth, frozen=True, kw_only=True, tag="migrations"):
    """`migrate`: how often the subject was put on another core."""

    t_ns: Ns
    count: Count
    """How many times."""


class Hotplugs(_OfAgent, frozen=True, kw_only=True, tag="hotplugs"):
    """`hotplug`: how often a core was taken away or given back."""

    t_ns: Ns
    count: Count
    """How many times."""
