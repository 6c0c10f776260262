# SPDX-License-Identifier: GPL-2.0-or-later
"""Our delay layer grafted into flashrom trees: changed files, and refused trees."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import msgspec
import pytest
from click.testing import Result
from delayrig.base.errors import BadInputError, ExitCode
from delayrig.base.paths import find_paths
from delayrig.features.graft import pipeline
from delayrig.features.graft.pipeline import FILE_NAME, SUMMARY, WIDTH, Graft
from delayrig.features.graft.steps import Step, plan_steps, read_ours
from delayrig.features.graft.tree import find_tree, left_out

from tests.rig.git_commits import commit_all, git
from tests.rig.running import refusal_of, rig
from tests.rig.upstream_tree import RELEASES, Files, laid_out, one_file, today

OURS = read_ours(find_paths().checkout)
trees = pytest.mark.parametrize("files", [today, one_file], ids=["today", "one_file"])
MakeFiles = Callable[[], Files]


def grafted(*words: object) -> Result:
    return rig("graft", *words)


def steps_of(files: Files) -> list[Step]:
    return plan_steps(find_tree(Path("tree"), files), files, OURS)


def after(files: Files) -> Files:
    for step in steps_of(files):
        files = files | step.changed
    return files


def content(root: Path) -> dict[str, bytes]:
    """Returns the content of each file that no build has made."""
    found: dict[str, bytes] = {}
    for folder, folders, names in os.walk(root):
        folders[:] = set(folders) - set(left_out(folder, folders))
        paths = [Path(folder, name) for name in names if name != ".git"]
        found |= {str(path.relative_to(root)): path.read_bytes() for path in paths}
    return found


@trees
def test_last_step_has_our_files_unchanged(files: MakeFiles) -> None:
    tree, done = find_tree(Path("tree"), files()), after(files())
    names = (tree.delay, tree.header, tree.realtime, tree.realtime_header)
    assert [done[name] for name in names] == list(OURS.values())


def test_steps_in_todays_tree_change_these_files() -> None:
    first, second, third, fourth = (sorted(step.changed) for step in steps_of(today()))
    assert first == ["include/platform/udelay.h", "platform/udelay.c"]
    assert second == ["meson_options.txt", "platform/udelay.c"]
    assert third == [
        "cli_classic.c",
        "include/realtime.h",
        "platform/meson.build",
        "platform/realtime.c",
    ]
    assert fourth == ["platform/udelay.c"]


def test_realtime_source_is_added_outside_the_condition_around_udelay() -> None:
    build = after(today())["platform/meson.build"]
    assert build.startswith("srcs += files('realtime.c')\n# The delays of each system\nif ")


def with_udelay_in_a_list() -> Files:
    files = today()
    files["udelay.c"] = files.pop("platform/udelay.c")
    del files["platform/meson.build"]
    files["meson.build"] = (
        files["meson.build"]
        .replace("  'flashrom.c',\n", "  'flashrom.c',\n  'udelay.c',\n")
        .replace("subdir('platform')\n", "")
    )
    return files


def with_meson_and_make() -> Files:
    build = "project('flashromutils', 'c')\nsrcs = files('udelay.c', 'flashrom.c')\n"
    return one_file() | {"meson.build": build}


MESON, OPTION = "platform/meson.build", "CONFIG_DELAY_MINIMUM_SLEEP_US ?= 100\n"
AFTER_LIST = "endif\nsrcs += files('realtime.c')\nsrcs += delay_src\n"


@pytest.mark.parametrize(
    ("files", "name", "text"),
    [
        (with_udelay_in_a_list, "meson.build", "  'realtime.c',\n  'udelay.c',\n"),
        (with_meson_and_make, "meson.build", "files('realtime.c', 'udelay.c', 'flashrom.c')"),
        (with_meson_and_make, "meson_options.txt", "value : 100,"),
        (with_meson_and_make, "Makefile", "\trealtime.o udelay.o\n"),
        (with_meson_and_make, "Makefile", OPTION),
        # Other systems replace the list.
        (RELEASES["1.4"], "meson.build", AFTER_LIST),
        (RELEASES["1.7"], MESON, AFTER_LIST),
        # A variable has the name of the source.
        (RELEASES["1.8"], MESON, "  sources : files('realtime.c', udelay_c),\n"),
        (RELEASES["1.8"], MESON, "  udelay_c = 'udelay.c'\n"),
        # The object is in a condition.
        (RELEASES["1.4"], "Makefile", "LIB_OBJS += realtime.o\n\nifeq ($(TARGET_OS), DOS)\n"),
        (RELEASES["1.4"], "Makefile", "  LIB_OBJS += udelay.o\n"),
        (RELEASES["1.4"], "Makefile", OPTION),
    ],
)
def test_build_files_get_the_new_source_and_option(files: MakeFiles, name: str, text: str) -> None:
    assert text in after(files())[name]


def test_missing_meson_option_is_added_and_passed_to_the_compiler() -> None:
    files = today() | {"meson_options.txt": "option('tests', type : 'feature')\n"}
    place = files["platform/meson.build"].index("cargs +=")
    files["platform/meson.build"] = files["platform/meson.build"][:place]
    done = after(files)
    assert "min : 0, value : 100,\n" in done["meson_options.txt"]
    line = "add_project_arguments('-DCONFIG_DELAY_MINIMUM_SLEEP_US=@0@'"
    assert f")\n{line}" in done["meson.build"]
    assert done["meson.build"].index(line) < done["meson.build"].index("subdir(")


def test_default_in_a_makefile_is_changed_in_place() -> None:
    old = "CONFIG_DELAY_MINIMUM_SLEEP_US ?= 100000\n"
    files = one_file()
    makefile = after(files | {"Makefile": old + files["Makefile"]})["Makefile"]
    assert makefile.startswith("CONFIG_DELAY_MINIMUM_SLEEP_US ?= 100\n")
    assert makefile.count("CONFIG_DELAY_MINIMUM_SLEEP_US ?=") == 1


def test_sources_of_the_same_name_in_tests_are_unchanged() -> None:
    files = today()
    assert after(files)["tests/meson.build"] == files["tests/meson.build"]


def test_first_step_only_polls_the_clock_and_sleeps_from_100_ms_on() -> None:
    first = steps_of(one_file())[0].changed["udelay.c"]
    assert "#define CONFIG_DELAY_MINIMUM_SLEEP_US 100000\n" in first
    assert "#define CONFIG_DELAY_HYBRID 0\n" in first
    assert "#define CONFIG_DELAY_TIMER_SLACK 0\n" in first


def test_calls_of_removed_functions_are_replaced() -> None:
    done = after(one_file())
    text = "".join(done.values())
    assert "calibrate" not in text.replace("is calibrated", "").lower()
    assert "internal_sleep" not in text
    assert "\tdefault_delay(150);" in done["flashrom.c"]


def test_message_names_systems_that_lose_their_delays() -> None:
    assert "libpayload" in steps_of(one_file())[0].message
    assert "libpayload" not in steps_of(today())[0].message


@trees
def test_both_trees_pass_and_the_tree_is_unchanged(files: MakeFiles, tmp_path: Path) -> None:
    tree, out = laid_out(files(), tmp_path / "tree"), tmp_path / "out"
    before = content(tree)
    done = grafted(tree, "--out", out, "--no-gate")
    assert done.exit_code == ExitCode.PASS, done.output
    answer = msgspec.json.decode((out / FILE_NAME).read_bytes(), type=Graft)
    for built in (answer.original, answer.grafted):
        assert built
        assert built.tests
        assert (built.tests.passed, built.tests.failed, built.warnings) == (1, 0, 0)
        assert subprocess.run([built.program], check=False, capture_output=True).returncode == 0
    assert answer.grafted
    # The function is no stub, even in a build without GNU extensions.
    assert b"sched_setscheduler" in Path(answer.grafted.program).read_bytes()
    assert content(tree) == before
    summary = (out / SUMMARY).read_text()
    assert "1 of 1 pass         1 of 1 pass\n" in summary
    paragraphs = summary.partition("Made by:")[0].splitlines()
    assert all(len(line) <= WIDTH for line in paragraphs)


@pytest.mark.parametrize("release", sorted(set(RELEASES) - {"1.2"}))
def test_patches_build_one_by_one_and_git_am_applies_them(release: str, tmp_path: Path) -> None:
    files = RELEASES[release]
    tree, patches = laid_out(files(), tmp_path / "tree"), tmp_path / "patches"
    done = grafted(tree, "--patches", patches)
    for step in ("original", "with step 1", "with step 4"):
        assert f"building {step}\n" in done.output
    assert done.exit_code == ExitCode.PASS, done.output
    commit_all(tree, "theirs")
    git(tree, "am", *sorted(patches.iterdir()))
    assert content(tree) == {name: text.encode() for name, text in after(files()).items()}


def test_graft_that_breaks_tests_of_the_tree_is_refused(tmp_path: Path) -> None:
    files = today()
    files["tests/udelay.c"] = (
        '#include <stdio.h>\nint main(void)\n{\n\treturn fopen(OLD, "r") == NULL;\n}\n'
    )
    files["tests/meson.build"] = (
        "test('old', executable('unit', 'udelay.c',"
        " c_args : '-DOLD=\"@0@/old\"'.format(meson.project_source_root())))\n"
        "if import('fs').exists('../platform/realtime.c')\n"
        "  test('new', find_program('false'))\n"
        "endif\n"
    )
    files["old"] = ""
    refusal = refusal_of("graft", laid_out(files, tmp_path / "tree"), "--out", tmp_path / "out")
    assert "tests of the tree fail that passed before" in refusal
    assert "1 of 2 pass" in (tmp_path / "out" / SUMMARY).read_text()


def test_tree_that_does_not_build_is_refused_with_the_compiler_error(tmp_path: Path) -> None:
    files = today() | {"flashrom.c": "#error no such luck\n"}
    refusal = refusal_of("graft", laid_out(files, tmp_path / "tree"), "--out", tmp_path / "out")
    assert "no such luck" in refusal
    assert "original.log" in refusal


def test_dry_run_names_steps_and_files_and_writes_nothing(tmp_path: Path) -> None:
    tree = laid_out(today(), tmp_path / "tree")
    before = content(tmp_path)
    done = grafted(tree, "--dry-run")
    assert "2. udelay: Sleep from 100 us on\n   meson_options.txt, platform/udelay.c" in done.output
    assert content(tmp_path) == before


def test_step_that_does_not_build_leaves_no_patch(tmp_path: Path) -> None:
    files = changed("cli_classic.c", "int main(", "static int raise_priority;\n\nint main(")
    files["cli_classic.c"] = files["cli_classic.c"].replace("return 0;", "return raise_priority;")
    tree = laid_out(files, tmp_path / "tree")
    before = content(tmp_path)
    done = grafted(tree, "--patches", tmp_path / "patches")
    assert done.exit_code == ExitCode.BAD_INPUT
    assert "with step 3 (cli: Ask for realtime priority) the tree does not build" in done.output
    assert "raise_priority" in done.output
    assert "install" not in done.output
    assert content(tmp_path) == before


def test_undeclared_function_in_a_file_for_dos_becomes_static() -> None:
    files = RELEASES["1.4"]()
    dos = after(files)["udelay_dos.c"]
    assert dos == files["udelay_dos.c"].replace(
        "\nvoid internal_sleep", "\nstatic void internal_sleep"
    )


def test_json_is_the_only_output(tmp_path: Path) -> None:
    done = grafted(laid_out(one_file(), tmp_path / "tree"), "--dry-run", "--json")
    answer = msgspec.json.decode(done.stdout, type=Graft)
    assert (answer.system, len(answer.steps)) == ("make", 4)


def changed(name: str, old: str, new: str) -> Files:
    files = today()
    assert old in files[name]
    return files | {name: files[name].replace(old, new)}


def without(*names: str) -> Files:
    return {name: text for name, text in today().items() if name not in names}


UNFIT_TREES = {
    "a variable that no list uses": (
        RELEASES["1.8"]()
        | {
            "platform/meson.build": RELEASES["1.8"]()["platform/meson.build"].replace(
                "files(udelay_c)", "files(['udelay', 'c'])"
            )
        },
        "platform/meson.build:7: names udelay.c: looked for the list of sources",
    ),
    "what meson cannot read": (
        changed("platform/meson.build", "else", "otherwise udelay.c"),
        "platform/meson.build: meson cannot read line",
    ),
    "a release that is too old": (RELEASES["1.2"](), "udelay.c: this flashrom is too old"),
    "another project": (without("flashrom.c"), "looked for flashrom.c at its top"),
    "no build": (without("meson.build"), "looked for meson.build or Makefile"),
    "too old": (
        changed("platform/udelay.c", "default_delay(unsigned int", "internal_delay(int"),
        "platform/udelay.c: this flashrom is too old",
    ),
    "other arguments": (
        changed("platform/udelay.c", "default_delay(unsigned int", "default_delay(int"),
        "platform/udelay.c: this flashrom is too old",
    ),
    "no delay": (
        without("platform/udelay.c", "platform/udelay_windows.c"),
        "no file defines void default_delay(unsigned int)",
    ),
    "delays elsewhere": (without("platform/udelay.c"), "platform/udelay_windows.c: defines"),
    "not built": (
        changed("platform/meson.build", "'udelay.c'", "delays"),
        "meson.build: looked for platform/udelay.c among the sources",
    ),
    "no command line": (without("cli_classic.c"), "whose main() calls programmer_init()"),
    "more in that file": (
        changed(
            "platform/udelay.c", "void default", "int now(void)\n{\n\treturn 0;\n}\n\nvoid default"
        )
        | {"spi.c": "int spi(void)\n{\n\treturn now();\n}\n"},
        "platform/udelay.c: defines now() as well, which spi.c needs",
    ),
    "grafted before": (after(today()), "platform/realtime.c: is there already"),
}


@pytest.mark.parametrize("case", UNFIT_TREES)
def test_unfit_tree_is_refused_before_writing(case: str, tmp_path: Path) -> None:
    files, words = UNFIT_TREES[case]
    tree = laid_out(files, tmp_path / "tree")
    before = content(tmp_path)
    for options in (["--out", tmp_path / "out"], ["--patches", tmp_path / "patches"]):
        done = grafted(tree, *options)
        assert done.exit_code == ExitCode.BAD_INPUT
        assert words in done.output
        error, hint = done.output.splitlines()
        assert str(tree) in error
        assert hint.strip()
    assert content(tmp_path) == before


def test_output_inside_the_tree_or_in_a_full_folder_is_refused(tmp_path: Path) -> None:
    tree = laid_out(today(), tmp_path / "tree")
    assert "is to stay as it is" in grafted(tree, "--out", tree / "out").output
    assert "is there already" in grafted(tree, "--patches", tmp_path).output


def test_tree_without_flashrom_sources_is_refused() -> None:
    with pytest.raises(BadInputError, match="not a flashrom source tree"):
        find_tree(Path("ours"), {"meson.build": ""})


def test_folder_without_flashroms_top_file_is_refused_before_its_texts_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "read_texts", Mock(side_effect=AssertionError))
    assert "not a flashrom source tree" in refusal_of("graft", tmp_path)
