/* SPDX-License-Identifier: GPL-2.0-or-later */
/* AT45 DataFlash: the facts and the state of a part beyond those that SPI parts share. */
#ifndef EMULATORS_MODEL_DATAFLASH_H
#define EMULATORS_MODEL_DATAFLASH_H

#include <stdbool.h>
#include <stdint.h>

#include "part.h"

#define DATAFLASH_BUFFERS 2
#define DATAFLASH_PAGE_BYTES_MAX 528

struct part_dataflash {
	uint32_t binary_page_bytes; /* the page size in the other configuration, a power of two */
	uint8_t density;            /* bits 5 to 2 of the status register */
	struct busy_time page_program_with_erase;
	struct busy_time page_to_buffer;
	struct busy_time buffer_compare;
};

struct dataflash_state {
	uint8_t buffers[DATAFLASH_BUFFERS][DATAFLASH_PAGE_BYTES_MAX];
	int busy_buffer;    /* -1: the current work uses none */
	bool differs;       /* the last compare found a difference */
	bool protection_on; /* commands switch it, but the model has no protected sectors */
	bool binary_pages;
	bool binary_pages_stored; /* takes effect at the next power-up */
};

#endif
