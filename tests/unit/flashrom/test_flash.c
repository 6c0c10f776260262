/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "fake_chip.h"

FIXTURE(bench, bench_start_small, bench_stop);

static const struct range whole[] = {{0, 262144}};
static const struct selection everything = {whole, 1};

static void assert_holds_image(const struct bench *bench)
{
	assert_memory_equal(bench->fake.memory, bench->image, bench->flash.chip->size_bytes);
	assert_true(fake_chip_is_content(&bench->fake));
}

static int write_all(struct bench *bench)
{
	return flash_write(&bench->flash, everything, bench->image, NULL, VERIFY_TOUCHED, false);
}

/* Fills chip and image with that value. */
static void fill_both(struct bench *bench, int value)
{
	memset(bench->fake.memory, value, small_chip.size_bytes);
	memset(bench->image, value, small_chip.size_bytes);
}

static void blank_chip_is_written_without_erase(struct bench *bench)
{
	fill_pattern(bench->image + 0x8000, 5000, 1);
	assert_int_equal(write_all(bench), 0);
	assert_holds_image(bench);
	assert_int_equal(bench->fake.erase_count, 0);
	assert_int_equal(bench->fake.counts[0x02], 20);
	assert_true(logged(&bench->captured, "Erase/write done."));
	assert_true(logged(&bench->captured, "Verifying flash... VERIFIED."));
}

static void equal_content_is_not_written(struct bench *bench)
{
	fill_pattern(bench->image, small_chip.size_bytes, 2);
	memcpy(bench->fake.memory, bench->image, small_chip.size_bytes);
	assert_int_equal(write_all(bench), 0);
	assert_int_equal(bench->fake.counts[0x06], 0);
}

static void cleared_bits_are_programmed_without_erase(struct bench *bench)
{
	fill_both(bench, 0xf0);
	bench->image[0x3010] = 0x30;
	assert_int_equal(write_all(bench), 0);
	assert_holds_image(bench);
	assert_int_equal(bench->fake.erase_count, 0);
	assert_int_equal(bench->fake.programmed_bytes, 1);
}

static void correct_bytes_are_skipped_if_the_part_programs_only_blank_ones(void)
{
	struct flash_chip chip = small_chip;
	struct bench bench;

	chip.blank_only = true;
	chip.program_unit_bytes = 1;
	bench_start(&bench, &chip);
	memset(bench.fake.memory + 0x3010, 0x5a, 4);
	memset(bench.image + 0x3000, 0x5a, 0x20);
	assert_int_equal(write_all(&bench), 0);
	assert_holds_image(&bench);
	assert_int_equal(bench.fake.erase_count, 0);
	assert_int_equal(bench.fake.programmed_blank_bytes, 4);
	bench_stop(&bench);
}

static void setting_one_bit_takes_one_small_erase(struct bench *bench)
{
	fill_both(bench, 0x00);
	bench->image[0x21234] = 0x80;
	assert_int_equal(write_all(bench), 0);
	assert_holds_image(bench);
	assert_int_equal(bench->fake.erase_count, 1);
	assert_int_equal(bench->fake.erases[0].opcode, 0x20);
	assert_int_equal(bench->fake.erases[0].address, 0x21000);
}

static void erase_of_the_whole_chip_uses_chip_erase(struct bench *bench)
{
	memset(bench->fake.memory, 0x00, small_chip.size_bytes);
	assert_int_equal(flash_erase(&bench->flash, everything, VERIFY_TOUCHED, false), 0);
	assert_holds_image(bench);
	assert_int_equal(bench->fake.erase_count, 1);
	assert_int_equal(bench->fake.erases[0].opcode, 0xc7);
}

static void bytes_around_a_region_are_restored(void)
{
	static const struct range ranges[] = {{0x11000, 0x11010}, {0x1fff0, 0x20010}};
	const struct selection selection = {ranges, 2};
	uint8_t wanted[16];
	struct bench bench;

	bench_start(&bench, &sector_chip);
	fill_pattern(bench.fake.memory, sector_chip.size_bytes, 3);
	memcpy(bench.image, bench.fake.memory, sector_chip.size_bytes);
	memset(wanted, 0xa5, sizeof(wanted));
	memcpy(bench.image + 0x11000, wanted, sizeof(wanted));
	memcpy(bench.image + 0x1fff0, wanted, sizeof(wanted));
	memcpy(bench.image + 0x20000, wanted, sizeof(wanted));
	assert_int_equal(
		flash_write(&bench.flash, selection, bench.image, NULL, VERIFY_TOUCHED, false), 0);
	assert_holds_image(&bench);
	assert_int_equal(bench.fake.erase_count, 2);
	bench_stop(&bench);
}

