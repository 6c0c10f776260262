/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "bench.h"
#include "flash.h"

static const struct range whole[] = {{0, 262144}};
static const struct selection everything = {whole, 1};

static void assert_holds_image(const struct bench *bench)
{
	assert_memory_equal(bench->fake.memory, bench->image, bench->flash.chip->size_bytes);
	assert_true(fake_chip_is_content(&bench->fake));
}

static void blank_chip_is_written_without_erase(void **state)
{
	struct bench bench;

	(void)state;
	bench_start(&bench, &small_chip);
	fill_pattern(bench.image + 0x8000, 5000, 1);
	assert_int_equal(
		flash_write(&bench.flash, everything, bench.image, VERIFY_TOUCHED, false), 0);
	assert_holds_image(&bench);
	assert_int_equal(bench.fake.erase_count, 0);
	assert_int_equal(bench.fake.counts[0x02], 20);
	assert_true(logged(&bench.captured, "Erase/write done."));
	assert_true(logged(&bench.captured, "Verifying flash... VERIFIED."));
	bench_stop(&bench);
}

static void equal_content_is_left_alone(void **state)
{
	struct bench bench;

	(void)state;
	bench_start(&bench, &small_chip);
	fill_pattern(bench.image, small_chip.size_bytes, 2);
	memcpy(bench.fake.memory, bench.image, small_chip.size_bytes);
	assert_int_equal(
		flash_write(&bench.flash, everything, bench.image, VERIFY_TOUCHED, false), 0);
	assert_int_equal(bench.fake.counts[0x06], 0);
	bench_stop(&bench);
}

static void cleared_bits_are_programmed_without_erase(void **state)
{
	struct bench bench;

	(void)state;
	bench_start(&bench, &small_chip);
	memset(bench.fake.memory, 0xf0, small_chip.size_bytes);
	memset(bench.image, 0xf0, small_chip.size_bytes);
	bench.image[0x3010] = 0x30;
	assert_int_equal(
		flash_write(&bench.flash, everything, bench.image, VERIFY_TOUCHED, false), 0);
	assert_holds_image(&bench);
	assert_int_equal(bench.fake.erase_count, 0);
	assert_int_equal(bench.fake.programmed_bytes, 1);
	bench_stop(&bench);
}

static void right_bytes_are_not_programmed_again_where_parts_want_them_blank(void **state)
{
	struct flash_chip chip = small_chip;
	struct bench bench;

	(void)state;
	chip.blank_only = true;
	chip.program_unit_bytes = 1;
	bench_start(&bench, &chip);
	memset(bench.fake.memory + 0x3010, 0x5a, 4);
	memset(bench.image + 0x3000, 0x5a, 0x20);
	assert_int_equal(
		flash_write(&bench.flash, everything, bench.image, VERIFY_TOUCHED, false), 0);
	assert_holds_image(&bench);
	assert_int_equal(bench.fake.erase_count, 0);
	assert_int_equal(bench.fake.programmed_blank_bytes, 4);
	bench_stop(&bench);
}

static void one_set_bit_costs_one_small_erase(void **state)
{
	struct bench bench;

	(void)state;
	bench_start(&bench, &small_chip);
	memset(bench.fake.memory, 0x00, small_chip.size_bytes);
	memset(bench.image, 0x00, small_chip.size_bytes);
	bench.image[0x21234] = 0x80;
	assert_int_equal(
		flash_write(&bench.flash, everything, bench.image, VERIFY_TOUCHED, false), 0);
	assert_holds_image(&bench);
	assert_int_equal(bench.fake.erase_count, 1);
	assert_int_equal(bench.fake.erases[0].opcode, 0x20);
	assert_int_equal(bench.fake.erases[0].address, 0x21000);
	bench_stop(&bench);
}

static void erase_of_full_chip_takes_chip_erase(void **state)
{
	struct bench bench;

	(void)state;
	bench_start(&bench, &small_chip);
	memset(bench.fake.memory, 0x00, small_chip.size_bytes);
	assert_int_equal(flash_erase(&bench.flash, everything, VERIFY_TOUCHED, false), 0);
	assert_holds_image(&bench);
	assert_int_equal(bench.fake.erase_count, 1);
	assert_int_equal(bench.fake.erases[0].opcode, 0xc7);
	bench_stop(&bench);
}

