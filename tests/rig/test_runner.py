# SPDX-License-Identifier: GPL-2.0-or-later
"""`tests/run`: arguments, layers, reports and interruptions; the changes of `tests/mutants.py`."""

import os
import signal
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from tests.mutants import Source
from tests.rig.builders import CHECKOUT
from tests.rig.processes import is_running, wait_for_content
from tests.rig.running import run, run_python, start_python
from tests.runner import side_by_side
from tests.runner.__main__ import selections
from tests.runner.arguments import Options, UsageError, help_text, read_options
from tests.runner.children import Children, Ended
from tests.runner.layers import LAYERS, Layer
from tests.runner.memory import failed_last, remember
from tests.runner.one_file import files_of_tests, imports_any, module_name, python_file
from tests.runner.outcome import (
    CaseResult,
    LayerResult,
    Outcome,
    counted,
    read_record,
    write_record,
)
from tests.runner.places import Places
from tests.runner.report import closing_lines, human, layer_line, slowest_lines
from tests.runner.selection import Selection
from tests.runner.side_by_side import run_layers

NAMES = list(LAYERS)


def read(line: str) -> Options:
    return read_options(line.split(), NAMES)


def test_layers_and_options_stand_in_any_order() -> None:
    assert read("rig -k words unit --all") == read("--all -k=words rig unit")
    assert read("rig -k words").words == "words"
    assert read("--file a.py --file=b.py").files == ("a.py", "b.py")
    assert read("rig rig").layers == ("rig",)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("rgi", "unknown layer 'rgi'; did you mean 'rig'?"),
        ("--last-faild", "unknown option '--last-faild'; did you mean '--last-failed'?"),
        ("nonesuch", "known: unit plain waits"),
        ("-k", "-k wants a value"),
        ("-k a -k b", "-k was given twice"),
        ("--resume --all", "--resume stands alone"),
        ("--file=", "--file wants a value"),
    ],
)
def test_wrong_arguments_are_refused_with_a_remedy(line: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        read(line)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (["--help"], 0, "--last-failed"),
        (["gust"], 2, "did you mean 'guest'"),
        (["-x"], 2, "remedy:"),
        (["--file", "jenkinsfile.groovy"], 2, "no Python file of this checkout"),
    ],
)
def test_help_and_wrong_arguments_need_no_set_up(words: list[str], code: int, text: str) -> None:
    environment = {"FLASHROM_RIG_STATE": "/nonexistent", "PATH": "/usr/bin:/bin"}
    # Files are found from the user's folder.
    done = run("../run", *words, cwd=CHECKOUT / "tests" / "rig", env=environment)
    assert done.returncode == code
    assert text in done.stdout + done.stderr


INTERRUPTED = """\
import sys
from tests.runner import __main__ as runner
def interrupted(*_): raise KeyboardInterrupt
runner.set_up = lambda places: True
setattr(runner, sys.argv[1], interrupted)
sys.exit(runner.main(sys.argv[2:]))
"""


@pytest.mark.parametrize(
    "words",
    [
        ["set_up"],
        ["list_all", "--list"],
        ["check_files", "--file", "tests/__init__.py"],
        ["run_all", "rig"],
    ],
)
def test_interrupted_run_says_so_in_each_of_its_phases(words: list[str]) -> None:
    done = run_python("-c", INTERRUPTED, *words)
    assert done.returncode == 130
    assert done.stderr == "\ntests/run: interrupted; everything that it started has ended\n"


def test_plain_layer_runs_only_with_all_or_by_name() -> None:
    quick, whole = selections(read(""), {}), selections(read("--all"), {})
    assert list(whole) == NAMES
    assert set(whole) - set(quick) == {"plain"}
    assert not any(selection.all_tiers for selection in quick.values())
    assert all(selection.all_tiers for selection in whole.values())
    assert list(selections(read("guest plain"), {})) == ["plain", "guest"]
    assert list(selections(read("live"), {})) == ["live"]


