/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lists.h"

/* The order is that of --list-supported. */
const struct chip_list *const chip_lists[] = {
	&adesto_chips,
	&eon_chips,
	&gigadevice_chips,
	&issi_chips,
	&macronix_chips,
	&micron_chips,
	&spansion_chips,
	&winbond_chips,
	NULL,
};
