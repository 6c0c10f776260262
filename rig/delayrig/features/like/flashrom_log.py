# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads what flashrom prints, with -V or without: version, clock, chip, programmer and job."""

import re
import shlex
from collections.abc import Iterator

from delayrig.features.like.facts import Fact, Line
from delayrig.model.cell import Job

COARSE_NS = 1_000_000
"""A clock of this step or more has timers that fire at jiffies alone."""
_BANNER = re.compile(r"^flashrom +(?:(?P<version>\S+) +)?on \w+ \S+ \((?P<arch>\w+)\)")
_FOUND = re.compile(
    r'Found (?:chip "\S+ |\S.* flash chip ")(?P<chip>[^"]+)"'
    r" \((?P<kb>[0-9]+) k?K?B, [^)]*\)(?: on (?P<programmer>\w+))?"
)
_SEVERAL = re.compile(r"Multiple flash chip definitions match the detected chip\(s\): (.+)")
_RESOLUTION = re.compile(r"for delay loops \(clk_id: \d+, resolution: ([0-9]+)ns\)")
_TIMER = re.compile(r"OS timer resolution is ([0-9]+) usecs")
_BAD_BYTE = re.compile(r"FAILED at 0x[0-9a-fA-F]+! +Expected=0x")
_COMMAND = re.compile(r"(?:^|[\s/$#])flashrom\s+(-.*)$")
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
    "Reading flash...": Job.READ,
}
_ARCHES = {
    **dict.fromkeys(("x86_64", "amd64"), "x86_64"),
    **dict.fromkeys(("i386", "i486", "i586", "i686"), "i386"),
    **dict.fromkeys(("aarch64", "arm64"), "arm64"),
}


def read_flashrom_log(lines: list[Line]) -> Iterator[Fact]:
    told_job = False
    job = ""
    for line in lines:
        command = list(_command(line))
        told_job = told_job or bool(command)
        # The command says more than the lines that the work prints.
        jobs = [fact for fact in command or _doing(line) if fact.key == "job"]
        job = jobs[0].value if jobs and (command or not told_job) else job
        yield from command
        yield from () if told_job else jobs
        yield from _banner(line)
        yield from _chip(line)
        yield from _clock(line)
        for symptom in _symptom(line):
            yield symptom
            if job:
                yield Fact(key="failing_job", value=job, where=line.where)


def _doing(line: Line) -> Iterator[Fact]:
    for words, job in _DOING.items():
        if words in line.text:
            yield Fact(key="job", value=job, where=line.where)


def arch_named(machine: str) -> str:
    """Returns our name of what `uname -m` prints; the same word where guests have no such CPU."""
    return _ARCHES.get(machine, machine)


def _banner(line: Line) -> Iterator[Fact]:
    banner = _BANNER.search(line.text)
    if banner is None:
        return
    version = _VERSION.fullmatch(banner["version"] or "")
    told = version[1] if version else banner["version"] or "unknown"
    yield Fact(key="version", value=told, where=line.where)
    yield Fact(key="arch", value=arch_named(banner["arch"]), where=line.where)


def _chip(line: Line) -> Iterator[Fact]:
    found = _FOUND.search(line.text)
    if found:
        yield Fact(key="chip", value=found["chip"], where=line.where)
        if found["programmer"]:
            yield Fact(key="driver", value=found["programmer"], where=line.where)
    several = _SEVERAL.search(line.text)
    for name in re.findall(r'"([^"]+)"', several[1]) if several else ():
        yield Fact(key="chip", value=name, where=line.where)


def _clock(line: Line) -> Iterator[Fact]:
    for pattern, unit_ns in ((_RESOLUTION, 1), (_TIMER, 1000)):
        step = pattern.search(line.text)
        if step:
            coarse = int(step[1]) * unit_ns >= COARSE_NS
            yield Fact(key="timers", value="coarse" if coarse else "fine", where=line.where)
    if "delay loop is unreliable" in line.text or "more than 10% too short" in line.text:
        yield Fact(key="unreliable", value="delay loop", where=line.where)


def _symptom(line: Line) -> Iterator[Fact]:
    if _BAD_BYTE.search(line.text):
        erasing = "Expected=0xff" in line.text and "Verifying" not in line.text
        yield Fact(
            key="symptom", value="erase failed" if erasing else "verify failed", where=line.where
        )


def _command(line: Line) -> Iterator[Fact]:
    """Yields the job, the chip and the programmer of a command line in the text."""
    match = _COMMAND.search(line.text)
    if match is None:
        return
    try:
        words = shlex.split(match[1], comments=True)
    except ValueError:  # an apostrophe of a sentence
        return
    options = list(_split(words))
    given = dict(options)
    programmer = given.get("-p", given.get("--programmer", ""))
    if not programmer:
        return
    yield Fact(key="programmer", value=programmer, where=line.where)
    chip = given.get("-c", given.get("--chip", ""))
    if chip:
        yield Fact(key="asked_chip", value=chip, where=line.where)
    jobs = {_OPTIONS[name] for name, _ in options if name in _OPTIONS}
    usual = Job.PROBE if chip else Job.DETECT
    if len(jobs) <= 1:
        yield Fact(key="job", value=next(iter(jobs), usual), where=line.where)


def _split(words: list[str]) -> Iterator[tuple[str, str]]:
    """Yields each option with the word after it, which is its value if it takes one."""
    for at, word in enumerate(words):
        name, equals, value = word.partition("=")
        if word.startswith("--") and equals:
            yield name, value
        elif word.startswith("-"):
            yield word, words[at + 1] if at + 1 < len(words) else ""
