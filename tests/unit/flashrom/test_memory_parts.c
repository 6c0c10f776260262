/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parts on memory buses after an earlier session, with a locked block, or on a small programmer.
 * test_parts.c has the tests that every part must pass.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "captured_log.h"
#include "cmocka_headers.h"
#include "dummy.h"
#include "flash.h"

#define LOOK_NS 100 /* each reading advances the clock by it */
#define BLOCK_BYTES 65536
#define LOCK_AT(block) (0xb80002 + (block) * BLOCK_BYTES) /* in a part of 512 KiB */

struct scene {
	uint64_t now_ns;
	struct clock clock;
	struct captured_log captured;
	struct captured_log dummy_captured; /* a line for each command that the part refuses */
	struct log log;
	struct log dummy_log;
	struct programmer *programmer;
	struct flash flash;
	const char *part;
	uint8_t *before;
	uint8_t *image;
	size_t size_bytes;
};

static uint64_t look(void *context)
{
	return ((struct scene *)context)->now_ns += LOOK_NS;
}

static void wait(void *context, unsigned int us)
{
	((struct scene *)context)->now_ns += us * NS_PER_US;
}

static void fill_noise(uint8_t *data, size_t bytes, uint32_t seed)
{
	for (size_t i = 0; i < bytes; i++) {
		seed = seed * 1103515245 + 12345;
		data[i] = (uint8_t)(seed >> 16);
	}
}

static size_t size_of(const char *part)
{
	struct dummy_part found;

	for (size_t nth = 0; dummy_part_at(nth, &found); nth++) {
		if (strcmp(found.name, part) == 0)
			return found.size_bytes;
	}
	fail_msg("no part %s", part);
	return 0;
}

static void start(struct scene *scene, const char *part, const char *corner)
{
	const struct dummy_options options = {.emulate = part, .corner = corner};

	memset(scene, 0, sizeof(*scene));
	scene->clock = (struct clock){.now_ns = look, .delay_us = wait, .context = scene};
	scene->log = captured_log(&scene->captured);
	scene->log.level_max = LOG_DEBUG;
	scene->dummy_log = captured_log(&scene->dummy_captured);
	assert_int_equal(
		dummy_create(&options, &scene->clock, &scene->dummy_log, &scene->programmer), 0);
	scene->part = part;
	scene->size_bytes = size_of(part);
	scene->before = malloc(scene->size_bytes);
	scene->image = malloc(scene->size_bytes);
	fill_noise(scene->before, scene->size_bytes, 1);
	memcpy(scene->image, scene->before, scene->size_bytes);
	dummy_content_write(scene->programmer, scene->before);
	flash_init(&scene->flash, scene->programmer, &scene->clock, &scene->log);
}

static void stop(struct scene *scene)
{
	programmer_destroy(scene->programmer);
	free(scene->before);
	free(scene->image);
}

static void write_cycle(struct scene *scene, uint32_t address, uint8_t value)
{
	scene->programmer->ops->write_byte(scene->programmer, address, value);
}

static uint8_t read_cycle(struct scene *scene, uint32_t address)
{
	uint8_t value;

	scene->programmer->ops->read_bytes(scene->programmer, address, &value, 1);
	return value;
}

static void flush(struct scene *scene)
{
	scene->programmer->ops->flush(scene->programmer);
}

static uint32_t base(const struct scene *scene)
{
	return 0x1000000 - (uint32_t)scene->size_bytes;
}

static void unlock(struct scene *scene)
{
	write_cycle(scene, base(scene) + 0x5555, 0xaa);
	write_cycle(scene, base(scene) + 0x2aaa, 0x55);
}

static void command(struct scene *scene, uint8_t opcode)
{
	unlock(scene);
	write_cycle(scene, base(scene) + 0x5555, opcode);
}

static void assert_content(struct scene *scene, const uint8_t *expected)
{
	uint8_t *found = malloc(scene->size_bytes);

	dummy_content_read(scene->programmer, found);
	assert_memory_equal(found, expected, scene->size_bytes);
	free(found);
}

