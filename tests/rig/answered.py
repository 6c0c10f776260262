# SPDX-License-Identifier: GPL-2.0-or-later
"""Small answers of threshold, survey and proposal, with hostile text and long paths in them."""

from delayrig.features.proposal.steps import Proposal, fold_proposal
from delayrig.features.survey.survey import Agreement, BusBound, KnownWait, Requested, Survey
from delayrig.features.threshold.answer import Answer, answer_of
from delayrig.features.threshold.evidence import Evidence
from delayrig.features.threshold.figures import Cost, Standing
from delayrig.features.threshold.sleep_facts import FIFO, NORMAL, SLACK, Sleep, SleepFacts
from delayrig.model.phases import TimeSplit
from delayrig.model.result import CellResult, CpuTime, HostFacts, Verdict
from delayrig.subjects.subject import STEPS, TRUSTING
from msgspec.structs import replace

from tests.rig.builders import make_cell, make_result, run_of
from tests.rig.reported import HOSTILE

MS = 1_000_000
VALUES_US = (0, 2, 10, 50, 100, 500, 1000, 10_000, 100_000)
PROFILES = ("x86_64 16 MIPS, 1 core", "x86_64 250 MIPS, 2 cores, low-res-timers+busy-siblings")
LONG_PATH = "path:/home/somebody/src/flashrom-with-a-long-name/build/default/flashrom"


def make_sleep_facts(*, normal: int, slack: int, fifo: int, resolution: int = 1) -> SleepFacts:
    late = {NORMAL: normal, SLACK: slack, FIFO: fifo}
    return SleepFacts(
        schema=1,
        tries=48,
        slack_ns=50_000,
        resolution_ns=resolution,
        yield_ns=900,
        switch_ns=2_100,
        sleeps=[
            Sleep(
                way=way,
                length_us=us,
                late_ns_min=ns,
                late_ns_p50=ns,
                late_ns_mean=ns,
                late_ns_max=ns,
            )
            for way, ns in late.items()
            for us in (1, 10, 100, 1000)
        ],
    )


FINE = make_sleep_facts(normal=60_000, slack=5_000, fifo=4_000)
COARSE = make_sleep_facts(normal=3_900_000, slack=3_900_000, fifo=3_900_000, resolution=4_000_000)


def make_cost(value: int, time: int, cpu: int, profile: str = "p", **changes: object) -> Cost:
    """Returns the cost of a safe value, unless the changes say otherwise."""
    plain = Cost(
        value_us=value,
        profile=profile,
        standing=Standing.SAFE,
        why="",
        time_ns=time,
        cpu_ns=cpu,
        chip_busy_ns=0,
        wakeups=1,
        overshoot_ns=0,
        margin_ns=None,
    )
    return replace(plain, **changes)


def make_evidence(costs: list[Cost], **changes: object) -> Evidence:
    """Returns evidence of one round, with fine timers in each profile."""
    plain = Evidence(
        subject="bundled",
        lane="virtual",
        seed=1,
        jobs=["write"],
        costs=costs,
        costs_by_round=[costs],
        sleep={cost.profile: FINE for cost in costs},
        doubts=[],
        host=HostFacts(cpus=2, kernel="6.1", machine="x86_64", os="Debian"),
    )
    return replace(plain, **changes)


def _cost(profile: str, value: int, number: int) -> Cost:
    why = f"too_short in {HOSTILE}: a wait of 10 us"
    unsafe = {"standing": Standing.UNSAFE, "why": why, "margin_ns": -5} if value == 0 else {}
    facts = {
        "chip_busy_ns": 400 * MS,
        "wakeups": 4000 // (number + 1),
        "overshoot_ns": number * MS,
        "margin_ns": 1200,
    }
    time, cpu = (1000 + 3 * number) * MS, (100 + 90 * number) * MS
    return make_cost(value, time, cpu, profile, **(facts | unsafe))


def make_answer() -> Answer:
    """Returns an answer of nine values in two profiles; the value 0 is unsafe."""
    costs = [
        _cost(profile, value, number)
        for profile in PROFILES
        for number, value in enumerate(VALUES_US)
    ]
    evidence = make_evidence(
        costs,
        subject=LONG_PATH,
        jobs=["write 64 KiB of W25Q128JV, typ", "erase 64 KiB of GD25Q16C, max"],
        costs_by_round=[costs] * 3,
        sleep=dict(zip(PROFILES, (FINE, COARSE), strict=True)),
        doubts=["round 2 moved the fastest value by 1.2 %"],
    )
    return answer_of(evidence)


def make_survey() -> Survey:
    """Returns the waits of two programs: calls of one, and bounds from the bus of the other."""
    calls = [
        Requested(
            subject="bundled",
            library=library,
            chip="W25Q128JV",
            job="write",
            requested_us=us,
            count=256,
            took_ns=256 * us * 1000 + 900,
            beyond_ns=900,
        )
        for library in (False, True)
        for us in (10, 350, 4687, 75_000, 1_000_000)
    ]
    bus = [
        BusBound(
            subject=LONG_PATH,
            chip="W25Q128JV",
            job="write",
            from_us=us,
            count=12,
            above_service_ns=us * 12_000,
            at_most_ns=us * 12_000 + 480_000,
            service_ns=40_000,
        )
        for us in (0, 10, 1000, 1_000_000)
    ]
    known = KnownWait(
        subject=LONG_PATH,
        chip="W25Q128JV",
        job="write",
        what="1 s synchronisation wait after the serprog NOPs",
        requested_us=1_000_000,
        count=1,
        at_least_ns=1_000_100_000,
        at_most_ns=1_000_300_000,
    )
    agreement = Agreement(
        subject="bundled",
        chip="W25Q128JV",
        job="write",
        calls=273,
        calls_ns=308_237_000,
        bus_ns=309_478_000,
    )
    lines = ["bundled: seen call by call.", f"{LONG_PATH}: bounds from the bus. {HOSTILE}"]
    return Survey(lines=lines, calls=calls, bus=bus, known=[known], agreements=[agreement])


def _result(
    step: str, kind: str = "", verdict: Verdict = Verdict.PASS, **changes: object
) -> CellResult:
    number = STEPS.index(step)
    return make_result(
        make_cell(subject=f"step:{step}{kind}", **changes),
        verdict=verdict,
        time_ns=TimeSplit(total=(1900 - 250 * number) * MS),
        cpu_ns=CpuTime(user=(1800 - 300 * number) * MS),
        context_switches=700 + number,
    )


def make_proposal() -> Proposal:
    """Returns a proposal of five steps on three parts.

    The first step is too short in one cell, and the third fails in another.
    """
    cells = [_result(step, chip=chip) for step in STEPS for chip in ("W25Q128JV", "M25P80")]
    cells += [_result(step, hazards=("no-rt",), name="no-rt") for step in STEPS]
    cells.append(_result(STEPS[0], TRUSTING, Verdict.TOO_SHORT, name="t"))
    failed = {STEPS[2]: Verdict.OP_FAILED}
    cells += [_result(s, "", failed.get(s, Verdict.PASS), chip="GD25Q16C") for s in STEPS]
    return fold_proposal(run_of(*cells))
