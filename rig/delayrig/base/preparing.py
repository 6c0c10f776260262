# SPDX-License-Identifier: GPL-2.0-or-later
"""The type of a callback that gets the name of an image before it is built."""

from collections.abc import Callable

Preparing = Callable[[str], None]
