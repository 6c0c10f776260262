/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SPI_SETTLE_H
#define SPI_SETTLE_H

#include "flash.h"

/**
 * Makes a part of the 25 series that is not known yet ready for an ID command: waits for the end of
 * an operation that an interrupted session left, and ends the AAI mode of SST parts. Power-down is
 * not ended, and a missing part is no error. Returns 0, or -errno with the cause logged.
 */
int spi_settle(struct flash *flash);

#endif
