/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_H
#define BENCH_H

#include <stdlib.h>

#include "../cases.h"
#include "captured_log.h"
#include "fake_chip.h"
#include "flash.h"
#include "spi25.h"

/* A fake chip, a struct flash that drives it, and the log of that. */
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

/* Fills in pseudo-random bytes below 0x80, so none is blank. Another seed gives other bytes. */
static inline void fill_pattern(uint8_t *data, size_t bytes, uint32_t seed)
{
	for (size_t i = 0; i < bytes; i++) {
		seed = seed * 1103515245 + 12345;
		data[i] = (uint8_t)((seed >> 16) & 0x7f);
	}
}

#endif
