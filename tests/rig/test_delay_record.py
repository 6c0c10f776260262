# SPDX-License-Identifier: GPL-2.0-or-later
"""The request to the delay plugin, and the record that the plugin writes."""

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from delayrig.base.errors import LostGuestError
from delayrig.lanes import delay_record
from delayrig.lanes.delay_record import MARKS_MAX, read_record, request_text
from delayrig.machine.plugins import DelayWatch, read_request, write_request
from delayrig.model.delays import Delays, End, encode_delays, function_of_frame, read_delays
from delayrig.subjects.delay_function import DelayFunction, DelayOptions, find_delay_functions
from delayrig.subjects.symbols import read_symbols
from msgspec.structs import replace

from tests.rig.test_delay_function import packed

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")

START = b'{"ev":"delays","schema":2}\n'
INSN_NS = 4


def record_of(function: DelayFunction, *lines: bytes, insn_ns: int = 0) -> Delays:
    """Reads the plugin's record of these lines; an instruction takes that long."""
    text = START + b"".join(lines)
    return read_record(text, [function], insn_ns=insn_ns)


@pytest.fixture
def function(tmp_path: Path) -> DelayFunction:
    """Returns a delay function of a real program."""
    return find_delay_functions(packed(tmp_path), DelayOptions())[0]


def entered(call: int, *, t_ns: int, asked: int = 10, late: int = 5, thread: int = 7) -> bytes:
    return (
        b'{"ev":"enter","call":%d,"function":0,"t_ns":%d,"late_insns":%d,"cpu":1,"asked":%d,'
        b'"space":1,"thread":%d,"sp":4096,"stack":0}\n'
    ) % (call, t_ns, late, asked, thread)


def left(call: int, *, t_ns: int, by: bytes = b"return", late: int = 0) -> bytes:
    return b'{"ev":"leave","call":%d,"t_ns":%d,"late_insns":%d,"cpu":2,"by":"%s","result":0}\n' % (
        call,
        t_ns,
        late,
        by,
    )


def test_request_has_a_line_for_the_function_and_one_for_each_mark(function: DelayFunction) -> None:
    changed = replace(
        function, returns=(function.address + 1,), return_sites=(function.address + 9,)
    )
    first, *marks = request_text((changed,)).splitlines()
    word, address, size, *numbers = first.split()
    assert (word, int(address, 16), int(size, 16)) == ("function", changed.address, changed.size)
    assert numbers[:3] == ["0", "20", "1"]
    assert [mark.split()[0] for mark in marks] == ["entry", "return", "site"]


def test_window_of_a_mark_is_the_code_around_it_in_one_page(function: DelayFunction) -> None:
    symbols = read_symbols(function.part)
    begin, end = symbols.text
    for address in (function.address, end - 1, begin):
        line = request_text((replace(function, address=address),)).splitlines()[1]
        back, window = int(line.split()[3], 16), bytes.fromhex(line.split()[4])
        assert window == symbols.code(address - back, 32)
        assert (address - back) // 4096 == (address - back + 31) // 4096


@pytest.mark.parametrize("rest", [b"\x90" * 64, b""])
def test_window_beyond_the_end_of_the_code_has_the_next_bytes_of_the_file(
    monkeypatch: pytest.MonkeyPatch, function: DelayFunction, rest: bytes
) -> None:
    content = bytes(range(256)) * 16 + bytes(range(0x14)) + rest
    code = SimpleNamespace(
        text=(0x1000, 0x2014), code=lambda at, size: content[at - 0x1000 : at - 0x1000 + size]
    )
    monkeypatch.setattr(delay_record, "read_symbols", lambda _part: code)
    changed = replace(function, address=0x1800, returns=(0x2004,))
    *_, mark = request_text((changed,)).splitlines()
    window = (bytes(range(0x14)) + rest[:12]).ljust(32, b"\0")
    assert mark.split() == ["return", "0", "2004", "4", window.hex()]


def test_function_may_jump_away_if_it_leaves_its_file_or_has_no_return(
    function: DelayFunction,
) -> None:
    returning = replace(function, returns=(function.address + 1,), return_sites=())
    leaving = replace(returning, leaves=True)
    unknown = replace(function, returns=(), return_sites=())
    assert [request_text((one,)).split()[5] for one in (returning, leaving, unknown)] == [*"011"]


def test_longest_request_fits(tmp_path: Path, function: DelayFunction) -> None:
    sites = tuple(range(function.address, function.address + 2 * MARKS_MAX))
    symbols = read_symbols(function.part)
    last = symbols.text[1] - sites[0] - 32
    text = request_text((replace(function, return_sites=sites[:last]),))
    write_request(tmp_path / "request", text)
    assert read_request(tmp_path / "request") == text


