# SPDX-License-Identifier: GPL-2.0-or-later
"""The steps of set-up, in order.

A step that is done writes a mark, so that a start after an interruption does not repeat it.
"""

import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path

from delayrig.setup import stamp
from delayrig.setup.account import ensure_account
from delayrig.setup.console import Context, human_size, human_time, sentence
from delayrig.setup.environment import (
    can_make_environment,
    ensure_environment,
    ensure_test_environment,
)
from delayrig.setup.images import ensure_images
from delayrig.setup.lock import hold_state
from delayrig.setup.native import ensure_native
from delayrig.setup.packages import ensure_host_packages, ensure_packages
from delayrig.setup.stamp import stale_steps, wanted_marks, write_mark

STEPS: dict[str, tuple[str, Callable[[Context], bool]]] = {
    stamp.PACKAGES: ("distribution packages", ensure_packages),
    stamp.HOST_PACKAGES: ("distribution packages", ensure_host_packages),
    stamp.ACCOUNT: ("system account", ensure_account),
    stamp.ENVIRONMENT: ("Python environment", ensure_environment),
    stamp.NATIVE: ("native programs", ensure_native),
    stamp.IMAGES: ("images", ensure_images),
    stamp.TEST_IMAGES: (
        "images of the tests",
        partial(ensure_images, title="images of the tests", options=["--all"]),
    ),
    stamp.TEST_PACKAGES: ("what the tests need", partial(ensure_packages, for_tests=True)),
    stamp.TEST_ENVIRONMENT: ("Python packages of the tests", ensure_test_environment),
}
SYSTEM_STEPS = (stamp.PACKAGES, stamp.HOST_PACKAGES, stamp.TEST_PACKAGES, stamp.ACCOUNT)


def set_up(context: Context) -> None:
    """Does the stale steps, or all steps if they are to be checked again."""
    started_s = time.monotonic()
    with hold_state(context.layout, context.console):
        done = [STEPS[step][0] for step in _do_steps(context)]
    if done or context.again:
        layout, console = context.layout, context.console
        what = sentence(done) if done else "nothing to do"
        console.begin(f"done in {human_time(time.monotonic() - started_s)}: {what}")
        size = human_size(disk_usage_bytes(layout.state))
        console.say(f"{layout.state} uses {size} of disk; `rig/rig clean` frees it")


def _do_steps(context: Context) -> Iterator[str]:
    """Does the steps in order, and yields those that had something to do.

    If possible, the environment is made while packages are installed.
    """
    with ThreadPoolExecutor(1) as background:
        early = None
        stale = stale_steps(context.layout, wanted_marks(context.layout), context.steps)
        if stamp.ENVIRONMENT in stale and not context.no_install and can_make_environment():
            early = background.submit(_do, context, stamp.ENVIRONMENT)
        for step in context.steps:
            if early.result() if early and step == stamp.ENVIRONMENT else _do(context, step):
                yield step


def _do(context: Context, step: str) -> bool:
    """Does one step. Returns False if there was nothing to do."""
    # The mark is computed before the step: if an input changes meanwhile, the next start repeats
    # the step. SYSTEM_STEPS change a database of the system that is one of their inputs, so their
    # marks are computed afterwards.
    marks = wanted_marks(context.layout)
    if not context.again and step not in stale_steps(context.layout, marks, [step]):
        return False
    _, ensure = STEPS[step]
    was_stale = ensure(context)
    mark = wanted_marks(context.layout)[step] if step in SYSTEM_STEPS else marks[step]
    write_mark(context.layout.stamp, step, mark)
    return was_stale


def disk_usage_bytes(folder: Path) -> int:
    """Returns the space that a folder takes on disk."""
    total_bytes = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):
                status = os.lstat(os.path.join(place, name))  # noqa: PTH118 - twice as fast
                total_bytes += status.st_blocks * 512
    return total_bytes
