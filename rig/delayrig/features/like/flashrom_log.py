# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads what flashrom prints, with -V or without: version, clock, chip, programmer and job."""

import re
import shlex
from collections.abc import Iterator
from itertools import pairwise

from delayrig.features.like.facts import Fact, Line
from delayrig.model.cell import Job

UNKNOWN = "unknown"
"""The version if the banner names none."""
COARSE_NS = 1_000_000
"""A clock of this resolution or a coarser one has timers that fire only at jiffies."""
_BANNER = re.compile(
    r"^(?P<program>flashrom|flashprog) +(?:(?P<version>\S+(?: \(git:\S+\))?) +)?"
    r"on (?P<system>\w+) \S+ \((?P<arch>\w+)\)"
)
_OLD_BANNER = re.compile(r"^flashrom (?P<version>v?[0-9][\w.-]+)$")
_FOUND = re.compile(
    r'Found (?:chip "\S+ |\S.* flash chip ")(?P<chip>[^"]+)"'
    r" \((?P<kb>[0-9]+) k?K?B, (?P<bus>[^)]*)\)(?: on (?P<programmer>\w+))?"
)
_SEVERAL = re.compile(r"Multiple flash chip definitions match the detected chip\(s\): (.+)")
_RESOLUTION = re.compile(r"for delay loops \(clk_id: \d+, resolution: ([0-9]+)ns\)")
_TIMER = re.compile(r"OS timer resolution is ([0-9]+) usecs")
_BAD_BYTE = re.compile(r"FAILED at 0x[0-9a-fA-F]+! +Expected=0x")
_COMMAND = re.compile(r"(?:^|[\s/$#])(?:flashrom|flashprog)\s+(-.*)$")
_TYPED = re.compile(r"^(?:.*[$#] )?(?:sudo )?[\w./~-]*(?:flashrom|flashprog)\s+-")
"""A command line that is no part of a sentence."""
_WRAPPED = re.compile(r'(?:flash chip ".* on| -p| --programmer)$')
"""The end of a line that a mail program has broken in two."""
_INTERNAL = re.compile(r'^Found chipset "|flash chip ".* at physical address 0x')
_TAKE_VALUES = "pcrwvlio"
"""The short options that take a value."""
_VERSION = re.compile(r"v?([0-9]+\.[0-9]+(?:\.[0-9]+)?(?:-rc[0-9]+)?)$")
_OPTIONS = {
    "-r": Job.READ,
    "--read": Job.READ,
    "-w": Job.WRITE,
    "--write": Job.WRITE,
    "-v": Job.VERIFY,
    "--verify": Job.VERIFY,
    "-E": Job.ERASE,
    "--erase": Job.ERASE,
}
_DOING = {
    **dict.fromkeys(("Erasing and writing flash chip", "Writing flash chip..."), Job.WRITE),
    "Erasing flash chip...": Job.ERASE,
    "Reading flash...": Job.READ,
}
_ARCHES = {
    **dict.fromkeys(("x86_64", "amd64"), "x86_64"),
    **dict.fromkeys(("i386", "i486", "i586", "i686"), "i386"),
    **dict.fromkeys(("aarch64", "arm64"), "arm64"),
    **dict.fromkeys(("armv7l", "armv8l"), "armhf"),
    "riscv64": "riscv64",
}


def read_flashrom_log(lines: list[Line]) -> Iterator[Fact]:
    has_command = False
    job = ""
    for line, after in pairwise([*lines, Line(text="", where="")]):
        if _WRAPPED.search(line.text):
            line = Line(text=f"{line.text} {after.text}", where=line.where)
        command = list(_command(line))
        has_command = has_command or bool(command)
        # A command line says more than the lines that flashrom prints while it works.
        jobs = [fact for fact in command or _doing(line) if fact.key == "job"]
        is_newer = command or not has_command or job in (Job.DETECT, Job.PROBE)
        job = jobs[0].value if jobs and is_newer else job
        yield from command
        yield from () if has_command else jobs
        yield from _banner(line)
        yield from _chip(line)
        yield from _clock(line)
        for symptom in _symptom(line):
            yield symptom
            if job:
                yield line.fact("failing_job", job)


