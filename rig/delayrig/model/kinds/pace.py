# SPDX-License-Identifier: GPL-2.0-or-later
"""How fast the cores of a live guest were: the trace of the CPU plugin, and what is made of it.

Speeds are kips, thousands of instructions a second; 0 is as fast as the host can.
"""

from typing import Annotated, Literal

import msgspec

from delayrig.model.kinds.kind import Count, Kind, Ns, Timed, Writer


class _OfPlugin(Timed, frozen=True, kw_only=True):
    writers = (Writer.CPU_PLUGIN,)


class Vcpu(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How one vCPU's speed is decided on."""

    governor: str
    """Its name."""
    fixed_kips: Count
    """Its speed where no governor decides."""
    min_kips: Count
    """The least that a governor may choose."""
    max_kips: Count
    """The most."""


class TraceStart(Kind, frozen=True, kw_only=True, tag="start"):
    """The first line: what the plugin was told."""

    writers = (Writer.CPU_PLUGIN,)

    schema: Literal[1]
    """The version of the trace."""
    t_ns: Ns
    target: str
    """QEMU's target, such as `x86_64`."""
    api: Count
    """The version of QEMU's plugin interface."""
    quantum_us: Count
    """How long a vCPU runs between two looks at its speed."""
    catch_up_us: Count
    """How far behind a vCPU may be and still catch up; what lies further back is lost."""
    spin_us: Count
    """The last part of a wait, in which the clock is polled."""
    window_ms: Count
    """How long a window is."""
    sampling_us: Count
    """How often a governor looks."""
    latency_us: Count
    """From a decision until the speed begins to change."""
    ramp_us: Count
    """From then until it has changed, at a steady rate."""
    vcpus: list[Vcpu]
    """One for each: `governor`, `fixed_kips`, `min_kips`, `max_kips`."""


class Speed(_OfPlugin, frozen=True, kw_only=True, tag="speed"):
    """A vCPU's speed changed. Those of no governor are in `events.jsonl` as well."""

    vcpu: Count
    """Which one."""
    why: str
    """`governor`, `script` or `control`; a line comes with the window after it."""
    from_kips: Count
    """Its speed before."""
    to_kips: Count
    """Its speed after."""
    begin_ns: Ns
    """When the change began."""
    end_ns: Ns
    """When it was done."""


class Window(_OfPlugin, frozen=True, kw_only=True, tag="window"):
    """What one vCPU did from where it settled to where it settled again, at `t_ns`."""

    from_ns: Ns
    """Where the window begins."""
    vcpu: Count
    """Which one."""
    instructions: Count
    """That it ran."""
    active_ns: Ns
    """While it was not idle."""
    idle_ns: Ns
    """While it was."""
    given_kips: Count | None
    """Its speed by the time that it was active; null for no time."""
    asked_kips: Count | None
    """Its speed by the time that these instructions should have taken; null for no time."""
    target_kips: Count
    """Where the speed goes at the end of the window."""
    short_ns: int
    """Active time less what its instructions should have taken: above 0 the host was late, below 0
    it caught up."""
    lost_ns: Ns
    """What was given up, since it lay too far back."""
    late_ns_max: Ns
    """How far behind it was at most."""
    kept: bool
    """Whether `short_ns` is at most 2 % of the window, and a quantum."""


class TraceEnd(_OfPlugin, frozen=True, kw_only=True, tag="end"):
    """The last line."""

    windows: Count
    """How many there were."""
    windows_not_kept: Count
    """Those in which some core was not kept to its speed."""
    changes_dropped: Count
    """Changes of speed for which there was no room."""


class Pace(Timed, frozen=True, kw_only=True, tag="pace"):
    """How well the cores were kept to their speed from the subject's start to its end."""

    writers = (Writer.LIVE_LANE,)

    since_ns: Ns
    """Where that time begins; it ends at `t_ns`."""
    window_ms: Annotated[int, msgspec.Meta(gt=0)]
    """How long a window is."""
    windows: Count
    """How many there were."""
    windows_not_kept: Count
    """Those in which a core was more than 20 % off."""
    not_kept: list[tuple[Ns, Ns]]
    """From when to when each of them was."""
    windows_behind: Count
    """Those that the plugin itself does not call `kept`."""
    short_ns_max: Ns
    """The largest `short_ns`, whichever its sign."""
    governor_changes: Count
    """Changes of speed by a governor, which have no line of their own."""
    lost_ns: Ns
    """The sum of the windows."""
