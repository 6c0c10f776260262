# SPDX-License-Identifier: GPL-2.0-or-later
"""The entry point of `rig/rig`."""

import sys

INTERRUPTED = 130


def start() -> int:
    """Runs the launcher and returns its exit code. Reports an interruption even during imports."""
    try:
        from delayrig.setup.launcher import main

        return main(sys.argv[1:])
    except KeyboardInterrupt:
        sys.stderr.write("rig/rig: interrupted; nothing was begun\n")
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(start())
