# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures measured by others (proposal.toml), to compare with ours."""

from functools import cache
from pathlib import Path

import msgspec

from delayrig.base.toml import read_toml

FILE = Path(__file__).with_name("proposal.toml")
KEYS = {
    ("nop", 0): "nop",
    ("sched_yield", 0): "sched_yield",
    ("nanosleep", 1_000): "nanosleep_1us",
    ("nanosleep", 100_000): "nanosleep_100us",
}
"""The name of each test, by wait and length in ns."""
Figures = dict[str, tuple[float, float, float]]
"""Mean, least and most in microseconds, by the tests' keys."""


class Source(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    source: str
    method: str
    resolution_ns: int


class ProposalMachine(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: str
    about: str
    normal: Figures
    fifo: Figures


class Growth(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    source: str
    note: str
    sleep_ms: list[int]
    late_us: list[float]


class Proposal(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    schema: int
    proposal: Source
    machine: list[ProposalMachine]
    growth: list[Growth]


@cache
def read_proposal() -> Proposal:
    return read_toml(FILE, Proposal)
