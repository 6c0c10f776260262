# SPDX-License-Identifier: GPL-2.0-or-later
"""The common parts of the subcommands of `rig/rig`: options, output, errors."""
