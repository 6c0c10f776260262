/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "front.h"

#include <string.h>

static const struct front *const fronts[] = {
	&amd8111_front,
	&ch341a_front,
	&ich9_front,
	&nicintel_front,
};

const struct front *front_find(const char *name)
{
	for (size_t i = 0; i < sizeof(fronts) / sizeof(fronts[0]); i++) {
		if (strcmp(fronts[i]->name, name) == 0)
			return fronts[i];
	}
	return NULL;
}
