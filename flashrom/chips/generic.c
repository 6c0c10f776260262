/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts that no other list has. As a last resort this must be the last list. */
#include "lists.h"

static const struct flash_chip chips[] = {
	{
		.vendor = "Unknown",
		.name = "SFDP-capable chip",
		.id = SPI25_SFDP_ID,
		.buses = BUS_SPI,
		.identify = &spi25_sfdp,
		.driver = &spi25_driver,
	},
};

const struct chip_list generic_chips = CHIP_LIST(chips);
