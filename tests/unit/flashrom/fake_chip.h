/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef FAKE_CHIP_H
#define FAKE_CHIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chip.h"
#include "clock.h"
#include "programmer.h"

#define FAKE_ERASES_MAX 64

/* A chip small enough to read a test's expectations off: four 64 KiB blocks. */
extern const struct flash_chip small_chip;

/* Same size, 64 KiB erases only, one-byte status register writes. */
extern const struct flash_chip sector_chip;

/**
 * A programmer with a part behind it, on a clock of its own: it moves by 1 us a command and by
 * each delay. It obeys the rules of a 25-series part and counts how often they are broken.
 */
struct fake_chip {
	struct programmer base; /* first */
	const struct flash_chip *chip;
	struct clock clock;
	uint8_t *memory;
	uint32_t jedec_id;
	uint64_t now_ns;
	uint64_t busy_until_ns;
	uint64_t busy_ns_override; /* 0: the chip's typical times */
	uint8_t status;
	uint8_t status_2;
	bool write_enabled;
	bool asleep;
	bool protection_stuck;
	uint64_t awake_from_ns;
	uint64_t stall_ns;        /* the next delay takes this much longer */
	uint64_t answer_stall_ns; /* as does the next status read, after the chip's answer */

	/* A cell that cannot be programmed. */
	bool has_stuck_cell;
	uint32_t stuck_cell;

	/* Fail the n-th command from now with -EIO; 0 is never. */
	unsigned int fail_countdown;

	unsigned int counts[256]; /* by opcode */
	unsigned int sent_while_busy;
	unsigned int sent_while_waking;
	unsigned int crossed_pages;
	unsigned int without_write_enable;
	unsigned int delays;
	unsigned int programmed_bytes;
	unsigned int programmed_blank_bytes; /* bytes whose program changes no bit */
	struct {
		uint8_t opcode;
		uint32_t address;
	} erases[FAKE_ERASES_MAX];
	size_t erase_count;
};

void fake_chip_init(struct fake_chip *fake, const struct flash_chip *chip);
void fake_chip_deinit(struct fake_chip *fake);

/* No rule was broken. */
bool fake_chip_is_content(const struct fake_chip *fake);

#endif
