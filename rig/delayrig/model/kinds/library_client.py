# SPDX-License-Identifier: GPL-2.0-or-later
"""What the library client writes, the program around a subject's library."""

from typing import ClassVar

from delayrig.model.kinds.kind import Count, Kind, Ns, Writer


class _OfHostProgram(Kind, frozen=True):
    """A line of the library client's."""

    writers: ClassVar[tuple[Writer, ...]] = (Writer.LIBRARY_CLIENT,)


class HostStart(_OfHostProgram, frozen=True, kw_only=True, tag="host_start"):
    """It begins. In real time `t_ns` is that of `subject_start`."""

    t_ns: Ns


class HostEnd(_OfHostProgram, frozen=True, kw_only=True, tag="host_end"):
    """It ends. In real time `t_ns` is that of `subject_end`."""

    t_ns: Ns
    signals: Count
    """How many it handled (`signals`)."""
    turns: Count
    """How often its other threads computed (`threads`)."""
