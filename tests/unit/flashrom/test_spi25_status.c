/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Status registers: their writes, and reports of failures. */
#include <errno.h>

#include "fake_registers.h"

static void status_write_of_one_register_takes_one_byte(void **state)
{
	const struct flash_chip chip = chip_named("M25P80");
	struct fake_registers fake;

	(void)state;
	fake_registers_init(&fake, &chip);
	assert_int_equal(spi25_status_write(&fake.flash, 0x1c), 0);
	assert_sent(&fake, "05; 06; 01 1c; 05; ");
}

static void status_write_carries_second_register_along(void **state)
{
	const struct flash_chip chip = chip_named("W25Q128.V");
	struct fake_registers fake;

	(void)state;
	fake_registers_init(&fake, &chip);
	fake.answers[0x35][0] = 0x02;
	assert_int_equal(spi25_status_write(&fake.flash, 0x1c), 0);
	assert_sent(&fake, "05; 35; 15; 06; 01 1c 02; 05; ");
}

/*
 * All ones mean that there is no register. Written back, they would lock security registers for
 * good.
 */
static void second_register_of_all_ones_is_not_written(void **state)
{
	const struct flash_chip chip = chip_named("W25Q128.V");
	struct fake_registers fake;

	(void)state;
	fake_registers_init(&fake, &chip);
	assert_int_equal(spi25_status_write(&fake.flash, 0x1c), 0);
	assert_sent(&fake, "05; 35; 15; 06; 01 1c; 05; ");
}

static void part_that_wants_50h_before_status_writes_gets_it(void **state)
{
	struct flash_chip chip = chip_named("M25P80");
	struct fake_registers fake;

	(void)state;
	chip.spi25.status_write_enable2 = true;
	fake_registers_init(&fake, &chip);
	assert_int_equal(spi25_status_write(&fake.flash, 0x1c), 0);
	assert_sent(&fake, "05; 50; 01 1c; 05; ");
	assert_int_equal(chip.driver->erase(&fake.flash, &chip.erase[0], 0), 0);
	assert_sent(&fake, "06; d8 00 00 00; 05; ");
}

static void only_registers_that_change_are_written(void **state)
{
	static const struct spi25_status before = {0x1c, 0x42, 0x04};
	static const struct spi25_status after = {0x1c, 0x42, 0x00};
	const struct flash_chip chip = chip_named("W25Q128.V");
	struct fake_registers fake;

	(void)state;
	fake_registers_init(&fake, &chip);
	assert_int_equal(spi25_status_write_all(&fake.flash, &before, &before), 0);
	assert_sent(&fake, "");
	assert_int_equal(spi25_status_write_all(&fake.flash, &before, &after), 0);
	assert_sent(&fake, "06; 11 00; 05; ");
}

/*
 * Erases a part; returns the wait before it. Before tPUW a part ignores write enables, but not
 * reads.
 */
static uint64_t erase_waits_us(uint64_t powered_ns)
{
	const struct flash_chip chip = chip_named("M25P80");
	struct fake_registers fake;

	fake_registers_init(&fake, &chip);
	fake.now_ns = 3 * NS_PER_MS;
	fake.base.powered_ns = powered_ns;
	assert_int_equal(chip.driver->erase(&fake.flash, &chip.erase[0], 0), 0);
	return fake.waited_us;
}

static void first_write_enable_waits_for_what_is_left_of_power_up(void **state)
{
	const uint64_t left_us = POWER_UP_WRITE_US_MAX - 2000;

	(void)state;
	assert_in_range(erase_waits_us(NS_PER_MS), erase_waits_us(0) + left_us, UINT64_MAX);
}

static void write_enable_long_after_power_up_waits_for_nothing(void **state)
{
	const struct flash_chip chip = chip_named("M25P80");
	struct fake_registers fake;

	(void)state;
	fake_registers_init(&fake, &chip);
	fake.base.powered_ns = NS_PER_MS;
	fake.now_ns = NS_PER_MS + POWER_UP_WRITE_US_MAX * NS_PER_US;
	assert_int_equal(flash_await_power(&fake.flash, POWER_UP_WRITE_US_MAX), 0);
	assert_int_equal(fake.waited_us, 0);
}

static void second_register_apart_is_written_apart(void **state)
{
	static const struct spi25_status before = {0x1c, 0x42, 0xff};
	static const struct spi25_status after = {0x00, 0x02, 0xff};
	const struct flash_chip chip = chip_named("GD25Q127C/GD25Q128C");
	struct fake_registers fake;

	(void)state;
	fake_registers_init(&fake, &chip);
	assert_int_equal(spi25_status_write_all(&fake.flash, &before, &after), 0);
	assert_sent(&fake, "06; 01 00; 05; 06; 31 02; 05; ");
}

/* Obeys as a part whose revision takes each byte by its own command. */
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

