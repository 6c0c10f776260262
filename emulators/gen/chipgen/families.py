# SPDX-License-Identifier: GPL-2.0-or-later
"""Every family there is."""

from __future__ import annotations

from chipgen import spi_nor
from chipgen.family import Family

FAMILIES: dict[str, Family] = {family.name: family for family in (spi_nor.FAMILY,)}
