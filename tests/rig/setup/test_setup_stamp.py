# SPDX-License-Identifier: GPL-2.0-or-later
"""The stamp of set-up, locks of packages, and reuse of build folders."""

import fcntl
import os
import re
import tomllib
from collections.abc import Callable
from importlib.metadata import distribution
from itertools import combinations
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from delayrig.base.errors import BadInputError
from delayrig.base.extras import MODULES, require_extra
from delayrig.setup import native
from delayrig.setup.arguments import EXTRAS
from delayrig.setup.console import Context
from delayrig.setup.errors import SetupError
from delayrig.setup.layout import Layout, find_layout
from delayrig.setup.lock import hold_unused, note_use
from delayrig.setup.stamp import (
    ACCOUNT,
    ENVIRONMENT,
    EVERY_STEP,
    HOST_PACKAGES,
    HOST_STEPS,
    IMAGES,
    NATIVE,
    PACKAGES,
    TEST_ENVIRONMENT,
    TEST_STEPS,
    drop_mark,
    read_marks,
    stale_steps,
    wanted_marks,
    write_mark,
)
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.rig.launching import context_of


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    """Makes a small checkout that is set up."""
    layout = Layout(checkout=tmp_path / "checkout", state=tmp_path / "state")
    for name in ("meson.build", "emulators/chips/a.toml", "flashrom/core/a.c", "images/agent/a.c"):
        put(layout.checkout / name)
    put(layout.package_path / "delayrig" / "subjects" / "recipes.py")
    for name in ("packages.toml", "packages.py", "environment.py", "native.py", "images.py"):
        put(layout.setup / name)
    for path in (layout.lock_of_python, layout.lock_of_tests, layout.python, database(layout)):
        put(path)
    put(layout.build / "build.ninja")
    for step, mark in wanted_marks(layout, database(layout)).items():
        write_mark(layout.stamp, step, mark)
    return layout


def put(path: Path, text: str = "x") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def database(layout: Layout) -> Path:
    return layout.checkout.parent / "dpkg-status"


def stale(layout: Layout) -> set[str]:
    return set(stale_steps(layout, wanted_marks(layout, database(layout)), EVERY_STEP))


def test_only_a_step_without_its_mark_is_stale_in_an_unchanged_checkout(layout: Layout) -> None:
    assert stale(layout) == set()
    drop_mark(layout.stamp, ENVIRONMENT)
    assert stale(layout) == {ENVIRONMENT}


@pytest.mark.parametrize(
    ("change", "steps"),
    [
        (lambda at: put(at.checkout / "emulators/chips/a.toml", "xy"), {NATIVE, IMAGES}),
        (lambda at: put(at.checkout / "flashrom/core/new.c"), {NATIVE, IMAGES}),
        (lambda at: put(at.checkout / "meson.options"), {NATIVE, IMAGES}),
        (lambda at: (at.checkout / "images/agent/a.c").unlink(), {NATIVE, IMAGES}),
        (lambda at: put(at.package_path / "delayrig/subjects/recipes.py", "xy"), {IMAGES}),
        (lambda at: put(at.lock_of_python, "xy"), {ENVIRONMENT, NATIVE, IMAGES}),
        (lambda at: put(at.setup / "packages.toml", "xy"), {PACKAGES}),
        (lambda at: put(database(at), "xy"), {PACKAGES}),
        (lambda at: at.python.unlink(), {ENVIRONMENT}),
        (lambda at: (at.build / "build.ninja").unlink(), {NATIVE}),
        (lambda at: put(at.setup / "doctor.py"), set()),
        (lambda at: put(at.checkout / "flashrom/core/.a.c.swp"), set()),
        (lambda at: put(at.checkout / "emulators/gen/__pycache__/a.pyc"), set()),
    ],
)
def test_change_makes_only_the_steps_stale_that_depend_on_it(
    layout: Layout, change: Callable[[Layout], object], steps: set[str]
) -> None:
    change(layout)
    assert stale(layout) == steps


