/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bus cycles of the drivers for memory buses, with plain memory instead of a part. */
#include <errno.h>

#include "../cases.h"
#include "captured_log.h"
#include "flash.h"
#include "memory.h"

static const struct flash_chip parallel_chip = {
	.name = "parallel",
	.buses = BUS_PARALLEL,
	.size_bytes = 131072,
	.jedec = {.id_wait_us = 7},
};

static const struct flash_chip six_byte_chip = {
	.name = "six bytes",
	.buses = BUS_PARALLEL,
	.size_bytes = 131072,
	.jedec = {.id_wait_us = 7, .id_six_bytes = true},
};

static const struct flash_chip hub_chip = {
	.name = "hub",
	.buses = BUS_FWH,
	.size_bytes = 524288,
};

#define SPACE_BYTES (1 << 24)
#define WRITES_MAX 64

/*
 * A programmer with plain memory on its bus, and a clock that advances only by delays. It records
 * writes, and reads return the test's bytes.
 */
struct scene {
	struct programmer base; /* must be the first field */
	struct clock clock;
	uint64_t now_ns;
	uint8_t bytes[SPACE_BYTES]; /* writes do not change it */
	struct {
		uint32_t address;
		uint8_t value;
		uint64_t now_ns;
	} writes[WRITES_MAX];
	size_t write_count;
	size_t reads;
	size_t read_bytes_seen_max;
	size_t fail_read; /* the n-th read fails with -EIO; 0 for none */
	struct captured_log captured;
	struct log log;
	struct flash flash;
};

static int fake_read_bytes(
	struct programmer *programmer, uint32_t address, uint8_t *data, size_t bytes)
{
	struct scene *scene = (struct scene *)programmer;

	assert_true(address + bytes <= SPACE_BYTES);
	if (++scene->reads == scene->fail_read)
		return -EIO;
	if (bytes > scene->read_bytes_seen_max)
		scene->read_bytes_seen_max = bytes;
	memcpy(data, scene->bytes + address, bytes);
	return 0;
}

static int fake_write_byte(struct programmer *programmer, uint32_t address, uint8_t value)
{
	struct scene *scene = (struct scene *)programmer;

	assert_true(scene->write_count < WRITES_MAX);
	scene->writes[scene->write_count].address = address;
	scene->writes[scene->write_count].value = value;
	scene->writes[scene->write_count++].now_ns = scene->now_ns;
	return 0;
}

static int fake_flush(struct programmer *programmer)
{
	(void)programmer;
	return 0;
}

static uint64_t fake_now_ns(void *context)
{
	return ((struct scene *)context)->now_ns;
}

static void fake_delay_us(void *context, unsigned int us)
{
	((struct scene *)context)->now_ns += us * NS_PER_US;
}

static void start(struct scene *scene)
{
	static const struct programmer_ops ops = {
		.read_bytes = fake_read_bytes,
		.write_byte = fake_write_byte,
		.flush = fake_flush,
	};

	memset(scene, 0, sizeof(*scene));
	memset(scene->bytes, 0xff, sizeof(scene->bytes));
	scene->base = (struct programmer){.name = "fake", .ops = &ops, .read_bytes_max = 65536};
	scene->clock = (struct clock){fake_now_ns, fake_delay_us, scene};
	scene->log = captured_log(&scene->captured);
	flash_init(&scene->flash, &scene->base, &scene->clock, &scene->log);
}

FIXTURE(scene, start, NOTHING);

struct cycle {
	uint32_t address;
	uint8_t value;
};

static void assert_written(
	const struct scene *scene, size_t first, const struct cycle *cycles, size_t count)
{
	assert_true(scene->write_count >= first + count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(scene->writes[first + i].address, cycles[i].address);
		assert_int_equal(scene->writes[first + i].value, cycles[i].value);
	}
}

static const struct cycle entry[] = {{0xfe5555, 0xaa}, {0xfe2aaa, 0x55}, {0xfe5555, 0x90}};
static const struct cycle entry_of_six[] = {{0xfe5555, 0xaa}, {0xfe2aaa, 0x55}, {0xfe5555, 0x80},
	{0xfe5555, 0xaa}, {0xfe2aaa, 0x55}, {0xfe5555, 0x60}};
static const struct cycle leave[] = {{0xfe5555, 0xaa}, {0xfe2aaa, 0x55}, {0xfe5555, 0xf0}};

static void id_is_read_at_the_top_of_the_address_space(struct scene *scene)
{
	uint32_t id;

	scene->bytes[0xfe0000] = 0xbf;
	scene->bytes[0xfe0001] = 0x07;
	assert_int_equal(jedec_id.ask(&scene->flash, &parallel_chip, &id), 0);
	assert_int_equal(id, 0xbf07);
	assert_int_equal(scene->write_count, 9);
	assert_written(scene, 0, leave, 3);
	assert_written(scene, 3, entry, 3);
	assert_written(scene, 6, leave, 3);
}

