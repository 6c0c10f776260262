/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cycles that the drivers of memory buses send, without a part that judges them. */
#include <errno.h>

#include "captured_log.h"
#include "cmocka_headers.h"
#include "fake_memory.h"
#include "flash.h"
#include "fwh.h"
#include "jedec.h"
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

struct scene {
	struct fake_memory fake;
	struct captured_log captured;
	struct log log;
	struct flash flash;
};

static void start(struct scene *scene)
{
	scene->captured = (struct captured_log){0};
	scene->log = captured_log(&scene->captured);
	fake_memory_init(&scene->fake);
	flash_init(&scene->flash, &scene->fake.base, &scene->fake.clock, &scene->log);
}

static void stop(struct scene *scene)
{
	fake_memory_deinit(&scene->fake);
}

struct cycle {
	uint32_t address;
	uint8_t value;
};

static void assert_written(
	const struct scene *scene, size_t first, const struct cycle *cycles, size_t count)
{
	assert_true(scene->fake.write_count >= first + count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(scene->fake.writes[first + i].address, cycles[i].address);
		assert_int_equal(scene->fake.writes[first + i].value, cycles[i].value);
	}
}

static const struct cycle entry[] = {{0xfe5555, 0xaa}, {0xfe2aaa, 0x55}, {0xfe5555, 0x90}};
static const struct cycle entry_of_six[] = {{0xfe5555, 0xaa}, {0xfe2aaa, 0x55}, {0xfe5555, 0x80},
	{0xfe5555, 0xaa}, {0xfe2aaa, 0x55}, {0xfe5555, 0x60}};
static const struct cycle leave[] = {{0xfe5555, 0xaa}, {0xfe2aaa, 0x55}, {0xfe5555, 0xf0}};

static void id_is_asked_below_the_end_of_the_bus(void **state)
{
	struct scene scene;
	uint32_t id;

	(void)state;
	start(&scene);
	scene.fake.bytes[0xfe0000] = 0xbf;
	scene.fake.bytes[0xfe0001] = 0x07;
	assert_int_equal(jedec_id.ask(&scene.flash, &parallel_chip, &id), 0);
	assert_int_equal(id, 0xbf07);
	assert_int_equal(scene.fake.write_count, 9);
	assert_written(&scene, 0, leave, 3);
	assert_written(&scene, 3, entry, 3);
	assert_written(&scene, 6, leave, 3);
	stop(&scene);
}

static void id_entry_of_six_cycles_is_used_where_the_part_has_it(void **state)
{
	struct scene scene;
	uint32_t id;

	(void)state;
	start(&scene);
	assert_int_equal(jedec_id.ask(&scene.flash, &six_byte_chip, &id), 0);
	assert_written(&scene, 3, entry_of_six, 6);
	assert_written(&scene, 9, leave, 3);
	assert_false(jedec_id.same_question(&parallel_chip, &six_byte_chip));
	stop(&scene);
}

static void id_mode_is_left_after_any_error(void **state)
{
	struct scene scene;
	uint32_t id;

	(void)state;
	for (size_t nth = 1; nth <= 4; nth++) {
		start(&scene);
		scene.fake.fail_read = nth;
		assert_int_equal(jedec_id.ask(&scene.flash, &parallel_chip, &id), -EIO);
		assert_written(&scene, scene.fake.write_count - 3, leave, 3);
		stop(&scene);
	}
	start(&scene);
	scene.fake.fail_read = 2;
	assert_int_equal(fwh_id.ask(&scene.flash, &hub_chip, &id), -EIO);
	assert_int_equal(scene.fake.writes[scene.fake.write_count - 1].value, 0xff);
	stop(&scene);
}

/* Without a name, the driver cannot know how slow the part is. */
static void unknown_part_gets_the_time_of_the_slowest(void **state)
{
	struct scene scene;
	uint32_t id;

	(void)state;
	for (int named = 0; named < 2; named++) {
		const uint32_t us = named ? 7 : JEDEC_ID_US_MAX_PARALLEL;

		start(&scene);
		scene.flash.is_named = named;
		assert_int_equal(jedec_id.ask(&scene.flash, &parallel_chip, &id), 0);
		assert_int_equal(scene.fake.writes[3].now_ns, us * NS_PER_US);
		assert_int_equal(scene.fake.writes[6].now_ns, 2 * us * NS_PER_US);
		assert_int_equal(scene.fake.now_ns, 3 * us * NS_PER_US);
		stop(&scene);
	}
}

static void continuation_code_becomes_part_of_the_id(void **state)
{
	struct scene scene;
	uint32_t id;

	(void)state;
	start(&scene);
	scene.fake.bytes[0xfe0000] = 0x7f;
	scene.fake.bytes[0xfe0100] = 0x1c;
	scene.fake.bytes[0xfe0001] = 0x20;
	assert_int_equal(jedec_id.ask(&scene.flash, &parallel_chip, &id), 0);
	assert_int_equal(id, 0x7f1c20);
	stop(&scene);
}

/* Zeros at all addresses may be a busy hub, which is worth some seconds of waiting, no more. */
static void hub_of_zeros_is_asked_after_a_while(void **state)
{
	struct scene scene;
	uint32_t id = 1;

	(void)state;
	start(&scene);
	memset(scene.fake.bytes + 0xf80000, 0, hub_chip.size_bytes);
	assert_int_equal(fwh_id.ask(&scene.flash, &hub_chip, &id), 0);
	assert_int_equal(id, 0);
	assert_true(scene.fake.now_ns >= 10000 * NS_PER_MS);
	assert_true(scene.fake.now_ns <= 30000 * NS_PER_MS);
	stop(&scene);
}

static void content_that_differs_anywhere_is_no_busy_hub(void **state)
{
	struct scene scene;
	uint32_t id;

	(void)state;
	start(&scene);
	memset(scene.fake.bytes + 0xf80000, 0, hub_chip.size_bytes);
	memset(scene.fake.bytes + 0xfff000, 0xea, 0x1000);
	assert_int_equal(fwh_id.ask(&scene.flash, &hub_chip, &id), 0);
	assert_int_equal(scene.fake.now_ns, 0);
	stop(&scene);
}

static void read_longer_than_programmer_takes_is_split(void **state)
{
	struct scene scene;
	uint8_t data[2500];

	(void)state;
	start(&scene);
	scene.flash.chip = &parallel_chip;
	scene.fake.base.read_bytes_max = 1000;
	for (size_t i = 0; i < sizeof(data); i++)
		scene.fake.bytes[0xfe0123 + i] = (uint8_t)(i * 7);
	assert_int_equal(memory_read(&scene.flash, 0x123, data, sizeof(data)), 0);
	assert_memory_equal(data, scene.fake.bytes + 0xfe0123, sizeof(data));
	assert_int_equal(scene.fake.reads, 3);
	assert_int_equal(scene.fake.read_bytes_seen_max, 1000);
	stop(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(id_is_asked_below_the_end_of_the_bus),
		cmocka_unit_test(id_entry_of_six_cycles_is_used_where_the_part_has_it),
		cmocka_unit_test(id_mode_is_left_after_any_error),
		cmocka_unit_test(unknown_part_gets_the_time_of_the_slowest),
		cmocka_unit_test(continuation_code_becomes_part_of_the_id),
		cmocka_unit_test(hub_of_zeros_is_asked_after_a_while),
		cmocka_unit_test(content_that_differs_anywhere_is_no_busy_hub),
		cmocka_unit_test(read_longer_than_programmer_takes_is_split),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
