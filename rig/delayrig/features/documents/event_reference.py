# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes the page `rig/docs/reference/events.md` from the types that define events."""

import ast
import inspect
import textwrap
import typing
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType

import msgspec

from delayrig.model import delays, events
from delayrig.model.kinds import agent, delay_plugin, emulator, hazard, library_client, pace
from delayrig.model.kinds.kind import SOURCES, Kind, Writer, name_of

COLUMNS = 100
HEAD = """\
<!-- SPDX-License-Identifier: GPL-2.0-or-later -->
<!-- Written by `rig/rig reference` from rig/delayrig/model/kinds/; a test compares. -->
# Events

Every verdict rests on the files in a cell's folder. Each is JSON lines: one event a line, whose
kind is its `ev`.

| file in `OUT/CELL` | what it is | its kinds |
|---|---|---|
| `events.jsonl` | what happened in the cell, in the order of time, from all of its writers | \
[emulator](#emulator), [guest and subject](#guest-and-subject), [hazards](#hazards), \
[library client](#library-client), [pace](#pace) |
| `delays.jsonl` | each call of a delay function, as QEMU saw it | [delays](#delays) |
| `pace.jsonl` (live lane) | the trace of the CPU plugin | [CPU plugin](#cpu-plugin) |

The [delay plugin](#delay-plugin) writes raw numbers, of which the rig makes `delays.jsonl`; they
are not kept. [The CPU plugin](cpu-plugin.md) and [the delay plugin](delay-plugin.md) run in QEMU.

Keys stand in the order of the tables. Times (`..._ns`) are nanoseconds; moments are of the chip's
clock. Every key is always there unless the table says "may be missing". A line of an unknown kind,
with an unknown key, without a key that it owes, with a value of another type or with a negative
time makes the guest a lost one (`infra_error`). The message names the file, the line and the fault.
The version of `events.jsonl` is the `schema` of `start` and `guest`.

To look at events: `grep '"violation":"' events.jsonl` shows what the chip refused. `rig/rig trace
OUT/CELL -o cell.json` makes a timeline for ui.perfetto.dev; `--format vcd` makes one for waveform
viewers. Python reads them with `delayrig.model.events.read_events(FOLDER)`.
"""
MEANINGS = {"t_ns": "When it happened: the moment of the event."}
"""The default meanings of keys that mean the same in every kind."""
UNITS = {
    "_ns": "ns",
    "_us": "us",
    "_ms": "ms",
    "_ppm": "ppm",
    "_bytes": "bytes",
    "_kips": "kips",
    "_pages": "pages",
    "_insns": "instructions",
}
TYPES = {
    "Ns": "ns",
    "Count": "number",
    "Word": "number",
    "int": "number",
    "float": "number",
    "Octet": 'byte, `"0x9f"`',
    "str": "text",
    "bool": "true or false",
    "End": "text",
}
LIMITS = ("_min", "_max")


@dataclass(frozen=True, slots=True)
class FieldText:
    name: str
    annotation: str
    meaning: str


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
    "CPU plugin": _of(events.TraceLine, pace),
    "Delay plugin": _of(delay_plugin.PluginLine, delay_plugin),
}


def events_page() -> str:
    return "".join([HEAD, *(_section(*section) for section in SECTIONS.items())])


def _section(title: str, kinds: list[type[Kind]]) -> str:
    writers = {writer for kind in kinds for writer in kind.writers}
    told = ", ".join(f"{writer} (`{SOURCES[writer]}`)" for writer in Writer if writer in writers)
    listed = "".join(map(_kind, kinds))
    return f"\n## {title}\n\n{_wrapped(f'Written by: {told}.')}\n{listed}"


def _kind(kind: type[Kind]) -> str:
    writers = ", ".join(kind.writers)
    text = _wrapped(f"{inspect.getdoc(kind)} Writer: {writers}. Since version {kind.since}.")
    rows = "".join(f"| `{key}` | {unit} | {meaning} |\n" for key, unit, meaning in _keys(kind))
    return f"\n### `{name_of(kind)}`\n\n{text}\n\n| key | value | meaning |\n|---|---|---|\n{rows}"


def _keys(kind: type[msgspec.Struct], prefix: str = "") -> Iterator[tuple[str, str, str]]:
    """Yields each key with its unit and its meaning, followed by the keys of objects in it."""
    texts = {row.name: row for row in field_texts(kind)}
    for field in msgspec.structs.fields(kind):
        text = texts[field.name]
        yield f"{prefix}{field.name}", _value(kind, field, text), text.meaning
        for inner in typing.get_args(field.type):
            if isinstance(inner, type) and issubclass(inner, msgspec.Struct):
                yield from _keys(inner, f"{prefix}{field.name}[].")


def _value(kind: type[msgspec.Struct], field: msgspec.structs.FieldInfo, text: FieldText) -> str:
    """Returns the type of the value, and whether it may be missing."""
    if field.required or not kind.__struct_config__.omit_defaults:
        return unit_of(field.name, text.annotation)
    return unit_of(field.name, text.annotation.removesuffix(" | None")) + ", may be missing"


def field_texts(kind: type[msgspec.Struct]) -> Iterator[FieldText]:
    """Yields the fields of a struct with the text below each, or the default meaning of the key."""
    for base in reversed(kind.__mro__[: kind.__mro__.index(msgspec.Struct)]):
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(base))).body
        assert isinstance(tree, ast.ClassDef)
        for node, following in zip(tree.body, [*tree.body[1:], ast.Pass()], strict=True):
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                annotation = ast.unparse(node.annotation)
                if annotation.startswith("ClassVar"):
                    continue
                meaning = _text(following) or MEANINGS.get(node.target.id, "")
                yield FieldText(node.target.id, annotation, meaning)


def _text(node: ast.stmt) -> str:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return " ".join(str(node.value.value).split())
    return ""


def unit_of(name: str, annotation: str) -> str:
    """Returns the unit by the end of the key's name, else the type."""
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
    signed = ", may be negative" if unit == "ns" and plain == "int" else ""
    return f"{unit or TYPES.get(plain, 'number')}{signed}{or_null}"


def _wrapped(text: str) -> str:
    paragraphs = text.split("\n\n")
    return "\n\n".join(
        textwrap.fill(" ".join(each.split()), COLUMNS, break_on_hyphens=False)
        for each in paragraphs
    )