def test_host_lane_needs_neither_images_nor_the_packages_of_guests(layout: Layout) -> None:
    layout.stamp.unlink()
    wanted = wanted_marks(layout, database(layout))
    assert stale_steps(layout, wanted, HOST_STEPS) == {HOST_PACKAGES, ENVIRONMENT, NATIVE}
    for step in HOST_STEPS:
        write_mark(layout.stamp, step, wanted[step])
    assert stale_steps(layout, wanted, HOST_STEPS) == set()
    assert stale(layout) == {PACKAGES, ACCOUNT, IMAGES}


def test_lock_of_tests_makes_only_their_step_stale_and_that_of_the_rig_both(layout: Layout) -> None:
    put(layout.lock_of_tests, "xy")
    assert stale(layout) == set()
    wanted = wanted_marks(layout, database(layout))
    assert stale_steps(layout, wanted, TEST_STEPS) == {TEST_ENVIRONMENT}
    put(layout.lock_of_python, "xy")
    wanted = wanted_marks(layout, database(layout))
    assert {ENVIRONMENT, TEST_ENVIRONMENT} <= stale_steps(layout, wanted, TEST_STEPS)


def test_source_that_changes_without_its_size_makes_the_build_stale(layout: Layout) -> None:
    source = layout.checkout / "flashrom/core/a.c"
    later_ns = source.stat().st_mtime_ns + 1
    put(source, "y")
    os.utime(source, ns=(later_ns, later_ns))
    assert NATIVE in stale(layout)


def test_moved_state_makes_the_environment_stale(layout: Layout) -> None:
    moved = Layout(checkout=layout.checkout, state=layout.state.with_name("moved"))
    layout.state.rename(moved.state)
    assert ENVIRONMENT in stale(moved)


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"packages", b"packages \n"])
def test_damaged_stamp_makes_every_step_stale(layout: Layout, content: bytes) -> None:
    layout.stamp.write_bytes(content)
    assert stale(layout) >= {PACKAGES, ENVIRONMENT, NATIVE, IMAGES}


