# SPDX-License-Identifier: GPL-2.0-or-later
"""Each writer of events keeps to their definition, in its source and in its output."""

import inspect
import typing

import msgspec
import pytest
from delayrig.model import delays, events
from delayrig.model.kinds.delay_plugin import PluginLine
from delayrig.model.kinds.kind import SOURCES, Kind, Writer, name_of

from tests.rig.builders import CHECKOUT
from tests.rig.event_sources import (
    Printed,
    lines_in,
    loops_of_agent,
    noted_by_agent,
    noted_by_session,
    printed_by_calls,
    printed_by_formats,
    printed_by_lines,
    without_characters,
)

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
    found = printed_by_formats(sources["report.c"], inner=("report_numbers",))
    for source in sources.values():
        found |= noted_by_agent(source)
    return found


PRINTED: dict[Writer, tuple[object, Printed]] = {
    Writer.EMULATOR: (
        events.Event,
        printed_by_calls(read("emulators", "record", "jsonl.c")),
    ),
    Writer.AGENT: (events.Event, agent_prints()),
    Writer.LIBRARY_CLIENT: (
        events.Event,
        printed_by_formats(read("images", "library_client", "main.c")),
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


def test_session_notes_the_kinds_and_keys_of_the_definition() -> None:
    defined = written_by(Writer.SESSION, events.Event)
    noted = list(noted_by_session(CHECKOUT / "rig" / "delayrig" / "lanes" / "host"))
    assert {kind for kind, _ in noted} == set(defined)
    for kind, keys in noted:
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
def test_lines_that_unit_tests_expect_of_a_writer_are_events(
    decoder: msgspec.json.Decoder[Kind], test: tuple[str, str], count: int
) -> None:
    lines = lines_in(read("tests", "unit", *test))
    assert len(lines) >= count
    assert all(isinstance(decoder.decode(line), Kind) for line in lines)


def test_each_kind_has_a_name_of_its_own_in_its_stream_a_writer_and_a_meaning() -> None:
    for union in STREAMS:
        names = [name_of(kind) for kind in kinds_of(union)]
        assert sorted(set(names)) == sorted(names)
        for kind in kinds_of(union):
            assert kind.writers, kind
            assert kind.since >= 1, kind
            assert (inspect.getdoc(kind) or "").endswith("."), kind


def test_source_of_every_writer_is_there() -> None:
    assert set(SOURCES) == set(Writer)
    assert [path for path in SOURCES.values() if not (CHECKOUT / path).exists()] == []


def test_key_or_kind_that_nobody_defined_is_found() -> None:
    renamed = read("emulators", "record", "jsonl.c").replace('"busy_left_ns"', '"left_ns"')
    spi = written_by(Writer.EMULATOR, events.Event)["spi"]
    assert fault_of(spi, printed_by_calls(renamed)["spi"]) == "unknown: ['left_ns']"
    trace = read("emulators", "cpu_plugin", "trace.c").replace('"speed"', '"fast"')
    assert "fast" in printed_by_lines(trace, inner=("put_vcpu",))
