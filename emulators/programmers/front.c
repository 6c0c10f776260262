/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "front.h"

#include <string.h>

static const struct front *const fronts[] = {
	&amd8111_front,
	&butterfly_front,
	&ch341a_front,
	&ft2232_front,
	&ich9_front,
	&nicintel_front,
	&nicintel_spi_front,
};

const struct front *front_find(const char *name)
{
	for (size_t i = 0; i < sizeof(fronts) / sizeof(fronts[0]); i++) {
		if (strcmp(fronts[i]->name, name) == 0)
			return fronts[i];
	}
	return NULL;
}

uint8_t front_reversed(uint8_t value)
{
	uint8_t result = 0;

	for (int i = 0; i < 8; i++)
		result |= (uint8_t)((value >> i & 1) << (7 - i));
	return result;
}
