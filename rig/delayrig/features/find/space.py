# SPDX-License-Identifier: GPL-2.0-or-later
"""The cells that are searched: covering arrays over parts, corners, speeds, jobs and hazards."""

from collections.abc import Mapping, Sequence

from delayrig.base.errors import BadInputError
from delayrig.features.find.search import Symptom
from delayrig.model.cell import Job, Programmer, slug
from delayrig.model.chips import ChipFacts
from delayrig.model.corner import Corner
from delayrig.model.programmers import DEVICES
from delayrig.plan.from_flags import arch_of
from delayrig.plan.schema import Group, Plan, Span

STRENGTH = 2
DEADLINE_S = 60
"""A subject's time limit, ten times what a job takes. One that is still at work has not hung."""
REGION_KIB = 1
"""Four pages of most parts, so that a page may be sent while the part programs the one before."""
SLOW_REGION_KIB = 64
"""The region of SPI parts in a search for a slow cell: programming it takes longer than erasing."""
SOURCE = "rig/rig find"
SPI_PARTS = ("W25Q128JV", "AT45DB321D", "SST25VF040B", "M95M02-DR")
"""One part for each way of programming: by pages, by a buffer, by bytes, an EEPROM."""
OTHER_PARTS = ("W29C020", "SST39SF040", "W39V040A", "M50FW040")
"""Parts that are not on SPI: written by pages and by bytes, on LPC, on FWH.

AT29C020 is left out, because flashrom's releases fail to write some of its bytes on any machine.
"""
SMALL_PARTS = ("W29EE011",)
"""The part for programmers that reach none of the others."""
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
    Symptom.SLOW: [Job.WRITE, Job.ERASE],
}


def plan_for(
    symptom: Symptom,
    subject: str,
    chips: Mapping[str, ChipFacts],
    *,
    programmers: Sequence[str] = (),
    parts: Sequence[str] = (),
) -> Plan:
    """Returns a plan whose cells contain every pair of values that can occur together.

    Without programmers, SPI parts are behind `serprog:ip`, and others behind a serprog device that
    delays by itself. Raises `BadInputError` if a named programmer reaches no part.
    """
    if programmers:
        reached = {name: _reached(name, chips, parts) for name in programmers}
    else:
        usual = parts or (*SPI_PARTS, *OTHER_PARTS)
        reached = {
            Programmer.SERPROG_IP: [name for name in usual if _is_on_spi(name, chips)],
            Programmer.SERPROG_NATIVE_DELAY: [n for n in usual if not _is_on_spi(n, chips)],
        }
    groups = [
        Group(
            name=f"find-{slug(programmer)}",
            region_kib=SLOW_REGION_KIB
            if symptom is Symptom.SLOW and all(_is_on_spi(name, chips) for name in names)
            else REGION_KIB,
            strength=STRENGTH,
            deadline_s=DEADLINE_S,
            over=Span(
                mips=MIPS,
                cores=CORES,
                job=[job.value for job in JOBS[symptom]],
                chip=names,
                corner=[Corner.MAX.value, Corner.TYP.value],
                hazards=HAZARDS,
                programmer=[programmer],
                arch=[arch_of(subject)],
            ),
        )
        for programmer, names in reached.items()
        if names
    ]
    return Plan(schema=1, about=f"{symptom} of {subject}", subjects=[subject], group=groups)


def _reached(programmer: str, chips: Mapping[str, ChipFacts], parts: Sequence[str]) -> list[str]:
    """Returns the parts that the programmer reaches, of `parts` or else of the usual ones."""
    for names in [parts] if parts else [(*SPI_PARTS, *OTHER_PARTS), SMALL_PARTS]:
        if found := [name for name in names if _reaches(programmer, name, chips)]:
            return found
    raise BadInputError(
        f"--programmer {programmer}: reaches none of {', '.join(parts or chips)}",
        hint="name another --chip or --programmer",
    )


def _reaches(programmer: str, part: str, chips: Mapping[str, ChipFacts]) -> bool:
    if part not in chips:
        return True  # The planner refuses such a part, and suggests similar names.
    if device := DEVICES.get(Programmer(programmer)) if programmer in list(Programmer) else None:
        return not device.chip_refusal(chips[part])
    return programmer == Programmer.SERPROG_NATIVE_DELAY or _is_on_spi(part, chips)


def _is_on_spi(part: str, chips: Mapping[str, ChipFacts]) -> bool:
    return part not in chips or chips[part].bus == "spi"
