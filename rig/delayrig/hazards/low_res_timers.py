# SPDX-License-Identifier: GPL-2.0-or-later
"""Timers that fire only at jiffies, as on old kernels and some small machines."""

from delayrig.hazards.hazard import IN_GUEST, Concern, Hazard


class LowResTimers(Hazard):
    """`highres=off`: a sleep of 100 us takes up to two jiffies, and clock_getres() says 4 ms.

    Source: Linux Documentation/admin-guide/kernel-parameters, "highres=".
    """

    name = "low-res-timers"
    about = "timers that fire at jiffies alone; clock_getres() then says 4 ms"
    concern = Concern.SAFETY
    lanes = IN_GUEST
    kernel_words = ("highres=off",)
