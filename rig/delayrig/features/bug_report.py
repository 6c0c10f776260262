# SPDX-License-Identifier: GPL-2.0-or-later
"""The command `rig/rig bug-report`, and the text that it writes.

The text is Markdown. It leaves out the names of this machine and its user, and the folders of files
outside `KEPT_FOLDERS`.
"""

import getpass
import glob
import os
import platform
import re
import shlex
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

import click
import msgspec

from delayrig.base.atomic_file import write_atomically
from delayrig.base.errors import BadInputError
from delayrig.base.text import one_line, plain
from delayrig.cli.command import RigCommand
from delayrig.cli.option_types import CELL
from delayrig.decision.choice import delay_options_of, find_in_run, kept_cell, run_below
from delayrig.decision.decision import FILE_NAME as GATE
from delayrig.decision.shrink import plan_of, stripped
from delayrig.features.export import read_report
from delayrig.features.report.source import read_sources, told_by_events, with_facts
from delayrig.model.cell import Cell, Role
from delayrig.model.delays import read_delays
from delayrig.model.events import read_events
from delayrig.model.result import FILE_NAME as RESULTS
from delayrig.model.result import UNSAFE, Verdict, read_results
from delayrig.plan.from_flags import plan_text, words_of_cell
from delayrig.present.formats.report import Case, Report
from delayrig.present.formats.text import escaped, table
from delayrig.present.trace.perfetto import as_perfetto
from delayrig.present.trace.timeline import timeline_of
from delayrig.run.resume import FILE_NAME as BEGUN
from delayrig.subjects.git_tree import PREFIX as GIT_PREFIX
from delayrig.subjects.git_tree import is_uncommitted
from delayrig.subjects.subject import PATH_PREFIX

ABOUT = "The cell of this report"
PLAN = "cell.toml"
CELL_NAME = "reported"
TREE = "DIR"
KEPT_FOLDERS = ("/dev/", "/proc/", "/sys/", "/usr/")
NAME_CHARS_MIN = 3
"""The length of the shortest name that is replaced. A shorter one may be a common word."""
COMMON = ("root", "localhost", "debian", "bundled", "flashrom", "host", "user")
"""Names that identify nobody, or that a report needs."""
_PATH = re.compile(r"(?<![\w./<-])(?:~|\.\.?)?/(?:[^\s/'\"`,;:()\[\]\\]+/)*[^\s/'\"`,;:()\[\]\\]+")
NAME = "bug-report"
EVENTS = "events.jsonl"
ATTACHED = (".png", ".json")
"""The suffixes of the timeline and of the events beside the report."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """A cell of a run or a gate, with everything that its bug report needs."""

    report: Report
    case: Case
    cell: Cell
    picture: Path | None
    """The timeline beside the report; None if the cell has no events."""
    trace: Path | None

    @property
    def line(self) -> str:
        """Returns the command that runs the cell again, if need be with the work tree in DIR."""
        local = is_uncommitted(self.cell.subject)
        subject = GIT_PREFIX if local else self.cell.subject
        if self.is_in_flags:
            words = words_of_cell(msgspec.structs.replace(self.cell, subject=subject))
        else:
            words = ["run", "--plan", PLAN, "--seed", str(self.cell.seed)]
            words += ["--subject", subject] if subject.startswith(GIT_PREFIX) else []
        words += ["--tree", TREE] if local else []
        words += delay_options_of(self.case.cell.rerun).words
        return shlex.join(["rig/rig", *(_short(word) for word in words)])

    @property
    def paths(self) -> list[str]:
        """Returns the path of the subject's program, if it is a path."""
        prefix, _, path = self.cell.subject.partition(PATH_PREFIX)
        return [] if prefix or "/" not in path else [path]

    @property
    def is_in_flags(self) -> bool:
        """Returns True if flags of `try` describe the cell. Its deadline counts only if it hung."""
        needs_deadline = self.case.cell.verdict is Verdict.HUNG and self.cell.deadline_ms
        return not (self.cell.content_bytes or self.cell.pin or needs_deadline)

    @property
    def headline(self) -> str:
        cell = self.case.cell
        version = f" ({cell.subject.version})" if cell.subject.version else ""
        subject = _short(cell.subject.name)
        return f"{subject}{version}: {cell.verdict.replace('_', ' ')}, {cell.job} of a {cell.chip}"


