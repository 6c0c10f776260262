# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes the page `rig/docs/reference/events.md` from the types that define events."""

import ast
import inspect
import re
import textwrap
import typing
from collections.abc import Iterator
from types import ModuleType

import msgspec

from delayrig.model import delays, events
from delayrig.model.kinds import agent, emulator, hazard, library_client, pace
from delayrig.model.kinds.kind import SOURCES, Kind, Writer, name_of

COLUMNS = 100
HEAD = """\
<!-- SPDX-License-Identifier: GPL-2.0-or-later -->
<!-- Written by `rig/rig reference` from rig/delayrig/model/kinds/; a test compares. -->
# Events

Every verdict rests on the files in a cell's folder. Each line is a JSON object; `ev` names its
kind.

- `events.jsonl`: what happened, in the order of time.
- `delays.jsonl`: [each call of a delay function](#delays), as QEMU saw it.
- `pace.jsonl` (live lane): the trace of the CPU plugin; its keys are in
  `rig/delayrig/model/kinds/pace.py`.

A key without a type is a number; the end of its name gives its unit. Times are by the chip's clock;
only signed ones can be negative. Every key is present unless it is optional; null stands for none.
The time of an event is its `t_ns` (not listed below), or else its `read_ns` or `start_ns`. `schema`
in a first line is the stream's version. A line that breaks these rules makes the cell an
`infra_error`.

`rig/rig trace OUT/CELL -o cell.json` makes a timeline for ui.perfetto.dev. Python reads events with
`delayrig.model.events.read_events(FOLDER)`.
"""
MEANINGS = {
    "t_ns": "When it happened: the moment of the event.",
    "schema": "The version of the stream.",
}
"""The default meanings of keys that mean the same in every kind."""
UNITS = {f"_{unit}": unit for unit in ("ns", "us", "ms", "ppm", "bytes", "kips", "pages")}
UNITS["_insns"] = "instructions"
TYPES = {
    "Ns": "ns",
    "Count": "number",
    "Word": "number",
    "int": "number",
    "float": "number",
    "Octet": 'byte, `"0x9f"`',
    "str": "text",
    "bool": "bool",
    "End": "text",
}
LIMITS = ("_min", "_max")
AS_IN = re.compile(r", as in `(?P<kind>\w+)`\.$")
"""The end of a meaning that refers to another kind."""
Key = tuple[str, str, str]
"""A key with its unit and its meaning."""


def _of(union: object, module: ModuleType) -> list[type[Kind]]:
    """Returns the kinds of a stream that the module defines."""
    return [kind for kind in typing.get_args(union) if kind.__module__ == module.__name__]


SECTIONS = {
    "Emulator": _of(events.Event, emulator),
    "Guest and subject": _of(events.Event, agent),
    "Hazards": _of(events.Event, hazard),
    "Library client": _of(events.Event, library_client),
    "Pace": _of(events.Event, pace),
    "Delays": _of(delays.Line, delays),
}


def events_page() -> str:
    return "".join([HEAD, *(_section(*section) for section in SECTIONS.items())])


def _section(title: str, kinds: list[type[Kind]]) -> str:
    writers = [writer for writer in Writer if any(writer in kind.writers for kind in kinds)]
    written_by = ", ".join(f"{writer} (`{SOURCES[writer]}`)" for writer in writers)
    first: dict[Key, str] = {}
    listed = "".join(_kind(kind, first) for kind in kinds)
    return f"\n## {title}\n\n{_wrapped(f'Written by: {written_by}.')}\n{listed}"


def _kind(kind: type[Kind], first: dict[Key, str]) -> str:
    """Returns the kind with its keys."""
    text = inspect.getdoc(kind) or ""
    rows = "".join(_rows(kind, first))
    return f"\n### `{name_of(kind)}`\n\n{_wrapped(text)}\n" + (f"\n{rows}" if rows else "")


