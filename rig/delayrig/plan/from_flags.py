# SPDX-License-Identifier: GPL-2.0-or-later
"""A plan made from flags, for `rig/rig try`: every combination of their values is a cell."""

import glob
import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import msgspec

from delayrig.base.errors import BadInputError
from delayrig.hazards import NONE, cores_needed, parse_hazards
from delayrig.model.cell import REGION_KIB, SEPARATOR, Cell, Expect, Job, Programmer
from delayrig.model.corner import Corner
from delayrig.model.lane import LaneName
from delayrig.model.platform import PLATFORMS, Arch
from delayrig.plan.check import is_possible
from delayrig.plan.machines import find_machine
from delayrig.plan.schema import (
    CORES_KNOWN,
    Match,
    Plan,
    Point,
    Rule,
    Single,
    judging_cells,
)
from delayrig.subjects.elf import read_elf
from delayrig.subjects.subject import PATH_PREFIX

NAME = "try"
SOURCE = "rig/rig try"
CHIP = "W25Q128JV"
CORNER = Corner.MAX.value
MIPS: dict[str, str] = {LaneName.VIRTUAL: "250", LaneName.LIVE: "40", LaneName.HOST: "250"}
WATCHED_BY = "smoke"
"""The plan whose canaries and controls are used."""
FLAGS = {"hazards": "hazard", "region_kib": "region", "machine": "mips"}
"""The name of the flag for each key of a plan that is called differently."""
_KEY = re.compile(r"(?:key )?'(?:cell|group)\[\d+\](?:\.at|\.over)?\.(\w+)'|key '(\w+)'")
_SUBJECT = re.compile(r"key 'subjects\[\d+\]': ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Flags:
    """The values of each flag; an empty one stands for the default."""

    lane: tuple[str, ...] = ()
    arch: tuple[str, ...] = ()
    mips: tuple[str, ...] = ()
    machine: tuple[str, ...] = ()
    cores: tuple[str, ...] = ()
    hazard: tuple[str, ...] = ()
    chip: tuple[str, ...] = ()
    corner: tuple[str, ...] = ()
    programmer: tuple[str, ...] = ()
    job: tuple[str, ...] = ()
    region: tuple[str, ...] = ()


def plan_of_flags(subject: str, against: str, flags: Flags, *, canaries: bool = False) -> Plan:
    """Returns a plan with the combinations. Any result of `against` is accepted."""
    usual = arch_of(subject)
    given = asdict(replace(flags, arch=flags.arch or (usual,)))
    rows = itertools.product(*(values or ("",) for values in given.values()))
    cells = [_single(dict(zip(given, row, strict=True))) for row in rows]
    # If no cell is possible, the checks of the plan report why.
    possible = [one for one in cells if is_possible(msgspec.structs.asdict(one.at))] or cells
    watching = _watching(possible) if canaries else []
    any_result = Rule(
        when=Match(subject=glob.escape(against)),
        expect=Expect.ANY.value,
        reason="it is only the subject to compare with",
    )
    return Plan(
        schema=1,
        about=f"{subject}, by {SOURCE}",
        subjects=list(dict.fromkeys(filter(None, (subject, against)))),
        lane=possible[0].lane,
        cell=[*possible, *watching],
        rule=[any_result] if against else [],
    )


def arch_of(subject: str) -> str:
    """Returns the architecture of a user's own program; x86_64 for any other subject."""
    path = Path(subject.removeprefix(PATH_PREFIX))
    if subject.startswith(PATH_PREFIX) and path.is_file():
        machine = read_elf(path).machine
        fits = [arch for arch, platform in PLATFORMS.items() if machine in platform.elf_machines]
        return (fits or [Arch.X86_64])[0].value
    return Arch.X86_64.value


def _single(row: dict[str, str]) -> Single:
    if row["machine"]:
        _check_machine_alone(row)
    usual_lane = LaneName.LIVE if row["machine"] else LaneName.VIRTUAL
    lane = row["lane"] or usual_lane.value
    mips = row["machine"] or row["mips"] or _usual_mips(lane)
    hazards = row["hazard"] or NONE
    is_machine = bool(row["machine"]) or ":" in mips
    cores = int(_number("cores", row["cores"])) if row["cores"] else None
    if cores is None and not is_machine:
        needed = cores_needed(parse_hazards(hazards))
        cores = next(cores for cores in CORES_KNOWN if cores >= needed)
    return Single(
        name=NAME,
        lane=lane,
        region_kib=int(_number("region", row["region"] or str(REGION_KIB))),
        at=Point(
            mips=None if is_machine else _number("mips", mips),
            machine=mips if is_machine else "",
            cores=cores,
            job=row["job"] or Job.WRITE.value,
            chip=row["chip"] or CHIP,
            corner=row["corner"] or CORNER,
            programmer=row["programmer"] or Programmer.SERPROG_IP.value,
            hazards=hazards,
            arch=row["arch"],
        ),
    )


def _usual_mips(lane: str) -> str:
    """Returns the default speed of a lane, also of an unknown one, which the planner refuses."""
    return MIPS.get(lane, MIPS[LaneName.VIRTUAL])


def _check_machine_alone(row: dict[str, str]) -> None:
    """Raises `BadInputError` for an unknown machine, or if speeds or cores are given as well."""
    find_machine(row["machine"])
    for flag in ("mips", "cores"):
        if row[flag]:
            raise BadInputError(
                f"--machine and --{flag}: a machine has its own speeds and cores",
                hint="leave one of the two out",
            )


def _number(flag: str, word: str) -> float:
    if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,3})?" if flag == "mips" else "[0-9]{1,9}", word):
        return float(word)
    raise BadInputError(f"--{flag} {word!r} is no number", hint=f"`{SOURCE} --help` has examples")


