# SPDX-License-Identifier: GPL-2.0-or-later
"""Who is told what is about to be made, before that takes its time."""

from collections.abc import Callable

Preparing = Callable[[str], None]
