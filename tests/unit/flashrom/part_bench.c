/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "part_bench.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define CLOCK_READING_NS 100 /* each reading of the clock advances it by this */
#define SPI_HZ 20000000
#define PARTS_MAX 256
#define NOISE_BYTES 65521 /* a prime, so that no two blocks are equal */

static uint64_t read_clock(void *context)
{
	return ((struct part_bench *)context)->now_ns += CLOCK_READING_NS;
}

static void wait(void *context, unsigned int us)
{
	part_bench_pass_us(context, us);
}

void part_bench_pass_us(struct part_bench *bench, uint64_t us)
{
	bench->now_ns += us * NS_PER_US;
}

static int pass_on(struct programmer *programmer, const uint8_t *tx, size_t tx_bytes, uint8_t *rx,
	size_t rx_bytes)
{
	struct part_bench *bench = (struct part_bench *)programmer;
	const bool lost = bench->fail_countdown > 0 && --bench->fail_countdown == 0;
	int error;

	bench->commands++;
	if (lost && !bench->lost_after)
		return -EIO;
	error = bench->part->ops->spi_command(bench->part, tx, tx_bytes, rx, rx_bytes);
	return lost ? -EIO : error;
}

void part_bench_noise(uint8_t *data, size_t bytes, uint32_t seed)
{
	size_t done = 0;

	for (; done < bytes && done < NOISE_BYTES; done++) {
		seed = seed * 1103515245 + 12345;
		data[done] = (uint8_t)(seed >> 16);
	}
	for (size_t more; done < bytes; done += more) {
		more = bytes - done < NOISE_BYTES ? bytes - done : NOISE_BYTES;
		memcpy(data + done, data, more);
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

void part_bench_open(struct part_bench *bench, const char *part, const char *corner)
{
	const struct dummy_options options = {.emulate = part, .corner = corner, .spi_hz = SPI_HZ};

	memset(bench, 0, sizeof(*bench));
	bench->size_bytes = size_of(part);
	bench->clock = (struct clock){.now_ns = read_clock, .delay_us = wait, .context = bench};
	bench->log = captured_log(&bench->captured);
	bench->log.level_max = LOG_DEBUG;
	bench->part_log = captured_log(&bench->part_captured);
	assert_int_equal(dummy_create(&options, &bench->clock, &bench->part_log, &bench->part), 0);
	flash_init(&bench->flash, bench->part, &bench->clock, &bench->log);
}

void part_bench_start(struct part_bench *bench, const char *part, const char *corner)
{
	static const struct programmer_ops ops = {.spi_command = pass_on};

	part_bench_stop(bench);
	part_bench_open(bench, part, corner);
	bench->image = malloc(bench->size_bytes);
	assert_non_null(bench->image);
	part_bench_noise(bench->image, bench->size_bytes, 1);
	dummy_content_write(bench->part, bench->image);
	if ((bench->part->buses & BUS_SPI) == 0)
		return;
	bench->wire = *bench->part;
	bench->wire.ops = &ops;
	flash_init(&bench->flash, &bench->wire, &bench->clock, &bench->log);
}

void part_bench_stop(struct part_bench *bench)
{
	if (bench->part == NULL)
		return;
	assert_int_equal(flash_close(&bench->flash), 0);
	if (!bench->goes_unheard)
		assert_int_equal(dummy_violations(bench->part), 0);
	programmer_destroy(bench->part);
	bench->part = NULL;
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
		flash_write(&bench->flash, everything, bench->image, NULL, VERIFY_TOUCHED, false),
		0);
	part_bench_assert_holds_image(bench);
}

/* Tries memcmp() first: assert_memory_equal() goes byte by byte, which takes long for megabytes. */
void part_bench_assert_same(const uint8_t *found, const uint8_t *expected, size_t bytes)
{
	if (memcmp(found, expected, bytes) != 0)
		assert_memory_equal(found, expected, bytes);
}

void part_bench_assert_holds_image(struct part_bench *bench)
{
	uint8_t *found = malloc(bench->size_bytes);

	dummy_content_read(bench->part, found);
	part_bench_assert_same(found, bench->image, bench->size_bytes);
	free(found);
}

int part_bench_run_each(void (*test)(void **state),
	bool (*is_tested)(const struct dummy_part *part), size_t count_min,
	CMFixtureFunction set_up, CMFixtureFunction tear_down)
{
	static struct dummy_part parts[PARTS_MAX];
	static struct CMUnitTest tests[PARTS_MAX];
	size_t count = 0;

	for (size_t nth = 0; count < PARTS_MAX && dummy_part_at(nth, &parts[count]); nth++) {
		if (!is_tested(&parts[count]))
			continue;
		tests[count] =
			(struct CMUnitTest){parts[count].name, test, NULL, NULL, &parts[count]};
		count++;
	}
	if (count < count_min) {
		fprintf(stderr, "only %zu parts are tested\n", count);
		return EXIT_FAILURE;
	}
	return _cmocka_run_group_tests("parts", tests, count, set_up, tear_down);
}
