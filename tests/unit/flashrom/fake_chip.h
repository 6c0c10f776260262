/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef FAKE_CHIP_H
#define FAKE_CHIP_H

#include <stdbool.h>
#include <stdlib.h>

#include "../cases.h"
#include "captured_log.h"
#include "flash.h"
#include "spi25.h"

#define FAKE_ERASES_MAX 64

/* A chip of four 64 KiB blocks, small enough to check a test by hand. */
extern const struct flash_chip small_chip;

/* A chip of the same size. It has no erase below 64 KiB, and status register writes of one byte. */
extern const struct flash_chip sector_chip;

/*
 * A programmer with a part behind it, and a clock that advances by 1 us a command and by each
 * delay. The part is of the 25 series, and counts the commands that break its rules.
 */
struct fake_chip {
	struct programmer base; /* must be the first field */
	const struct flash_chip *chip;
	struct clock clock;
	uint8_t *memory;
	uint32_t jedec_id;
	uint64_t now_ns;
	uint64_t busy_until_ns;
	uint64_t busy_ns_override; /* the time of all work; 0 for the chip's typical times */
	uint8_t status;
	uint8_t status_2;
	bool write_enabled;
	bool protection_stuck;
	uint64_t awake_from_ns;
	uint64_t stall_ns;        /* added to the next delay */
	uint64_t answer_stall_ns; /* added to the next status read, after the chip's answer */

	/* An address that cannot be programmed. */
	bool has_stuck_cell;
	uint32_t stuck_cell;

	/* The n-th command from now fails with -EIO; 0 for none. */
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

/* Returns true if no rule was broken. */
bool fake_chip_is_content(const struct fake_chip *fake);

/* A fake chip, the struct flash that drives it, and its log. */
struct bench {
	struct fake_chip fake;
	struct captured_log captured;
	struct log log;
	struct flash flash;
	uint8_t *image;
};

static inline void bench_start(struct bench *bench, const struct flash_chip *chip)
{
	bench->captured = (struct captured_log){0};
	bench->log = captured_log(&bench->captured);
	fake_chip_init(&bench->fake, chip);
	flash_init(&bench->flash, &bench->fake.base, &bench->fake.clock, &bench->log);
	bench->flash.chip = chip;
	bench->image = malloc(chip->size_bytes);
	assert_non_null(bench->image);
	memset(bench->image, 0xff, chip->size_bytes);
}

static inline void bench_start_small(struct bench *bench)
{
	bench_start(bench, &small_chip);
}

static inline void bench_stop(struct bench *bench)
{
	free(bench->image);
	fake_chip_deinit(&bench->fake);
}

/* Fills in pseudo-random bytes below 0x80, so that none is blank. */
static inline void fill_pattern(uint8_t *data, size_t bytes, uint32_t seed)
{
	for (size_t i = 0; i < bytes; i++) {
		seed = seed * 1103515245 + 12345;
		data[i] = (uint8_t)((seed >> 16) & 0x7f);
	}
}

#endif