static void id_mode_is_entered_by_six_cycles_if_the_part_needs_them(struct scene *scene)
{
	uint32_t id;

	assert_int_equal(jedec_id.ask(&scene->flash, &six_byte_chip, &id), 0);
	assert_written(scene, 3, entry_of_six, 6);
	assert_written(scene, 9, leave, 3);
	assert_false(jedec_id.same_question(&parallel_chip, &six_byte_chip));
}

static void id_mode_is_left_after_any_error(struct scene *scene)
{
	uint32_t id;

	for (size_t nth = 1; nth <= 4; nth++) {
		start(scene);
		scene->fail_read = nth;
		assert_int_equal(jedec_id.ask(&scene->flash, &parallel_chip, &id), -EIO);
		assert_written(scene, scene->write_count - 3, leave, 3);
	}
	start(scene);
	scene->fail_read = 2;
	assert_int_equal(fwh_id.ask(&scene->flash, &hub_chip, &id), -EIO);
	assert_int_equal(scene->writes[scene->write_count - 1].value, 0xff);
}

/* Without a name, the driver cannot know how slow the part is. */
static void unnamed_part_gets_the_id_wait_of_the_slowest_part(struct scene *scene)
{
	uint32_t id;

	for (int named = 0; named < 2; named++) {
		const uint32_t us = named ? 7 : JEDEC_ID_US_MAX_PARALLEL;

		start(scene);
		scene->flash.is_named = named;
		assert_int_equal(jedec_id.ask(&scene->flash, &parallel_chip, &id), 0);
		assert_int_equal(scene->writes[3].now_ns, us * NS_PER_US);
		assert_int_equal(scene->writes[6].now_ns, 2 * us * NS_PER_US);
		assert_int_equal(scene->now_ns, 3 * us * NS_PER_US);
	}
}

static void continuation_code_becomes_part_of_the_id(struct scene *scene)
{
	uint32_t id;

	scene->bytes[0xfe0000] = 0x7f;
	scene->bytes[0xfe0100] = 0x1c;
	scene->bytes[0xfe0001] = 0x20;
	assert_int_equal(jedec_id.ask(&scene->flash, &parallel_chip, &id), 0);
	assert_int_equal(id, 0x7f1c20);
}

/* A hub that reads zeros at all addresses may be busy, so the driver waits for some time. */
static void hub_that_reads_zeros_gets_time_to_become_ready(struct scene *scene)
{
	uint32_t id = 1;

	memset(scene->bytes + 0xf80000, 0, hub_chip.size_bytes);
	assert_int_equal(fwh_id.ask(&scene->flash, &hub_chip, &id), 0);
	assert_int_equal(id, 0);
	assert_true(scene->now_ns >= 10000 * NS_PER_MS);
	assert_true(scene->now_ns <= 30000 * NS_PER_MS);
}

static void hub_that_reads_another_byte_is_not_waited_for(struct scene *scene)
{
	uint32_t id;

	memset(scene->bytes + 0xf80000, 0, hub_chip.size_bytes);
	memset(scene->bytes + 0xfff000, 0xea, 0x1000);
	assert_int_equal(fwh_id.ask(&scene->flash, &hub_chip, &id), 0);
	assert_int_equal(scene->now_ns, 0);
}

static void read_longer_than_a_transfer_is_split(struct scene *scene)
{
	uint8_t data[2500];

	scene->flash.chip = &parallel_chip;
	scene->base.read_bytes_max = 1000;
	for (size_t i = 0; i < sizeof(data); i++)
		scene->bytes[0xfe0123 + i] = (uint8_t)(i * 7);
	assert_int_equal(memory_read(&scene->flash, 0x123, data, sizeof(data)), 0);
	assert_memory_equal(data, scene->bytes + 0xfe0123, sizeof(data));
	assert_int_equal(scene->reads, 3);
	assert_int_equal(scene->read_bytes_seen_max, 1000);
}

static const struct CMUnitTest tests[] = {
	CASE_ON(scene, id_is_read_at_the_top_of_the_address_space),
	CASE_ON(scene, id_mode_is_entered_by_six_cycles_if_the_part_needs_them),
	CASE_ON(scene, id_mode_is_left_after_any_error),
	CASE_ON(scene, unnamed_part_gets_the_id_wait_of_the_slowest_part),
	CASE_ON(scene, continuation_code_becomes_part_of_the_id),
	CASE_ON(scene, hub_that_reads_zeros_gets_time_to_become_ready),
	CASE_ON(scene, hub_that_reads_another_byte_is_not_waited_for),
	CASE_ON(scene, read_longer_than_a_transfer_is_split),
};

RUN_CASES(tests)
