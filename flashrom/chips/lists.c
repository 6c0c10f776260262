/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lists.h"

/* The order is that of --list-supported. */
const struct chip_list *const chip_lists[] = {
	&adesto_chips,
	&amd_memory_chips,
	&amic_memory_chips,
	&atmel_chips,
	&atmel_memory_chips,
	&eon_chips,
	&fudan_chips,
	&gigadevice_chips,
	&intel_memory_chips,
	&issi_chips,
	&macronix_chips,
	&macronix_memory_chips,
	&microchip_chips,
	&micron_chips,
	&pmc_memory_chips,
	&puya_chips,
	&spansion_chips,
	&sst_chips,
	&sst_memory_chips,
	&st_chips,
	&st_memory_chips,
	&winbond_chips,
	&winbond_memory_chips,
	&xmc_chips,
	&xtx_chips,
	&generic_chips,
	NULL,
};
