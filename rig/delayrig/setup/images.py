# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernel, guest root and subjects. The rig's own `images` command makes and caches them."""

from collections.abc import Sequence

from delayrig.setup.command import run_logged
from delayrig.setup.console import Context
from delayrig.setup.start_rig import rig_argv, rig_environment

WARNING = "warning: "


def ensure_images(context: Context, title: str = "images", options: Sequence[str] = ()) -> bool:
    """Makes the missing images of the shipped plans. Takes little time if nothing is missing.

    With the option `--all` also those usually fetched at first use, so tests need no network.
    """
    with context.console.timed(title):
        argv = rig_argv(context.layout, ["images", *options])
        done = run_logged(context, "images", argv, rig_environment(context.layout, {}))
        done.require(
            "making the images",
            "see the lines above; where the archive is out of reach, mend the machine's network or"
            " its apt sources",
        )
        for line in done.tail:
            if line.startswith(WARNING):
                context.console.warn(line.removeprefix(WARNING))
    return True
