# SPDX-License-Identifier: GPL-2.0-or-later
"""Changes functions of the Python package in one place at a time, and checks that a test fails.

The program starts pytest with a plugin. First all tests run once, to record which functions they
call. Then each change gets a process, in which the code of the function is replaced and the tests
that call it run. No file is changed. Code outside functions is not changed.
"""

import argparse
import ast
import gc
import inspect
import os
import random
import signal
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

CHECKOUT = Path(__file__).resolve().parents[1]
MUTANT_LIMIT_S = 120
SWAPS: dict[type[ast.AST], str] = {
    getattr(ast, name): text
    for name, text in (
        *(("Eq", "!="), ("NotEq", "=="), ("Lt", "<="), ("LtE", "<"), ("Gt", ">="), ("GtE", ">")),
        *(("Is", "is not"), ("IsNot", "is"), ("In", "not in"), ("NotIn", "in")),
        *(("And", "or"), ("Or", "and"), ("Add", "-"), ("Sub", "+")),
        *(("Mult", "//"), ("FloorDiv", "*"), ("Div", "*")),
    )
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One change of a file: bytes `start` to `end` become `text`."""

    path: str
    line: int
    start: int
    end: int
    text: str

    def applied(self) -> bytes:
        """Returns the changed file."""
        source = (CHECKOUT / self.path).read_bytes()
        return source[: self.start] + self.text.encode() + source[self.end :]

    def shown(self) -> str:
        """Returns the place and the change in one line."""
        old = (CHECKOUT / self.path).read_bytes()[self.start : self.end].decode()
        return " ".join(f"{self.path}:{self.line}: {old} -> {self.text}".split())


class Source:
    """One file, with the places that can be changed."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.source = (CHECKOUT / path).read_bytes()
        rows = self.source.splitlines(keepends=True)
        self.starts = [sum(map(len, rows[:index])) for index in range(len(rows))]

    def mutants(self) -> Iterator[Mutant]:
        """Yields the changes of all functions in the file."""
        for node in ast.walk(ast.parse(self.source)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                for part in node.body:
                    yield from (
                        change for inner in ast.walk(part) for change in self.changes(inner)
                    )

    def changes(self, node: ast.AST) -> Iterator[Mutant]:
        """Yields the changes of a node: operators, a condition, a number, True, False, a result."""
        for before, operator, after in operations(node):
            yield self.swap(before, operator, after)
        match node:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                yield self.changed(node, f"bool({self.text(operand)})")
            case ast.If(test=test) | ast.IfExp(test=test):
                yield self.changed(test, f"not ({self.text(test)})")
            case ast.comprehension(ifs=tests):
                yield from (self.changed(test, "True") for test in tests)
            case ast.Constant(value=bool(value)):
                yield self.changed(node, str(not value))
            case ast.Constant(value=int(value) | float(value)):
                yield self.changed(node, str(value + 1))
            case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
                yield self.changed(value, "None")

    def swap(self, left: ast.expr, operator: ast.AST, right: ast.expr) -> Mutant:
        """Returns the change of the operator between two operands; keeps the parentheses there."""
        start, end = self.offsets(left)[1], self.offsets(right)[0]
        between = self.source[start:end].decode()
        closing = between[: between.rfind(")") + 1]
        _, bracket, opening = between[len(closing) :].partition("(")
        text = f"{closing} {SWAPS[type(operator)]} {bracket}{opening}"
        return Mutant(path=self.path, line=right.lineno, start=start, end=end, text=text)

    def changed(self, node: ast.expr, text: str) -> Mutant:
        """Returns the change of a whole expression."""
        start, end = self.offsets(node)
        return Mutant(path=self.path, line=node.lineno, start=start, end=end, text=f"({text})")

    def offsets(self, node: ast.expr) -> tuple[int, int]:
        """Returns where the expression begins and ends in the file."""
        last_line, last_column = node.end_lineno or 0, node.end_col_offset or 0
        return self.starts[node.lineno - 1] + node.col_offset, self.starts[
            last_line - 1
        ] + last_column

    def text(self, node: ast.expr) -> str:
        """Returns the source of the expression."""
        start, end = self.offsets(node)
        return self.source[start:end].decode()


def operations(node: ast.AST) -> Iterator[tuple[ast.expr, ast.AST, ast.expr]]:
    """Yields the operators of an expression, each between its operands."""
    match node:
        case ast.Compare(left=left, ops=operators, comparators=rights):
            pairs = pairwise([left, *rights])
            yield from ((a, op, b) for (a, b), op in zip(pairs, operators, strict=True))
        case ast.BoolOp(op=operator, values=values):
            yield from ((a, operator, b) for a, b in pairwise(values))
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in SWAPS:
            yield left, operator, right


def codes_in(code: CodeType) -> dict[tuple[str, int], CodeType]:
    """Returns the functions of a module or function by name and line."""
    found = {}
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            found[inner.co_qualname, inner.co_firstlineno] = inner
            found.update(codes_in(inner))
    return found


def changed_code(mutant: Mutant) -> tuple[CodeType, CodeType] | None:
    """Returns the outermost function that differs, before and after; None if there is none."""
    path = CHECKOUT / mutant.path
    try:
        after = codes_in(compile(mutant.applied(), str(path), "exec", dont_inherit=True))
    except SyntaxError:
        return None
    before = codes_in(compile(path.read_bytes(), str(path), "exec", dont_inherit=True))
    differing = [key for key, code in before.items() if key in after and after[key] != code]
    is_function = (key for key in differing if before[key].co_flags & inspect.CO_OPTIMIZED)
    outermost = [key for key in is_function if "<" not in key[0]]
    return (before[outermost[0]], after[outermost[0]]) if outermost else None


class Plugin:
    """A plugin that runs the tests once to record calls, then some of them for each change."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.folders = tuple(f"{CHECKOUT / folder}/" for folder in options.folder)
        self.callers: dict[CodeType, dict[pytest.Item, float]] = defaultdict(dict)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Replaces pytest's own loop."""
        self.learn(session.items)
        tried, survived = Counter[str](), Counter[str]()
        for mutant, old, new in self.drawn():
            package = str(Path(mutant.path).parent)
            tried[package] += 1
            if self.survives(old, new):
                survived[package] += 1
                print(mutant.shown(), flush=True)
        for package, count in sorted(tried.items()):
            killed = count - survived[package]
            print(f"{package}: {killed} of {count} killed, {100 * killed / count:.1f} %")
        return True

    def learn(self, items: list[pytest.Item]) -> None:
        """Runs each test; records the functions that it calls and its duration."""
        calls = set[CodeType]()

        def record(frame: FrameType, event: str, _argument: Any) -> None:
            if event == "call" and frame.f_code.co_filename.startswith(self.folders):
                calls.add(frame.f_code)

        for item, following in zip(items, [*items[1:], None], strict=True):
            calls.clear()
            began_s = time.monotonic()
            threading.setprofile(record)
            sys.setprofile(record)
            reports = runtestprotocol(item, nextitem=following, log=False)
            sys.setprofile(None)
            took_s = time.monotonic() - began_s
            if any(report.failed for report in reports):
                sys.exit(f"{item.nodeid} fails without a change")
            for code in calls:
                self.callers[code][item] = took_s

    def drawn(self) -> Iterator[tuple[Mutant, CodeType, CodeType]]:
        """Yields the requested number of changes, drawn from all or from earlier survivors."""
        paths = [path for folder in self.folders for path in sorted(Path(folder).rglob("*.py"))]
        found = [m for path in paths for m in Source(str(path.relative_to(CHECKOUT))).mutants()]
        random.Random(self.options.seed).shuffle(found)
        names = self.options.survivors.read_text().splitlines() if self.options.survivors else ()
        count = 0
        for mutant in dict.fromkeys(found):
            if names and mutant.shown() not in names:
                continue
            codes = changed_code(mutant)
            if count < self.options.count and codes is not None:
                count += 1
                yield mutant, *codes

    def survives(self, old: CodeType, new: CodeType) -> bool:
        """Returns True if no test that calls the function fails, in a fork, with its new code."""
        tests = self.callers.get(old)
        if not tests:
            return True
        child = os.fork()
        if child == 0:
            quiet = os.open(os.devnull, os.O_WRONLY)
            os.dup2(quiet, 1)
            os.dup2(quiet, 2)
            os._exit(fails(old, new, sorted(tests, key=lambda test: tests[test])))
        signal.signal(signal.SIGALRM, lambda *_: os.kill(child, signal.SIGKILL))
        signal.alarm(MUTANT_LIMIT_S)
        _, status = os.waitpid(child, 0)
        signal.alarm(0)
        return status == 0


def fails(old: CodeType, new: CodeType, tests: list[pytest.Item]) -> int:
    """Replaces the code, and runs the tests; returns 1 if one fails, else 0."""
    for function in gc.get_objects():
        if isinstance(function, FunctionType) and function.__code__ == old:
            function.__code__ = new
    for test, following in zip(tests, [*tests[1:], None], strict=True):
        if any(report.failed for report in runtestprotocol(test, nextitem=following, log=False)):
            return 1
    return 0


def main() -> int:
    """Starts pytest with the plugin."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="+", help="a folder of the package")
    parser.add_argument(
        "--tests", nargs="+", default=["tests/rig"], help="files or folders of tests"
    )
    parser.add_argument("--count", type=int, default=300, help="how many changes are tried")
    parser.add_argument("--seed", type=int, default=1, help="draws other changes")
    about = "the output of an earlier run: only the changes that it names are tried"
    parser.add_argument("--survivors", type=Path, help=about)
    options = parser.parse_args()
    words = ("-c", "rig/pyproject.toml", "--rootdir", ".", "-q", "-s", "--quick")
    return int(pytest.main([*words, *options.tests], plugins=[Plugin(options)]))


if __name__ == "__main__":
    sys.exit(main())
