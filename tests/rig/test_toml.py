# SPDX-License-Identifier: GPL-2.0-or-later
"""Wrong TOML is bad input; the message names file, key and remedy."""

from pathlib import Path

import msgspec
import pytest
from delayrig.base.errors import BadInputError, ExitCode, UnknownNameError
from delayrig.base.toml import parse_toml, read_toml

from tests.rig.running import run_python


class Inner(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    speed: int
    colour: str = "red"


class Outer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    schema: int
    label: str
    one: Inner | None = None
    many: list[Inner] = []
    named: dict[str, Inner] = {}


GOOD = 'schema = 1\nlabel = "x"\n'


def error_of(text: str) -> BadInputError:
    with pytest.raises(BadInputError) as caught:
        parse_toml(text, Outer, source="rack.toml")
    assert caught.value.message.startswith("rack.toml: ")
    assert caught.value.hint
    assert caught.value.exit_code is ExitCode.BAD_INPUT
    return caught.value


def test_good_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "rack.toml"
    path.write_text(GOOD + "[one]\nspeed = 3\n[[many]]\nspeed = 4\n", encoding="utf-8")
    assert read_toml(path, Outer) == Outer(
        schema=1, label="x", one=Inner(speed=3), many=[Inner(speed=4)]
    )


@pytest.mark.parametrize("schema", ["schema = 2\n", 'schema = "1"\n', "schema = 0\n", ""])
def test_other_schema_is_refused_before_anything_else(schema: str) -> None:
    error = error_of(schema + "nonsense = 1\n")
    assert "key 'schema' is" in error.message
    assert "`schema = 1`" in error.hint


def test_invalid_toml_names_the_line() -> None:
    assert "line 2" in error_of('schema = 1\nlabel = "x\n').message


def test_missing_key_is_named_and_an_unknown_one_gets_the_nearest_name() -> None:
    assert "key 'label' is missing" in error_of("schema = 1\n").message
    error = error_of(GOOD + "mani = []\n")
    assert "unknown key 'mani'" in error.message
    assert "did you mean 'many'?" in error.hint


@pytest.mark.parametrize(
    ("table", "path"), [("[one]", "one"), ("[[many]]", "many"), ("[named.a]", "named")]
)
def test_missing_or_unknown_key_of_a_table_is_named_with_its_table(table: str, path: str) -> None:
    message = error_of(f'{GOOD}{table}\ncolour = "blue"\n').message
    assert f"key '{path}" in message
    assert ".speed' is missing" in message
    error = error_of(f"{GOOD}{table}\nspeed = 1\ncolor = 2\n")
    assert f"unknown key '{path}" in error.message
    assert ".color'" in error.message
    assert "did you mean 'colour'?" in error.hint
    assert "label" not in error.hint


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("schema = 1\nlabel = 5\n", "'label'"),
        (GOOD + "many = 5\n", "'many'"),
        (GOOD + '[one]\nspeed = "fast"\n', "'one.speed'"),
        (GOOD + "[[many]]\nspeed = 1.5\n", ".speed'"),
    ],
)
def test_wrong_type_names_the_key(text: str, key: str) -> None:
    message = error_of(text).message
    assert key in message
    assert "xpected" in message


def test_missing_file_folder_or_text_that_is_not_utf8_is_bad_input(tmp_path: Path) -> None:
    latin, missing = tmp_path / "latin.toml", tmp_path / "none.toml"
    latin.write_bytes(b'schema = 1\nlabel = "\xe4"\n')
    for path, complaint in (
        (missing, f"^{missing}: No such file or directory$"),
        (tmp_path, "directory"),
        (latin, "not UTF-8"),
    ):
        with pytest.raises(BadInputError, match=complaint):
            read_toml(path, Outer)


FIRST_USE = """
import sys
from threading import Barrier, Thread
import msgspec
from delayrig.base.toml import complete_types

THREADS = 4
sys.setswitchinterval(1e-6)
structs = []
for number in range(100):
    inner = msgspec.defstruct("Inner", [(f"i{n}", int | None, None) for n in range(20)])
    middle = msgspec.defstruct("Middle", [(f"m{n}", inner | None, None) for n in range(20)])
    structs.append(msgspec.defstruct("Outer", [(f"o{n}", middle | None, None) for n in range(20)]))
complete_types()
for struct in structs:
    barrier = Barrier(THREADS)
    def use():
        barrier.wait()
        msgspec.convert({"o19": {"m19": {"i19": 7}}}, struct)
    threads = [Thread(target=use) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


def test_threads_may_use_completed_types_at_the_same_time() -> None:
    done = run_python("-c", FIRST_USE, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def hint_for(name: str, known: list[str], *, what: str, listed_by: str = "") -> str:
    return UnknownNameError("unknown", name, known, what=what, listed_by=listed_by).hint


def test_hint_finds_the_nearest_name_in_any_case_and_lists_all_sorted() -> None:
    assert hint_for("BUNDELD", ["other", "bundled"], what="subjects") == (
        "did you mean 'bundled'? known subjects: bundled, other"
    )
    assert hint_for("mx-p", ["MX-P"], what="chips").startswith("did you mean 'MX-P'?")
    assert hint_for("zzzzzz", ["b", "a"], what="jobs") == "known jobs: a, b"


def test_hint_of_many_names_has_up_to_three_and_the_command_that_lists_all() -> None:
    many = [f"chip-{number}" for number in range(200)]
    hint = hint_for("CHIP-17", many, what="chips", listed_by="`rig/rig chips`")
    assert hint.startswith("did you mean 'chip-17' or 'chip-1")
    assert hint.count(" or ") == 2
    assert hint.endswith("? known chips: `rig/rig chips`")
    assert hint_for("", many, what="chips", listed_by="here") == "known chips: here"
