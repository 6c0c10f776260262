/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What releases of flashrom call the parts. Apart from the table, since a flashrom with the model
 * in it must not seem to know a name that it does not.
 */
#ifndef EMULATORS_MODEL_PART_NAMES_H
#define EMULATORS_MODEL_PART_NAMES_H

#include "part.h"

/* Ends with NULL, best first. @part is one of part_table. */
const char *const *part_flashrom_names(const struct part *part);

#endif
