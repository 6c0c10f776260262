# SPDX-License-Identifier: GPL-2.0-or-later
"""The generator accepts good chip files, and says how to correct bad ones."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

EMULATORS = Path(__file__).resolve().parents[3] / "emulators"
PAGE = EMULATORS.parent / "rig" / "docs" / "explanation" / "chip-model.md"
GENERATOR = EMULATORS / "gen" / "chips_to_c.py"


def good_text(name: str) -> str:
    return (EMULATORS / "chips" / f"{name}.toml").read_text(encoding="utf-8")


def generate(out: Path, *chips: Path) -> subprocess.CompletedProcess[str]:
    names = out.with_name("names.c")  # the second generated file: the parts' names in flashrom
    argv = [sys.executable, "-B", str(GENERATOR), str(out), str(names), *map(str, chips)]
    return subprocess.run(argv, capture_output=True, text=True, check=False)


def error_of(tmp_path: Path, name: str, text: bytes) -> str:
    chip, out = tmp_path / f"{name}.toml", tmp_path / "out.c"
    chip.write_bytes(text)
    done = generate(out, chip)
    assert done.returncode == 2
    assert not out.exists()
    assert "Traceback" not in done.stderr
    return done.stderr


def assert_refused(tmp_path: Path, name: str, old: str, new: str, words: tuple[str, ...]) -> None:
    """Fails unless the error names the file and has the words, after that change of a good file."""
    good = good_text(name)
    assert old in good
    error = error_of(tmp_path, name, good.replace(old, new, 1).encode())
    assert f"{name}.toml" in error
    for word in words:
        assert word in error


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        # Keys are unknown or missing: the error names the key, and the nearest one or the remedy.
        ("page_bytes =", "page_byte =", ("page_byte: unknown key", "`page_bytes`")),
        ("typ_us = 640", "typ_ms = 640", ("busy.page_program.typ_ms", "`typ_us`")),
        ("\nwrite_status =", "\nwrsr =", ("busy.wrsr: unknown key", "`write_status`")),
        ('vendor = "Micron"\n', "", ("vendor: missing key", "add `vendor")),
        ("typ_us = 640, max_us = 5000, ", "", ("busy.page_program.typ_us", "add `typ_us`")),
        ("schema = 1\n", "", ("schema: missing key", "begin the file with")),
        ("schema = 1", "schema = 2", ("schema: is 2", "`schema = 1`")),
        # Types or values are wrong.
        ("page_bytes = 256", 'page_bytes = "256"', ("page_bytes: is str", "a whole number")),
        ("page_bytes = 256", "page_bytes = 300", ("page_bytes: is 300", "power of two")),
        ("typ_us = 640", 'typ_us = "fast"', ("page_program.typ_us", "number of microseconds")),
        ("typ_us = 640", "typ_us = 6400", ("typ_us: is above max_us", "datasheet again")),
        ("rdid = [0x20, 0x20, 0x14]", "rdid = [0x20]", ("id.rdid", "a list of 3 to 6 bytes")),
        ("opcode = 0xD8", "opcode = 0xD9", ("erase[0].opcode", "0xD8")),
        ("opcode = 0xD8", "opcode = [0xD8, 0xD9]", ("erase[0].opcode", "0xD9")),
        ("opcode = 0xD8", "opcode = []", ("erase[0].opcode: is list", "a whole number")),
        (
            "size_bytes = 65536",
            "size_bytes = 65537",
            ("erase[0].size_bytes", "divides 1048576"),
        ),
        (
            "size_bytes = 65536,",
            "regions = [[17, 65536]],",
            ("erase[0].regions: reach past", "within 1048576"),
        ),
        ("size_bytes = 65536,", "regions = [[4]],", ("regions: has 1 numbers", "pairs")),
        ("bits = [2, 3, 4]", "bits = [8]", ("protection.bits", "from 0 to 7")),
        ("bits = [2, 3, 4]\n", "", ("protection.bits: missing key", "add `bits")),
        (
            'kind = "ranges"',
            'kind = "range"',
            ("protection.kind: unknown name `range`", "`ranges`"),
        ),
        (
            "unit_bytes = 65536",
            "unit_bytes = 65536\nbottom = { read_opcode = 0x35, mask = 0x20 }",
            ("bottom.read_opcode: no status register", "use one of 0x05"),
        ),
        # TOML allows these values, but they are not figures, or do not fit into a table in C.
        ("typ_us = 640", "typ_us = inf", ("page_program.typ_us: is inf", "3600000000")),
        ("typ_us = 640", "typ_us = nan", ("page_program.typ_us: is nan", "3600000000")),
        ("typ_us = 640", "typ_us = -1e308", ("typ_us: is -1e+308", "3600000000")),
        ("max_us = 5000", "max_us = 3600000001", ("max_us: is 3600000001", "3600000000")),
        ('vendor = "Micron"', 'vendor = "Mi\\ncron"', ("vendor: is str", "printable")),
        ("names = [", 'names = ["\\u0000",', ("flashrom_names: is list", "printable")),
        ("rdid = [0x20, 0x20, 0x14]", "rdid = [true, 0x20, 0x14]", ("id.rdid", "whole numbers")),
        ("opcode = 0xD8, ", "", ("erase[0].opcode: missing key", "add `opcode")),
        # If no source gives a figure, the file must mark it as assumed; it cannot leave it out.
        (
            "typ_us = 640,",
            "typ_us = 640, assumed = true,",
            ("busy.page_program.typ_us: unknown key", "`assumed`"),
        ),
        (
            'typ_us = 640, max_us = 5000, source = "main"',
            "assumed = false",
            ("busy.page_program.assumed: is not true", "leave it out"),
        ),
        ("max_us = 5000", 'min_source = "main"', ("min_source: unknown key", "`max_source`")),
        ("max_us = 5000", 'max_source = "main"', ("max_source: has no figure", "`max_us`")),
        (
            'release_power_down = { max_us = 30, source = "main" }\n',
            "",
            ("wait.release_power_down: only one", "both or neither"),
        ),
        (
            'power_up_to_select = { max_us = 10, source = "main" }',
            "power_up_to_select = { assumed = true }",
            ("power_up_to_select.assumed: no rule", "find the figure"),
        ),
        # Names of features, grades or sources are unknown. No source has the grade `assumed`.
        ('grade = "datasheet"', 'grade = "assumed"', ("main.grade: unknown name `assumed`",)),
        (
            "page_bytes = 256\n",
            'page_bytes = 256\nfeatures = ["sdfp"]\n',
            ("features: unknown name `sdfp`", "`sfdp`"),
        ),
        ('grade = "datasheet"', 'grade = "datashet"', ("sources.main.grade", "`datasheet`")),
        ('source = "main"', 'source = "mian"', ("source: unknown name `mian`", "`main`")),
        ('family = "spi_nor"', 'family = "spinor"', ("family: unknown name", "`spi_nor`")),
        ('name = "M25P80"', 'name = "M25P81"', ("name: is `M25P81`", "M25P81.toml")),
    ],
)
def test_bad_chip_file_names_key_and_remedy(
    tmp_path: Path, old: str, new: str, words: tuple[str, ...]
) -> None:
    assert_refused(tmp_path, "M25P80", old, new, words)


@pytest.mark.parametrize(
    ("name", "old", "new", "words"),
    [
        ("SST39SF040", "\nbus =", "\nbuss =", ("buss: unknown key", "`bus`")),
        ("SST39SF040", 'kind = "parallel"', 'kind = "paralel"', ("bus.kind", "`parallel`")),
        ("SST39SF040", "cycle_ns = 70, ", "", ("bus.cycle_ns: missing key",)),
        ("SST39SF040", "maker = 0xBF", "maker = 0x1BF", ("id.maker", "from 0 to 255")),
        ("SST39SF040", "[0x5555, 0x2AAA]", "[0x5555]", ("unlock.addresses", "the two for AAh")),
        ("SST39SF040", "[0x5555, 0x2AAA]", "[0x5555, 0xFFFF]", ("unlock.addresses", "32767")),
        ("SST39SF040", "id_entry = [0x90]", "id_entry = [0x91]", ("unlock.id_entry", "0x90")),
        ("SST39SF040", "opcode = 0x30", "opcode = 0x20", ("erase[0].opcode", "0x30")),
        ("SST39SF040", "id_exit =", "id_exti =", ("wait.id_exti", "`id_exit`")),
        (
            "SST39SF040",
            "typ_us = 18000",
            'typ_source = "x", typ_us = 18000',
            ("typ_source", "unknown"),
        ),
        ("SST39SF040", "byte_program =", "page_write =", ("page_write: unknown",)),
        ("AT29C020", "byte_load =", "sector_erase =", ("window.sector_erase",)),
        ("AT29C020", '"indeterminate"', '"anything"', ("load.unloaded", "`indeterminate`")),
        ("AT29C020", "at_start = true", "at_start = 1", ("load.protected_at_start", "not true")),
        ("AT29C020", 'us = 150, source = "main"', "assumed = 1", ("byte_load.assumed", "not true")),
        ("MX29F040", "[busy]", "[window]\nsector_erase = { assumed = true }\n[busy]", ("no rule",)),
        ("MX29F040", "size_bytes = 65536", "size_bytes = 8192", ("erase[0].size_bytes", "16384")),
        ("MX29F040", "size_bytes = 65536", "regions = [[8, 65536]]", ("erase[0].regions", "same")),
        ("AT49F002", "98304", "98305", ("erase[0].regions", "past the part")),
        ("M50FW040", "lock_block_bytes = 65536", "lock_block_bytes = 16384", ("16 blocks",)),
        ("M50FW040", "registers =", "unlock =", ("unlock: unknown key",)),
        (
            "AT25DF641",
            "[[128, 65536]]",
            "[[129, 65536]]",
            ("protection.lock_regions: reach past the part's end", "within 8388608 bytes"),
        ),
        # A register that only an address selects has no opcode that a flag can name.
        (
            "S25FS128S",
            "read_opcode = 0x35, mask = 0x20",
            "read_opcode = 0x00, mask = 0x20",
            ("bottom.read_opcode: no status register", "use one of 0x05, 0x35, 0x07\n"),
        ),
    ],
)
def test_bad_file_of_another_part_names_key_and_remedy(
    tmp_path: Path, name: str, old: str, new: str, words: tuple[str, ...]
) -> None:
    assert_refused(tmp_path, name, old, new, words)


def test_broken_toml_is_an_error_with_its_line(tmp_path: Path) -> None:
    error = error_of(tmp_path, "M25P80", good_text("M25P80").encode() + b"\n[oops\n")
    assert "M25P80.toml: TOML:" in error
    assert "line" in error


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(b'vendor = "\xfc"', id="latin-1"),
        pytest.param(b"size_bytes = " + b"9" * 5000, id="number of 5000 digits"),
        pytest.param(b"sources = " + b"[" * 5000 + b"]" * 5000, id="lists 5000 deep"),
    ],
)
def test_file_that_cannot_be_parsed_is_a_syntax_error(tmp_path: Path, line: bytes) -> None:
    error = error_of(tmp_path, "M25P80", line + b"\n" + good_text("M25P80").encode())
    assert error.startswith("chips_to_c: M25P80.toml: TOML: ")


def test_short_forms_generate_the_same_table_as_full_rows(tmp_path: Path) -> None:
    short = good_text("XM25QH64A")
    row = next(line for line in short.splitlines() if "[0xC7, 0x60]" in line)
    rows = [row.replace("[0xC7, 0x60]", opcode) for opcode in ("0xC7", "0x60")]
    long = short.replace(row, "\n".join(rows)).replace("busy = { assumed = true }\n", "")
    long += "[busy]\n" + "".join(
        f"{key} = {{ assumed = true }}\n" for key in ("page_program", "write_status")
    )
    tables = []
    for folder, text in (("short", short), ("long", long)):
        chip = tmp_path / folder / "XM25QH64A.toml"
        chip.parent.mkdir()
        chip.write_text(text, encoding="utf-8")
        assert generate(tmp_path / f"{folder}.c", chip).returncode == 0
        tables.append((tmp_path / f"{folder}.c").read_bytes())
    assert tables[0] == tables[1]


def test_same_files_give_same_bytes(tmp_path: Path) -> None:
    chips = sorted((EMULATORS / "chips").glob("*.toml"))
    first, second = tmp_path / "a.c", tmp_path / "b.c"
    assert generate(first, *chips).returncode == 0
    assert generate(second, *chips).returncode == 0
    assert first.read_bytes() == second.read_bytes()


def test_every_chip_file_is_in_the_build() -> None:
    build = (EMULATORS / "model" / "meson.build").read_text(encoding="utf-8")
    names = build.partition("chip_names = '''")[2].partition("'''")[0].split()
    assert names == sorted(chip.stem for chip in (EMULATORS / "chips").glob("*.toml"))


def test_page_counts_the_figures_of_all_parts_by_grade(tmp_path: Path) -> None:
    out = tmp_path / "out.c"
    assert generate(out, *sorted((EMULATORS / "chips").glob("*.toml"))).returncode == 0
    grades = Counter(re.findall(r"\bGRADE_([A-Z]+)", out.read_text("utf-8")))
    rows = re.findall(r"^\| `(\w+)` \| (\d+) \|$", PAGE.read_text("utf-8"), re.MULTILINE)
    assert {name.upper(): int(count) for name, count in rows} == dict(grades)
