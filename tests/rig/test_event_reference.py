# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of events has every kind and key, with unit, writer and meaning."""

import re
import typing

import msgspec
import pytest
from delayrig.features.documents.event_reference import SECTIONS, events_page, field_texts, unit_of
from delayrig.model.delays import DelaysHeader
from delayrig.model.kinds.agent import SubjectStart
from delayrig.model.kinds.emulator import Serprog
from delayrig.model.kinds.kind import Kind, Writer, name_of
from delayrig.model.kinds.pace import Speed

from tests.rig.test_event_writers import STREAMS

PAGE = events_page()


def kinds() -> list[type[Kind]]:
    return [kind for union in STREAMS for kind in typing.get_args(union)]


def test_page_has_each_kind_of_each_stream_once() -> None:
    shown = [kind for kinds in SECTIONS.values() for kind in kinds]
    # The rig makes `delays.jsonl` of the delay plugin's lines; of the CPU plugin's only `speed` is
    # an event.
    apart = {Writer.DELAY_PLUGIN, Writer.CPU_PLUGIN}
    kept = [kind for kind in kinds() if not apart & set(kind.writers)] + [Speed]
    assert sorted(map(str, shown)) == sorted(map(str, kept))
    assert len(re.findall(r"(?m)^### ", PAGE)) == len(shown)


@pytest.mark.parametrize("kind", kinds(), ids=name_of)
def test_every_key_has_a_meaning(kind: type[Kind]) -> None:
    texts = {row.name: row.meaning for row in field_texts(kind)}
    assert list(texts) == [field.name for field in msgspec.structs.fields(kind)]
    assert [name for name, meaning in texts.items() if not meaning.endswith((".", ":"))] == []


@pytest.mark.parametrize(
    ("name", "annotation", "said"),
    [
        ("t_ns", "Ns", "ns"),
        ("gap_ns", "int | None", "ns, signed or null"),
        ("short_ns_max", "Ns", "ns"),
        ("size_bytes", "Count", "bytes"),
        ("op", "Octet | None", 'byte, `"0x9f"` or null'),
        ("link", "str | None", "text or null"),
        ("ack", "bool", "bool"),
        ("by", "Literal['return', 'site']", "`return` or `site`"),
        ("words", "list[Word]", "list"),
        ("count", "Count", "number"),
    ],
)
def test_value_is_told_by_the_unit_in_its_name_or_by_its_type(
    name: str, annotation: str, said: str
) -> None:
    assert unit_of(name, annotation) == said


@pytest.mark.parametrize(
    ("kind", "row"),
    [
        (Serprog, "- `arrived_ns` (optional): Time at which it had arrived"),
        (Serprog, "- `gap_ns` (signed or null): Time from the previous"),
        (SubjectStart, "- `cpus` (text, optional): CPUs of this machine"),
        (DelaysHeader, "- `functions[].found_by` (text): How it was found."),
    ],
)
def test_row_of_a_key_is_below_its_kind(kind: type[Kind], row: str) -> None:
    places = [place.start() for place in re.finditer(f"### `{name_of(kind)}`\n", PAGE)]
    ends = [(PAGE + "\n### ").index("\n### ", place + 1) for place in places]
    assert any(row in PAGE[place:end] for place, end in zip(places, ends, strict=True))


def test_writers_of_a_kind_are_told_where_they_are_not_the_usual_ones() -> None:
    text = " ".join(PAGE.split())
    assert "Writer: agent, session, live lane." in text
    assert "Writer unless told: emulator. ### `start`" in text
    assert "Writer: emulator." not in text


def test_moment_that_each_kind_has_is_told_once() -> None:
    assert "`: When it happened" not in PAGE
    assert "- `t_ns` (signed): When it began." in PAGE