static void image_outside_the_region_is_not_written(struct bench *bench)
{
	static const struct range ranges[] = {{0x4000, 0x5000}};
	const struct selection selection = {ranges, 1};

	fill_pattern(bench->image, small_chip.size_bytes, 4);
	assert_int_equal(
		flash_write(&bench->flash, selection, bench->image, NULL, VERIFY_SELECTED, false),
		0);
	assert_memory_equal(bench->fake.memory + 0x4000, bench->image + 0x4000, 0x1000);
	assert_int_equal(bench->fake.memory[0x3fff], 0xff);
	assert_int_equal(bench->fake.memory[0x5000], 0xff);
}

static void write_to_stuck_cell(struct bench *bench)
{
	bench->image[0x2345] = 0x5a;
	bench->fake.has_stuck_cell = true;
	bench->fake.stuck_cell = 0x2345;
}

static void stuck_cell_is_reported_with_its_address(struct bench *bench)
{
	write_to_stuck_cell(bench);
	assert_int_equal(write_all(bench), -EILSEQ);
	assert_true(logged(&bench->captured,
		"Verification failed at 0x002345: expected 0x5a, found 0xff; 1 of 262144"));
	assert_true(
		logged(&bench->captured, "All was written, but the chip is in an unknown state"));
	assert_int_equal(bench->flash.written, WRITE_DONE);
}

static void stuck_cell_goes_unnoticed_without_verification(struct bench *bench)
{
	write_to_stuck_cell(bench);
	assert_int_equal(
		flash_write(&bench->flash, everything, bench->image, NULL, VERIFY_NOTHING, false),
		0);
	assert_false(logged(&bench->captured, "Verifying"));
}

static void verify_reports_first_difference_and_count(struct bench *bench)
{
	bench->fake.memory[0x100] = 0x00;
	bench->fake.memory[0x200] = 0x00;
	assert_int_equal(flash_verify(&bench->flash, everything, bench->image), -EILSEQ);
	assert_true(logged(&bench->captured, "at 0x000100: expected 0xff, found 0x00; 2 of"));
	assert_int_equal(bench->fake.counts[0x06], 0);
}

static void protection_is_lifted_and_restored(struct bench *bench)
{
	bench->fake.status = 0x9c;
	bench->image[0] = 0x00;
	assert_int_equal(write_all(bench), 0);
	assert_holds_image(bench);
	assert_int_equal(bench->fake.counts[0x01], 2);
	assert_int_equal(bench->fake.status, 0x9c);
	assert_int_equal(bench->fake.status_2, 0x02);
}

static void protection_that_stays_stops_the_write(struct bench *bench)
{
	bench->fake.status = 0x1c;
	bench->fake.protection_stuck = true;
	bench->image[0] = 0x00;
	assert_int_equal(write_all(bench), -EPERM);
	assert_int_equal(bench->fake.counts[0x02], 0);
	assert_true(logged(&bench->captured, "stays write-protected"));
}

/* The progress that a run reported. The test fails if it breaks a rule of struct progress. */
static struct watcher {
	bool begun[3];
	uint32_t done_bytes[3];
	uint32_t total_bytes[3];
	unsigned int ended[3];
} watcher;

static void watch(void *sink, enum progress_stage stage, uint32_t done_bytes, uint32_t total_bytes)
{
	struct watcher *seen = sink;

	assert_true(total_bytes > 0);
	if (!seen->begun[stage]) {
		assert_int_equal(done_bytes, 0);
		seen->total_bytes[stage] = total_bytes;
	}
	assert_int_equal(total_bytes, seen->total_bytes[stage]);
	assert_true(done_bytes <= total_bytes);
	assert_true(!seen->begun[stage] || done_bytes > seen->done_bytes[stage]);
	seen->done_bytes[stage] = done_bytes;
	seen->begun[stage] = done_bytes < total_bytes;
	seen->ended[stage] += done_bytes == total_bytes;
}

static void watch_progress(struct bench *bench)
{
	static const struct progress progress = {watch, &watcher};

	watcher = (struct watcher){0};
	bench->flash.progress = &progress;
}

static void progress_rises_from_0_to_its_total(struct bench *bench)
{
	static const struct range ranges[] = {{0x3000, 0x5000}, {0x11000, 0x11010}};
	const struct selection selection = {ranges, 2};

	memset(bench->fake.memory, 0x00, small_chip.size_bytes);
	fill_pattern(bench->image, small_chip.size_bytes, 5);
	watch_progress(bench);
	assert_int_equal(
		flash_write(&bench->flash, selection, bench->image, NULL, VERIFY_TOUCHED, false),
		0);
	assert_int_equal(watcher.ended[PROGRESS_READ], 2); /* one read before, one to verify */
	assert_int_equal(watcher.ended[PROGRESS_ERASE], 1);
	assert_int_equal(watcher.total_bytes[PROGRESS_ERASE], 0x3000);
	assert_int_equal(watcher.ended[PROGRESS_WRITE], 1);
	assert_int_equal(watcher.total_bytes[PROGRESS_WRITE], 0x3000);
}

