# SPDX-License-Identifier: GPL-2.0-or-later
"""Which runs of a history are asked for."""

import datetime as dt
import re
from dataclasses import dataclass

from sqlalchemy import ColumnElement, exists

from delayrig.analysis.history.schema import CellRow, RunRow
from delayrig.base.errors import BadInputError

AGO = re.compile(r"(\d{1,6})([hdw])")
UNITS = {"h": "hours", "d": "days", "w": "weeks"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What is left out is no condition."""

    numbers: tuple[int, ...] = ()
    subject: str = ""
    plan: str = ""
    lane: str = ""
    since: str = ""
    before: str = ""
    limit: int | None = None
    """That many of the newest."""

    def conditions(self) -> list[ColumnElement[bool]]:
        mine = (CellRow.run == RunRow.id) & (CellRow.subject == self.subject)
        all_known = (
            (self.numbers, RunRow.id.in_(self.numbers)),
            (self.subject, exists().where(mine)),
            (self.plan, RunRow.plan == self.plan),
            (self.lane, RunRow.lane == self.lane),
            (self.since, RunRow.started >= self.since),
            (self.before, RunRow.started < self.before),
        )
        return [condition for given, condition in all_known if given]


def moment(text: str, now: dt.datetime, *, option: str) -> str:
    """A date, a time, or how long ago, as runs tell it; raises `BadInputError`."""
    ago = AGO.fullmatch(text)
    try:
        if ago:
            found = now - dt.timedelta(**{UNITS[ago[2]]: int(ago[1])})
        elif not (found := dt.datetime.fromisoformat(text)).tzinfo:
            found = found.replace(tzinfo=dt.UTC)
        return found.astimezone(dt.UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError) as error:
        raise BadInputError(
            f"{option} {text}: {error}",
            hint="give a date (2026-01-31), a time of UTC (2026-01-31T12:00), or 12h, 7d, 8w ago",
        ) from error
