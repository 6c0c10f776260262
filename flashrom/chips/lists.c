/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lists.h"

/* The order is that of --list-supported. */
const struct chip_list *const chip_lists[] = {
	&adesto_chips,
	&amd_chips,
	&amic_chips,
	&atmel_chips,
	&eon_chips,
	&fudan_chips,
	&gigadevice_chips,
	&intel_chips,
	&issi_chips,
	&macronix_chips,
	&microchip_chips,
	&micron_chips,
	&pmc_chips,
	&puya_chips,
	&spansion_chips,
	&sst_chips,
	&st_chips,
	&winbond_chips,
	&xmc_chips,
	&xtx_chips,
	&generic_chips,
	NULL,
};
