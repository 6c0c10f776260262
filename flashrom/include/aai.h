/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef AAI_H
#define AAI_H

#include "flash.h"

/*
 * SST25VF..B: parts of the 25 series without a page program. They program single bytes (02h), or
 * consecutive words in a mode of their own (auto address increment, AAI, ADh).
 */

extern const struct chip_driver aai_driver;

/** The bit of the status register that is set in that mode. */
#define AAI_STATUS_MODE 0x40

/** Leaves the mode; harmless if it is off. The part must not be busy. */
int aai_leave(struct flash *flash);

#endif
