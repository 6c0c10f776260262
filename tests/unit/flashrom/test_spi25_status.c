/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Status registers: their writes, and reports of failures. */
#include <errno.h>

#include "fake_registers.h"

FIXTURE(fake_registers, fake_registers_start, NOTHING);

/* A write of 1Ch to the first register. `second` is what the second register answers. */
struct status_write {
	const char *part;
	uint8_t second;
	const char *sent;
};

static void status_is_written(void **state)
{
	const struct status_write *row = *state;
	struct fake_registers fake;

	fake_part(&fake, row->part);
	fake.answers[0x35][0] = row->second;
	assert_int_equal(fake_write_status(&fake, 0x1c), 0);
	assert_sent(&fake, row->sent);
}

/* A write of all registers that differ. */
struct status_change {
	const char *part;
	struct spi25_status before, after;
	const char *sent;
};

static void status_is_changed(void **state)
{
	const struct status_change *row = *state;
	struct fake_registers fake;

	fake_part(&fake, row->part);
	assert_int_equal(spi25_status_write_all(&fake.flash, &row->before, &row->after), 0);
	assert_sent(&fake, row->sent);
}

static void part_that_needs_50h_before_status_writes_gets_it(struct fake_registers *fake)
{
	fake_part(fake, "M25P80");
	fake->chip.spi25.status_write_enable2 = true;
	assert_int_equal(fake_write_status(fake, 0x1c), 0);
	assert_sent(fake, "05; 50; 01 1c; 05; ");
	assert_int_equal(fake_erase(fake, 0, 0), 0);
	assert_sent(fake, "06; d8 00 00 00; 05; ");
}

static void failed_read_leaves_no_status(struct fake_registers *fake)
{
	struct spi25_status status = {1, 2, 3};

	fake_part(fake, "M25P80");
	fake->fail_countdown = 1;
	assert_int_equal(spi25_status_read_all(&fake->flash, &status), -EIO);
	assert_int_equal(status.second, 2);
	assert_int_equal(status.third, 3);
}

/*
 * Erases a part, and returns the sum of all waits. Before tPUW a part ignores write enables, but
 * not reads.
 */
static uint64_t erase_waits_us(struct fake_registers *fake, uint64_t powered_ns)
{
	fake_part(fake, "M25P80");
	fake->now_ns = 3 * NS_PER_MS;
	fake->base.powered_ns = powered_ns;
	assert_int_equal(fake_erase(fake, 0, 0), 0);
	return fake->waited_us;
}

static void first_write_enable_waits_for_the_rest_of_power_up(struct fake_registers *fake)
{
	const uint64_t left_us = POWER_UP_WRITE_US_MAX - 2000;
	const uint64_t usual_us = erase_waits_us(fake, 0);

	assert_in_range(erase_waits_us(fake, NS_PER_MS), usual_us + left_us, UINT64_MAX);
}

static void write_enable_after_power_up_needs_no_wait(struct fake_registers *fake)
{
	fake_part(fake, "M25P80");
	fake->base.powered_ns = NS_PER_MS;
	fake->now_ns = NS_PER_MS + POWER_UP_WRITE_US_MAX * NS_PER_US;
	assert_int_equal(flash_await_power(&fake->flash, POWER_UP_WRITE_US_MAX), 0);
	assert_int_equal(fake->waited_us, 0);
}

/* Obeys as a part that has a command for each register, and each takes one byte. */
static void obey_single_bytes(struct fake_registers *fake, const uint8_t *tx, size_t tx_bytes)
{
	if (tx_bytes == 2 && tx[0] == 0x01)
		fake->answers[0x05][0] = tx[1];
	if (tx_bytes == 2 && tx[0] == 0x31)
		fake->answers[0x35][0] = tx[1];
}

/* Obeys as a part on which a write of one byte clears the second register. */
static void obey_both_bytes(struct fake_registers *fake, const uint8_t *tx, size_t tx_bytes)
{
	if (tx[0] != 0x01)
		return;
	fake->answers[0x05][0] = tx[1];
	fake->answers[0x35][0] = tx_bytes == 3 ? tx[2] : 0;
}

static void both_revisions_with_one_id_are_written(struct fake_registers *fake)
{
	static const struct spi25_status before = {0x1c, 0x42, 0xff};
	static const struct spi25_status after = {0x00, 0x02, 0xff};

	for (unsigned int revision = 0; revision < 2; revision++) {
		fake_part(fake, "GD25Q64(B)");
		fake->obey = revision == 0 ? obey_both_bytes : obey_single_bytes;
		fake->answers[0x05][0] = before.first;
		fake->answers[0x35][0] = before.second;
		assert_int_equal(spi25_status_write_all(&fake->flash, &before, &after), 0);
		assert_int_equal(fake->answers[0x05][0], 0x00);
		assert_int_equal(fake->answers[0x35][0], 0x02);
	}
}

static void obey_status_write(struct fake_registers *fake, const uint8_t *tx, size_t tx_bytes)
{
	(void)tx_bytes;
	if (tx[0] == 0x01)
		fake->busy_until_ns = fake->now_ns + 15 * NS_PER_MS;
}

