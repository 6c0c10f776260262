/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The fake chip notices the mistakes that the other tests rely on it to notice. */
#include "bench.h"

static void send(struct bench *bench, const uint8_t *tx, size_t tx_bytes)
{
	assert_int_equal(
		bench->fake.base.ops->spi_command(&bench->fake.base, tx, tx_bytes, NULL, 0), 0);
}

#define SEND(bench, ...) send(bench, (uint8_t[]){__VA_ARGS__}, sizeof((uint8_t[]){__VA_ARGS__}))

static void command_while_busy_is_counted_and_ignored(void **state)
{
	struct bench bench;

	(void)state;
	bench_start(&bench, &small_chip);
	SEND(&bench, 0x06);
	SEND(&bench, 0x20, 0, 0, 0);
	SEND(&bench, 0x06);
	assert_int_equal(bench.fake.sent_while_busy, 1);
	assert_false(bench.fake.write_enabled);
	assert_false(fake_chip_is_content(&bench.fake));
	bench_stop(&bench);
}

static void program_without_write_enable_is_counted(void **state)
{
	struct bench bench;

	(void)state;
	bench_start(&bench, &small_chip);
	SEND(&bench, 0x02, 0, 0, 0, 0x55);
	assert_int_equal(bench.fake.without_write_enable, 1);
	assert_int_equal(bench.fake.memory[0], 0xff);
	bench_stop(&bench);
}

static void program_past_page_end_is_counted_and_wraps(void **state)
{
	struct bench bench;

	(void)state;
	bench_start(&bench, &small_chip);
	SEND(&bench, 0x06);
	SEND(&bench, 0x02, 0, 0, 0xff, 0x11, 0x22);
	assert_int_equal(bench.fake.crossed_pages, 1);
	assert_int_equal(bench.fake.memory[0xff], 0x11);
	assert_int_equal(bench.fake.memory[0x00], 0x22);
	bench_stop(&bench);
}

static void command_too_soon_after_wake_is_counted(void **state)
{
	struct bench bench;

	(void)state;
	bench_start(&bench, &small_chip);
	bench.fake.asleep = true;
	SEND(&bench, 0xab);
	SEND(&bench, 0x9f);
	assert_int_equal(bench.fake.sent_while_waking, 1);
	bench_stop(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(command_while_busy_is_counted_and_ignored),
		cmocka_unit_test(program_without_write_enable_is_counted),
		cmocka_unit_test(program_past_page_end_is_counted_and_wraps),
		cmocka_unit_test(command_too_soon_after_wake_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
