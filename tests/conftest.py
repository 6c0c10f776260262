# SPDX-License-Identifier: GPL-2.0-or-later
"""Options, marks and fixtures of all Python tests."""

import os
import signal
from collections.abc import Callable, Iterator

import pytest
from delayrig.base.bubblewrap import UNCONFINED_VARIABLE, missing_confinement
from delayrig.features.history.address import NONE, VARIABLE

Bound = Callable[[str], int]
SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE, signal.SIGCHLD)

MARKERS = (
    "long(reason): takes long; only `tests/run --all` runs it",
    "alone(reason): runs in real time, so no other test may run beside it; layer `live`",
    "bounds(NAME=(quick, all)): a number for each tier, which the fixture `bound` looks up",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds `--quick`. Without it all tests run, with their larger bounds."""
    about = "the quick tier: no test marked `long`, and the smaller bounds"
    parser.addoption("--quick", action="store_true", help=about)


def pytest_configure(config: pytest.Config) -> None:
    """Registers the marks; lets tests run without a sandbox where the machine has none."""
    for line in MARKERS:
        config.addinivalue_line("markers", line)
    if missing_confinement():  # see test_confinement.py
        os.environ[UNCONFINED_VARIABLE] = "1"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselects the long tests."""
    if not config.getoption("--quick"):
        return
    long_tests = [item for item in items if item.get_closest_marker("long")]
    items[:] = [item for item in items if item not in long_tests]
    config.hook.pytest_deselected(items=long_tests)


@pytest.fixture
def bound(request: pytest.FixtureRequest) -> Bound:
    """Returns a function that looks up a bound of the test, by the name in its mark `bounds`."""
    mark = request.node.get_closest_marker("bounds")
    assert mark is not None, "the test has no mark `bounds`"
    is_whole = not request.config.getoption("--quick")
    return lambda name: int(mark.kwargs[name][is_whole])


@pytest.fixture(autouse=True)
def _signal_handlers_are_restored() -> Iterator[None]:
    """Fails a test that leaves a signal handler changed, which could end a later test."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    yield
    changed = [number for number in SIGNALS if signal.getsignal(number) != before[number]]
    for number in changed:
        signal.signal(number, before[number])
    assert changed == []


@pytest.fixture(scope="session", autouse=True)
def _no_history_by_default() -> Iterator[None]:
    """Keeps the runs that tests start out of the user's history."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, NONE)
        yield
