/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names of the parts in releases of flashrom. They are not in the table, because a flashrom
 * with the model in it must not contain names that it does not know.
 */
#ifndef EMULATORS_MODEL_PART_NAMES_H
#define EMULATORS_MODEL_PART_NAMES_H

#include "part.h"

/* Ends with NULL, best first. @part is one of part_table. */
const char *const *part_flashrom_names(const struct part *part);

#endif