static void assert_found(struct scene *scene, const char *wanted, const char *name)
{
	assert_int_equal(flash_probe(&scene->flash, chip_lists, wanted, false), 0);
	assert_string_equal(scene->flash.chip->name, name);
	assert_int_equal(flash_open(&scene->flash), 0);
}

/* Reads the whole part and compares it. */
static void assert_readable(struct scene *scene)
{
	struct range all = {0, (uint32_t)scene->size_bytes};

	assert_int_equal(
		flash_verify(&scene->flash, (struct selection){&all, 1}, scene->before), 0);
}

static int write_block(struct scene *scene, uint32_t block, bool force)
{
	struct range range = {block * BLOCK_BYTES, (block + 1) * BLOCK_BYTES};

	fill_noise(scene->image + range.start, BLOCK_BYTES, 2);
	return flash_write(
		&scene->flash, (struct selection){&range, 1}, scene->image, VERIFY_TOUCHED, force);
}

struct named_part {
	const char *part;
	const char *name;
};

static const struct named_part parts[] = {
	{"AT29C020", "AT29C020"},
	{"AT29C512", "AT29C512"},
	{"AT49F002", "AT49F002(N)"},
	{"Am29F040B", "Am29F040B"},
	{"MX29F040", "MX29F040"},
	{"SST29EE010", "SST29EE010"},
	{"SST39SF040", "SST39SF040"},
	{"SST49LF004B", "SST49LF004A/B"},
	{"SST49LF040", "SST49LF040"},
	{"W29C020", "W29C020(C)/W29C022"},
	{"W29EE011", "W29C010(M)/W29C011A/W29EE011/W29EE012-old"},
	{"W39V040A", "W39V040A"},
	{"82802AB", "AT82802AB"},
	{"M50FW040", "M50FW040"},
};

#define PARTS (sizeof(parts) / sizeof(parts[0]))
#define JEDEC_PARTS (PARTS - 2)

/* Each method asks, even parts that do not understand it. */
static void unnamed_part_is_found_and_left_as_it_was(void **state)
{
	struct scene scene;

	(void)state;
	for (size_t i = 0; i < PARTS; i++) {
		start(&scene, parts[i].part, "max");
		assert_found(&scene, NULL, parts[i].name);
		assert_readable(&scene);
		assert_content(&scene, scene.before);
		assert_int_equal(dummy_violations(scene.programmer), 0);
		stop(&scene);
	}
}

/* For a part that is given by name, the driver need not wait for the slowest one. */
static void named_part_is_asked_at_its_own_pace(void **state)
{
	struct scene scene;

	(void)state;
	start(&scene, "SST39SF040", "typ");
	assert_found(&scene, "SST39SF040", "SST39SF040");
	assert_true(scene.now_ns < 100 * NS_PER_US);
	stop(&scene);
	start(&scene, "AT29C020", "typ");
	assert_found(&scene, "AT29C020", "AT29C020");
	assert_true(scene.now_ns > 20 * NS_PER_MS);
	assert_int_equal(dummy_violations(scene.programmer), 0);
	stop(&scene);
}

static void enter_id_mode(struct scene *scene)
{
	const bool six_bytes = strncmp(scene->part, "W29", 3) == 0;

	if (six_bytes)
		command(scene, 0x80);
	command(scene, six_bytes ? 0x60 : 0x90);
	flush(scene);
	wait(scene, 10000);
	assert_int_not_equal(read_cycle(scene, base(scene)), scene->before[0]);
}

static void id_mode_left_by_an_earlier_session_is_ended(void **state)
{
	struct scene scene;

	(void)state;
	for (size_t i = 0; i < JEDEC_PARTS; i++) {
		start(&scene, parts[i].part, "typ");
		enter_id_mode(&scene);
		assert_found(&scene, parts[i].name, parts[i].name);
		assert_readable(&scene);
		assert_int_equal(dummy_violations(scene.programmer), 0);
		stop(&scene);
	}
}

