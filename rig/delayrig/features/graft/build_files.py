# SPDX-License-Identifier: GPL-2.0-or-later
"""The edits of build files: they add a source beside another one, and an option with its default.

Meson's own parser reads a meson.build, and the text is changed at the positions of its nodes. The
old source may be in a list, in a condition, or in a variable that a list uses elsewhere. The new
source is put where every system builds it. A Makefile is edited line by line.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from mesonbuild import mparser

from delayrig.base.errors import BadInputError

Node = Any
"""A node of `mesonbuild.mparser`, which has no types."""
CONDITIONS = (mparser.IfClauseNode, mparser.ForeachClauseNode, mparser.TernaryNode)
TAKES_SOURCES = {
    "files",
    "library",
    "shared_library",
    "static_library",
    "both_libraries",
    "executable",
    "declare_dependency",
}
CONDITION_BEGINS = re.compile(r"\s*(?:ifn?eq|ifn?def)\b")
CONDITION_ENDS = re.compile(r"\s*endif\b")
LIST = re.compile(r"\s*(\w+)\s*(?:\+|\?|::?)?=")


class UnknownBuildError(BadInputError):
    """A build file cannot be read or edited; the message begins with its name in the tree."""


@dataclass(frozen=True, slots=True)
class Place:
    """A node, and the nodes around it, the outermost first."""

    outer: tuple[Node, ...]
    node: Node

    @property
    def statement(self) -> Node:
        """Returns the outermost statement around the node."""
        return self.outer[1] if len(self.outer) > 1 else self.node

    @property
    def is_conditional(self) -> bool:
        return any(isinstance(node, CONDITIONS) for node in self.outer)

    @property
    def assignment(self) -> Node | None:
        """Returns the innermost assignment whose value contains the node."""
        kind = mparser.AssignmentNode
        return next((node for node in reversed(self.outer) if isinstance(node, kind)), None)

    @property
    def call(self) -> Node | None:
        """Returns the list, or call that takes sources, with the node as an argument; else None."""
        if len(self.outer) < 2 or not isinstance(self.outer[-1], mparser.ArgumentNode):
            return None
        owner = self.outer[-2]
        takes = isinstance(owner, mparser.FunctionNode) and owner.func_name.value in TAKES_SOURCES
        return owner if takes or isinstance(owner, mparser.ArrayNode) else None

    @property
    def is_keyword(self) -> bool:
        return self.call is not None and self.node not in self.outer[-1].arguments


class MesonSource:
    """A parsed meson.build. Raises `UnknownBuildError` if meson cannot parse it."""

    def __init__(self, path: str, text: str) -> None:
        self.path, self.text = path, text
        try:
            self._places = list(_walk(mparser.Parser(text, path).parse(), ()))
        except mparser.ParseException as error:
            raise UnknownBuildError(
                f"{path}: meson cannot read line {error.lineno}",
                hint=f"`meson setup` there says more: {str(error).splitlines()[0]}",
            ) from error

    def names(self, source: str) -> bool:
        """Returns True if one of the strings is exactly that name."""
        return any(True for _ in self._strings(source))

    def mentions(self, word: str) -> bool:
        """Returns True if one of the strings contains the word."""
        return any(
            word in place.node.value
            for place in self._places
            if isinstance(place.node, mparser.StringNode)
        )

    def with_source(self, old: str, new: str) -> str:
        """Returns the text with `new` added near `old`, at a place that every system builds."""
        place = next(self._strings(old))
        assigned = place.assignment
        if place.call is not None and not place.is_conditional and not self._varies(assigned):
            return self._before_argument(place, f"'{new}'")
        if isinstance(assigned, mparser.PlusAssignmentNode):
            return self._before_statement(
                place, f"{assigned.var_name.value} += {_as_written(place, new)}"
            )
        if assigned is None:
            raise self._unknown(old)
        return self._at_use(self._use_of(assigned.var_name.value, old), _as_written(place, new))

    def with_line_after_project(self, line: str) -> str:
        project = next(self._functions("project"), None)
        if project is None:
            raise UnknownBuildError(
                f"{self.path}: looked for project(), and found none",
                hint="take a tree that meson builds",
            )
        at = self.text.find("\n", project.node.rpar.bytespan[1]) + 1 or len(self.text)
        return self.text[:at] + line + self.text[at:]

    def with_option_default(self, option: str, value: int) -> str | None:
        """Returns the text with that default, or None if it has no such option."""
        for place in self._functions("option"):
            arguments = place.node.args
            if [node.value for node in arguments.arguments] != [option]:
                continue
            old = arguments.get_kwarg_or_default("value", None)
            if isinstance(old, mparser.NumberNode):
                return self._replaced(old, str(value))
            if isinstance(old, mparser.StringNode):
                return self._replaced(old, f"'{value}'")
            raise UnknownBuildError(
                f"{self.path}:{place.node.lineno}: option {option}: looked for a number as its"
                " `value`, and found none",
                hint="write its default as a number",
            )
        return None

    def _strings(self, value: str) -> Iterator[Place]:
        for place in self._places:
            if isinstance(place.node, mparser.StringNode) and place.node.value == value:
                yield place

    def _functions(self, name: str) -> Iterator[Place]:
        for place in self._places:
            node = place.node
            if isinstance(node, mparser.FunctionNode) and node.func_name.value == name:
                yield place

    def _varies(self, assigned: Node | None) -> bool:
        """Returns True if another statement gives the same variable another value."""
        return assigned is not None and any(
            type(place.node) is mparser.AssignmentNode
            and place.node is not assigned
            and place.node.var_name.value == assigned.var_name.value
            for place in self._places
        )

    def _use_of(self, variable: str, source: str) -> Place:
        for place in self._places:
            node = place.node
            if not isinstance(node, mparser.IdNode) or node.value != variable:
                continue
            user = place.outer[-1]
            is_added = isinstance(user, mparser.PlusAssignmentNode) and user.value is node
            if not place.is_conditional and (place.call is not None or is_added):
                return place
        raise self._unknown(source)

    def _unknown(self, source: str) -> UnknownBuildError:
        line = next(self._strings(source)).node.lineno
        return UnknownBuildError(
            f"{self.path}:{line}: names {source}: looked for the list of sources that it goes"
            " into on every system, and found none",
            hint=f"write {source} into files(), or use its variable there, outside of conditions",
        )

    def _at_use(self, place: Place, written: str) -> str:
        if place.call is None:
            return self._before_statement(place, f"{place.outer[-1].var_name.value} += {written}")
        if place.is_keyword:
            return self._replaced(place.node, f"[{written}, {place.node.value}]")
        return self._before_argument(place, written)

    def _before_argument(self, place: Place, written: str) -> str:
        start = place.node.bytespan[0]
        line = self.text.rfind("\n", 0, start) + 1
        indent = self.text[line:start]
        between = f",\n{indent}" if not indent.strip() else ", "
        return f"{self.text[:start]}{written}{between}{self.text[start:]}"

    def _before_statement(self, place: Place, line: str) -> str:
        """Inserts a line before the outermost statement and the comment above it."""
        lines = self.text.splitlines(keepends=True)
        at = place.statement.lineno - 1
        while at > 0 and lines[at - 1].startswith("#"):
            at -= 1
        return "".join([*lines[:at], f"{line}\n", *lines[at:]])

    def _replaced(self, node: Node, written: str) -> str:
        start, end = node.bytespan
        return self.text[:start] + written + self.text[end:]


def _as_written(place: Place, new: str) -> str:
    """Returns the new source in the form of the old one: in files(), in a list, or alone."""
    if isinstance(place.call, mparser.FunctionNode):
        return f"files('{new}')"
    return f"['{new}']" if place.call is not None else f"'{new}'"


def _walk(node: Node, outer: tuple[Node, ...]) -> Iterator[Place]:
    yield Place(outer, node)
    for child in _children(node):
        yield from _walk(child, (*outer, node))


def _children(node: Node) -> Iterator[Node]:
    for value in vars(node).values():
        if isinstance(value, dict):
            parts = [part for pair in value.items() for part in pair]
        else:
            parts = value if isinstance(value, list) else [value]
        for part in parts:
            if isinstance(part, mparser.BaseNode):
                yield part


def names_object(text: str, name: str) -> bool:
    return _pattern(name).search(text) is not None


def with_object(text: str, old: str, new: str) -> str:
    """Adds an object to the list of `old`, before the conditions around `old`."""
    lines, at = _lines_at(text, old)
    start = _condition_start(lines, at)
    variable = LIST.match(lines[_first_of(lines, at)])
    if start == at or variable is None:
        lines[at] = _pattern(old).sub(f"{new} {old}", lines[at], count=1)
    else:
        lines.insert(start, f"{variable[1]} += {new}\n\n")
    return "".join(lines)


def with_default(text: str, variable: str, value: int, about: str, old: str) -> str:
    """Sets a variable's default. Defines a missing variable before the list that has `old`."""
    default = re.compile(rf"^({variable}\s*\??=\s*)(\d+)", re.M)
    if default.search(text):
        return default.sub(rf"\g<1>{value}", text, count=1)
    lines, at = _lines_at(text, old)
    at = _condition_start(lines, _first_of(lines, at))
    lines[at:at] = [
        f"# {about}.\n",
        f"{variable} ?= {value}\n",
        f"override CFLAGS += -D{variable}=$({variable})\n\n",
    ]
    return "".join(lines)


def _pattern(name: str) -> re.Pattern[str]:
    """Returns a pattern that matches an object in a list, but not the target of a rule."""
    return re.compile(rf"(?<![\w./-]){re.escape(name)}(?![\w.-]|\s*:)")


def _lines_at(text: str, name: str) -> tuple[list[str], int]:
    found = _pattern(name).search(text)
    assert found is not None, "looked for before"
    return text.splitlines(keepends=True), text.count("\n", 0, found.start())


def _first_of(lines: list[str], at: int) -> int:
    """Returns the index of the first of the continued lines that a line belongs to."""
    while at > 0 and lines[at - 1].endswith("\\\n"):
        at -= 1
    return at


def _condition_start(lines: list[str], at: int) -> int:
    """Returns the index of the outermost condition around a line, or of the line itself."""
    starts: list[int] = []
    for number, line in enumerate(lines[:at]):
        if CONDITION_BEGINS.match(line):
            starts.append(number)
        elif CONDITION_ENDS.match(line) and starts:
            starts.pop()
    return starts[0] if starts else at