def test_number_of_the_cell_begins_the_request_file(tmp_path: Path) -> None:
    write_request(tmp_path / "request", "function 1\n", 258)
    assert (tmp_path / "request").read_bytes()[:9] == b"\2\1\0\0\0\0\0\0f"
    write_request(tmp_path / "request", "", 259)
    assert read_request(tmp_path / "request") == ""


def test_output_of_the_plugin_ends_at_its_first_zero(tmp_path: Path) -> None:
    watch = DelayWatch(plugin=tmp_path, request=tmp_path / "request", out=tmp_path / "out")
    assert watch.saw() == b""
    watch.out.write_bytes(b"seen\n\0\0\0")
    assert watch.saw() == b"seen\n"


def test_times_are_corrected_by_instructions_counted_too_early(function: DelayFunction) -> None:
    lines = entered(1, t_ns=1000, late=5), left(1, t_ns=12_000, late=2, by=b"site")
    (call,) = record_of(function, *lines, insn_ns=INSN_NS).calls
    assert (call.t_ns, call.end_ns) == (980, 11_992)
    assert (call.requested_ns, call.ended) == (10_000, End.SITE)
    assert (call.cpu_in, call.cpu_out) == (1, 2)


def test_call_without_an_end_is_open_or_abandoned(function: DelayFunction) -> None:
    lines = entered(1, t_ns=1000), entered(2, t_ns=2000), b'{"ev":"abandon","call":1}\n'
    first, second = record_of(function, *lines).calls
    assert (first.ended, second.ended) == (End.ABANDONED, End.OPEN)
    assert first.seen_ns is None


def test_second_entry_of_a_call_replaces_the_first(function: DelayFunction) -> None:
    lines = entered(1, t_ns=1000), entered(1, t_ns=9000), left(1, t_ns=20_000)
    (call,) = record_of(function, *lines).calls
    assert call.seen_ns == 11_000


def test_threads_are_numbered_in_order_of_their_first_call(function: DelayFunction) -> None:
    threads = (9, 3, 9)
    lines = [entered(number, t_ns=number, thread=at) for number, at in enumerate(threads, start=1)]
    assert [call.thread for call in record_of(function, *lines).calls] == [1, 2, 1]


def test_argument_is_multiplied_by_the_unit_of_the_function(function: DelayFunction) -> None:
    in_ms = replace(function, unit_ns=1_000_000)
    (call,) = record_of(in_ms, entered(1, t_ns=1000, asked=3)).calls
    assert call.requested_ns == 3_000_000


def test_lost_calls_are_counted(function: DelayFunction) -> None:
    assert record_of(function, b'{"ev":"lost","calls":3}\n').header.lost == 3


@pytest.mark.parametrize(
    "text", [b"", b"{}\n", entered(1, t_ns=1), START + b"cut", b'{"ev":"delays","schema":1}\n']
)
def test_malformed_record_is_a_lost_guest(function: DelayFunction, text: bytes) -> None:
    with pytest.raises(LostGuestError, match="delay plugin"):
        read_record(text, [function], insn_ns=0)


def test_delays_are_read_as_they_were_written(tmp_path: Path, function: DelayFunction) -> None:
    lines = entered(1, t_ns=1000), left(1, t_ns=20_000)
    delays = record_of(function, *lines, insn_ns=INSN_NS)
    (tmp_path / "delays.jsonl").write_bytes(encode_delays(delays))
    assert read_delays(tmp_path) == delays
    assert read_delays(tmp_path / "elsewhere") is None


@pytest.mark.parametrize("text", ["", '{"ev":"site","site":1,"callers":[]}\n', '{"ev":"other"}\n'])
def test_malformed_delays_file_is_a_lost_guest(tmp_path: Path, text: str) -> None:
    (tmp_path / "delays.jsonl").write_text(text, encoding="ascii")
    with pytest.raises(LostGuestError, match=r"delays\.jsonl"):
        read_delays(tmp_path)


@pytest.mark.parametrize(
    ("frame", "function"),
    [
        ("spi_write (drivers/spi25.c:67)", "spi_write"),
        ("spi_write.constprop.0 (drivers/spi25.c:67)", "spi_write"),
        ("spi_write.part.0.cold+0x12", "spi_write"),
        ("spi_write+0x12", "spi_write"),
        ("drivers/spi25.c:67", "drivers/spi25.c:67"),
        ("0x62c10", "0x62c10"),
    ],
)
def test_name_of_a_frame_does_not_depend_on_the_build(frame: str, function: str) -> None:
    assert function_of_frame(frame) == function
