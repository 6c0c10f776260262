# SPDX-License-Identifier: GPL-2.0-or-later
"""The formats by name, and the file of each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from delayrig.base.atomic_file import json_document, write_atomically
from delayrig.base.errors import BadInputError, UnknownNameError
from delayrig.present.formats import text
from delayrig.present.formats.junit import as_junit
from delayrig.present.formats.kcidb import as_kcidb
from delayrig.present.formats.report import Report
from delayrig.present.formats.sarif import as_sarif

STDOUT = "-"


def as_json(report: Report) -> bytes:
    """Returns `results.json` or `gate.json` itself; `rig/rig schema` prints its schema."""
    return json_document(report.document)


FORMATS: dict[str, Callable[[Report], bytes]] = {
    "junit": as_junit,
    "tap": text.as_tap,
    "json": as_json,
    "github": text.as_github,
    "markdown": text.as_markdown,
    "openmetrics": text.as_openmetrics,
    "gerrit": text.as_gerrit,
    "kcidb": as_kcidb,
    "sarif": as_sarif,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A format, and its file: `-` is standard output."""

    name: str
    file: str

    def write(self, report: Report, stdout: Callable[[bytes], object]) -> None:
        """Writes the report; raises `BadInputError` if that fails."""
        content = FORMATS[self.name](report)
        if self.file == STDOUT:
            stdout(content)
        else:
            write_atomically(Path(self.file), content)


def wanted_formats(words: Sequence[str]) -> list[Wanted]:
    """Parses each FORMAT[:FILE]; raises `BadInputError` for an unknown format or folder."""
    wanted = []
    for word in words:
        name, _, file = word.partition(":")
        if name not in FORMATS:
            raise UnknownNameError(
                f"--format {word}: unknown format {name!r}", name, FORMATS, what="formats"
            )
        if file and file != STDOUT and not Path(file).parent.is_dir():
            raise BadInputError(
                f"--format {word}: there is no folder {Path(file).parent}", hint="make it first"
            )
        wanted.append(Wanted(name=name, file=file or STDOUT))
    return wanted
