/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parts on memory buses after an earlier session, with a locked block, or on a small programmer.
 * test_parts.c has the tests that every part must pass.
 */
#include <errno.h>

#include "part_bench.h"

#define BLOCK_BYTES 65536
#define LOCK_AT(block) (0xb80002 + (block) * BLOCK_BYTES) /* in a part of 512 KiB */

FIXTURE(part_bench, NOTHING, part_bench_stop);

static void write_cycle(struct part_bench *bench, uint32_t address, uint8_t value)
{
	bench->part->ops->write_byte(bench->part, address, value);
}

static uint8_t read_cycle(struct part_bench *bench, uint32_t address)
{
	uint8_t value;

	bench->part->ops->read_bytes(bench->part, address, &value, 1);
	return value;
}

static void flush(struct part_bench *bench)
{
	bench->part->ops->flush(bench->part);
}

static uint32_t base(const struct part_bench *bench)
{
	return 0x1000000 - bench->size_bytes;
}

static void unlock(struct part_bench *bench)
{
	write_cycle(bench, base(bench) + 0x5555, 0xaa);
	write_cycle(bench, base(bench) + 0x2aaa, 0x55);
}

static void command(struct part_bench *bench, uint8_t opcode)
{
	unlock(bench);
	write_cycle(bench, base(bench) + 0x5555, opcode);
}

/* Makes `image` equal to the content that the part had at the start. */
static void restore_image(struct part_bench *bench)
{
	part_bench_noise(bench->image, bench->size_bytes, 1);
}

static void assert_found(struct part_bench *bench, const char *wanted, const char *name)
{
	part_bench_find(bench, wanted);
	assert_string_equal(bench->flash.chip->name, name);
}

/* Reads the whole part and compares it. */
static void assert_readable(struct part_bench *bench)
{
	struct range all = {0, bench->size_bytes};

	assert_int_equal(flash_verify(&bench->flash, (struct selection){&all, 1}, bench->image), 0);
}

static int write_block(struct part_bench *bench, uint32_t block, bool force)
{
	struct range range = {block * BLOCK_BYTES, (block + 1) * BLOCK_BYTES};

	part_bench_noise(bench->image + range.start, BLOCK_BYTES, 2);
	return flash_write(&bench->flash, (struct selection){&range, 1}, bench->image, NULL,
		VERIFY_TOUCHED, force);
}

struct named_part {
	const char *part;
	const char *name;
};

/*
 * The first PAGED_PARTS are written by pages, and the others have a block erase. Those from
 * FIRST_LOCKABLE on have block locks.
 */
static const struct named_part parts[] = {
	{"AT29C020", "AT29C020"},
	{"AT29C512", "AT29C512"},
	{"SST29EE010", "SST29EE010"},
	{"W29C020", "W29C020(C)/W29C022"},
	{"W29EE011", "W29C010(M)/W29C011A/W29EE011/W29EE012-old"},
	{"MX29F040", "MX29F040"},
	{"AT49F002", "AT49F002(N)"},
	{"Am29F040B", "Am29F040B"},
	{"SST39SF040", "SST39SF040"},
	{"SST49LF040", "SST49LF040"},
	{"W39V040A", "W39V040A"},
	{"SST49LF004B", "SST49LF004A/B"},
	{"82802AB", "AT82802AB"},
	{"M50FW040", "M50FW040"},
};

#define PARTS COUNT(parts)
#define PAGED_PARTS 5
#define FIRST_LOCKABLE (PARTS - 3)
#define JEDEC_PARTS (PARTS - 2) /* the others are firmware hubs */

/* The part gets the queries of all methods, even if it does not know them. */
static void unnamed_part_is_found_and_keeps_its_content(struct part_bench *bench)
{
	for (size_t i = 0; i < PARTS; i++) {
		part_bench_start(bench, parts[i].part, "max");
		assert_found(bench, NULL, parts[i].name);
		assert_readable(bench);
		part_bench_assert_holds_image(bench);
	}
}

/* Without a name, the driver must wait as long as the slowest part needs. */
static void named_part_gets_its_own_id_wait(struct part_bench *bench)
{
	part_bench_start(bench, "SST39SF040", "typ");
	assert_found(bench, "SST39SF040", "SST39SF040");
	assert_true(bench->now_ns < 100 * NS_PER_US);
	part_bench_start(bench, "AT29C020", "typ");
	assert_found(bench, "AT29C020", "AT29C020");
	assert_true(bench->now_ns > 20 * NS_PER_MS);
}