def _doing(line: Line) -> list[Fact]:
    """Returns the job that the line names. If it names two, as in old releases, it is a write."""
    jobs = [job for words, job in _DOING.items() if words in line.text]
    return [line.fact("job", job) for job in jobs[:1]]


def arch_named(machine: str) -> str:
    """Returns our name for a word of `uname -m`, or the same word if no guest has such a CPU."""
    return _ARCHES.get(machine, machine)


def _banner(line: Line) -> Iterator[Fact]:
    if old := _OLD_BANNER.search(line.text):
        yield line.fact("version", old["version"])
    banner = _BANNER.search(line.text)
    if banner is None:
        return
    version = _VERSION.fullmatch(banner["version"] or "")
    number = version[1] if version else banner["version"] or UNKNOWN
    of_fork = f"{banner['program']} " if banner["program"] != "flashrom" else ""
    yield line.fact("version", f"{of_fork}{number}")
    yield line.fact("system", banner["system"])
    yield line.fact("arch", arch_named(banner["arch"]))


def _chip(line: Line) -> Iterator[Fact]:
    if _INTERNAL.search(line.text):
        yield line.fact("driver", "internal")
    if found := _FOUND.search(line.text):
        yield line.fact("chip", found["chip"])
        yield line.fact("bus", found["bus"])
        if found["programmer"]:
            yield line.fact("driver", found["programmer"])
    if several := _SEVERAL.search(line.text):
        yield from (line.fact("chip", name) for name in re.findall(r'"([^"]+)"', several[1]))


def _clock(line: Line) -> Iterator[Fact]:
    for pattern, unit_ns in ((_RESOLUTION, 1), (_TIMER, 1000)):
        step = pattern.search(line.text)
        if step:
            coarse = int(step[1]) * unit_ns >= COARSE_NS
            yield line.fact("timers", "coarse" if coarse else "fine")
    if "delay loop is unreliable" in line.text or "more than 10% too short" in line.text:
        yield line.fact("unreliable", "delay loop")


def _symptom(line: Line) -> Iterator[Fact]:
    if line.text.startswith("No EEPROM/flash device found"):
        yield line.fact("symptom", "no chip found")
    if _BAD_BYTE.search(line.text):
        erasing = "Expected=0xff" in line.text and "Verifying" not in line.text
        yield line.fact("symptom", "erase failed" if erasing else "verify failed")


def _command(line: Line) -> Iterator[Fact]:
    """Yields the job, the chip and the programmer of a command line in the text."""
    match = _COMMAND.search(line.text)
    if match is None:
        return
    try:
        words = shlex.split(match[1], comments=True)
    except ValueError:  # The line is a sentence with an apostrophe.
        return
    options = list(_split(words))
    given = dict(options)
    programmer = given.get("-p", given.get("--programmer", ""))
    jobs = {_OPTIONS[name] for name, _ in options if name in _OPTIONS}
    is_default = not programmer and bool(jobs) and _TYPED.match(line.text)
    if programmer.startswith("dummy") or not (programmer or is_default):
        return
    if programmer:
        yield line.fact("programmer", programmer)
    chip = given.get("-c", given.get("--chip", ""))
    if chip:
        yield line.fact("asked_chip", chip)
    usual = Job.PROBE if chip else Job.DETECT
    if len(jobs) <= 1:
        yield line.fact("job", next(iter(jobs), usual))


def _split(words: list[str]) -> Iterator[tuple[str, str]]:
    """Yields each option with the word after it, which is its value if it takes one."""
    for at, word in enumerate(words):
        name, equals, value = word.partition("=")
        if word.startswith("--") and equals:
            yield name, value
        elif word.startswith("-"):
            after = words[at + 1] if at + 1 < len(words) else ""
            yield from [(word, after)] if word.startswith("--") else _letters(word[1:], after)


def _letters(letters: str, after: str) -> Iterator[tuple[str, str]]:
    """Yields the options of a word such as `-VE`; what follows a letter may be its value."""
    for at, letter in enumerate(letters):
        if letter in _TAKE_VALUES:
            yield f"-{letter}", letters[at + 1 :] or after
            return
        yield f"-{letter}", ""
