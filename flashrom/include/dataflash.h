/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DATAFLASH_H
#define DATAFLASH_H

#include "flash.h"

/*
 * Atmel's DataFlash, AT45DB. Its pages have 264, 528 or 1056 bytes; a part may have been set to
 * pages of 256, 512 or 1024. In images pages follow each other without gaps; in commands each page
 * begins at a multiple of a power of two.
 */

extern const struct chip_driver dataflash_driver;

#define DATAFLASH_PAGE_BYTES_MAX 1056

/**
 * RDID (9Fh), and the page size from the status register. It first waits for the end of an
 * operation that an earlier session left running.
 */
extern const struct identify_method dataflash_id;

#endif