static void enter_id_mode(struct part_bench *bench, const char *part)
{
	const bool six_bytes = strncmp(part, "W29", 3) == 0;

	if (six_bytes)
		command(bench, 0x80);
	command(bench, six_bytes ? 0x60 : 0x90);
	flush(bench);
	part_bench_pass_us(bench, 10000);
	assert_int_not_equal(read_cycle(bench, base(bench)), bench->image[0]);
}

static void id_mode_of_an_earlier_session_is_left(struct part_bench *bench)
{
	for (size_t i = 0; i < JEDEC_PARTS; i++) {
		part_bench_start(bench, parts[i].part, "typ");
		enter_id_mode(bench, parts[i].part);
		assert_found(bench, parts[i].name, parts[i].name);
		assert_readable(bench);
	}
}

static void firmware_hub_found_in_id_mode_is_read(struct part_bench *bench)
{
	for (size_t i = JEDEC_PARTS; i < PARTS; i++) {
		part_bench_start(bench, parts[i].part, "typ");
		write_cycle(bench, 0xf80000, 0x90);
		flush(bench);
		assert_found(bench, parts[i].name, parts[i].name);
		assert_readable(bench);
	}
}

/* Begins an erase and stops, like a session that was interrupted. */
static void begin_erase(struct part_bench *bench, size_t which)
{
	if (which >= FIRST_LOCKABLE)
		write_cycle(bench, LOCK_AT(7), 0);
	if (which >= JEDEC_PARTS) {
		write_cycle(bench, 0xff0000, 0x20);
		write_cycle(bench, 0xff0000, 0xd0);
	} else {
		command(bench, 0x80);
		unlock(bench);
		write_cycle(bench, 0xff0000, 0x30);
	}
	flush(bench);
}

static void erase_of_an_earlier_session_is_waited_for(struct part_bench *bench)
{
	for (size_t i = PAGED_PARTS; i < PARTS; i++) {
		part_bench_start(bench, parts[i].part, "max");
		begin_erase(bench, i);
		assert_found(bench, parts[i].name, parts[i].name);
		assert_true(logged(&bench->captured, "busy with an earlier operation"));
	}
}

static void assert_locks(struct part_bench *bench, const uint8_t *expected)
{
	for (uint32_t block = 0; block < 8; block++)
		assert_int_equal(read_cycle(bench, LOCK_AT(block)) & 0x07, expected[block]);
}

static void start_with_locks(
	struct part_bench *bench, const struct named_part *part, const uint8_t *locks)
{
	part_bench_start(bench, part->part, "typ");
	for (uint32_t block = 0; block < 8; block++)
		write_cycle(bench, LOCK_AT(block), locks[block]);
	flush(bench);
	assert_found(bench, part->name, part->name);
}

static const struct named_part *const lockable = &parts[FIRST_LOCKABLE];

static void block_locks_are_lifted_for_a_write_and_restored(struct part_bench *bench)
{
	static const uint8_t locks[] = {1, 0, 1, 0, 0, 1, 1, 3};

	for (size_t i = 0; i < 3; i++) {
		start_with_locks(bench, &lockable[i], locks);
		assert_int_equal(write_block(bench, 2, true), 0);
		assert_int_equal(write_block(bench, 3, true), 0);
		assert_int_equal(flash_close(&bench->flash), 0);
		assert_locks(bench, locks);
		part_bench_assert_holds_image(bench);
	}
}

static void block_that_is_locked_down_is_refused(struct part_bench *bench)
{
	static const uint8_t locks[] = {1, 1, 3, 1, 1, 1, 1, 1};

	for (size_t i = 0; i < 3; i++) {
		start_with_locks(bench, &lockable[i], locks);
		assert_int_equal(write_block(bench, 2, false), -EPERM);
		assert_true(logged(&bench->captured, "0x020000 stays locked"));
		assert_true(logged(&bench->captured, "locked down until the next reset"));
		restore_image(bench);
		part_bench_assert_holds_image(bench);
		assert_int_equal(flash_close(&bench->flash), 0);
		assert_locks(bench, locks);
	}
}

