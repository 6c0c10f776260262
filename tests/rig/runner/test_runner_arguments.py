# SPDX-License-Identifier: GPL-2.0-or-later
"""Arguments of `tests/run`, and its messages about wrong ones."""

import subprocess

import pytest

from tests.rig.builders import CHECKOUT
from tests.runner.__main__ import selections
from tests.runner.arguments import Options, UsageError, help_text, read_options
from tests.runner.layers import LAYERS

NAMES = list(LAYERS)


def read(line: str) -> Options:
    return read_options(line.split(), NAMES)


def test_layers_and_options_stand_in_any_order() -> None:
    assert read("rig -k words unit --all") == read("--all -k=words rig unit")
    assert read("rig -k words").words == "words"
    assert read("--file a.py --file=b.py").files == ("a.py", "b.py")
    assert read("rig rig").layers == ("rig",)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("rgi", "unknown layer 'rgi'; did you mean 'rig'?"),
        ("--last-faild", "unknown option '--last-faild'; did you mean '--last-failed'?"),
        ("nonesuch", "known: unit plain waits"),
        ("-k", "-k wants a value"),
        ("--file=", "--file wants a value"),
    ],
)
def test_nonsense_is_refused_with_what_may_have_been_meant(line: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        read(line)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [("--help", 0, "--last-failed"), ("gust", 2, "did you mean 'guest'"), ("-x", 2, "remedy:")],
)
def test_answer_needs_no_set_up(line: str, code: int, said: str) -> None:
    done = subprocess.run(
        [CHECKOUT / "tests" / "run", line],
        env={"FLASHROM_RIG_STATE": "/nonexistent", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code
    assert said in done.stdout + done.stderr


def test_quick_tier_is_all_layers_but_those_of_the_release_check() -> None:
    quick, whole = selections(read(""), {}), selections(read("--all"), {})
    assert list(whole) == NAMES
    assert set(whole) - set(quick) == {"plain"}
    assert not any(each.all_tiers for each in quick.values())
    assert all(each.all_tiers for each in whole.values())


def test_layer_that_is_named_runs_in_whatever_tier() -> None:
    assert list(selections(read("guest plain"), {})) == ["plain", "guest"]
    assert list(selections(read("live"), {})) == ["live"]


def test_what_failed_last_is_run_alone_and_whatever_its_tier() -> None:
    failed = {"rig": ["a", "b"], "unit": [], "guest": ["c"]}
    found = selections(read("--last-failed"), failed)
    assert {name: each.names for name, each in found.items()} == {
        "rig": ("a", "b"),
        "guest": ("c",),
    }
    assert all(each.all_tiers for each in found.values())
    assert list(selections(read("--last-failed guest"), failed)) == ["guest"]


def test_help_tells_of_every_layer_and_option() -> None:
    text = help_text({name: layer.about for name, layer in LAYERS.items()})
    for word in [*LAYERS, "--all", "-k", "--last-failed", "--list", "--file"]:
        assert f"\n  {word}" in text
