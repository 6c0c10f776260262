/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "names_of_part.h"

#include "model/part.h"

const char *const *names_of_part(const char *part)
{
	return part_flashrom_names(part_find(part));
}
