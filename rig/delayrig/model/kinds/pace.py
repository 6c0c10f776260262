# SPDX-License-Identifier: GPL-2.0-or-later
"""The speed of the cores of a live guest: the trace of the CPU plugin, and its summary.

Speeds are kips, thousands of instructions a second; 0 is as fast as the host can.
"""

from typing import Annotated, Literal

import msgspec

from delayrig.model.kinds.kind import Count, Kind, Ns, Timed, Writer


class _OfPlugin(Timed, frozen=True, kw_only=True):
    writers = (Writer.CPU_PLUGIN,)


class Vcpu(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The control of one vCPU's speed."""

    governor: str
    """The governor's name."""
    fixed_kips: Count
    """Its speed if no governor decides."""
    min_kips: Count
    """The least speed that a governor may choose."""
    max_kips: Count
    """The greatest speed that a governor may choose."""


class TraceStart(Kind, frozen=True, kw_only=True, tag="start"):
    """The first line: the plugin's arguments."""

    writers = (Writer.CPU_PLUGIN,)

    schema: Literal[1]
    """The version of the trace."""
    t_ns: Ns
    target: str
    """QEMU's target, such as `x86_64`."""
    api: Count
    """The version of QEMU's plugin interface."""
    quantum_us: Count
    """The time that a vCPU runs between two checks of its speed."""
    catch_up_us: Count
    """The delay that a vCPU may catch up. An older delay is lost."""
    spin_us: Count
    """The last part of a wait, in which the clock is polled."""
    window_ms: Count
    """The length of a window."""
    sampling_us: Count
    """The interval of a governor."""
    latency_us: Count
    """The time from a decision until the speed begins to change."""
    ramp_us: Count
    """The time from then until it has changed, at a steady rate."""
    vcpus: list[Vcpu]
    """The control of each."""


class Speed(_OfPlugin, frozen=True, kw_only=True, tag="speed"):
    """A vCPU's speed changed. `events.jsonl` has it, too, unless a governor did it."""

    vcpu: Count
    """The number of the vCPU."""
    why: str
    """`governor`, `script` or `control`. The line is written with the next window."""
    from_kips: Count
    """Its speed before."""
    to_kips: Count
    """Its speed after."""
    begin_ns: Ns
    """The time at which the change began."""
    end_ns: Ns
    """The time at which it was done."""


class Window(_OfPlugin, frozen=True, kw_only=True, tag="window"):
    """The work of one vCPU between two moments, of which `t_ns` is the second."""

    from_ns: Ns
    """The beginning of the window."""
    vcpu: Count
    """The number of the vCPU."""
    instructions: Count
    """The instructions that it executed."""
    active_ns: Ns
    """The time that it was not idle."""
    idle_ns: Ns
    """The time that it was idle."""
    given_kips: Count | None
    """Its speed over the active time, or null."""
    asked_kips: Count | None
    """Its speed over the time that these instructions should have taken, or null."""
    target_kips: Count
    """The target speed at the end of the window."""
    short_ns: int
    """The active time minus the time that its instructions should have taken.

    Above 0 the host was late, below 0 it caught up.
    """
    lost_ns: Ns
    """The delay that was given up as too old."""
    late_ns_max: Ns
    """The greatest delay."""
    kept: bool
    """True if the absolute value of `short_ns` is at most 2 % of the window plus a quantum."""


class TraceEnd(_OfPlugin, frozen=True, kw_only=True, tag="end"):
    """The last line."""

    windows: Count
    """The number of windows."""
    windows_not_kept: Count
    """The windows in which some core was not held to its speed."""
    changes_dropped: Count
    """The changes of speed that there was no room for."""


class Pace(Timed, frozen=True, kw_only=True, tag="pace"):
    """How well the cores kept their speed while the subject ran."""

    writers = (Writer.LIVE_LANE,)

    since_ns: Ns
    """The beginning of that time; it ends at `t_ns`."""
    window_ms: Annotated[int, msgspec.Meta(gt=0)]
    """The length of a window."""
    windows: Count
    """The number of windows."""
    windows_not_kept: Count
    """The windows in which a core was more than 20 % off."""
    not_kept: list[tuple[Ns, Ns]]
    """The beginning and end of each of them."""
    windows_behind: Count
    """The windows that the plugin itself does not call `kept`."""
    short_ns_max: Ns
    """The largest absolute value of `short_ns`."""
    governor_changes: Count
    """The speed changes by governors, which have no lines of their own."""
    lost_ns: Ns
    """The sum over all windows."""
