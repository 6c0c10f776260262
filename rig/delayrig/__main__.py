# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig` ends up here once set-up is done."""

from delayrig.cli.main import main

if __name__ == "__main__":
    main(prog_name="rig/rig", complete_var="_RIG_COMPLETE")
