# SPDX-License-Identifier: GPL-2.0-or-later
"""Hazards' words, cells and events for their tests."""

from delayrig.hazards.artifacts import Artifacts
from delayrig.hazards.start_state import STATES
from delayrig.model.cell import Cell
from delayrig.model.events import Event

from tests.rig.builders import (
    make_cell,
)
from tests.rig.event_builders import (
    seen_of,
    sound_events,
)

RIGHT = [
    *("low-res-timers", "busy-siblings", "busy-siblings:0-5", "busy-siblings:accept,10-30@100"),
    *("busy-siblings:1-2,3-999999", "busy-siblings:0-5,7-10@10"),
    *("hogs:1", "hogs:32", "memory-pressure", "no-rt", "rt-throttle", "preempt-rt", "no-nohz"),
    *("kernel:5.10", "kernel:6.12"),
    *("clocksource:tsc", "clocksource:hpet", "clocksource:acpi_pm"),
    *("wall-clock-step:+1", "wall-clock-step:-1666666", "wall-clock-step:+999999999,60000"),
    *("refused:sleep,eperm", "refused:select,enosys", "refused:poll,einval"),
    *("refused:timerfd,enosys", "refused:clock,eperm"),
    *("few:descriptors,4", "few:memory,64", "few:threads"),
    *("uptime:u32ms", "uptime:i32us,7", "uptime:i32s"),
    *("leap-second", "leap-second:delete"),
    *("link:stm32-vserprog", "link:baud=115200", "link:frser-duino,opbuf=12,baud=9600"),
    *("link:reply-us=53-570,silent=1", "link:serprog_pico,cs-late-us=5,ack-bytes=16"),
    *("fault:drop@3", "fault:corrupt@in:7", "fault:duplicate@p=0.001", "fault:delay:500@1"),
    *("fault:stall@2", "fault:stall:80@p=0.5", "fault:hang-up@9", "fault:nak@1"),
    "fault:stuck-wip@3",
    *("library", "long-waits", "threads:1", "threads:8", "stop-cont:1", "stop-cont:100"),
    *("signals:1", "signals:1000", "signals:20,usr1", "signals:20,chld,restart"),
    "signals:20,restart",
    *("power-cut:3", "power-cut:3,50%", "power-cut:3,1500", "power-cut:3,0%,1000"),
    *(f"starts:{state}" for state in STATES),
    "unverified",
]
"""A word of each kind of hazard, in each of its forms."""


def cell_of(*words: str) -> Cell:
    return make_cell(hazards=words, cores=4)


def seen_after(*events: Event) -> Artifacts:
    return seen_of(*sound_events(), *events)
