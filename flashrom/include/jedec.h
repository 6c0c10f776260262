/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef JEDEC_H
#define JEDEC_H

#include <stdint.h>

#include "flash.h"

/*
 * Parts with JEDEC commands, on any memory bus: AAh to 5555h, 55h to 2AAAh, then the command. Parts
 * that decode fewer address bits see the same cycles at 555h and 2AAh, so drivers need not know.
 *
 * While such a part is busy, bit 7 of a read is inverted and bit 6 changes with each read. A part
 * that ignored the command shows neither.
 */

/** Programs bytes one by one, after an erase. */
extern const struct chip_driver jedec_byte_driver;

/** The same, with the block lock registers of FWH parts. */
extern const struct chip_driver jedec_fwh_driver;

/** Writes whole pages, without an erase. */
extern const struct chip_driver jedec_page_driver;

/**
 * Software ID: manufacturer and device, for example 0xbfb7. A manufacturer beyond the first 126 has
 * a continuation code before it (0x7f1c20). ID mode is left also after an error.
 */
extern const struct identify_method jedec_id;

/**
 * The longest time of any part to enter or leave ID mode (tIDA), for a part that is not known yet.
 * On a parallel bus that is Atmel's AT29C, for which it is a write cycle.
 */
#define JEDEC_ID_US_MAX_PARALLEL 10000
#define JEDEC_ID_US_MAX 10

#endif
