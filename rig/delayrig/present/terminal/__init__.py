# SPDX-License-Identifier: GPL-2.0-or-later
"""What runs and answers look like in a terminal: a module for each."""
