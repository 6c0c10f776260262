# SPDX-License-Identifier: GPL-2.0-or-later
"""A history as one table with a row for each cell, for other tools: Parquet and CSV."""

import io
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

import pyarrow as pa
from pyarrow import csv, parquet
from sqlalchemy import BigInteger, Boolean, Float, Integer
from sqlalchemy.orm import Mapper, class_mapper

from delayrig.base.atomic_file import write_atomically
from delayrig.features.history.schema import CellRow, RunRow
from delayrig.features.history.store import Entry

RUN = "run_"
"""The prefix of the run's columns, because run and cell both have a `lane`."""
GATE = ("gate", "gate_side", "gate_round", "gate_outcome")


class TableFormat(StrEnum):
    PARQUET = "parquet"
    CSV = "csv"


def table_of(entries: Sequence[Entry]) -> pa.Table:
    """Returns a table with the cells of each run, in the given order."""
    of_run = [name for name in _names(RunRow) if name != "id"]
    rows = [
        {f"{RUN}{name}": getattr(entry.run, name) for name in of_run}
        | {name: getattr(cell, name) for name in _names(CellRow)}
        | _of_gate(entry)
        for entry in entries
        for cell in entry.cells
    ]
    return pa.Table.from_pylist(rows, schema=_schema())


def write_table(table: pa.Table, form: TableFormat, file: Path) -> None:
    """Writes the file; if that fails, the old file stays and `BadInputError` is raised."""
    sink = io.BytesIO()
    if form is TableFormat.PARQUET:
        parquet.write_table(table, sink, compression="zstd")
    else:  # CSV quotes texts and writes nothing for null, so an empty text differs from null.
        csv.write_csv(table, sink)
    write_atomically(file, sink.getvalue())


def _of_gate(entry: Entry) -> dict[str, object]:
    gate = entry.gate
    values = (gate.gate, gate.side, gate.round, entry.outcome) if gate else (None,) * len(GATE)
    return dict(zip(GATE, values, strict=True))


def _names(kind: type[CellRow] | type[RunRow]) -> list[str]:
    mapper: Mapper[CellRow | RunRow] = class_mapper(kind)
    return [column.key for column in mapper.columns]


def _schema() -> pa.Schema:
    run = [(f"{RUN}{c.key}", _type(c.type)) for c in class_mapper(RunRow).columns if c.key != "id"]
    cell = [(column.key, _type(column.type)) for column in class_mapper(CellRow).columns]
    gate = zip(GATE, (pa.int64(), pa.string(), pa.int64(), pa.string()), strict=True)
    return pa.schema([*run, *cell, *gate])


def _type(kind: object) -> pa.DataType:
    match kind:
        case Boolean():
            return pa.bool_()
        case Float():
            return pa.float64()
        case Integer() | BigInteger():
            return pa.int64()
        case _:
            return pa.string()