def _watching(cells: list[Single]) -> Iterator[Single]:
    """Yields canaries and controls for each lane and architecture of the cells."""
    for lane, arch in dict.fromkeys((cell.lane, cell.at.arch) for cell in cells):
        for one in judging_cells(WATCHED_BY):
            at = msgspec.structs.replace(one.at, arch=arch, mips=float(_usual_mips(lane)))
            yield msgspec.structs.replace(one, lane=lane, at=at)


def plan_text(plan: Plan) -> str:
    """Returns a plan of single cells as TOML, without the keys that have their default."""
    lines = [
        f"schema = {plan.schema}",
        f"about = {_toml(plan.about)}",
        *([f"lane = {_toml(plan.lane)}"] if plan.lane != LaneName.VIRTUAL else []),
        f"subjects = {_toml(plan.subjects)}",
    ]
    for single in plan.cell:
        lines += ["", "[[cell]]", f"name = {_toml(single.name)}"]
        lines += _keys(single, ("region_kib", "content_bytes", "deadline_s"))
        lines += ["[cell.at]", *_keys(single.at, single.at.__struct_fields__)]
    return "\n".join(lines) + "\n"


def _keys(value: msgspec.Struct, names: Iterable[str]) -> Iterator[str]:
    """Yields a line of TOML for each key whose value is not the default."""
    defaults = {field.name: field.default for field in msgspec.structs.fields(value)}
    for name in names:
        held = getattr(value, name)
        if held != defaults[name]:
            yield f"{name} = {_toml(held)}"


def _toml(value: object) -> str:
    """Returns the value in TOML, whose basic strings have JSON's escapes."""
    return msgspec.json.encode(value).decode()


def words_of_cell(cell: Cell) -> list[str]:
    words = [NAME, cell.subject, "--lane", cell.lane, "--arch", cell.arch]
    if cell.machine:
        words += ["--mips" if ":" in cell.machine else "--machine", cell.machine]
    else:
        words += ["--mips", _speed(cell), "--cores", str(cell.cores)]
    if cell.hazards:
        words += ["--hazard", SEPARATOR.join(cell.hazards)]
    words += ["--chip", cell.chip, "--corner", cell.corner, "--job", cell.job]
    if cell.programmer is not Programmer.SERPROG_IP:
        words += ["--programmer", cell.programmer]
    return [*words, "--region", str(cell.region_kib), "--seed", str(cell.seed)]


def _speed(cell: Cell) -> str:
    """Returns the speed as a flag's value; in the virtual lane it is rounded, as in ids."""
    if not cell.mips:
        return MIPS[cell.lane]
    return f"{cell.mips[0]:g}" if cell.in_real_time else f"{round(cell.mips[0])}"


def in_flags(text: str, source: str = SOURCE) -> str:
    """Returns the planner's message with flags in place of the plan's keys."""
    message = _KEY.sub(lambda key: f"--{FLAGS.get(key[1], key[1]) or key[2]}", text)
    return _SUBJECT.sub("", message.removeprefix(f"{source}: "))