static void firmware_hub_left_in_id_mode_is_read(void **state)
{
	struct scene scene;

	(void)state;
	for (size_t i = JEDEC_PARTS; i < PARTS; i++) {
		start(&scene, parts[i].part, "typ");
		write_cycle(&scene, 0xf80000, 0x90);
		flush(&scene);
		assert_found(&scene, parts[i].name, parts[i].name);
		assert_readable(&scene);
		assert_int_equal(dummy_violations(scene.programmer), 0);
		stop(&scene);
	}
}

/* Begins an erase, as a session that is cut off right after it. */
static void begin_erase(struct scene *scene, bool is_firmware_hub)
{
	if (strstr("SST49LF004B 82802AB M50FW040", scene->part) != NULL)
		write_cycle(scene, LOCK_AT(7), 0);
	if (is_firmware_hub) {
		write_cycle(scene, 0xff0000, 0x20);
		write_cycle(scene, 0xff0000, 0xd0);
	} else {
		command(scene, 0x80);
		unlock(scene);
		write_cycle(scene, 0xff0000, 0x30);
	}
	flush(scene);
}

static void erase_of_an_earlier_session_is_waited_for(void **state)
{
	static const size_t erasing[] = {2, 3, 6, 7, 8, 11, 12, 13};
	struct scene scene;

	(void)state;
	for (size_t i = 0; i < sizeof(erasing) / sizeof(erasing[0]); i++) {
		const struct named_part *part = &parts[erasing[i]];

		start(&scene, part->part, "max");
		begin_erase(&scene, erasing[i] >= JEDEC_PARTS);
		assert_found(&scene, part->name, part->name);
		assert_true(logged(&scene.captured, "busy with an earlier operation"));
		assert_int_equal(dummy_violations(scene.programmer), 0);
		stop(&scene);
	}
}

/* Sets the part's lock registers over the bus. */
static void assert_locks(struct scene *scene, const uint8_t *expected)
{
	for (uint32_t block = 0; block < 8; block++)
		assert_int_equal(read_cycle(scene, LOCK_AT(block)) & 0x07, expected[block]);
}

static void set_locks(struct scene *scene, const uint8_t *locks)
{
	for (uint32_t block = 0; block < 8; block++)
		write_cycle(scene, LOCK_AT(block), locks[block]);
	flush(scene);
}

static const struct named_part lockable[] = {
	{"SST49LF004B", "SST49LF004A/B"}, {"82802AB", "AT82802AB"}, {"M50FW040", "M50FW040"}};

static void block_locks_are_lifted_for_a_write_and_put_back(void **state)
{
	static const uint8_t locks[] = {1, 0, 1, 0, 0, 1, 1, 3};
	struct scene scene;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		start(&scene, lockable[i].part, "typ");
		set_locks(&scene, locks);
		assert_found(&scene, lockable[i].name, lockable[i].name);
		assert_int_equal(write_block(&scene, 2, true), 0);
		assert_int_equal(write_block(&scene, 3, true), 0);
		assert_int_equal(flash_close(&scene.flash), 0);
		assert_locks(&scene, locks);
		assert_content(&scene, scene.image);
		stop(&scene);
	}
}

static void block_that_is_locked_down_is_refused(void **state)
{
	static const uint8_t locks[] = {1, 1, 3, 1, 1, 1, 1, 1};
	struct scene scene;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		start(&scene, lockable[i].part, "typ");
		set_locks(&scene, locks);
		assert_found(&scene, lockable[i].name, lockable[i].name);
		assert_int_equal(write_block(&scene, 2, false), -EPERM);
		assert_true(logged(&scene.captured, "0x020000 stays locked"));
		assert_true(logged(&scene.captured, "locked down until the next reset"));
		assert_content(&scene, scene.before);
		assert_int_equal(flash_close(&scene.flash), 0);
		assert_locks(&scene, locks);
		stop(&scene);
	}
}