def text_of(reported: Reported) -> str:
    paths = reported.paths
    before, line, after = "\n\n".join(_parts(reported)).partition(reported.line)
    return neutral(before, paths) + line + neutral(after, paths) + "\n"


def _parts(reported: Reported) -> Iterator[str]:
    cell = reported.case.cell
    yield f"# {escaped(reported.headline)}"
    yield f"**{escaped(reported.report.lines[0])}**"
    yield escaped(cell.reason)
    if reported.case.evidence:
        yield "\n".join(f"    {one_line(plain(each))}" for each in reported.case.evidence)
    yield "## Run it again"
    yield f"    {reported.line}"
    if not reported.is_in_flags:
        yield f"with this `{PLAN}`:"
        short = _short(reported.cell.subject)
        single = msgspec.structs.replace(stripped(reported.cell), name=CELL_NAME, subject=short)
        plan = plan_of(single, ABOUT)
        if short.startswith(GIT_PREFIX):
            # A plan cannot take sources from a tree; --subject does.
            plan = msgspec.structs.replace(plan, subjects=[])
        lines = plan_text(plan).splitlines()
        yield "\n".join(f"    {line}".rstrip() for line in lines)
    yield _needs(reported)
    if reported.picture is not None:
        yield "## Timeline"
        yield f"![The commands to the chip, and its busy times]({reported.picture.name})"
    yield "## Where it was seen"
    yield table(("", ""), list(_facts(reported)))
    if reported.trace is not None:
        yield "## Attached"
        yield f"`{reported.trace.name}`: all events of the cell, for ui.perfetto.dev."


def _needs(reported: Reported) -> str:
    run, subject = reported.report.run, reported.case.cell.subject
    text = f"This needs the flashrom delay rig {run.rig_version} (commit {run.commit})"
    if subject.name.startswith(PATH_PREFIX):
        text += f", and the program of SHA-256 {subject.sha256}"
    if is_uncommitted(subject.name):
        text += (
            f", and in {TREE} the sources of that flashrom. They are in no commit: attach their"
            " changes (`git diff HEAD`, and new files), and say to which commit they apply"
        )
    return f"{text}."


def _facts(reported: Reported) -> Iterator[tuple[str, str]]:
    cell, run = reported.case.cell, reported.report.run
    speeds = ":".join(f"{mips:g}" for mips in cell.guest.mips) or "those of this machine"
    facts = {
        "flashrom": f"{cell.subject.name} {cell.subject.version}, SHA-256 {cell.subject.sha256}",
        "machine": f"{cell.guest.arch}; cores: {cell.guest.cores}; MIPS: {speeds}",
        "kernel": cell.guest.kernel,
        "hazards": "+".join(cell.hazards) or "none",
        "part": f"{cell.chip}, its times at {cell.corner}",
        "programmer": cell.programmer,
        "job": f"{cell.job} of {cell.region_bytes >> 10} KiB, seed {reported.cell.seed}",
        "lane": f"{cell.lane}; {run.qemu_version}",
    }
    yield from ((key, escaped(value)) for key, value in facts.items() if value)


def _short(word: str) -> str:
    """Returns a subject's name without the folder of its program."""
    if not word.startswith(PATH_PREFIX):
        return word
    return f"{PATH_PREFIX}./{Path(word.removeprefix(PATH_PREFIX)).name}"


def neutral(text: str, paths: Iterable[str] = ()) -> str:
    """Returns the text without names, and with only the last part of paths outside `KEPT_FOLDERS`.

    `paths` are known paths in the text. They may contain characters at which `_PATH` ends.
    """
    for path in sorted(filter(None, paths), key=len, reverse=True):
        text = text.replace(path, f"./{PurePath(path).name}")

    def last_part(path: re.Match[str]) -> str:
        return path[0] if path[0].startswith(KEPT_FOLDERS) else f"./{PurePath(path[0]).name}"

    text = _PATH.sub(last_part, text)
    for name, instead in _names().items():
        text = re.sub(rf"\b{re.escape(name)}\b", instead, text)
    return text


