# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernel, guest root and subjects: made by the rig's own `images` command, which caches them."""

from delayrig.setup.command import run_logged
from delayrig.setup.console import Context
from delayrig.setup.start_rig import rig_argv, rig_environment

WARNING = "warning: "


def ensure_test_images(context: Context) -> bool:
    """Also what is fetched when it is first used: the tests need no network later."""
    return ensure_images(context, "images of the tests", "--all")


def ensure_images(context: Context, title: str = "images", *options: str) -> bool:
    """Makes what is missing for the shipped plans; quick where everything is up to date."""
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
