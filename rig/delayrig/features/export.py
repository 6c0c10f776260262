# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig export`, `trace` and `schema`: the rig's data for other tools."""

from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import click
import msgspec

from delayrig.base.atomic_file import json_document
from delayrig.base.errors import BadInputError, LostGuestError
from delayrig.cli.command import Decorator, RigCommand
from delayrig.decision.decision import FILE_NAME as GATE_FILE
from delayrig.decision.decision import Decision, read_decision
from delayrig.decision.request import BASELINE, CANDIDATE, rounds_of
from delayrig.features.latency.result import LatencyReport
from delayrig.features.proposal.steps import Proposal
from delayrig.features.survey.survey import Survey
from delayrig.features.threshold.answer import Answer
from delayrig.model.delays import read_delays
from delayrig.model.events import read_events
from delayrig.model.result import Results, read_results
from delayrig.present.formats.known import FORMATS, STDOUT, Wanted, wanted_formats
from delayrig.present.formats.report import Report, report_of_gate, report_of_run
from delayrig.present.trace.perfetto import as_perfetto
from delayrig.present.trace.timeline import timeline_of
from delayrig.present.trace.vcd import as_vcd

DIALECT = "https://json-schema.org/draft/2020-12/schema"
KINDS: dict[str, type[msgspec.Struct]] = {
    "results": Results,
    "gate": Decision,
    "latency": LatencyReport,
    "proposal": Proposal,
    "survey": Survey,
    "threshold": Answer,
}
"""The type of each JSON file that `rig/rig schema` describes."""
TRACE_FORMATS = {"perfetto": as_perfetto, "vcd": as_vcd}


def schema_of(name: str) -> dict[str, Any]:
    """Returns the schema of `NAME.json`, one of `KINDS`. It accepts only the current version."""
    kind = KINDS[name]
    defaults = {field.name: field.default for field in msgspec.structs.fields(kind)}
    version = defaults["schema"]
    schema = msgspec.json.schema(kind)
    definition = schema["$defs"][kind.__name__]
    definition["properties"]["schema"] = {"const": version}
    definition["required"] = ["schema", *definition.get("required", [])]
    return {
        "$schema": DIALECT,
        "$id": f"urn:flashrom-delay-rig:{name}:{version}",
        "title": f"{name}.json of the flashrom delay rig, version {version}",
        "$comment": "SPDX-License-Identifier: GPL-2.0-or-later",
        **schema,
    }


def schema_text(name: str) -> bytes:
    return json_document(schema_of(name))


def format_option(*, required: bool) -> Decorator:
    """Returns the option `--format FORMAT[:FILE]`, passed to the command as `formats`."""
    return click.option(
        "--format",
        "formats",
        multiple=True,
        required=required,
        metavar="FORMAT[:FILE]",
        help=f"Writes {', '.join(FORMATS)} to FILE or standard output; repeatable.",
    )


def speaks(wanted: list[Wanted]) -> bool:
    """Returns True if a format goes to standard output, so that nothing else may."""
    return any(each.file == STDOUT for each in wanted)


def write_formats(wanted: list[Wanted], report: Report) -> None:
    for each in wanted:
        each.write(report, lambda content: click.echo(content, nl=False))


@click.command(cls=RigCommand)
@click.argument("run_folder", metavar="RUN", type=click.Path(path_type=Path))
@format_option(required=True)
@click.option(
    "--source-root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="The tree that the subject was built from; sarif names files relative to it.",
)
def export(run_folder: Path, formats: tuple[str, ...], source_root: Path | None) -> None:
    """Writes the result of a run, or of a gate, in the formats of other tools.

    RUN is the --out folder of either. Exits 0 whatever the answer was.
    """
    wanted = wanted_formats(formats)
    write_formats(wanted, replace(read_report(run_folder), source_root=source_root))


def read_report(folder: Path) -> Report:
    if not (folder / GATE_FILE).is_file():
        return report_of_run(read_results(folder))
    decision = read_decision(folder)
    stored = decision.baseline.stored
    theirs = [Path(stored)] if stored else rounds_of(folder, BASELINE)
    runs = [read_results(run) for run in (*rounds_of(folder, CANDIDATE), *theirs)]
    return report_of_gate(decision, runs)


@click.command(cls=RigCommand)
@click.argument("events", metavar="CELL|EVENTS", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "kind",
    type=click.Choice(sorted(TRACE_FORMATS)),
    default="perfetto",
    show_default=True,
    help="For ui.perfetto.dev and chrome://tracing, or for waveform viewers such as GTKWave.",
)
@click.option(
    "-o", "--output", type=click.File("wb", atomic=True), default="-", help="File to write."
)
def trace(events: Path, kind: str, output: BinaryIO) -> None:
    """Writes the events of a cell as a timeline for a viewer.

    CELL is the folder of a cell in a run's --out folder, EVENTS a file of serprog-emu or of the
    dummy programmer. Requests, commands, busy times, waits, delays (of a CELL in a guest),
    violations and faults each have a track of their own. The timeline begins with the first of
    them.
    """
    try:
        timeline = timeline_of(read_events(events), read_delays(events))
    except LostGuestError as error:
        raise BadInputError(
            f"{events}: not events that can be shown: {error}",
            hint="name a cell's folder, or an events.jsonl",
        ) from error
    output.write(TRACE_FORMATS[kind](timeline))


@click.command(cls=RigCommand)
@click.argument("kind", type=click.Choice(sorted(KINDS)))
def schema(kind: str) -> None:
    """Prints the JSON Schema of a file that the rig writes."""
    click.echo(schema_text(kind), nl=False)
