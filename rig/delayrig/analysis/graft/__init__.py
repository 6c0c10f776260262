# SPDX-License-Identifier: GPL-2.0-or-later
"""Our delay layer in somebody's flashrom tree: where it goes, in which steps, what comes of it."""
