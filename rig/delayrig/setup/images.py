# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernel, guest root and subjects. The rig's own `images` command makes and caches them."""

from delayrig.setup.command import run_logged
from delayrig.setup.console import Context
from delayrig.setup.start_rig import rig_argv, rig_environment

WARNING = "warning: "


def ensure_test_images(context: Context) -> bool:
    """Makes the images of the tests, also those usually fetched at first use.

    Then the tests need no network.
    """
    return ensure_images(context, "images of the tests", "--all")


def ensure_images(context: Context, title: str = "images", *options: str) -> bool:
    """Makes the missing images of the shipped plans. Takes little time if nothing is missing."""
    with context.console.timed(title):
        done = run_logged(
            rig_argv(context.layout, ["images", *options]),
            log=context.layout.logs / "images.log",
            console=context.console,
            environment=rig_environment(context.layout, {}),
        )
        done.require(
            "making the images",
            "see the lines above; where the archive is out of reach, mend the machine's network or"
            " its apt sources",
        )
        for line in done.tail:
            if line.startswith(WARNING):
                context.console.warn(line.removeprefix(WARNING))
    return True