/* With force, a hub reports that it refused; the verification finds the other kind of part. */
static void write_into_a_locked_down_block_fails_at_once(void **state)
{
	static const uint8_t locks[] = {0, 0, 3, 0, 0, 0, 0, 0};
	static const struct {
		int error;
		const char *message;
	} expected[] = {
		{-EILSEQ, "Verification failed at 0x02"},
		{-EIO, "the block is locked"},
		{-EIO, "the block is locked"},
	};
	struct scene scene;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		start(&scene, lockable[i].part, "typ");
		set_locks(&scene, locks);
		assert_found(&scene, lockable[i].name, lockable[i].name);
		assert_int_equal(write_block(&scene, 2, true), expected[i].error);
		assert_true(logged(&scene.captured, expected[i].message));
		assert_false(logged(&scene.captured, "still busy"));
		/* The part reads its array again, and has no error left. */
		assert_content(&scene, scene.before);
		assert_readable(&scene);
		assert_int_equal(write_block(&scene, 3, true), 0);
		stop(&scene);
	}
}

/* The erase around a write would lose bytes that cannot be read. */
static void read_locked_block_is_opened_and_closed_again(void **state)
{
	static const uint8_t locks[] = {0, 4, 5, 0, 0, 0, 0, 0};
	struct scene scene;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		start(&scene, lockable[i].part, "typ");
		set_locks(&scene, locks);
		assert_found(&scene, lockable[i].name, lockable[i].name);
		assert_readable(&scene);
		assert_int_equal(flash_close(&scene.flash), 0);
		assert_locks(&scene, locks);
		stop(&scene);
	}
}

static const struct named_part paged[] = {{"AT29C512", "AT29C512"}, {"AT29C020", "AT29C020"},
	{"SST29EE010", "SST29EE010"}, {"W29EE011", "W29C010(M)/W29C011A/W29EE011/W29EE012-old"},
	{"W29C020", "W29C020(C)/W29C022"}};

static void page_that_the_programmer_cannot_send_at_once_is_refused(void **state)
{
	struct scene scene;

	(void)state;
	for (size_t i = 0; i < sizeof(paged) / sizeof(paged[0]); i++) {
		start(&scene, paged[i].part, "typ");
		assert_found(&scene, paged[i].name, paged[i].name);
		scene.programmer->burst_bytes_max = scene.flash.chip->page_bytes - 1;
		assert_int_equal(write_block(&scene, 0, false), -EOPNOTSUPP);
		assert_true(logged(&scene.captured, "larger operation buffer"));
		assert_content(&scene, scene.before);
		scene.programmer->burst_bytes_max = scene.flash.chip->page_bytes;
		assert_int_equal(write_block(&scene, 0, false), 0);
		assert_content(&scene, scene.image);
		stop(&scene);
	}
}

/* The part is faster than any real one: only the load window separates two pages. */
static void page_write_that_takes_no_time_is_not_taken_for_done_too_early(void **state)
{
	struct scene scene;

	(void)state;
	for (size_t i = 0; i < sizeof(paged) / sizeof(paged[0]); i++) {
		start(&scene, paged[i].part, "zero");
		assert_found(&scene, paged[i].name, paged[i].name);
		assert_int_equal(write_block(&scene, 0, false), 0);
		assert_content(&scene, scene.image);
		assert_int_equal(dummy_violations(scene.programmer), 0);
		stop(&scene);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unnamed_part_is_found_and_left_as_it_was),
		cmocka_unit_test(named_part_is_asked_at_its_own_pace),
		cmocka_unit_test(id_mode_left_by_an_earlier_session_is_ended),
		cmocka_unit_test(firmware_hub_left_in_id_mode_is_read),
		cmocka_unit_test(erase_of_an_earlier_session_is_waited_for),
		cmocka_unit_test(block_locks_are_lifted_for_a_write_and_put_back),
		cmocka_unit_test(block_that_is_locked_down_is_refused),
		cmocka_unit_test(write_into_a_locked_down_block_fails_at_once),
		cmocka_unit_test(read_locked_block_is_opened_and_closed_again),
		cmocka_unit_test(page_that_the_programmer_cannot_send_at_once_is_refused),
		cmocka_unit_test(page_write_that_takes_no_time_is_not_taken_for_done_too_early),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