def test_mark_of_one_step_leaves_the_others(tmp_path: Path) -> None:
    stamp = tmp_path / "setup.stamp"
    write_mark(stamp, "a", "1")
    write_mark(stamp, "b", "2")
    write_mark(stamp, "a", "3")
    assert read_marks(stamp) == {"a": "3", "b": "2"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["marking.lock", "setup.stamp"]


LAYOUT = find_layout({})


def versions(lock: Path) -> dict[str, str]:
    text = lock.read_text(encoding="utf-8")
    lines = re.findall(r"^([\w.-]+)==(\S+)", text, re.MULTILINE)
    return {str(canonicalize_name(name)): version for name, version in lines}


def pinned(lock: Path) -> set[str]:
    return set(versions(lock))


def project() -> dict[str, Any]:
    text = (LAYOUT.package_path / "pyproject.toml").read_text(encoding="utf-8")
    table: dict[str, Any] = tomllib.loads(text)
    return {**table["project"], "dependencies": table["dependency-groups"]["rig"]}


def needed(lines: list[str]) -> set[str]:
    """Returns the packages of these requirements and of all that they depend on here."""
    known: set[tuple[str, str]] = set()
    waiting = [pair for line in lines for pair in wants(Requirement(line))]
    while waiting:
        name, extra = waiting.pop()
        if (name, extra) in known:
            continue
        known.add((name, extra))
        for line in distribution(name).requires or []:
            requirement = Requirement(line)
            if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
                waiting += wants(requirement)
    return {name for name, _ in known}


def wants(requirement: Requirement) -> list[tuple[str, str]]:
    name = str(canonicalize_name(requirement.name))
    return [(name, extra) for extra in ("", *sorted(requirement.extras))]


def test_lock_of_the_rig_has_exactly_the_packages_that_it_needs() -> None:
    needs, lock = needed(project()["dependencies"]), pinned(LAYOUT.lock_of_python)
    assert not needs - lock, f"not in {LAYOUT.lock_of_python}"
    assert not lock - needs, f"nothing needs this: it belongs to {LAYOUT.lock_of_tests}"


def test_lock_of_tests_has_the_packages_that_only_tests_need() -> None:
    only_tests = needed(project()["optional-dependencies"]["test"]) - pinned(LAYOUT.lock_of_python)
    assert pinned(LAYOUT.lock_of_tests) == only_tests


def test_lock_of_an_extra_has_the_packages_that_only_it_needs() -> None:
    groups = project()["optional-dependencies"]
    of_tests = {"test", "docs"}
    assert set(EXTRAS) == set(groups) - of_tests == set(MODULES)
    assert set(EXTRAS) == {lock.stem for lock in LAYOUT.extras.iterdir()}
    for name in EXTRAS:
        only_extra = needed(groups[name]) - pinned(LAYOUT.lock_of_python)
        assert pinned(LAYOUT.lock_of_extra(name)) == only_extra


def test_missing_extra_is_an_error_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in MODULES:
        require_extra(name, "this")
        monkeypatch.setitem(MODULES, name, "no_such_module")
        with pytest.raises(BadInputError) as raised:
            require_extra(name, "--format parquet")
        assert raised.value.hint == f"rig/rig setup --extra {name}"


def test_no_package_is_pinned_at_two_versions() -> None:
    locks = [LAYOUT.lock_of_python, LAYOUT.lock_of_tests]
    locks += [LAYOUT.lock_of_extra(name) for name in EXTRAS]
    for one, other in combinations(locks, 2):
        both = pinned(one) & pinned(other)
        assert not both & pinned(LAYOUT.lock_of_python)
        assert all(versions(one)[name] == versions(other)[name] for name in both)


@pytest.fixture
def context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Context:
    """Returns the context of a checkout whose build folder a stub of meson has configured."""

    def meson(context: Context, *_: str) -> Mock:
        for name in native.CONFIGURED:
            path = context.layout.build / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        return Mock()

    monkeypatch.setattr(native, "_meson", meson)
    context = context_of(tmp_path)
    assert not native.is_configured(context)
    native.ensure_native(context)
    return context


def of_another_checkout(context: Context) -> Context:
    """Returns a context of another checkout with the same state."""
    state = context.layout.state
    return context_of(state, layout=Layout(checkout=state.with_name("other"), state=state))


def test_build_folder_with_other_options_is_configured_again(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert native.is_configured(context)
    monkeypatch.setattr(native, "OPTIONS", ("-Dpast_mistakes=false",))
    assert not native.is_configured(context)
    native.ensure_native(context)
    assert native.is_configured(context)


def test_build_folder_of_another_checkout_is_configured_again(context: Context) -> None:
    moved = of_another_checkout(context)
    assert not native.is_configured(moved)
    native.ensure_native(moved)
    assert native.is_configured(moved)
    assert not native.is_configured(context)


def test_programs_are_not_replaced_while_another_checkout_uses_them(context: Context) -> None:
    other = of_another_checkout(context)
    runs = [note_use(context.layout), note_use(context.layout)]
    for run in runs:
        with pytest.raises(SetupError, match=f"in use by a run of {context.layout.checkout}"):
            native.ensure_native(other)
        assert native.is_configured(context)
        os.close(run)
    native.ensure_native(other)
    assert native.is_configured(other)


def test_error_in_the_block_is_not_mistaken_for_a_run_of_another_checkout(
    context: Context,
) -> None:
    with pytest.raises(BlockingIOError), hold_unused(context.layout, "another checkout"):
        raise BlockingIOError


def test_lock_that_the_file_system_refuses_leaves_no_open_file(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.close(note_use(context.layout))
    before = list(Path("/proc/self/fd").iterdir())
    monkeypatch.setattr(fcntl, "flock", Mock(side_effect=OSError))
    assert note_use(context.layout) == -1
    assert list(Path("/proc/self/fd").iterdir()) == before


@pytest.mark.parametrize("name", native.CONFIGURED)
def test_build_folder_without_one_of_its_files_is_not_configured(
    context: Context, name: str
) -> None:
    (context.layout.build / name).unlink()
    assert not native.is_configured(context)