static void surroundings_of_region_are_put_back(void **state)
{
	static const struct range ranges[] = {{0x11000, 0x11010}, {0x1fff0, 0x20010}};
	const struct selection selection = {ranges, 2};
	uint8_t wanted[16];
	struct bench bench;

	(void)state;
	bench_start(&bench, &sector_chip);
	fill_pattern(bench.fake.memory, sector_chip.size_bytes, 3);
	memcpy(bench.image, bench.fake.memory, sector_chip.size_bytes);
	memset(wanted, 0xa5, sizeof(wanted));
	memcpy(bench.image + 0x11000, wanted, sizeof(wanted));
	memcpy(bench.image + 0x1fff0, wanted, sizeof(wanted));
	memcpy(bench.image + 0x20000, wanted, sizeof(wanted));
	assert_int_equal(
		flash_write(&bench.flash, selection, bench.image, VERIFY_TOUCHED, false), 0);
	assert_holds_image(&bench);
	assert_int_equal(bench.fake.erase_count, 2);
	bench_stop(&bench);
}

static void file_outside_region_is_not_written(void **state)
{
	static const struct range ranges[] = {{0x4000, 0x5000}};
	const struct selection selection = {ranges, 1};
	struct bench bench;

	(void)state;
	bench_start(&bench, &small_chip);
	fill_pattern(bench.image, small_chip.size_bytes, 4);
	assert_int_equal(
		flash_write(&bench.flash, selection, bench.image, VERIFY_SELECTED, false), 0);
	assert_memory_equal(bench.fake.memory + 0x4000, bench.image + 0x4000, 0x1000);
	assert_int_equal(bench.fake.memory[0x3fff], 0xff);
	assert_int_equal(bench.fake.memory[0x5000], 0xff);
	bench_stop(&bench);
}

static void stuck_cell_is_reported_with_its_address(void **state)
{
	struct bench bench;

	(void)state;
	bench_start(&bench, &small_chip);
	bench.image[0x2345] = 0x5a;
	bench.fake.has_stuck_cell = true;
	bench.fake.stuck_cell = 0x2345;
	assert_int_equal(
		flash_write(&bench.flash, everything, bench.image, VERIFY_TOUCHED, false), -EILSEQ);
	assert_true(logged(&bench.captured,
		"Verification failed at 0x002345: expected 0x5a, found 0xff; 1 of 262144"));
	assert_true(
		logged(&bench.captured, "All was written, but the chip is in an unknown state"));
	assert_int_equal(bench.flash.written, WRITE_DONE);
	bench_stop(&bench);
}

static void stuck_cell_goes_unnoticed_without_verification(void **state)
{
	struct bench bench;

	(void)state;
	bench_start(&bench, &small_chip);
	bench.image[0x2345] = 0x5a;
	bench.fake.has_stuck_cell = true;
	bench.fake.stuck_cell = 0x2345;
	assert_int_equal(
		flash_write(&bench.flash, everything, bench.image, VERIFY_NOTHING, false), 0);
	assert_false(logged(&bench.captured, "Verifying"));
	bench_stop(&bench);
}

static void verify_reports_first_difference_and_count(void **state)
{
	struct bench bench;

	(void)state;
	bench_start(&bench, &small_chip);
	bench.fake.memory[0x100] = 0x00;
	bench.fake.memory[0x200] = 0x00;
	assert_int_equal(flash_verify(&bench.flash, everything, bench.image), -EILSEQ);
	assert_true(logged(&bench.captured, "at 0x000100: expected 0xff, found 0x00; 2 of"));
	assert_int_equal(bench.fake.counts[0x06], 0);
	bench_stop(&bench);
}

static void protection_is_lifted_and_put_back(void **state)
{
	struct bench bench;

	(void)state;
	bench_start(&bench, &small_chip);
	bench.fake.status = 0x9c;
	bench.image[0] = 0x00;
	assert_int_equal(
		flash_write(&bench.flash, everything, bench.image, VERIFY_TOUCHED, false), 0);
	assert_holds_image(&bench);
	assert_int_equal(bench.fake.counts[0x01], 2);
	assert_int_equal(bench.fake.status, 0x9c);
	assert_int_equal(bench.fake.status_2, 0x02);
	bench_stop(&bench);
}