static void progress_reports_split_no_read(struct bench *bench)
{
	bench->fake.base.read_bytes_max = 1000;
	assert_int_equal(flash_read(&bench->flash, everything, bench->image), 0);
	assert_int_equal(bench->fake.counts[0x03], 263); /* 262144 bytes, 1000 a command */
}

static void progress_of_an_idle_step_is_not_reported(struct bench *bench)
{
	watch_progress(bench);
	assert_int_equal(
		flash_write(&bench->flash, everything, bench->image, NULL, VERIFY_NOTHING, false),
		0);
	assert_int_equal(watcher.ended[PROGRESS_ERASE], 0);
	assert_int_equal(watcher.ended[PROGRESS_WRITE], 1);
}

/*
 * Two pages are written, and the n-th command fails. The commands are four reads and a status read;
 * then write enable, program and status read for each page; then reads to verify.
 */
static void failed_command_is_reported_with_the_state_of_the_chip(void)
{
	static const struct {
		unsigned int nth;
		enum write_state written;
		const char *reported;
	} rows[] = {
		{1, WRITE_UNTOUCHED, "Nothing was erased or written"},
		{7, WRITE_BEGUN, "unknown state from 0x002000 to 0x0020ff"},
		{10, WRITE_BEGUN, "unknown state from 0x002100 to 0x0021ff"},
		{13, WRITE_DONE, "written, but not verified"},
	};
	struct bench bench;

	for (size_t i = 0; i < COUNT(rows); i++) {
		bench_start(&bench, &small_chip);
		memset(bench.image + 0x2000, 0x5a, 512);
		bench.fake.busy_ns_override = 1;
		bench.fake.fail_countdown = rows[i].nth;
		assert_int_equal(write_all(&bench), -EIO);
		assert_true(logged(&bench.captured, rows[i].reported));
		assert_int_equal(bench.flash.written, rows[i].written);
		bench_stop(&bench);
	}
}

static void failed_erase_leaves_its_whole_block_in_an_unknown_state(struct bench *bench)
{
	fill_both(bench, 0x00);
	bench->image[0x21234] = 0x80;
	bench->fake.fail_countdown = 7;
	assert_int_equal(write_all(bench), -EIO);
	assert_true(logged(&bench->captured, "unknown state from 0x021000 to 0x021fff"));
}

static void known_contents_are_not_read(struct bench *bench)
{
	uint8_t *known = calloc(1, small_chip.size_bytes);

	assert_non_null(known);
	memset(bench->fake.memory, 0x00, small_chip.size_bytes);
	assert_int_equal(
		flash_write(&bench->flash, everything, bench->image, known, VERIFY_NOTHING, false),
		0);
	assert_int_equal(bench->fake.counts[0x03], 0);
	assert_holds_image(bench);
	free(known);
}

static void image_is_written_over_any_content(void)
{
	const struct flash_chip *chips[] = {&small_chip, &sector_chip};
	struct bench bench;

	for (uint32_t seed = 1; seed <= 20; seed++) {
		const uint32_t at = seed * 7919 % 200000;

		bench_start(&bench, chips[seed % 2]);
		fill_pattern(bench.fake.memory + at, 40000, seed);
		memcpy(bench.image, bench.fake.memory, 262144);
		fill_pattern(bench.image + at / 2, seed * 900, seed + 100);
		assert_int_equal(write_all(&bench), 0);
		assert_holds_image(&bench);
		bench_stop(&bench);
	}
}

static const struct CMUnitTest tests[] = {
	CASE_ON(bench, blank_chip_is_written_without_erase),
	CASE_ON(bench, equal_content_is_not_written),
	CASE_ON(bench, cleared_bits_are_programmed_without_erase),
	CASE(correct_bytes_are_skipped_if_the_part_programs_only_blank_ones),
	CASE_ON(bench, setting_one_bit_takes_one_small_erase),
	CASE_ON(bench, erase_of_the_whole_chip_uses_chip_erase),
	CASE(bytes_around_a_region_are_restored),
	CASE_ON(bench, image_outside_the_region_is_not_written),
	CASE_ON(bench, stuck_cell_is_reported_with_its_address),
	CASE_ON(bench, stuck_cell_goes_unnoticed_without_verification),
	CASE_ON(bench, verify_reports_first_difference_and_count),
	CASE_ON(bench, protection_is_lifted_and_restored),
	CASE_ON(bench, protection_that_stays_stops_the_write),
	CASE_ON(bench, progress_rises_from_0_to_its_total),
	CASE_ON(bench, progress_reports_split_no_read),
	CASE_ON(bench, progress_of_an_idle_step_is_not_reported),
	CASE(failed_command_is_reported_with_the_state_of_the_chip),
	CASE_ON(bench, failed_erase_leaves_its_whole_block_in_an_unknown_state),
	CASE_ON(bench, known_contents_are_not_read),
	CASE(image_is_written_over_any_content),
};

RUN_CASES(tests)
