# SPDX-License-Identifier: GPL-2.0-or-later
"""How late waits end: on this machine and in guests, measured in one way and shown side by side."""
