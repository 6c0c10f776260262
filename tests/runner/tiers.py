# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints the layers and tests that differ between the tiers, from the tests' own marks.

.rig/venv/bin/python -m tests.runner.tiers
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.runner.layers import FUZZ_SHARE, LAYERS
from tests.runner.places import find_places

LONG, BOUNDS = "long", "bounds"
HEAD = "# tests: two tiers\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """The marks of one test."""

    test: str
    reasons: tuple[str, ...]
    """The reasons why the test or some of its cases are long."""
    bounds: Mapping[str, tuple[int, int]]
    """Two bounds by name: in the quick tier, and with `--all`."""


def marked_tests(checkout: Path) -> Iterator[Marked]:
    """Yields the tests that differ between the tiers, in the order of their files."""
    for file in sorted((checkout / "tests").rglob("test_*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        name = str(file.relative_to(checkout))
        yield from (found for found in _marked_in(name, tree) if found.reasons or found.bounds)


def _marked_in(file: str, tree: ast.Module) -> Iterator[Marked]:
    shared = {
        node.targets[0].id: reason
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        for reason in _reasons(node.value, {})
    }
    if "pytestmark" in shared:
        yield Marked(test=file, reasons=(shared["pytestmark"],), bounds={})
    constants = {
        node.targets[0].id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            marks = ast.Tuple(elts=node.decorator_list)
            yield Marked(
                test=f"{file}::{node.name}",
                reasons=tuple(_reasons(marks, shared)),
                bounds=dict(_bounds(marks, constants)),
            )


def _reasons(node: ast.AST, shared: Mapping[str, str]) -> Iterator[str]:
    for each in ast.walk(node):
        if isinstance(each, ast.Call) and _is_mark(each.func, LONG):
            yield str(ast.literal_eval(each.args[0]))
        elif isinstance(each, ast.Name) and each.id in shared:
            yield shared[each.id]


def _bounds(
    node: ast.AST, constants: Mapping[str, ast.expr]
) -> Iterator[tuple[str, tuple[int, int]]]:
    for each in ast.walk(node):
        if isinstance(each, ast.Call) and _is_mark(each.func, BOUNDS):
            for word in each.keywords:
                value = word.value
                if isinstance(value, ast.Name):
                    value = constants[value.id]
                yield str(word.arg), ast.literal_eval(value)


def _is_mark(node: ast.expr, name: str) -> bool:
    return ast.unparse(node) == f"pytest.mark.{name}"


def page_text(checkout: Path) -> str:
    """Returns all that differs between the tiers, as Markdown."""
    found = list(marked_tests(checkout))
    return "\n".join(
        [
            HEAD,
            *_layer_lines(),
            "",
            *_long_lines(found),
            "",
            *_bound_lines(found),
            "",
        ]
    )


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
        for reason in dict.fromkeys(each.reasons):
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