def _rows(kind: type[Kind], first: dict[Key, str]) -> Iterator[str]:
    """Yields a row for each key; a last row names the keys that an earlier kind explains.

    `first` holds, by key, the first kind of the section that has it.
    """
    shared: dict[str, list[str]] = {}
    for row in _keys(kind):
        key, unit, meaning = row
        if meaning == MEANINGS.get(key):
            continue
        found = AS_IN.search(meaning)
        origin = found["kind"] if found else first.setdefault(row, name_of(kind))
        if origin == name_of(kind):
            meaning = "" if meaning == f"The number of {key}." else meaning
            yield f"- `{key}`{_shown_type(key, unit)}{f': {_terse(meaning)}' if meaning else ''}\n"
        else:
            shared.setdefault(origin, []).append(f"`{key}`")
    for origin, names in shared.items():
        yield _wrapped(f"- As in `{origin}`: {', '.join(names)}.") + "\n"


def _shown_type(key: str, unit: str) -> str:
    """Returns the type in brackets, without "number" and without a unit that the key's name has."""
    left_out = {"number", unit_of(key, "")}
    rest = ", ".join(part for part in unit.split(", ") if part not in left_out)
    return f" ({rest})" if rest else ""


def _terse(meaning: str) -> str:
    """Returns the meaning without its first article."""
    rest = meaning.removeprefix("The ")
    return rest[:1].upper() + rest[1:] if rest[:1].isalpha() else meaning


def _keys(kind: type[msgspec.Struct], prefix: str = "") -> Iterator[Key]:
    """Yields each key with its unit and its meaning, followed by the keys of objects in it."""
    texts = field_texts(kind)
    for field in msgspec.structs.fields(kind):
        annotation, meaning = texts[field.name]
        value = unit_of(field.name, annotation)
        if not field.required and kind.__struct_config__.omit_defaults:
            value = unit_of(field.name, annotation.removesuffix(" | None")) + ", optional"
        yield f"{prefix}{field.name}", value, meaning
        for inner in typing.get_args(field.type):
            if isinstance(inner, type) and issubclass(inner, msgspec.Struct):
                yield from _keys(inner, f"{prefix}{field.name}[].")


def field_texts(kind: type[msgspec.Struct]) -> dict[str, tuple[str, str]]:
    """Returns the annotation of each field, and the text below it or the key's default meaning."""
    found = {}
    for base in reversed(kind.__mro__[: kind.__mro__.index(msgspec.Struct)]):
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(base))).body
        assert isinstance(tree, ast.ClassDef)
        for node, following in zip(tree.body, [*tree.body[1:], ast.Pass()], strict=True):
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                annotation = ast.unparse(node.annotation)
                if annotation.startswith("ClassVar"):
                    continue
                meaning = _text(following) or MEANINGS.get(node.target.id, "")
                found[node.target.id] = annotation, meaning
    return found


def _text(node: ast.stmt) -> str:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return " ".join(str(node.value.value).split())
    return ""


def unit_of(name: str, annotation: str) -> str:
    """Returns the unit that the end of the key's name gives, else the type."""
    plain, _, null = annotation.partition(" | ")
    or_null = " or null" if null == "None" else ""
    if plain.startswith("list["):
        return "list"
    if plain.startswith("Literal["):
        values = ast.literal_eval(plain.removeprefix("Literal"))
        return " or ".join(f"`{value}`" for value in values)
    stem = name
    for limit in LIMITS:
        stem = stem.removesuffix(limit)
    unit = next((unit for end, unit in UNITS.items() if stem.endswith(end)), "")
    signed = ", signed" if unit == "ns" and plain == "int" else ""
    return f"{unit or TYPES.get(plain, 'number')}{signed}{or_null}"


def _wrapped(text: str) -> str:
    paragraphs = text.split("\n\n")
    return "\n\n".join(
        textwrap.fill(" ".join(each.split()), COLUMNS, break_on_hyphens=False)
        for each in paragraphs
    )