static void protection_that_stays_stops_the_write(void **state)
{
	struct bench bench;

	(void)state;
	bench_start(&bench, &small_chip);
	bench.fake.status = 0x1c;
	bench.fake.protection_stuck = true;
	bench.image[0] = 0x00;
	assert_int_equal(
		flash_write(&bench.flash, everything, bench.image, VERIFY_TOUCHED, false), -EPERM);
	assert_int_equal(bench.fake.counts[0x02], 0);
	assert_true(logged(&bench.captured, "stays write-protected"));
	bench_stop(&bench);
}

/* The progress that a run reported. The test fails if it breaks a rule of struct progress. */
struct watcher {
	bool begun[3];
	uint32_t done_bytes[3];
	uint32_t total_bytes[3];
	unsigned int ended[3];
};

static void watch(void *sink, enum progress_stage stage, uint32_t done_bytes, uint32_t total_bytes)
{
	struct watcher *watcher = sink;

	assert_true(total_bytes > 0);
	if (!watcher->begun[stage]) {
		assert_int_equal(done_bytes, 0);
		watcher->total_bytes[stage] = total_bytes;
	}
	assert_int_equal(total_bytes, watcher->total_bytes[stage]);
	assert_true(done_bytes <= total_bytes);
	assert_true(!watcher->begun[stage] || done_bytes > watcher->done_bytes[stage]);
	watcher->done_bytes[stage] = done_bytes;
	watcher->begun[stage] = done_bytes < total_bytes;
	watcher->ended[stage] += done_bytes == total_bytes;
}

static void progress_grows_from_nothing_to_its_total(void **state)
{
	static const struct range ranges[] = {{0x3000, 0x5000}, {0x11000, 0x11010}};
	const struct selection selection = {ranges, 2};
	struct watcher watcher = {0};
	const struct progress progress = {watch, &watcher};
	struct bench bench;

	(void)state;
	bench_start(&bench, &small_chip);
	memset(bench.fake.memory, 0x00, small_chip.size_bytes);
	fill_pattern(bench.image, small_chip.size_bytes, 5);
	bench.flash.progress = &progress;
	assert_int_equal(
		flash_write(&bench.flash, selection, bench.image, VERIFY_TOUCHED, false), 0);
	assert_int_equal(watcher.ended[PROGRESS_READ], 2); /* one read before, one to verify */
	assert_int_equal(watcher.ended[PROGRESS_ERASE], 1);
	assert_int_equal(watcher.total_bytes[PROGRESS_ERASE], 0x3000);
	assert_int_equal(watcher.ended[PROGRESS_WRITE], 1);
	assert_int_equal(watcher.total_bytes[PROGRESS_WRITE], 0x3000);
	bench_stop(&bench);
}

static void progress_costs_no_command(void **state)
{
	struct bench bench;

	(void)state;
	bench_start(&bench, &small_chip);
	bench.fake.base.read_bytes_max = 1000;
	assert_int_equal(flash_read(&bench.flash, everything, bench.image), 0);
	assert_int_equal(bench.fake.counts[0x03], 263); /* 262144 bytes in steps of 1000 */
	bench_stop(&bench);
}

static void progress_of_an_idle_step_is_not_told(void **state)
{
	struct watcher watcher = {0};
	const struct progress progress = {watch, &watcher};
	struct bench bench;

	(void)state;
	bench_start(&bench, &small_chip);
	bench.flash.progress = &progress;
	assert_int_equal(
		flash_write(&bench.flash, everything, bench.image, VERIFY_NOTHING, false), 0);
	assert_int_equal(watcher.ended[PROGRESS_ERASE], 0);
	assert_int_equal(watcher.ended[PROGRESS_WRITE], 1);
	bench_stop(&bench);
}

/* Writes two pages, and the n-th command fails; returns the state that the user is told of. */
static enum write_state state_after_failed_command(unsigned int nth, const char *told)
{
	struct bench bench;
	enum write_state written;

	bench_start(&bench, &small_chip);
	memset(bench.image + 0x2000, 0x5a, 512);
	bench.fake.busy_ns_override = 1;
	bench.fake.fail_countdown = nth;
	assert_int_equal(
		flash_write(&bench.flash, everything, bench.image, VERIFY_TOUCHED, false), -EIO);
	assert_true(logged(&bench.captured, told));
	written = bench.flash.written;
	bench_stop(&bench);
	return written;
}

static void failure_while_reading_leaves_the_chip_untouched(void **state)
{
	(void)state;
	assert_int_equal(
		state_after_failed_command(1, "Nothing was erased or written"), WRITE_UNTOUCHED);
}