def test_last_failed_runs_only_the_failed_tests_whatever_their_tier() -> None:
    failed = {"rig": ["a", "b"], "unit": [], "guest": ["c"]}
    found = selections(read("--last-failed"), failed)
    names = {layer: selection.names for layer, selection in found.items()}
    assert names == {"rig": ("a", "b"), "guest": ("c",)}
    assert all(selection.all_tiers for selection in found.values())
    assert list(selections(read("--last-failed guest"), failed)) == ["guest"]


def test_help_names_every_layer_and_option() -> None:
    text = help_text({name: layer.about for name, layer in LAYERS.items()})
    for word in [*LAYERS, "--all", "-k", "--last-failed", "--list", "--file"]:
        assert f"\n  {word}" in text


LIMIT_S = 60.0
SPIN = "import time\nwhile time.process_time() < 0.2: pass"
WITH_A_CHILD = """\
import pathlib, signal, subprocess, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
child = subprocess.Popen(["sleep", "600"])
pathlib.Path(sys.argv[1]).write_text(str(child.pid))
child.wait()
"""


def test_ended_program_has_its_cpu_time_and_exit_code_or_signal(tmp_path: Path) -> None:
    def ended(*words: str) -> Ended:
        return Children().run(words, cwd=tmp_path, env=os.environ)

    busy, idle = ended(sys.executable, "-c", SPIN), ended("sleep", "0.3")
    assert busy.code == idle.code == 0
    assert busy.cpu_s > 0.2 > idle.cpu_s
    assert ended("sh", "-c", "exit 3").code == 3
    assert ended("sh", "-c", "kill -9 $$").code == -9


def test_running_program_and_its_children_end_with_the_run(tmp_path: Path) -> None:
    children, note = Children(), tmp_path / "pid"
    interrupted = threading.Event()

    def work() -> None:
        command = [sys.executable, "-c", WITH_A_CHILD, str(note)]
        try:
            children.run(command, cwd=tmp_path, env=os.environ)
        except KeyboardInterrupt:
            interrupted.set()

    thread = threading.Thread(target=work)
    thread.start()
    grandchild = int(wait_for_content(note))
    children.end()
    thread.join(LIMIT_S)
    assert interrupted.is_set()
    assert not is_running(grandchild)
    with pytest.raises(KeyboardInterrupt):
        children.run(["true"], cwd=tmp_path, env=os.environ)


RUNNER = """\
import os, signal, sys
from pathlib import Path
from tests.runner.children import Children
signal.signal(signal.SIGTERM, signal.default_int_handler)
children = Children()
try:
    children.run([sys.executable, "-c", sys.argv[1], sys.argv[2]], cwd=Path("/"), env=os.environ)
except KeyboardInterrupt:
    children.end()
    sys.exit(130)
"""


