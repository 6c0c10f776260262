# SPDX-License-Identifier: GPL-2.0-or-later
"""The callback that is told the name of an image before it is built."""

from collections.abc import Callable

Preparing = Callable[[str], None]
