# SPDX-License-Identifier: GPL-2.0-or-later
"""Starts of the rig with and without work for set-up."""

from collections.abc import Callable
from pathlib import Path

import pytest
from delayrig.setup.layout import Layout
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


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    """Makes a small checkout that is set up."""
    layout = Layout(checkout=tmp_path / "checkout", state=tmp_path / "state")
    for name in (
        "meson.build",
        "emulators/chips/a.toml",
        "flashrom/core/a.c",
        "images/agent/a.c",
    ):
        put(layout.checkout / name)
    put(layout.lock_of_python)
    put(layout.lock_of_tests)
    put(layout.package_path / "delayrig" / "subjects" / "recipes.py")
    for name in (
        "packages.toml",
        "packages.py",
        "environment.py",
        "native.py",
        "images.py",
    ):
        put(layout.setup / name)
    put(layout.python)
    put(layout.build / "build.ninja")
    put(database(layout))
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


def test_unchanged_checkout_has_nothing_to_do(layout: Layout) -> None:
    assert stale(layout) == set()


@pytest.mark.parametrize(
    ("change", "steps"),
    [
        (
            lambda at: put(at.checkout / "emulators/chips/a.toml", "xy"),
            {NATIVE, IMAGES},
        ),
        (lambda at: put(at.checkout / "flashrom/core/new.c"), {NATIVE, IMAGES}),
        (lambda at: put(at.checkout / "meson.options"), {NATIVE, IMAGES}),
        (lambda at: (at.checkout / "images/agent/a.c").unlink(), {NATIVE, IMAGES}),
        (
            lambda at: put(at.package_path / "delayrig/subjects/recipes.py", "xy"),
            {IMAGES},
        ),
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
def test_change_makes_stale_what_depends_on_it_and_nothing_else(
    layout: Layout, change: Callable[[Layout], object], steps: set[str]
) -> None:
    change(layout)
    assert stale(layout) == steps


def test_host_lane_asks_for_neither_images_nor_the_packages_of_guests(layout: Layout) -> None:
    layout.stamp.unlink()
    wanted = wanted_marks(layout, database(layout))
    assert stale_steps(layout, wanted, HOST_STEPS) == {HOST_PACKAGES, ENVIRONMENT, NATIVE}
    for step in HOST_STEPS:
        write_mark(layout.stamp, step, wanted[step])
    assert stale_steps(layout, wanted, HOST_STEPS) == set()
    assert stale(layout) == {PACKAGES, ACCOUNT, IMAGES}


def test_lock_of_tests_concerns_tests_alone(layout: Layout) -> None:
    put(layout.lock_of_tests, "xy")
    assert stale(layout) == set()
    wanted = wanted_marks(layout, database(layout))
    assert stale_steps(layout, wanted, TEST_STEPS) == {TEST_ENVIRONMENT}


def test_environment_made_again_lacks_what_the_tests_need(layout: Layout) -> None:
    put(layout.lock_of_python, "xy")
    wanted = wanted_marks(layout, database(layout))
    assert {ENVIRONMENT, TEST_ENVIRONMENT} <= stale_steps(layout, wanted, TEST_STEPS)


def test_source_touched_without_change_of_size_is_noticed(layout: Layout) -> None:
    source = layout.checkout / "flashrom/core/a.c"
    modified_ns = source.stat().st_mtime_ns
    put(source, "y")
    assert NATIVE in stale(layout) or source.stat().st_mtime_ns == modified_ns


def test_moved_state_makes_the_environment_again(layout: Layout) -> None:
    moved = Layout(checkout=layout.checkout, state=layout.state.with_name("moved"))
    layout.state.rename(moved.state)
    assert ENVIRONMENT in stale(moved)


def test_step_that_was_begun_is_stale(layout: Layout) -> None:
    drop_mark(layout.stamp, ENVIRONMENT)
    assert stale(layout) == {ENVIRONMENT}


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"packages", b"packages \n"])
def test_damaged_stamp_means_everything_again(layout: Layout, content: bytes) -> None:
    layout.stamp.write_bytes(content)
    assert stale(layout) >= {PACKAGES, ENVIRONMENT, NATIVE, IMAGES}


def test_mark_of_one_step_leaves_the_others(tmp_path: Path) -> None:
    stamp = tmp_path / "setup.stamp"
    write_mark(stamp, "a", "1")
    write_mark(stamp, "b", "2")
    write_mark(stamp, "a", "3")
    assert read_marks(stamp) == {"a": "3", "b": "2"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["marking.lock", "setup.stamp"]