static void status_write_that_keeps_part_busy_is_waited_for(struct fake_registers *fake)
{
	fake_part(fake, "M25P80");
	fake->obey = obey_status_write;
	assert_int_equal(fake_write_status(fake, 0x1c), 0);
	assert_true(fake->now_ns >= fake->busy_until_ns);
	assert_int_equal(fake->sent_while_busy, 0);
}

/* 50h clears the failure, and the driver then resets the write enable latch. */
static void failure_in_the_flag_status_register_is_reported_and_cleared(struct fake_registers *fake)
{
	static const uint8_t failures[] = {0xa0, 0x90, 0x82};

	for (size_t i = 0; i < sizeof(failures); i++) {
		fake_part(fake, "N25Q128..3E");
		fake->answers[0x70][0] = failures[i];
		assert_int_equal(fake_erase(fake, 0, 0), -EIO);
		assert_true(logged(&fake->captured, "reports that an erase failed"));
		assert_sent(fake, "06; 20 00 00 00; 05; 70; 50; 04; ");
	}
}

static void ready_in_the_flag_status_register_is_no_failure(struct fake_registers *fake)
{
	static const uint8_t ready[] = {0x80, 0x81, 0xff};

	for (size_t i = 0; i < sizeof(ready); i++) {
		fake_part(fake, "N25Q128..3E");
		fake->answers[0x70][0] = ready[i];
		assert_int_equal(fake_erase(fake, 0, 0), 0);
		assert_sent(fake, "06; 20 00 00 00; 05; 70; ");
	}
}

/* Obeys as a part that shows busy until 30h: the failure must end the wait before the timeout. */
static void obey_clear(struct fake_registers *fake, const uint8_t *tx, size_t tx_bytes)
{
	(void)tx_bytes;
	if (tx[0] == 0xd8)
		fake->answers[0x05][0] = 0x23;
	if (tx[0] == 0x30)
		fake->answers[0x05][0] = 0x02;
}

static void failure_that_stays_busy_ends_the_wait(struct fake_registers *fake)
{
	fake_part(fake, "S25FL128S......0");
	fake->obey = obey_clear;
	assert_int_equal(fake_erase(fake, 0, 0), -EIO);
	assert_true(logged(&fake->captured, "reports that an erase failed"));
	assert_true(fake->waited_us <= fake->chip.erase[0].busy.max_us);
	assert_int_equal(fake->answers[0x05][0], 0x02);
	assert_non_null(strstr(fake->sent, "30; 04; "));
}

static void failure_bit_of_a_ready_part_is_reported(struct fake_registers *fake)
{
	fake_part(fake, "AT25DF641(A)");
	fake->answers[0x05][0] = 0x30;
	assert_int_equal(fake_erase(fake, 0, 0), -EIO);
	assert_sent(fake, "06; 20 00 00 00; 05; 05; 04; ");
}

#define WRITTEN(name, ...) ROW(status_is_written, status_write, name, __VA_ARGS__)
#define CHANGED(name, ...) ROW(status_is_changed, status_change, name, __VA_ARGS__)

static const struct CMUnitTest tests[] = {
	WRITTEN(one_register_takes_one_byte, "M25P80", 0xff, "05; 06; 01 1c; 05; "),
	WRITTEN(second_register_is_written_with_the_first, "W25Q128.V", 0x02,
		"05; 35; 15; 06; 01 1c 02; 05; "),
	/*
	 * All ones mean that there is no register. Written back, they would lock security registers
	 * for good.
	 */
	WRITTEN(second_register_of_all_ones_is_not_written, "W25Q128.V", 0xff,
		"05; 35; 15; 06; 01 1c; 05; "),
	CHANGED(unchanged_registers_are_not_written, "W25Q128.V", {0x1c, 0x42, 0x04},
		{0x1c, 0x42, 0x04}, ""),
	CHANGED(only_the_changed_register_is_written, "W25Q128.V", {0x1c, 0x42, 0x04},
		{0x1c, 0x42, 0x00}, "06; 11 00; 05; "),
	CHANGED(second_register_with_its_own_command_is_written_separately, "GD25Q127C/GD25Q128C",
		{0x1c, 0x42, 0xff}, {0x00, 0x02, 0xff}, "06; 01 00; 05; 06; 31 02; 05; "),
	CASE_ON(fake_registers, failed_read_leaves_no_status),
	CASE_ON(fake_registers, part_that_needs_50h_before_status_writes_gets_it),
	CASE_ON(fake_registers, first_write_enable_waits_for_the_rest_of_power_up),
	CASE_ON(fake_registers, write_enable_after_power_up_needs_no_wait),
	CASE_ON(fake_registers, both_revisions_with_one_id_are_written),
	CASE_ON(fake_registers, status_write_that_keeps_part_busy_is_waited_for),
	CASE_ON(fake_registers, failure_in_the_flag_status_register_is_reported_and_cleared),
	CASE_ON(fake_registers, ready_in_the_flag_status_register_is_no_failure),
	CASE_ON(fake_registers, failure_that_stays_busy_ends_the_wait),
	CASE_ON(fake_registers, failure_bit_of_a_ready_part_is_reported),
};

RUN_CASES(tests)
