# SPDX-License-Identifier: GPL-2.0-or-later
"""Events of the hazards, written by a guest's agent or the session of the host lane."""

from delayrig.model.kinds.agent import OfAgent, OfBoth
from delayrig.model.kinds.kind import Count, Ns


class Loops(OfBoth, frozen=True, kw_only=True):
    count: Count
    """The number of loops."""
    turns_min: Count
    """The turns of the slowest loop."""


class _Reclaim(OfAgent, frozen=True, kw_only=True):
    reclaimed_pages: Count
    """The pages that the kernel had reclaimed."""


class _Times(OfBoth, frozen=True, kw_only=True):
    count: Count
    """The number of times."""


class SiblingsRunning(OfBoth, frozen=True, kw_only=True, tag="siblings_running"):
    """`busy-siblings`: the loops on the other cores run from now on."""

    count: Count
    """The number of loops."""
    turns_min: Count | None = None
    """The turns of the slowest loop; an agent omits it if there is no schedule."""


class SiblingsStopped(OfBoth, frozen=True, kw_only=True, tag="siblings_stopped"):
    """`busy-siblings`: the loops pause or end.

    With a schedule an agent writes `count` and `turns_min`, else `stdout_bytes`.
    """

    count: Count | None = None
    """The number of loops."""
    turns_min: Count | None = None
    """The turns of the slowest loop."""
    stdout_bytes: Count | None = None
    """The bytes that the subject had printed by then."""


class HogsRunning(Loops, frozen=True, tag="hogs_running"):
    """`hogs`: the loops on the subject's core run from now on."""


class HogsStopped(Loops, frozen=True, tag="hogs_stopped"):
    """`hogs`: the loops end now."""


class CrowdRunning(Loops, frozen=True, tag="crowd_running"):
    """`hogs-each`: the loops on all cores run from now on."""

    writers = OfAgent.writers


class CrowdStopped(Loops, frozen=True, tag="crowd_stopped"):
    """`hogs-each`: the loops end now."""

    writers = OfAgent.writers


class MemoryPressureBegin(_Reclaim, frozen=True, tag="memory_pressure"):
    """`memory-pressure`: a process touches new memory from now on."""


class MemoryPressureEnd(_Reclaim, frozen=True, tag="memory_pressure_end"):
    """`memory-pressure`: that process ends now."""


class RtThrottleSet(OfAgent, frozen=True, kw_only=True, tag="rt_throttle"):
    """`rt-throttle`: the CPU time of real-time tasks is limited from now on."""

    runtime_us: Count
    """The limit for each second, in microseconds."""


class SubjectRights(OfBoth, frozen=True, kw_only=True, tag="subject_rights"):
    """`no-rt`: the subject's rights to real-time priority, read after `accept`."""

    cap_sys_nice: Count
    """1 if it has CAP_SYS_NICE, else 0."""
    rtprio_max: Count
    """Its limit of real-time priority."""


class WallClockStepped(OfAgent, frozen=True, tag="wall_clock_step"):
    """`wall-clock-step`: the wall clock was set."""


class LeapAnnounced(OfAgent, frozen=True, kw_only=True, tag="leap_announced"):
    """`leap-second`: a leap second was announced to the kernel."""

    due_ns: Ns
    """The time at which it is due."""


class LeapState(OfAgent, frozen=True, kw_only=True, tag="leap_state"):
    """`leap-second`: the kernel's state when the subject has ended."""

    state: Count
    """The state of adjtimex(2): 3 while the second lasts, 4 after it."""


class Stops(_Times, frozen=True, tag="stops"):
    """`stop-cont`: how often the subject was stopped."""


class Moved(OfAgent, frozen=True, kw_only=True, tag="moved"):
    """`move`: the subject was put on another core."""

    core: Count
    """The new core."""


class Migrations(_Times, frozen=True, tag="migrations"):
    """`migrate`: how often the subject was put on another core."""


class Hotplugs(_Times, frozen=True, tag="hotplugs"):
    """`hotplug`: how often a core was taken away or given back."""

    writers = OfAgent.writers


_OfLoops = SiblingsRunning | SiblingsStopped | HogsRunning | HogsStopped
_OfLoad = CrowdRunning | CrowdStopped | MemoryPressureBegin | MemoryPressureEnd
_OfRights = RtThrottleSet | SubjectRights
_OfWallClock = WallClockStepped | LeapAnnounced | LeapState
_OfCores = Stops | Moved | Migrations | Hotplugs
OfHazard = _OfLoops | _OfLoad | _OfRights | _OfWallClock | _OfCores
