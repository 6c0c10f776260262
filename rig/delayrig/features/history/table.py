# SPDX-License-Identifier: GPL-2.0-or-later
"""A history as one table with a row for each cell, for other tools: Parquet and CSV."""

import io
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

import pyarrow as pa
from pyarrow import csv, parquet

from delayrig.base.atomic_file import write_atomically
from delayrig.features.history.schema import Base, CellRow, RunRow

RUN = "run_"
"""The prefix of the run's columns, because run and cell both have a `lane`."""
GATE = {
    "gate": pa.int64(),
    "gate_side": pa.string(),
    "gate_round": pa.int64(),
    "gate_outcome": pa.string(),
}
TYPES = {bool: pa.bool_(), float: pa.float64(), int: pa.int64(), str: pa.string()}


class TableFormat(StrEnum):
    PARQUET = "parquet"
    CSV = "csv"


def table_of(runs: Sequence[RunRow]) -> pa.Table:
    """Returns a table with the cells of each run, in the given order."""
    of_run, of_cell = _types(RunRow), _types(CellRow)
    del of_run["id"]
    types = {**{f"{RUN}{name}": kind for name, kind in of_run.items()}, **of_cell, **GATE}
    rows = [
        [getattr(run, name) for name in of_run]
        + [getattr(cell, name) for name in of_cell]
        + [getattr(run.gate, name.removeprefix("gate_"), None) for name in GATE]
        for run in runs
        for cell in run.cells
    ]
    return pa.Table.from_pylist(
        [dict(zip(types, row, strict=True)) for row in rows], schema=pa.schema(types)
    )


def _types(kind: type[Base]) -> dict[str, pa.DataType]:
    """Returns the type of each column."""
    return {column.name: TYPES[column.type.python_type] for column in kind.__table__.columns}


def write_table(table: pa.Table, form: TableFormat, file: Path) -> None:
    """Writes the file; if that fails, the old file stays and `BadInputError` is raised."""
    sink = io.BytesIO()
    if form is TableFormat.PARQUET:
        parquet.write_table(table, sink, compression="zstd")
    else:  # CSV quotes texts and writes nothing for null, so an empty text differs from null.
        csv.write_csv(table, sink)
    write_atomically(file, sink.getvalue())
