/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef AAI_H
#define AAI_H

#include "flash.h"

/*
 * SST25VF..B: parts of the 25 series that have no page program. They take bytes (02h), and words
 * one after the other in a mode of their own (auto address increment, ADh).
 */

extern const struct chip_driver aai_driver;

/** The bit of the status register that says the mode is on. */
#define AAI_STATUS_MODE 0x40

/** Leave the mode, of a part that is not busy. Does no harm where it is off. */
int aai_leave(struct flash *flash);

#endif
