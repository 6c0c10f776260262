# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig try`: cells from flags, and the command that runs one of them again."""

import itertools
import sys
from pathlib import Path

import pytest
from click.testing import Result
from delayrig.base.errors import BadInputError, ExitCode
from delayrig.base.paths import find_paths
from delayrig.model.cell import Cell, Expect, Role
from delayrig.model.lane import LaneName
from delayrig.plan.from_flags import SOURCE, Flags, in_flags, plan_of_flags, words_of_cell
from delayrig.plan.machines import find_machine, machine_names
from delayrig.plan.request import choose_cells_of

from tests.rig.running import refusal_of, rig

PATHS = find_paths()


def cells_of(flags: Flags, *, against: str = "", canaries: bool = False) -> list[Cell]:
    plan = plan_of_flags("bundled", against, flags, canaries=canaries)
    return choose_cells_of(plan, source=SOURCE, seed=1, paths=PATHS).cells


def tried(*words: str) -> Result:
    return rig("try", *words, "--dry-run")


def test_default_is_one_cell_at_the_max_corner_with_the_cores_of_its_hazards() -> None:
    (cell,) = cells_of(Flags())
    assert cell.id == "try.bundled.250mips.1c.calm.W25Q128JV-max.write"
    assert cell.expect is Expect.PASS
    (cell,) = cells_of(Flags(hazard=("low-res-timers+busy-siblings",)))
    assert cell.cores == 2


def test_values_of_several_flags_are_multiplied_and_impossible_cells_left_out() -> None:
    cells = cells_of(Flags(mips=("1000", "62"), cores=("1", "4"), hazard=("none", "busy-siblings")))
    assert [(cell.icount_shift, cell.cores, cell.hazards) for cell in cells] == [
        (0, 1, ()),
        (0, 4, ()),
        (0, 4, ("busy-siblings",)),
        (4, 1, ()),
        (4, 4, ()),
        (4, 4, ("busy-siblings",)),
    ]


@pytest.mark.parametrize("name", machine_names())
def test_each_known_machine_is_a_cell_of_the_live_lane_with_its_cores(name: str) -> None:
    (cell,) = cells_of(Flags(machine=(name,)))
    assert (cell.lane, cell.machine) == (LaneName.LIVE, name)
    assert cell.cores == len(find_machine(name).core_mips)
    assert ["--machine", name] == words_of_cell(cell)[6:8]


@pytest.mark.parametrize(
    ("flags", "named"),
    [
        (Flags(machine=("n3350",), mips=("40",)), "--machine and --mips"),
        (Flags(machine=("n3350",), cores=("2",)), "--machine and --cores"),
        (Flags(machine=("n335",)), "unknown machine 'n335'"),
        (Flags(chip=("M25P10-A",), region=("1024",)), "region"),
    ],
)
def test_invalid_machine_or_region_is_named(flags: Flags, named: str) -> None:
    with pytest.raises(BadInputError, match=named):
        cells_of(flags)


def test_programmers_are_multiplied_and_named_in_the_rerun_command() -> None:
    cells = cells_of(Flags(programmer=("serprog:ip", "serprog:native-delay"), chip=("AT29C020",)))
    reruns = [words_of_cell(cell) for cell in cells]
    assert ["--programmer" in words for words in reruns] == [False, True]
    assert "serprog:native-delay" in reruns[1]


def test_lanes_and_regions_are_multiplied_as_well() -> None:
    cells = cells_of(Flags(lane=("virtual", "host"), region=("4", "64")))
    pairs = [(cell.lane, cell.region_kib) for cell in cells]
    assert pairs == list(itertools.product(("virtual", "host"), (4, 64)))


def test_subject_must_pass_and_the_one_that_it_is_compared_with_need_not() -> None:
    ours, theirs = cells_of(Flags(), against="debian:bookworm")
    assert (ours.subject, ours.expect) == ("bundled", Expect.PASS)
    assert (theirs.subject, theirs.expect) == ("debian:bookworm", Expect.ANY)
    assert ours.id.replace("bundled", "debian-bookworm") == theirs.id


