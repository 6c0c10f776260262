/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DATAFLASH_H
#define DATAFLASH_H

#include "flash.h"

/*
 * Atmel's DataFlash, AT45DB. Its pages have 33 bytes for each 32 that one would expect (264, 528,
 * 1056), or 32 if somebody once told the part so. In images pages follow each other without gaps;
 * in commands each begins at a power of two.
 */

extern const struct chip_driver dataflash_driver;

#define DATAFLASH_PAGE_BYTES_MAX 1056

/**
 * RDID (9Fh), and the length of pages from the status register. Waits for what an earlier session
 * left the part doing.
 */
extern const struct identify_method dataflash_id;

#endif
