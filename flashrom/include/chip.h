/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CHIP_H
#define CHIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bus.h"
#include "range.h"

struct chip_driver;
struct identify_method;

/** How long an operation keeps a part busy, from the datasheet's AC characteristics. */
struct busy_time {
	uint32_t typ_us;
	uint32_t max_us;
};

/** Some neighbouring erase blocks of one size; a list of them ends with a count of 0. */
struct erase_run {
	uint32_t block_bytes;
	uint32_t count;
};

/**
 * One erase command. Those of a chip go from its smallest blocks to the whole chip, each block made
 * up of whole ones of the command before.
 */
struct chip_erase {
	uint8_t opcode;
	uint32_t block_bytes;         /* of all blocks, or of the largest */
	struct busy_time busy;        /* of one block */
	const struct erase_run *runs; /* from address 0 on; NULL: all blocks have block_bytes */
};

#define CHIP_ERASES_MAX 5

/** What only SPI NOR parts of the 25 series have. */
struct spi25_traits {
	struct busy_time status_write;
	/* Release from power-down until the next command: a wait that cannot be polled. */
	uint32_t wake_us_max;
	uint8_t protect_mask;  /* block protection bits of the first status register */
	bool status_two_bytes; /* a write of one byte clears the second register; write both */
};

/** What only parts with JEDEC commands have. */
struct jedec_traits {
	/* tIDA: from a command that enters or leaves ID mode until it has. It cannot be polled. */
	uint32_t id_wait_us;
	bool id_six_bytes; /* 80h, then 60h, instead of 90h */
};

/** What the drivers know about a part. */
struct flash_chip {
	const char *vendor;
	const char *name;
	uint8_t buses;
	const struct identify_method *identify;
	uint32_t id; /* as `identify` reports it; 0xef4018 for a JEDEC ID of three bytes */
	const struct chip_driver *driver;
	uint32_t size_bytes;
	uint32_t page_bytes;         /* what the driver takes at a time, within such borders */
	uint32_t program_unit_bytes; /* how many of them `program` is about; 0: a whole page */
	struct busy_time program;
	bool overwrites;                          /* a program needs no erase before it */
	bool whole_pages;                         /* a program of part of a page loses the rest */
	struct chip_erase erase[CHIP_ERASES_MAX]; /* unused ones have block_bytes 0 */
	union {
		struct spi25_traits spi25;
		struct jedec_traits jedec;
	};
};

/** A run of parts by one vendor. */
struct chip_list {
	const struct flash_chip *chips;
	size_t count;
};

/** The built-in lists, ended by NULL, as is any `lists` below. */
extern const struct chip_list *const chip_lists[];

/** The n-th chip of all lists, or NULL. */
const struct flash_chip *chip_at(const struct chip_list *const *lists, size_t nth);

/** Number of erase commands of a chip. */
size_t chip_erase_count(const struct flash_chip *chip);

/** The block of an erase command that `address` lies in. */
struct range chip_erase_block(const struct chip_erase *erase, uint32_t address);

/** The stretch around `address` that a write replaces at least: an erase block or a page. */
struct range chip_smallest_block(const struct flash_chip *chip, uint32_t address);

/** Typical time to program a whole page. */
uint64_t chip_page_us_typ(const struct flash_chip *chip);

/** The chip of that exact name (letter case aside) in `lists`, or NULL. */
const struct flash_chip *chip_by_name(const struct chip_list *const *lists, const char *name);

/** The name nearest to one that does not exist, or NULL. */
const char *chip_name_nearest(const struct chip_list *const *lists, const char *name);

#endif