def _names() -> dict[str, str]:
    """Returns the names of this machine and of its user, each with its replacement."""
    host = platform.node()
    users = [os.environ.get("SUDO_USER", "")]
    # A container's user may have no name and no home.
    with suppress(KeyError, OSError):
        users.append(getpass.getuser())
    with suppress(RuntimeError):
        users.append(Path.home().name)
    names = {
        **dict.fromkeys((host, host.partition(".")[0]), "HOST"),
        **dict.fromkeys(users, "USER"),
    }
    return {
        name: instead
        for name, instead in names.items()
        if len(name) >= NAME_CHARS_MIN and name.lower() not in COMMON
    }


@click.command(NAME, cls=RigCommand)
@click.argument("run_folder", metavar="OUT", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--cell",
    type=CELL,
    metavar="CELL",
    help="A part of a cell's id that no other one has.  [default: the first conviction]",
)
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE.md",
    help=f"Where the report goes.  [default: {NAME}.md in OUT]",
)
def bug_report(run_folder: Path, cell: str | None, out: Path | None) -> None:
    """Writes a report of a convicted cell of OUT, for those who maintain the flashrom.

    OUT is the --out folder of a run or a gate. The report is a Markdown file: what happened, the
    line that runs it again, where it was seen. Beside it, under the same name, are the timeline as
    a PNG and all events as JSON. Paths of this machine, its name and its user's are left out.
    """
    place = out or run_folder / f"{NAME}.md"
    if not place.parent.is_dir():
        raise BadInputError(
            f"--out {place}: there is no folder {place.parent}", hint="make it first"
        )
    for attached in map(place.with_suffix, ATTACHED):
        if attached == place or attached.name in (RESULTS, GATE, BEGUN):
            raise BadInputError(
                f"--out {place}: {attached} would be replaced",
                hint=f"name it {NAME}.md, for example",
            )
    run, found = find_in_run(run_below(run_folder), cell)
    reported = _reported(run_folder, run, found, place, is_chosen=cell is not None)
    if reported.picture and reported.trace:
        _write_attached(run, reported, reported.picture, reported.trace)
    write_atomically(place, text_of(reported).encode())
    click.echo(reported.line)
    for file in (place, reported.picture, reported.trace):
        if file is not None:
            click.echo(f"  {file}")


def _reported(run_folder: Path, run: Path, found: str, place: Path, *, is_chosen: bool) -> Reported:
    report = read_report(run_below(run_folder))
    result = next(each for each in read_results(run).cells if each.id == found)
    if not is_chosen and result.verdict not in UNSAFE:
        raise BadInputError(
            f"{run_folder}: no cell was convicted", hint="name one with --cell to report it anyway"
        )
    if result.role == Role.FLOOR:
        raise BadInputError(
            f"{found}: is a floor, in which no flashrom runs", hint="name another cell with --cell"
        )
    cell = kept_cell(run, found)
    if cell is None:
        raise BadInputError(
            f"{run / found}: has no cell.json of this rig",
            hint="run the cell again, then report it",
        )
    case = next((each for each in report.cases if each.id == found), None)
    if case is None:
        raise BadInputError(
            f"{run_folder}: the gate did not decide {found}", hint="name a cell of the candidate's"
        )
    has_events = bool(result.events_sha256) and (run / found / EVENTS).is_file()
    return Reported(
        report=report,
        case=replace(case, cell=result),
        cell=cell,
        picture=place.with_suffix(".png") if has_events else None,
        trace=place.with_suffix(".json") if has_events else None,
    )


def _write_attached(run: Path, reported: Reported, picture: Path, trace: Path) -> None:
    """Writes the timeline as a picture, and the events for a viewer."""
    # matplotlib loads slowly, so only commands that draw load it.
    from delayrig.features.report.timelines import timeline_picture

    found = reported.case.id
    sources = read_sources((run,))
    only = [(run, each) for run, each in told_by_events(sources) if each.id == found]
    sources = with_facts(sources, jobs=1, done=lambda: None, only=only)
    write_atomically(picture, timeline_picture(sources, [glob.escape(found)]).png_file())
    timeline = timeline_of(read_events(run / found), read_delays(run / found))
    write_atomically(trace, neutral(as_perfetto(timeline).decode(), reported.paths).encode())
