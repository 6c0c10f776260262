# SPDX-License-Identifier: GPL-2.0-or-later
"""The content of a table. `pages.page` and `console` draw it."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row. Its first value is its heading; `marks` become `data-` attributes for filters."""

    values: Sequence[str | Markup]
    marks: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table. Its caption says what it shows, also to users of screen readers.

    The columns of `figures` hold figures: aligned to the right, with digits of one width.
    """

    caption: str
    columns: Sequence[str]
    figures: Collection[str] = ()
    rows: Sequence[Row | Sequence[str | Markup]]

    def whole_rows(self) -> list[Row]:
        return [row if isinstance(row, Row) else Row(values=row) for row in self.rows]


def words_and_figures(
    caption: str, words: Sequence[str], figures: Sequence[str], rows: Iterable[Row | Sequence[str]]
) -> Table:
    return Table(caption=caption, columns=(*words, *figures), figures=figures, rows=list(rows))
