# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig` begins here."""

import sys

INTERRUPTED = 130


def start() -> int:
    """The exit code; whoever interrupts the first moments is told so, too."""
    try:
        from delayrig.setup.launcher import main

        return main(sys.argv[1:])
    except KeyboardInterrupt:
        sys.stderr.write("rig/rig: interrupted; nothing was begun\n")
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(start())