/* With force, a hub reports the refusal; the other part does not, but verification fails. */
static void write_into_a_locked_down_block_fails_at_once(struct part_bench *bench)
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

	for (size_t i = 0; i < 3; i++) {
		start_with_locks(bench, &lockable[i], locks);
		bench->goes_unheard = true;
		assert_int_equal(write_block(bench, 2, true), expected[i].error);
		assert_true(logged(&bench->captured, expected[i].message));
		assert_false(logged(&bench->captured, "still busy"));
		/* The part reads its array again, and has no error left. */
		restore_image(bench);
		part_bench_assert_holds_image(bench);
		assert_readable(bench);
		assert_int_equal(write_block(bench, 3, true), 0);
	}
}

/* A write must read a block before its erase, or the bytes around the range are lost. */
static void read_lock_is_lifted_and_restored(struct part_bench *bench)
{
	static const uint8_t locks[] = {0, 4, 5, 0, 0, 0, 0, 0};

	for (size_t i = 0; i < 3; i++) {
		start_with_locks(bench, &lockable[i], locks);
		assert_readable(bench);
		assert_int_equal(flash_close(&bench->flash), 0);
		assert_locks(bench, locks);
	}
}

static void read_lock_that_stays_is_reported_at_opening(struct part_bench *bench)
{
	static const uint8_t locks[] = {0, 6, 0, 0, 0, 0, 0, 0};

	start_with_locks(bench, &lockable[0], locks);
	assert_true(logged(&bench->captured, "0x010000 stays locked (register 0x06); going on.\n"));
}

/* Verification reads the block after the write. */
static void read_lock_stays_lifted_after_a_write_until_close(struct part_bench *bench)
{
	static const uint8_t locks[] = {0, 4, 5, 0, 0, 0, 0, 0};
	static const uint8_t written[] = {0, 0, 1, 0, 0, 0, 0, 0};

	for (size_t i = 0; i < 3; i++) {
		start_with_locks(bench, &lockable[i], locks);
		assert_int_equal(write_block(bench, 2, false), 0);
		assert_locks(bench, written);
		assert_int_equal(flash_close(&bench->flash), 0);
		assert_locks(bench, locks);
	}
}

static void page_larger_than_the_operation_buffer_is_refused(struct part_bench *bench)
{
	for (size_t i = 0; i < PAGED_PARTS; i++) {
		part_bench_start(bench, parts[i].part, "typ");
		assert_found(bench, parts[i].name, parts[i].name);
		bench->part->burst_bytes_max = bench->flash.chip->page_bytes - 1;
		assert_int_equal(write_block(bench, 0, false), -EOPNOTSUPP);
		assert_true(logged(&bench->captured, "larger operation buffer"));
		restore_image(bench);
		part_bench_assert_holds_image(bench);
		bench->part->burst_bytes_max = bench->flash.chip->page_bytes;
		assert_int_equal(write_block(bench, 0, false), 0);
		part_bench_assert_holds_image(bench);
	}
}

/* At this corner, writes take no time, so only the load window separates two pages. */
static void fast_part_gets_no_second_page_in_the_load_window(struct part_bench *bench)
{
	for (size_t i = 0; i < PAGED_PARTS; i++) {
		part_bench_start(bench, parts[i].part, "zero");
		assert_found(bench, parts[i].name, parts[i].name);
		assert_int_equal(write_block(bench, 0, false), 0);
		part_bench_assert_holds_image(bench);
	}
}

static const struct CMUnitTest tests[] = {
	CASE_ON(part_bench, unnamed_part_is_found_and_keeps_its_content),
	CASE_ON(part_bench, named_part_gets_its_own_id_wait),
	CASE_ON(part_bench, id_mode_of_an_earlier_session_is_left),
	CASE_ON(part_bench, firmware_hub_found_in_id_mode_is_read),
	CASE_ON(part_bench, erase_of_an_earlier_session_is_waited_for),
	CASE_ON(part_bench, block_locks_are_lifted_for_a_write_and_restored),
	CASE_ON(part_bench, block_that_is_locked_down_is_refused),
	CASE_ON(part_bench, write_into_a_locked_down_block_fails_at_once),
	CASE_ON(part_bench, read_lock_is_lifted_and_restored),
	CASE_ON(part_bench, read_lock_that_stays_is_reported_at_opening),
	CASE_ON(part_bench, read_lock_stays_lifted_after_a_write_until_close),
	CASE_ON(part_bench, page_larger_than_the_operation_buffer_is_refused),
	CASE_ON(part_bench, fast_part_gets_no_second_page_in_the_load_window),
};

RUN_CASES(tests)
