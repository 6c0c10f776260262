# SPDX-License-Identifier: GPL-2.0-or-later
"""Kinds of events that writers print, with their keys, read from the C and Python sources."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

Printed = dict[str, list[str]]
"""The keys of each kind except `ev`, in their printed order."""

LITERAL = r'"(?:[^"\\]|\\.)*"'
FORMAT = re.compile(rf"(?:{LITERAL}|PRI\w+)(?:\s*(?:{LITERAL}|PRI\w+))*")
FUNCTION = re.compile(r"^\w[^;{}]*?\b(\w+)\([^;{}]*\)\n\{\n(.*?)^\}", re.DOTALL | re.MULTILINE)
KIND = re.compile(r'"ev":"(\w+)"')
KEY = re.compile(r'"(\w+)":')


def without_characters(source: str) -> str:
    """Replaces a C file's character constants: a quote in one of them begins no string."""
    return re.sub(r"'(?:\\.|[^'\\])'", "0", source)


def text_of(literals: str) -> str:
    """Returns the text of adjacent string literals."""
    pieces = re.findall(LITERAL, literals)
    return "".join(str(ast.literal_eval(piece)) for piece in pieces)


def functions_of(source: str) -> dict[str, str]:
    """Returns the bodies of a C file's functions, by name."""
    return {match[1]: match[2] for match in FUNCTION.finditer(source)}


def lines_in(source: str) -> list[bytes]:
    """Returns the whole JSON lines in strings of a C file, such as a test expects of a writer."""
    texts = (text_of(match[0]) for match in FORMAT.finditer(source))
    lines = (line for text in texts for line in text.split("\n"))
    return [line.encode() for line in lines if re.fullmatch(r'\{"(ev|schema)":[^%]*\}', line)]


def printed_by_formats(source: str, inner: tuple[str, ...] = ()) -> Printed:
    """Finds the events that a C file prints with formats; `inner` print parts of values."""
    bodies = functions_of(source)
    found: Printed = {}
    for name, body in bodies.items():
        text = "".join(_formats(body, bodies, inner))
        kind = KIND.search(text)
        if kind is not None and name not in inner:
            found[kind[1]] = [key for key in KEY.findall(text) if key != "ev"]
    return found


def _formats(body: str, bodies: dict[str, str], inner: tuple[str, ...]) -> Iterator[str]:
    """Yields a function's formats, with the formats of the functions it calls in their places."""
    helpers = "|".join(name for name in bodies if name not in inner)
    pattern = re.compile(rf"\b({helpers})\(\w+, ({LITERAL})|\b({helpers})\(|{FORMAT.pattern}")
    for match in pattern.finditer(body):
        called = match[1] or match[3]
        if called is None:
            yield text_of(match[0])
        elif match[2] is not None and '%s\\":' in bodies[called]:
            yield f'"{text_of(match[2])}":'  # the caller passes the key
        elif '\\"ev\\"' not in bodies[called]:
            yield from _formats(bodies[called], bodies, inner)


def printed_by_calls(source: str) -> Printed:
    """Finds the events of `emulators/record/jsonl.c`, which names each key in a call."""
    bodies = functions_of(source)
    found: Printed = {}
    for body in bodies.values():
        keys = list(_put(body, bodies))
        if keys[:1] == ["ev"] or keys[:2] == ["schema", "ev"]:
            kind = re.search(r'"ev", "(\w+)"', body)
            if kind is not None:
                found[kind[1]] = [key for key in keys if key != "ev"]
    for kind in re.findall(r'write_moment\(text, event, "(\w+)"\)', source):
        optional = {"barrier": ["released_ns"]}.get(kind, [])
        assert f'"{optional[0]}"' in bodies["write_moment"] if optional else True
        found[kind] = ["t_ns", *optional]
    return found


def _put(body: str, bodies: dict[str, str]) -> Iterator[str]:
    for match in re.finditer(r'\b(put_\w+)\(\s*text, (?:"(\w+)")?', body):
        if match[2]:
            yield match[2]
        elif match[1] in bodies:
            yield from _put(bodies[match[1]], bodies)


def printed_by_lines(source: str, inner: tuple[str, ...] = ()) -> Printed:
    """Finds the events that a C file prints by json_line.h; `inner` print parts of values."""
    bodies = functions_of(source)
    found: Printed = {}
    for body in bodies.values():
        kind = re.search(r'(?:\bbegin\(&?line, (?:out, )?|"ev", )"(\w+)"', body)
        if kind is not None:
            found[kind[1]] = [key for key in _on_line(body, bodies, inner) if key != "ev"]
    return found


def _on_line(body: str, bodies: dict[str, str], inner: tuple[str, ...]) -> Iterator[str]:
    for match in re.finditer(r'\b(\w+)\(&?line, (?:"(\w+)")?', body):
        if match[2] and match[1] != "begin":
            yield match[2]
        elif match[1] in bodies and match[1] not in inner:
            yield from _on_line(bodies[match[1]], bodies, inner)


def noted_by_agent(source: str) -> Printed:
    """Finds the events that a C file of the agent passes to `report.c`."""
    found: Printed = {}
    for match in re.finditer(r'report_moment\(\s*[^,]+,\s*"(\w+)",\s*(?:"(\w+)"|NULL)', source):
        found[match[1]] = ["t_ns", *([match[2]] if match[2] else [])]
    numbers = re.compile(r'report_numbers\([^,]+, "(\w+)",(.*?)\{NULL', re.DOTALL)
    for match in numbers.finditer(source):
        found[match[1]] = ["t_ns", *re.findall(r'\{"(\w+)"', match[2])]
    return found


def loops_of_agent(source: str) -> Printed:
    """Finds the kinds that images/agent/hazards.c passes to `report_loops()`."""
    keys = re.findall(r'\{"(\w+)"', functions_of(source)["report_loops"])
    calls = re.findall(r"\b(?:report_loops|end_hogs)\(([^;{]*)\);", source, re.DOTALL)
    kinds = {kind for call in calls for kind in re.findall(r'"(\w+)"', call)}
    return {kind: ["t_ns", *keys] for kind in kinds}


def noted_by_session(folder: Path) -> Iterator[tuple[str, set[str]]]:
    """Yields each event that a module of the host lane's session writes, with its keys there."""
    for path in sorted(folder.glob("*.py")):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match call:
                case ast.Call(func=ast.Attribute(attr="note" | "_note" | "_add"), args=[kind, *_]):
                    names = (node for node in ast.walk(kind) if isinstance(node, ast.Constant))
                    keys = {keyword.arg for keyword in call.keywords if keyword.arg}
                    yield from ((str(name.value), keys) for name in names)
