# SPDX-License-Identifier: GPL-2.0-or-later
"""The subcommands of `rig/rig`, one module each; `main.py` lists them."""
