# SPDX-License-Identifier: GPL-2.0-or-later
"""The writers of events, and the lines that their unit tests expect, match the definitions."""

import ast
import inspect
import re
import typing
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from delayrig.model import delays, events
from delayrig.model.kinds.delay_plugin import PluginLine
from delayrig.model.kinds.kind import SOURCES, Kind, Writer, name_of

from tests.rig.builders import CHECKOUT

Printed = dict[str, list[str]]
"""The keys of each kind except `ev`, in their printed order."""

LITERAL = r'"(?:[^"\\]|\\.)*"'
FORMAT = re.compile(rf"(?:{LITERAL}|PRI\w+)(?:\s*(?:{LITERAL}|PRI\w+))*")
FUNCTION = re.compile(r"^\w[^;{}]*?\b(\w+)\([^;{}]*\)\n\{\n(.*?)^\}", re.DOTALL | re.MULTILINE)


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
    """Returns the complete JSON lines in the strings of a C file, such as a test's expectations."""
    texts = (text_of(match[0]) for match in FORMAT.finditer(source))
    lines = (line for text in texts for line in text.split("\n"))
    return [line.encode() for line in lines if re.fullmatch(r'\{"(ev|schema)":[^%]*\}', line)]


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
    moment = bodies["put_moment"]
    for kind in re.findall(r'\[EVENT_\w+\] = "(\w+)"', source):
        case = re.search(rf"case EVENT_{kind.upper()}:(.*?)break;", moment, re.DOTALL)
        of_moment = moment.split("switch")[0] + (case[1] if case else "")
        found[kind] = list(_put(bodies.get(f"put_{kind}", of_moment), bodies))
    return found


def _put(body: str, bodies: dict[str, str]) -> Iterator[str]:
    for match in re.finditer(r'\b(put_\w+)\(\s*text, (?:"(\w+)")?', body):
        if match[2]:
            yield match[2]
        elif match[1] in bodies:
            yield from _put(bodies[match[1]], bodies)


def printed_by_lines(source: str, inner: tuple[str, ...] = ()) -> Printed:
    """Finds events that a C file prints by json_line.h; functions `inner` print parts of values."""
    bodies = functions_of(read("emulators", "shared", "json_line.h") + source)
    found: Printed = {}
    for body in bodies.values():
        kind = re.search(r'(?:\bbegin\(line, |\bjson_event\(&line, [^"]+, |"ev", )"(\w+)"', body)
        if kind is not None:
            found[kind[1]] = [key for key in _on_line(body, bodies, inner) if key != "ev"]
    return found


def _on_line(body: str, bodies: dict[str, str], inner: tuple[str, ...]) -> Iterator[str]:
    for match in re.finditer(r'\b(\w+)\(&?line, (?:"(\w+)")?', body):
        if match[2] and match[1] != "begin":
            yield match[2]
        elif match[1] in bodies and match[1] not in inner:
            yield from _on_line(bodies[match[1]], bodies, inner)


def reported_by_agent(source: str) -> Printed:
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


def written_by_session(folder: Path) -> Iterator[tuple[str, set[str]]]:
    """Yields each event that a module of the host lane's session writes, with the keys it gives."""
    for path in sorted(folder.glob("*.py")):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match call:
                case ast.Call(func=ast.Attribute(attr="note" | "_note" | "_add"), args=[kind, *_]):
                    names = (node for node in ast.walk(kind) if isinstance(node, ast.Constant))
                    keys = {keyword.arg for keyword in call.keywords if keyword.arg}
                    yield from ((str(name.value), keys) for name in names)


STREAMS = (events.Event, events.TraceLine, PluginLine, delays.Line)


def kinds_of(union: object) -> tuple[type[Kind], ...]:
    return typing.get_args(union)


def written_by(writer: Writer, union: object) -> dict[str, type[Kind]]:
    """Returns the kinds of a stream that name that writer."""
    return {name_of(kind): kind for kind in kinds_of(union) if writer in kind.writers}


def read(*parts: str) -> str:
    return without_characters(CHECKOUT.joinpath(*parts).read_text(encoding="utf-8"))


def read_agent() -> dict[str, str]:
    files = (CHECKOUT / "images" / "agent").glob("*.c")
    return {path.name: read("images", "agent", path.name) for path in files}