def test_canaries_are_added_for_each_architecture() -> None:
    cells = cells_of(Flags(arch=("x86_64", "arm64")), canaries=True)
    roles = [(cell.role, cell.arch) for cell in cells if cell.role is not Role.MEASURE]
    assert len(roles) == len(set(cells)) - 2 == 8
    assert {arch for role, arch in roles if role is Role.CANARY} == {"x86_64", "arm64"}


@pytest.mark.parametrize(
    "flags",
    [
        Flags(),
        Flags(mips=("62",), hazard=("low-res-timers+busy-siblings:accept,0-5",), cores=("4",)),
        Flags(lane=("live",), mips=("10:40",), hazard=("move:accept",)),
        Flags(lane=("live",), mips=("17.5",)),
        Flags(lane=("host",), region=("4",), job=("read",)),
        Flags(arch=("i386",), chip=("M25P80",), corner=("draw:7",), mips=("1",)),
    ],
)
def test_rerun_command_describes_the_same_cell(flags: Flags) -> None:
    (cell,) = cells_of(flags)
    done = tried(*words_of_cell(cell)[1:])
    assert done.exit_code == ExitCode.PASS, done.output
    assert cell.id in done.stdout.splitlines()


def test_impossible_speed_is_refused_with_its_neighbours() -> None:
    error = refusal_of("try", "bundled", "--mips", "100", "--dry-run")
    assert "--mips is 100" in error
    assert "of which 62 and 125 are the nearest" in error
    assert in_flags("cell try.x: hazard y") == "cell try.x: hazard y"


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--mips", "fast"], "--mips 'fast' is no number"),
        (["--chip", "W25Q128"], "--chip: unknown chip 'W25Q128'"),
        (["--lane", "sideways"], "--lane: unknown value 'sideways'"),
        (["--lane", "hots", "--canaries"], "--lane: unknown value 'hots'"),
        (["--region", "99999"], "--region is 99999"),
        (["--cores", "1", "--hazard", "busy-siblings"], "set --cores to 2 or more"),
        (["--hazard", "gremlins"], "unknown hazard 'gremlins'"),
        (["--format", "junit"], "`rig/rig export OUT --format junit`"),
        (["--against", "bundled"], "--against bundled: is FLASHROM itself"),
        (["--against", "path:/nowhere"], "error: subject 'path:/nowhere'"),
    ],
)
def test_impossible_value_is_refused_with_its_flag(words: list[str], complaint: str) -> None:
    error = refusal_of("try", "bundled", *words, "--dry-run")
    assert complaint in error
    assert "cell[" not in error


def test_values_may_be_in_one_word_or_in_repeated_flags() -> None:
    assert tried("bundled", "--mips", "62,250").stdout == (
        tried("bundled", "--mips", "62", "--mips", "250").stdout
    )


@pytest.mark.parametrize(
    "words",
    [
        ["try", "{program}"],
        ["run", "--plan", "smoke", "--subject", "{program}"],
        ["gate", "--plan", "smoke", "--baseline", "{program}", "--candidate", "bundled"],
    ],
)
def test_path_of_a_program_is_a_subject_with_one_note(tmp_path: Path, words: list[str]) -> None:
    program = tmp_path / "flashrom"
    program.write_bytes(Path(sys.executable).read_bytes() + b"serprog\0")
    given = [word.format(program=program) for word in words]
    done = rig(*given, "--dry-run")
    assert done.exit_code == ExitCode.PASS, done.output
    assert done.stderr.count(f"note: {program} is taken as path:{program}") == 1
    assert ("path-flashrom-" in done.stdout) is (words[0] != "gate")


def test_folder_of_a_run_as_a_baseline_is_no_program(tmp_path: Path) -> None:
    done = rig("gate", "--baseline", tmp_path, "--candidate", "bundled", "--dry-run")
    assert "taken as" not in done.stderr
    assert "results.json" in done.stderr