def test_sigterm_ends_the_program_that_the_main_thread_waits_for(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    runner = start_python("-c", RUNNER, WITH_A_CHILD, note)
    grandchild = int(wait_for_content(note))
    runner.send_signal(signal.SIGTERM)
    assert runner.wait(LIMIT_S) == 130
    assert not is_running(grandchild)


IGNORED = """\
import signal
names = ("SIGINT", "SIGHUP", "SIGQUIT")
assert all(signal.getsignal(getattr(signal, name)) is not signal.SIG_IGN for name in names)
"""
BACKGROUND = """\
import os, signal, sys
from pathlib import Path
from tests.runner.children import Children
signal.signal(signal.SIGHUP, signal.SIG_IGN)
sys.exit(Children().run([sys.executable, "-c", sys.argv[1]], cwd=Path("/"), env=os.environ).code)
"""


def test_run_in_the_background_starts_its_programs_as_from_a_terminal() -> None:
    line = f'"{sys.executable}" -c "$0" "$1" & wait $!'
    assert run("sh", "-c", line, BACKGROUND, IGNORED).returncode == 0


ENDS_AN_ORPHAN = """\
import os, subprocess, sys
from tests.runner.children import Children, end_descendants
Children().adopt_orphans()
words = ["sh", "-c", "setsid sleep 600 >/dev/null & echo $!"]
print(subprocess.run(words, stdout=subprocess.PIPE, text=True).stdout.strip(), flush=True)
end_descendants()
"""


def test_orphan_in_a_session_of_its_own_ends_with_the_run() -> None:
    assert not is_running(int(run_python("-c", ENDS_AN_ORPHAN).stdout))


AWAITS_AN_ORPHAN = """\
import subprocess, sys, time
from pathlib import Path
from tests.runner.children import Children
Children().adopt_orphans()
words = ["sh", "-c", "setsid sleep 0.2 >/dev/null & echo $!"]
orphan = Path("/proc") / subprocess.run(words, stdout=subprocess.PIPE, text=True).stdout.strip()
deadline_s = time.monotonic() + float(sys.argv[1])
while orphan.exists() and time.monotonic() < deadline_s:
    time.sleep(0.05)
sys.exit(orphan.exists())
"""


def test_ended_orphan_is_reaped() -> None:
    assert run_python("-c", AWAITS_AN_ORPHAN, LIMIT_S).returncode == 0


def files_for(name: str) -> list[str]:
    return files_of_tests(CHECKOUT, [CHECKOUT / name])


def test_module_is_tested_by_the_file_of_its_name_and_a_test_by_itself() -> None:
    assert files_for("rig/delayrig/setup/stamp.py") == ["tests/rig/setup/test_setup_stamp.py"]
    assert "tests/rig/test_runner.py" in files_for("tests/runner/report.py")
    assert files_for("tests/rig/test_bus.py") == ["tests/rig/test_bus.py"]


@pytest.mark.parametrize("name", ["rig/delayrig/setup/console.py", "rig/delayrig/base/paths.py"])
def test_module_without_tests_of_its_name_has_those_that_import_it(name: str) -> None:
    found = files_for(name)
    assert found
    assert len(found) <= 12


def test_every_module_of_the_rig_has_some_test() -> None:
    modules = (CHECKOUT / "rig" / "delayrig").rglob("*.py")
    # A `__main__` is tested by the tests of its program.
    named = [path for path in modules if path.name not in ("__init__.py", "__main__.py")]
    sample = sorted(named)[::20]
    assert [str(path) for path in sample if not files_of_tests(CHECKOUT, [path])] == []


def test_imports_of_a_module_are_recognised_in_each_form() -> None:
    assert module_name(CHECKOUT, CHECKOUT / "rig/delayrig/base/paths.py") == "delayrig.base.paths"
    assert module_name(CHECKOUT, CHECKOUT / "tests/runner/__init__.py") == "tests.runner"
    name = ["delayrig.setup.stamp"]
    assert imports_any("from delayrig.setup.stamp import read_marks\n", name)
    assert imports_any("import delayrig.setup.stamp\n", name)
    assert imports_any("    from delayrig.setup import errors, stamp\n", name)
    assert not imports_any("from delayrig.setup.stamps import x\n", name)


@pytest.mark.parametrize("name", ["rig/none.py", "README.md", "/usr/lib/python3/dist-packages/x"])
def test_file_that_is_not_our_python_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="no"):
        python_file(CHECKOUT, Path("/"), name)


def test_file_is_found_from_the_current_folder_and_from_the_checkout() -> None:
    wanted = CHECKOUT / "rig" / "delayrig" / "base" / "paths.py"
    assert python_file(CHECKOUT, Path("/"), "rig/delayrig/base/paths.py") == wanted
    assert python_file(CHECKOUT, wanted.parent, "paths.py") == wanted


def one(name: str, outcome: Outcome = Outcome.PASSED, took_s: float = 1.0) -> CaseResult:
    return CaseResult(name=name, outcome=outcome, took_s=took_s)


def layer(name: str, *tests: CaseResult, is_sound: bool = True) -> LayerResult:
    return LayerResult(layer=name, tests=tests, is_sound=is_sound, took_s=61.0, cpu_s=2.0)


