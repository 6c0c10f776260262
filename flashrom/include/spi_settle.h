/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SPI_SETTLE_H
#define SPI_SETTLE_H

#include "flash.h"

/**
 * Bring a part of the 25 series that is not known yet to where it answers an ID command: wait for
 * what an interrupted session left it doing, and end the AAI mode of SST's. A part that sleeps goes
 * on sleeping, and there may be none at all. 0 or -errno, cause logged.
 */
int spi_settle(struct flash *flash);

#endif
