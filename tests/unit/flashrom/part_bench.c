/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "part_bench.h"

#include <errno.h>
#include <stdlib.h>

#include "cmocka_headers.h"

#define LOOK_NS 100 /* each reading advances the clock by it */
#define SPI_HZ 20000000

static uint64_t look(void *context)
{
	return ((struct part_bench *)context)->now_ns += LOOK_NS;
}

static void wait(void *context, unsigned int us)
{
	((struct part_bench *)context)->now_ns += us * NS_PER_US;
}

static int lose(void)
{
	return -EIO;
}

static int pass_on(struct programmer *programmer, const uint8_t *tx, size_t tx_bytes, uint8_t *rx,
	size_t rx_bytes)
{
	struct part_bench *bench = (struct part_bench *)programmer;
	const bool lost = bench->fail_countdown > 0 && --bench->fail_countdown == 0;
	int error;

	bench->commands++;
	if (lost && !bench->lost_after)
		return lose();
	error = bench->part->ops->spi_command(bench->part, tx, tx_bytes, rx, rx_bytes);
	return lost ? lose() : error;
}

void part_bench_noise(uint8_t *data, size_t bytes, uint32_t seed)
{
	for (size_t i = 0; i < bytes; i++) {
		seed = seed * 1103515245 + 12345;
		data[i] = (uint8_t)(seed >> 16);
	}
}

static uint32_t size_of(const char *name)
{
	struct dummy_part part;

	for (size_t nth = 0; dummy_part_at(nth, &part); nth++) {
		if (strcmp(part.name, name) == 0)
			return part.size_bytes;
	}
	fail_msg("no part %s", name);
	return 0;
}

void part_bench_start(struct part_bench *bench, const char *part, const char *corner)
{
	static const struct programmer_ops ops = {.spi_command = pass_on};
	const struct dummy_options options = {.emulate = part, .corner = corner, .spi_hz = SPI_HZ};

	*bench = (struct part_bench){.size_bytes = size_of(part)};
	bench->clock = (struct clock){.now_ns = look, .delay_us = wait, .context = bench};
	bench->log = captured_log(&bench->captured);
	bench->log.level_max = LOG_INFO;
	assert_int_equal(dummy_create(&options, &bench->clock, &bench->log, &bench->part), 0);
	bench->wire = *bench->part;
	bench->wire.ops = &ops;
	bench->image = malloc(bench->size_bytes);
	assert_non_null(bench->image);
	part_bench_noise(bench->image, bench->size_bytes, 1);
	dummy_content_write(bench->part, bench->image);
	flash_init(&bench->flash, &bench->wire, &bench->clock, &bench->log);
}

void part_bench_stop(struct part_bench *bench)
{
	assert_int_equal(flash_close(&bench->flash), 0);
	programmer_destroy(bench->part);
	free(bench->image);
}

void part_bench_send(struct part_bench *bench, const uint8_t *tx, size_t tx_bytes)
{
	assert_int_equal(bench->part->ops->spi_command(bench->part, tx, tx_bytes, NULL, 0), 0);
}

uint8_t part_bench_ask(struct part_bench *bench, uint8_t opcode)
{
	uint8_t answer;

	assert_int_equal(bench->part->ops->spi_command(bench->part, &opcode, 1, &answer, 1), 0);
	return answer;
}

void part_bench_find(struct part_bench *bench, const char *name)
{
	assert_int_equal(flash_probe(&bench->flash, chip_lists, name, false), 0);
	assert_int_equal(bench->flash.chip->size_bytes, bench->size_bytes);
	assert_int_equal(flash_open(&bench->flash), 0);
}

void part_bench_write(struct part_bench *bench)
{
	const struct range whole = {0, bench->size_bytes};
	const struct selection everything = {&whole, 1};

	assert_int_equal(
		flash_write(&bench->flash, everything, bench->image, VERIFY_TOUCHED, false), 0);
	part_bench_assert_holds_image(bench);
}

void part_bench_assert_holds_image(struct part_bench *bench)
{
	uint8_t *found = malloc(bench->size_bytes);

	dummy_content_read(bench->part, found);
	assert_memory_equal(found, bench->image, bench->size_bytes);
	free(found);
}

void part_bench_assert_in_time(const struct part_bench *bench)
{
	assert_false(logged(&bench->captured, "too early"));
}