def test_line_of_a_layer_has_its_counts_and_times() -> None:
    tests = [one("a"), one("b"), one("c", Outcome.FAILED), one("d", Outcome.SKIPPED)]
    assert counted("unit", tests) == "unit: 2 passed, 1 failed, 1 skipped"
    sound = layer("rig", one("a"))
    assert layer_line(sound) == "-- rig: 1 tests took 1 min 1 s, 2.0 s of CPU: all well"
    resumed = layer_line(replace(sound, before_s=200.0))
    assert resumed.endswith("2.0 s of CPU, and 3 min 20 s in the interrupted run: all well")


def test_broken_off_layer_has_failed_and_is_rerun_by_its_name() -> None:
    broken = layer("unit", one("a"), is_sound=False)
    assert not broken.good
    assert layer_line(broken).endswith(": FAILED")
    results = [broken, layer("rig", one("a")), layer("live", is_sound=False)]
    lines = list(closing_lines(results, 62.0))
    assert "unit: see above" in lines
    assert "again: tests/run unit live" in lines
    assert "again: tests/run --last-failed" not in lines
    assert "again: tests/run --all unit live" in closing_lines(results, 62.0, all_tiers=True)


def test_ten_slowest_of_all_layers_come_slowest_first() -> None:
    results = [
        layer("unit", *(one(f"u{number}", took_s=number) for number in range(8))),
        layer("rig", *(one(f"tests/rig/{number}", took_s=number + 0.5) for number in range(8))),
    ]
    head, *lines = slowest_lines(results)
    assert head == "== the 10 slowest tests =="
    assert len(lines) == 10
    assert [line.split()[-1] for line in lines[:2]] == ["tests/rig/7", "u7"]
    times = [float(line.split()[0]) for line in lines]
    assert times == sorted(times, reverse=True)


def test_closing_lines_name_failures_and_count_over_all_layers() -> None:
    results = [
        layer("unit", one("a", Outcome.FAILED)),
        layer("rig", one("tests/rig/b"), one("c", Outcome.SKIPPED)),
    ]
    lines = list(closing_lines(results, 62.0))
    assert "unit a" in lines
    assert "again: tests/run --last-failed" in lines
    assert lines[-1] == "== 1 passed, 1 failed, 1 skipped in 2 layers and 1 min 2 s =="


def test_durations_are_in_minutes_and_seconds() -> None:
    assert [human(took) for took in (0.04, 59.9, 60, 3599.6)] == [
        "0.0 s",
        "59.9 s",
        "1 min 0 s",
        "60 min 0 s",
    ]


def test_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    tests = (one("a"), one("b", Outcome.FAILED, 0.5))
    for test in tests:
        write_record(tmp_path / "record", test)
    assert read_record(tmp_path / "record") == tests
    assert read_record(tmp_path / "none") == ()


QUICK, WHOLE = Selection(), Selection(all_tiers=True)


def test_failure_is_remembered_until_the_test_itself_passes(tmp_path: Path) -> None:
    (tmp_path / "failed.json").write_text("{", encoding="utf-8")
    assert failed_last(tmp_path) == {}
    remember(tmp_path, layer("rig", one("a", Outcome.FAILED), one("b", Outcome.FAILED)), QUICK)
    remember(tmp_path, layer("guest", one("g", Outcome.FAILED)), QUICK)
    remember(tmp_path, layer("rig", one("a"), one("c")), QUICK)
    assert failed_last(tmp_path) == {"rig": ["b"], "guest": ["g"]}
    remember(tmp_path, layer("rig", one("b")), QUICK)
    assert failed_last(tmp_path)["rig"] == []


