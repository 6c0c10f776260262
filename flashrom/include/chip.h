/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CHIP_H
#define CHIP_H

#include <stddef.h>
#include <stdint.h>

/** How long an operation keeps a part busy, from the datasheet's AC characteristics. */
struct busy_time {
	uint32_t typ_us;
	uint32_t max_us;
};

/** One erase command. Those of a chip go from its smallest block to the whole chip. */
struct chip_erase {
	uint8_t opcode;
	uint32_t block_bytes;
	struct busy_time busy;
};

#define CHIP_ERASES_MAX 5

/** A register write of one byte clears the second status register; write both. */
#define CHIP_STATUS_TWO_BYTES (1u << 0)

/** What the driver knows about a part: three-byte addresses, JEDEC ID, polled by opcode 05h. */
struct flash_chip {
	const char *vendor;
	const char *name;
	uint32_t jedec_id; /* manufacturer, type and capacity: 0xef4018 */
	uint32_t size_bytes;
	uint32_t page_bytes;
	struct busy_time page_program;
	struct busy_time status_write;
	/* Release from power-down until the next command: the one wait that cannot be polled. */
	uint32_t wake_us_max;
	uint8_t protect_mask; /* block protection bits of the first status register */
	uint8_t flags;
	struct chip_erase erase[CHIP_ERASES_MAX]; /* unused ones have block_bytes 0 */
};

/** A run of parts by one vendor. */
struct chip_list {
	const struct flash_chip *chips;
	size_t count;
};

/** The built-in lists, ended by NULL, as is any `lists` below. */
extern const struct chip_list *const chip_lists[];

/** Number of erase commands of a chip. */
size_t chip_erase_count(const struct flash_chip *chip);

/** The chip of that exact name (letter case aside) in `lists`, or NULL. */
const struct flash_chip *chip_by_name(const struct chip_list *const *lists, const char *name);

/** The n-th chip that answers to a JEDEC ID, or NULL. */
const struct flash_chip *chip_by_id(
	const struct chip_list *const *lists, uint32_t jedec_id, size_t nth);

/** The name nearest to one that does not exist, or NULL. */
const char *chip_name_nearest(const struct chip_list *const *lists, const char *name);

/** The longest wake_us_max of all: good for a part that has not said yet what it is. */
uint32_t chip_wake_us_max(const struct chip_list *const *lists);

#endif
