# SPDX-License-Identifier: GPL-2.0-or-later
"""The cells that are searched: covering arrays over parts, corners, speeds and hazards."""

from delayrig.features.find.symptom import Symptom
from delayrig.model.cell import Job, Programmer
from delayrig.model.corner import Corner
from delayrig.plan.schema import Group, Plan, Span

STRENGTH = 2
DEADLINE_S = 60
"""The time of a subject; a job takes a tenth. In a search for a hang it gets the usual time."""
REGION_KIB = 4
SOURCE = "rig/rig find"
SPI_PARTS = ["W25Q128JV", "AT45DB321D", "SST25VF040B", "M95M02-DR"]
"""One part of each way to be written: pages, a buffer, bytes, an EEPROM."""
OTHER_PARTS = ["W29C020", "SST39SF040", "W39V040A", "M50FW040"]
"""Parts that are not on SPI: written by pages and by bytes, on LPC, on FWH.

None is an AT29C020, of which releases leave out bytes on every machine.
"""
MIPS: list[float | None] = [250.0, 1000.0, 16.0]
CORES: list[int | None] = [2]
HAZARDS = [
    *("none", "low-res-timers", "busy-siblings", "low-res-timers+busy-siblings"),
    *("signals:400", "stop-cont:20", "wall-clock-step:-3600", "leap-second"),
]
JOBS = {
    Symptom.CORRUPT: [Job.WRITE, Job.ERASE],
    Symptom.VERIFY_FAILED: [Job.WRITE, Job.ERASE],
    Symptom.HUNG: [Job.WRITE, Job.ERASE, Job.PROBE],
    Symptom.SLOW: [Job.WRITE, Job.ERASE, Job.READ],
}
PARTS = {
    "spi": (SPI_PARTS, Programmer.SERPROG_IP),
    "other": (OTHER_PARTS, Programmer.SERPROG_NATIVE_DELAY),
}


def plan_for(symptom: Symptom, subject: str) -> Plan:
    """Returns the plan that has each two values that can stand together in one of its cells."""
    groups = [
        Group(
            name=f"find-{name}",
            region_kib=REGION_KIB,
            strength=STRENGTH,
            deadline_s=0 if symptom is Symptom.HUNG else DEADLINE_S,
            over=Span(
                mips=MIPS,
                cores=CORES,
                job=[job.value for job in JOBS[symptom]],
                chip=parts,
                corner=[Corner.MAX.value, Corner.TYP.value],
                hazards=HAZARDS,
                programmer=[programmer.value],
            ),
        )
        for name, (parts, programmer) in PARTS.items()
    ]
    return Plan(schema=1, about=f"{symptom} of {subject}", subjects=[subject], group=groups)
