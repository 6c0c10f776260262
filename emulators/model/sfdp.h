/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A part's description of itself for 5Ah: a header and a basic flash parameter table of JESD216
 * (nine words, no times), made from the model's facts, so that both always agree.
 */
#ifndef EMULATORS_MODEL_SFDP_H
#define EMULATORS_MODEL_SFDP_H

#include <stddef.h>
#include <stdint.h>

#include "part.h"

/* Bytes behind the table read as FFh. */
void sfdp_read(const struct part *part, uint32_t address, uint8_t *out, size_t len);

#endif