static void either_revision_of_a_shared_id_is_written(void **state)
{
	static const struct spi25_status before = {0x1c, 0x42, 0xff};
	static const struct spi25_status after = {0x00, 0x02, 0xff};
	const struct flash_chip chip = chip_named("GD25Q64(B)");
	struct fake_registers fake;

	(void)state;
	for (unsigned int revision = 0; revision < 2; revision++) {
		fake_registers_init(&fake, &chip);
		fake.obey = revision == 0 ? obey_both_bytes : obey_single_bytes;
		fake.answers[0x05][0] = before.first;
		fake.answers[0x35][0] = before.second;
		assert_int_equal(spi25_status_write_all(&fake.flash, &before, &after), 0);
		assert_int_equal(fake.answers[0x05][0], 0x00);
		assert_int_equal(fake.answers[0x35][0], 0x02);
	}
}

static void obey_status_write(struct fake_registers *fake, const uint8_t *tx, size_t tx_bytes)
{
	(void)tx_bytes;
	if (tx[0] == 0x01)
		fake->busy_until_ns = fake->now_ns + 15 * NS_PER_MS;
}

static void status_write_that_keeps_part_busy_is_waited_for(void **state)
{
	const struct flash_chip chip = chip_named("M25P80");
	struct fake_registers fake;

	(void)state;
	fake_registers_init(&fake, &chip);
	fake.obey = obey_status_write;
	assert_int_equal(spi25_status_write(&fake.flash, 0x1c), 0);
	assert_true(fake.now_ns >= fake.busy_until_ns);
	assert_int_equal(fake.sent_while_busy, 0);
}

/* 50h clears the failure, and the driver then resets the write enable latch. */
static void failure_in_the_flag_status_register_is_reported_and_cleared(void **state)
{
	static const uint8_t failures[] = {0xa0, 0x90, 0x82};
	const struct flash_chip chip = chip_named("N25Q128..3E");
	struct fake_registers fake;

	(void)state;
	for (size_t i = 0; i < sizeof(failures); i++) {
		fake_registers_init(&fake, &chip);
		fake.answers[0x70][0] = failures[i];
		assert_int_equal(chip.driver->erase(&fake.flash, &chip.erase[0], 0), -EIO);
		assert_true(logged(&fake.captured, "reports that an erase failed"));
		assert_sent(&fake, "06; 20 00 00 00; 05; 70; 50; 04; ");
	}
}

static void ready_in_the_flag_status_register_is_no_failure(void **state)
{
	static const uint8_t ready[] = {0x80, 0x81, 0xff};
	const struct flash_chip chip = chip_named("N25Q128..3E");
	struct fake_registers fake;

	(void)state;
	for (size_t i = 0; i < sizeof(ready); i++) {
		fake_registers_init(&fake, &chip);
		fake.answers[0x70][0] = ready[i];
		assert_int_equal(chip.driver->erase(&fake.flash, &chip.erase[0], 0), 0);
		assert_sent(&fake, "06; 20 00 00 00; 05; 70; ");
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

static void failure_that_stays_busy_ends_the_wait(void **state)
{
	const struct flash_chip chip = chip_named("S25FL128S......0");
	struct fake_registers fake;

	(void)state;
	fake_registers_init(&fake, &chip);
	fake.obey = obey_clear;
	assert_int_equal(chip.driver->erase(&fake.flash, &chip.erase[0], 0), -EIO);
	assert_true(logged(&fake.captured, "reports that an erase failed"));
	assert_true(fake.waited_us <= chip.erase[0].busy.max_us);
	assert_int_equal(fake.answers[0x05][0], 0x02);
	assert_non_null(strstr(fake.sent, "30; 04; "));
}

static void failure_bit_of_a_ready_part_is_reported(void **state)
{
	const struct flash_chip chip = chip_named("AT25DF641(A)");
	struct fake_registers fake;

	(void)state;
	fake_registers_init(&fake, &chip);
	fake.answers[0x05][0] = 0x30;
	assert_int_equal(chip.driver->erase(&fake.flash, &chip.erase[0], 0), -EIO);
	assert_sent(&fake, "06; 20 00 00 00; 05; 05; 04; ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(status_write_of_one_register_takes_one_byte),
		cmocka_unit_test(status_write_carries_second_register_along),
		cmocka_unit_test(second_register_of_all_ones_is_not_written),
		cmocka_unit_test(part_that_wants_50h_before_status_writes_gets_it),
		cmocka_unit_test(only_registers_that_change_are_written),
		cmocka_unit_test(first_write_enable_waits_for_what_is_left_of_power_up),
		cmocka_unit_test(write_enable_long_after_power_up_waits_for_nothing),
		cmocka_unit_test(second_register_apart_is_written_apart),
		cmocka_unit_test(either_revision_of_a_shared_id_is_written),
		cmocka_unit_test(status_write_that_keeps_part_busy_is_waited_for),
		cmocka_unit_test(failure_in_the_flag_status_register_is_reported_and_cleared),
		cmocka_unit_test(ready_in_the_flag_status_register_is_no_failure),
		cmocka_unit_test(failure_that_stays_busy_ends_the_wait),
		cmocka_unit_test(failure_bit_of_a_ready_part_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