def agent_prints() -> Printed:
    sources = read_agent()
    found = printed_by_lines(sources["report.c"])
    for source in sources.values():
        found |= reported_by_agent(source)
    return found


PRINTED: dict[Writer, tuple[object, Printed]] = {
    Writer.EMULATOR: (events.Event, printed_by_calls(read("emulators", "record", "jsonl.c"))),
    Writer.AGENT: (events.Event, agent_prints()),
    Writer.LIBRARY_CLIENT: (
        events.Event,
        printed_by_lines(read("images", "library_client", "main.c")),
    ),
    Writer.CPU_PLUGIN: (
        events.TraceLine,
        printed_by_lines(read("emulators", "cpu_plugin", "trace.c"), inner=("put_vcpu",)),
    ),
    Writer.DELAY_PLUGIN: (
        PluginLine,
        printed_by_lines(read("emulators", "delay_plugin", "record.c")),
    ),
}


def fault_of(kind: type[Kind], keys: list[str]) -> str:
    """Returns the difference between the printed keys and the kind's definition, empty if none."""
    fields = msgspec.structs.fields(kind)
    names = [field.name for field in fields]
    if unknown := set(keys) - set(names):
        return f"unknown: {sorted(unknown)}"
    if missing := {field.name for field in fields if field.required} - set(keys):
        return f"missing: {sorted(missing)}"
    return "" if keys == [name for name in names if name in keys] else f"the order is {keys}"


@pytest.mark.parametrize("writer", PRINTED)
def test_source_prints_the_kinds_and_keys_of_the_definition(writer: Writer) -> None:
    union, printed = PRINTED[writer]
    defined = written_by(writer, union)
    loops = loops_of_agent(read_agent()["hazards.c"]) if writer is Writer.AGENT else {}
    assert set(printed) | set(loops) == set(defined)
    assert len(defined) > 1
    faults = {kind: fault_of(defined[kind], keys) for kind, keys in printed.items()}
    faults |= {f"{kind} of loops": fault_of(defined[kind], keys) for kind, keys in loops.items()}
    assert {kind: fault for kind, fault in faults.items() if fault} == {}


def test_session_writes_the_kinds_and_keys_of_the_definition() -> None:
    defined = written_by(Writer.SESSION, events.Event)
    written = list(written_by_session(CHECKOUT / "rig" / "delayrig" / "lanes" / "host"))
    assert {kind for kind, _ in written} == set(defined)
    for kind, keys in written:
        assert keys <= set(defined[kind].__struct_fields__), kind


@pytest.mark.parametrize(
    ("decoder", "test", "count"),
    [
        (events.EVENTS, ("emulators", "test_jsonl.c"), 12),
        (events.EVENTS, ("agent", "test_report.c"), 8),
        (events.TRACE, ("cpu", "test_trace.c"), 5),
        (events.PLUGIN, ("delays", "test_record.c"), 6),
    ],
    ids=lambda value: value[1] if isinstance(value, tuple) else "",
)
def test_lines_in_unit_tests_of_writers_are_events(
    decoder: msgspec.json.Decoder[Kind], test: tuple[str, str], count: int
) -> None:
    lines = lines_in(read("tests", "unit", *test))
    assert len(lines) >= count
    assert all(isinstance(decoder.decode(line), Kind) for line in lines)


def test_kinds_have_unique_names_in_a_stream_a_writer_and_a_description() -> None:
    for union in STREAMS:
        names = [name_of(kind) for kind in kinds_of(union)]
        assert sorted(set(names)) == sorted(names)
        for kind in kinds_of(union):
            assert kind.writers, kind
            assert (inspect.getdoc(kind) or "").endswith("."), kind


def test_source_of_each_writer_exists() -> None:
    assert set(SOURCES) == set(Writer)
    assert [path for path in SOURCES.values() if not (CHECKOUT / path).exists()] == []


def test_undefined_key_or_kind_is_found() -> None:
    renamed = read("emulators", "record", "jsonl.c").replace('"busy_left_ns"', '"left_ns"')
    spi = written_by(Writer.EMULATOR, events.Event)["spi"]
    assert fault_of(spi, printed_by_calls(renamed)["spi"]) == "unknown: ['left_ns']"
    trace = read("emulators", "cpu_plugin", "trace.c").replace('"speed"', '"fast"')
    assert "fast" in printed_by_lines(trace, inner=("put_vcpu",))