/* Four reads, one of the status register; then write enable, program and status for each page. */
static void failure_between_pages_names_what_is_in_doubt(void **state)
{
	(void)state;
	assert_int_equal(state_after_failed_command(7, "unknown state from 0x002000 to 0x0020ff"),
		WRITE_BEGUN);
	assert_int_equal(state_after_failed_command(10, "unknown state from 0x002100 to 0x0021ff"),
		WRITE_BEGUN);
}

static void failure_while_verifying_says_that_all_was_written(void **state)
{
	(void)state;
	assert_int_equal(state_after_failed_command(13, "written, but not verified"), WRITE_DONE);
}

static void failed_erase_puts_its_whole_block_in_doubt(void **state)
{
	struct bench bench;

	(void)state;
	bench_start(&bench, &small_chip);
	memset(bench.fake.memory, 0x00, small_chip.size_bytes);
	memset(bench.image, 0x00, small_chip.size_bytes);
	bench.image[0x21234] = 0x80;
	bench.fake.fail_countdown = 7;
	assert_int_equal(
		flash_write(&bench.flash, everything, bench.image, VERIFY_TOUCHED, false), -EIO);
	assert_true(logged(&bench.captured, "unknown state from 0x021000 to 0x021fff"));
	bench_stop(&bench);
}

static void contents_known_beforehand_are_not_read(void **state)
{
	struct bench bench;
	struct write_images images;
	uint8_t *held;

	(void)state;
	bench_start(&bench, &small_chip);
	held = calloc(1, small_chip.size_bytes);
	assert_non_null(held);
	images = (struct write_images){bench.image, held};
	memset(bench.fake.memory, 0x00, small_chip.size_bytes);
	assert_int_equal(
		flash_write_over(&bench.flash, everything, &images, VERIFY_NOTHING, false), 0);
	assert_int_equal(bench.fake.counts[0x03], 0);
	assert_holds_image(&bench);
	free(held);
	bench_stop(&bench);
}

/* Whatever the chip held before: it holds the image afterwards, and no rule was broken. */
static void random_contents_end_as_the_image(void **state)
{
	const struct flash_chip *chips[] = {&small_chip, &sector_chip};
	struct bench bench;

	(void)state;
	for (uint32_t seed = 1; seed <= 20; seed++) {
		const uint32_t at = seed * 7919 % 200000;

		bench_start(&bench, chips[seed % 2]);
		fill_pattern(bench.fake.memory + at, 40000, seed);
		memcpy(bench.image, bench.fake.memory, 262144);
		fill_pattern(bench.image + at / 2, seed * 900, seed + 100);
		assert_int_equal(
			flash_write(&bench.flash, everything, bench.image, VERIFY_TOUCHED, false),
			0);
		assert_holds_image(&bench);
		bench_stop(&bench);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blank_chip_is_written_without_erase),
		cmocka_unit_test(equal_content_is_left_alone),
		cmocka_unit_test(cleared_bits_are_programmed_without_erase),
		cmocka_unit_test(right_bytes_are_not_programmed_again_where_parts_want_them_blank),
		cmocka_unit_test(one_set_bit_costs_one_small_erase),
		cmocka_unit_test(erase_of_full_chip_takes_chip_erase),
		cmocka_unit_test(surroundings_of_region_are_put_back),
		cmocka_unit_test(file_outside_region_is_not_written),
		cmocka_unit_test(stuck_cell_is_reported_with_its_address),
		cmocka_unit_test(stuck_cell_goes_unnoticed_without_verification),
		cmocka_unit_test(verify_reports_first_difference_and_count),
		cmocka_unit_test(protection_is_lifted_and_put_back),
		cmocka_unit_test(protection_that_stays_stops_the_write),
		cmocka_unit_test(progress_grows_from_nothing_to_its_total),
		cmocka_unit_test(progress_costs_no_command),
		cmocka_unit_test(progress_of_an_idle_step_is_not_told),
		cmocka_unit_test(failure_while_reading_leaves_the_chip_untouched),
		cmocka_unit_test(failure_between_pages_names_what_is_in_doubt),
		cmocka_unit_test(failure_while_verifying_says_that_all_was_written),
		cmocka_unit_test(failed_erase_puts_its_whole_block_in_doubt),
		cmocka_unit_test(contents_known_beforehand_are_not_read),
		cmocka_unit_test(random_contents_end_as_the_image),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
