# SPDX-License-Identifier: GPL-2.0-or-later
"""Events of the library client, the program around a subject's library."""

from delayrig.model.kinds.kind import Count, Timed, Writer


class _OfHostProgram(Timed, frozen=True, kw_only=True):
    writers = (Writer.LIBRARY_CLIENT,)


class HostStart(_OfHostProgram, frozen=True, tag="host_start"):
    """It begins. In real time `t_ns` is that of `subject_start`."""


class HostEnd(_OfHostProgram, frozen=True, kw_only=True, tag="host_end"):
    """It ends. In real time `t_ns` is that of `subject_end`."""

    signals: Count
    """The number of signals that it handled (`signals`)."""
    turns: Count
    """The number of turns of its other threads (`threads`)."""
