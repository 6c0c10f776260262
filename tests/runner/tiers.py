# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints the layers and tests that differ between the tiers, by the marks of the tests.

.rig/venv/bin/python -m tests.runner.tiers
"""

import contextlib
import io
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.runner.layers import FUZZ_SHARE, LAYERS
from tests.runner.places import find_places

LONG, BOUNDS = "long", "bounds"
HEAD = "# tests: two tiers\n"


class Collector:
    """A plugin of pytest that keeps the tests."""

    def __init__(self) -> None:
        self.items: list[pytest.Item] = []

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Keeps the tests that pytest found."""
        self.items = session.items


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """The marks of one test."""

    test: str
    """The name of the test, or of its file if the whole file is marked."""
    reasons: tuple[str, ...]
    """The reasons why the test or some of its cases are long."""
    bounds: Mapping[str, tuple[int, int]]
    """Two bounds by name: in the quick tier, and with `--all`."""


def marked_tests(checkout: Path) -> list[Marked]:
    """Returns the tests that differ between the tiers, in the order of their files."""
    reasons: dict[str, dict[str, None]] = {}
    bounds: dict[str, Mapping[str, tuple[int, int]]] = {}
    for item in collected(checkout):
        for node, mark in item.iter_markers_with_node():
            name = node.nodeid.partition("[")[0]
            if mark.name == LONG:
                reasons.setdefault(name, {})[mark.args[0]] = None
            elif mark.name == BOUNDS:
                bounds[name] = mark.kwargs
    return [
        Marked(test=name, reasons=tuple(reasons.get(name, ())), bounds=bounds.get(name, {}))
        for name in reasons | bounds
    ]


def collected(checkout: Path) -> list[pytest.Item]:
    """Returns all tests of the checkout."""
    collector, output = Collector(), io.StringIO()
    words = ["-c", "rig/pyproject.toml", "--rootdir", str(checkout), "--collect-only"]
    words += ["-o", f"pythonpath={checkout / 'rig'}"]
    with contextlib.chdir(checkout), contextlib.redirect_stdout(output):
        code = pytest.main([*words, "tests"], plugins=[collector])
    if code != pytest.ExitCode.OK:
        sys.exit(output.getvalue())
    return collector.items


def page_text(checkout: Path) -> str:
    """Returns the differences between the tiers as Markdown."""
    found = marked_tests(checkout)
    parts = (_layer_lines(), _long_lines(found), _bound_lines(found))
    return "\n".join([HEAD, *(line for part in parts for line in (*part, ""))])


def _layer_lines() -> Iterator[str]:
    yield "| layer | what | quick | `--all` |"
    yield "|---|---|---|---|"
    for name, layer in LAYERS.items():
        quick = "yes" if layer.is_quick else "no"
        yield f"| `{name}` | {layer.about} | {quick} | yes |"


def _long_lines(found: list[Marked]) -> Iterator[str]:
    yield "## Only with `--all`"
    yield ""
    yield "| test, or some of its cases | why it can wait; what the quick tier has instead |"
    yield "|---|---|"
    yield "| `plain`: all | the sanitizers run the same tests on the same code |"
    for each in found:
        for reason in each.reasons:
            yield f"| `{each.test}` | {reason} |"


def _bound_lines(found: list[Marked]) -> Iterator[str]:
    yield "## Shorter in the quick tier"
    yield ""
    yield "| test | what | quick | `--all` |"
    yield "|---|---|---|---|"
    yield f"| `fuzz`: all targets | part of a minute's executions | {FUZZ_SHARE} | 1 |"
    for each in found:
        for name, (quick, whole) in each.bounds.items():
            yield f"| `{each.test}` | {name} | {quick} | {whole} |"


if __name__ == "__main__":
    print(page_text(find_places().checkout))