@pytest.mark.parametrize(
    ("selection", "is_sound", "left"),
    [
        (WHOLE, True, []),
        (WHOLE, False, ["a", "b"]),
        (QUICK, True, ["a", "b"]),  # It may be a long test.
        (Selection(all_tiers=True, words="c"), True, ["a", "b"]),
        (Selection(all_tiers=True, names=("a",)), True, ["b"]),
    ],
)
def test_failure_of_a_removed_test_is_forgotten_after_a_whole_run(
    tmp_path: Path, selection: Selection, is_sound: bool, left: list[str]
) -> None:
    remember(tmp_path, layer("rig", one("a", Outcome.FAILED), one("b", Outcome.FAILED)), QUICK)
    remember(tmp_path, layer("rig", one("c"), is_sound=is_sound), selection)
    assert failed_last(tmp_path) == {"rig": left}


class Layers:
    """Fake layers. `guest` may run beside others, and ends only after `rig` has begun."""

    def __init__(self) -> None:
        self.order: list[str] = []
        self.others_began = threading.Event()
        self.interrupted = ""
        self.threads: set[threading.Thread] = set()
        self.children: set[Children] = set()

    def layer(self, name: str) -> Layer:
        return Layer(about="", run=self.run, list=self.list, runs_beside=name == "guest")

    def run(self, layer: str, places: Places, _selection: Selection) -> LayerResult:
        self.threads.add(threading.current_thread())
        self.children.add(places.children)
        if layer == "rig":
            self.others_began.set()
        if layer == self.interrupted:
            raise KeyboardInterrupt
        is_sound = layer != "guest" or self.others_began.wait(LIMIT_S)
        print(f"lines of {layer}", file=places.output)
        self.order.append(layer)
        tests = (CaseResult(name=f"{layer}.a", outcome=Outcome.PASSED, took_s=0.0),)
        return LayerResult(layer=layer, tests=tests, is_sound=is_sound)

    def list(self, layer: str, _places: Places, _selection: Selection) -> list[str]:
        raise NotImplementedError(layer)


@pytest.fixture
def layers(monkeypatch: pytest.MonkeyPatch) -> Layers:
    fake = Layers()
    names = ("unit", "rig", "guest", "live")
    monkeypatch.setattr(side_by_side, "LAYERS", {name: fake.layer(name) for name in names})
    return fake


def run_fakes(tmp_path: Path, *names: str, all_tiers: bool = False) -> list[LayerResult]:
    places = Places(checkout=tmp_path, state=tmp_path)
    return list(run_layers(places, dict.fromkeys(names, Selection(all_tiers=all_tiers))))


def test_layer_that_runs_beside_others_delays_none_of_them(
    layers: Layers, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = run_fakes(tmp_path, "unit", "rig", "guest", "live")
    assert all(result.good for result in results)
    assert [result.layer for result in results] == ["unit", "rig", "guest", "live"]
    assert layers.order[-1] == "live"
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("lines")]
    assert lines == ["lines of unit", "lines of rig", "lines of guest", "lines of live"]


def test_with_all_tiers_no_layer_runs_beside_another(layers: Layers, tmp_path: Path) -> None:
    run_fakes(tmp_path, "unit", "rig", "guest", "live", all_tiers=True)
    assert layers.order == ["unit", "rig", "guest", "live"]
    assert layers.threads == {threading.current_thread()}


def test_layer_alone_runs_in_its_turn(layers: Layers, tmp_path: Path) -> None:
    layers.others_began.set()
    assert [result.layer for result in run_fakes(tmp_path, "guest", "live")] == ["guest", "live"]
    assert layers.order == ["guest", "live"]


def test_interrupted_layer_ends_what_runs_beside_it(layers: Layers, tmp_path: Path) -> None:
    layers.interrupted = "rig"
    with pytest.raises(KeyboardInterrupt):
        run_fakes(tmp_path, "rig", "guest")
    (children,) = layers.children
    with pytest.raises(KeyboardInterrupt):
        children.run(["true"], cwd=tmp_path, env=os.environ)


def test_mutants_change_coroutines_too(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("async def ask():\n    return 1 < two\n", encoding="utf-8")
    found = {change.text for change in Source(str(tmp_path / "a.py")).mutants()}
    assert {" <= ", "(None)"} <= found
