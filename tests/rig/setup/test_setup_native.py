# SPDX-License-Identifier: GPL-2.0-or-later
"""Build folders that can be reused, and those that are made anew."""

import io
import os
from pathlib import Path

import pytest
from delayrig.setup import native
from delayrig.setup.console import Console, Context
from delayrig.setup.errors import SetupError
from delayrig.setup.layout import Layout
from delayrig.setup.lock import note_use


@pytest.fixture
def context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Context:
    """Returns a checkout whose native programs a stub of meson has configured."""

    class Meson:
        def require(self, what: str, remedy: str) -> None:
            """Accepts the result."""

    def meson(context: Context, *_: str) -> Meson:
        for name in native.CONFIGURED:
            path = context.layout.build / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        return Meson()

    monkeypatch.setattr(native, "_meson", meson)
    context = Context(
        layout=Layout(checkout=tmp_path / "checkout", state=tmp_path / "state"),
        console=Console(output=io.StringIO(), input=io.StringIO()),
    )
    assert not native.is_configured(context)
    native.ensure_native(context)
    return context


def test_folder_is_configured_for_its_checkout_and_options(context: Context) -> None:
    assert native.is_configured(context)


def test_folder_of_other_options_is_made_anew(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native, "OPTIONS", ("-Dpast_mistakes=false",))
    assert not native.is_configured(context)
    native.ensure_native(context)
    assert native.is_configured(context)


def test_folder_of_another_checkout_is_made_anew(context: Context, tmp_path: Path) -> None:
    moved = Context(
        layout=Layout(checkout=tmp_path / "moved", state=context.layout.state),
        console=context.console,
    )
    assert not native.is_configured(moved)
    native.ensure_native(moved)
    assert native.is_configured(moved)
    assert not native.is_configured(context)


def test_programs_that_another_checkout_runs_on_are_not_replaced(
    context: Context, tmp_path: Path
) -> None:
    other = Context(
        layout=Layout(checkout=tmp_path / "other", state=context.layout.state),
        console=context.console,
    )
    runs = [note_use(context.layout), note_use(context.layout)]
    for run in runs:
        with pytest.raises(SetupError, match=f"in use by a run of {context.layout.checkout}"):
            native.ensure_native(other)
        assert native.is_configured(context)
        os.close(run)
    native.ensure_native(other)
    assert native.is_configured(other)


@pytest.mark.parametrize("name", native.CONFIGURED)
def test_folder_that_lacks_something_is_made_anew(context: Context, name: str) -> None:
    (context.layout.build / name).unlink()
    assert not native.is_configured(context)
