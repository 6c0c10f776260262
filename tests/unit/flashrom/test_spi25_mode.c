/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Address widths, suspensions and resets: the driver's work around a session. */
#include <errno.h>

#include "fake_registers.h"

static void obey_address_mode(struct fake_registers *fake, const uint8_t *tx, size_t tx_bytes)
{
	const struct spi25_bits mode = fake->flash.chip->spi25.address_mode;

	(void)tx_bytes;
	if (tx[0] == 0xb7)
		fake->answers[mode.opcode][0] |= mode.mask;
	if (tx[0] == 0xe9)
		fake->answers[mode.opcode][0] &= (uint8_t)~mode.mask;
}

static void start(struct fake_registers *fake, struct flash_chip *chip, const char *name)
{
	*chip = chip_named(name);
	fake_registers_init(fake, chip);
	fake->obey = obey_address_mode;
	fake->answers[chip->spi25.suspended.opcode][0] = 0;
	fake->answers[chip->spi25.address_mode.opcode][0] = 0;
}

static void small_part_is_opened_and_closed_without_a_mode(void **state)
{
	struct fake_registers fake;
	struct flash_chip chip;

	(void)state;
	start(&fake, &chip, "M25P80");
	assert_int_equal(flash_open(&fake.flash), 0);
	assert_int_equal(flash_close(&fake.flash), 0);
	assert_sent(&fake, "");
}

static void address_mode_is_entered_and_left(void **state)
{
	struct fake_registers fake;
	struct flash_chip chip;

	(void)state;
	start(&fake, &chip, "W25Q256FV");
	assert_int_equal(flash_open(&fake.flash), 0);
	assert_sent(&fake, "35; 15; b7; 15; ");
	assert_int_equal(flash_close(&fake.flash), 0);
	assert_sent(&fake, "e9; ");
	assert_int_equal(flash_close(&fake.flash), 0);
	assert_sent(&fake, "");
}

static void address_mode_that_wants_write_enable_gets_it(void **state)
{
	struct fake_registers fake;
	struct flash_chip chip;

	(void)state;
	start(&fake, &chip, "N25Q256..3E");
	fake.answers[0x70][0] = 0x80;
	assert_int_equal(flash_open(&fake.flash), 0);
	assert_sent(&fake, "70; 70; 70; 06; b7; 70; ");
	assert_int_equal(flash_close(&fake.flash), 0);
	assert_sent(&fake, "06; e9; ");
}

static void part_found_in_address_mode_is_left_in_it(void **state)
{
	struct fake_registers fake;
	struct flash_chip chip;

	(void)state;
	start(&fake, &chip, "W25Q256FV");
	fake.answers[0x15][0] = 0x01;
	assert_int_equal(flash_open(&fake.flash), 0);
	assert_int_equal(flash_close(&fake.flash), 0);
	assert_sent(&fake, "35; 15; ");
	assert_int_equal(fake.answers[0x15][0], 0x01);
}

static void part_that_does_not_tell_its_mode_is_believed(void **state)
{
	struct fake_registers fake;
	struct flash_chip chip;

	(void)state;
	start(&fake, &chip, "MX25L25635E");
	fake.obey = NULL;
	fake.answers[0x2b][0] = 0xff;
	assert_int_equal(flash_open(&fake.flash), 0);
	assert_sent(&fake, "2b; b7; 2b; ");
	assert_int_equal(flash_close(&fake.flash), 0);
	assert_sent(&fake, "e9; ");
}

static void part_that_does_not_enter_its_mode_is_reported_and_left_as_found(void **state)
{
	struct fake_registers fake;
	struct flash_chip chip;

	(void)state;
	start(&fake, &chip, "W25Q256FV");
	fake.obey = NULL;
	assert_int_equal(flash_open(&fake.flash), -EIO);
	assert_true(logged(&fake.captured, "does not enter its mode"));
	assert_int_equal(flash_close(&fake.flash), 0);
	assert_sent(&fake, "35; 15; b7; 15; e9; ");
}

/* Whichever command fails, the driver leaves the mode that it entered, and no other. */
static void mode_is_left_after_an_error_of_any_command(void **state)
{
	static const bool entered[] = {false, false, false, true};
	struct fake_registers fake;
	struct flash_chip chip;

	(void)state;
	for (unsigned int nth = 1; nth <= 4; nth++) {
		start(&fake, &chip, "W25Q256FV");
		fake.fail_countdown = nth;
		assert_int_equal(flash_open(&fake.flash), -EIO);
		fake.sent[0] = '\0';
		assert_int_equal(flash_close(&fake.flash), 0);
		assert_int_equal(fake.answers[0x15][0], 0);
		if (entered[nth - 1])
			assert_sent(&fake, "e9; ");
	}
}

static void mode_widens_the_usual_commands(void **state)
{
	struct fake_registers fake;
	struct flash_chip chip;
	uint8_t data[2] = {0xaa, 0xbb};

	(void)state;
	start(&fake, &chip, "W25Q256FV");
	assert_int_equal(chip.driver->read(&fake.flash, 0x1234567, data, 2), 0);
	assert_sent(&fake, "03 01 23 45 67; ");
	data[0] = 0xaa;
	assert_int_equal(chip.driver->program(&fake.flash, 0x1ffffff, data, 1), 0);
	assert_sent(&fake, "06; 02 01 ff ff ff aa; 05; ");
	assert_int_equal(chip.driver->erase(&fake.flash, &chip.erase[0], 0x1000000), 0);
	assert_sent(&fake, "06; 20 01 00 00 00; 05; ");
}

static void part_with_commands_of_its_own_needs_no_mode(void **state)
{
	struct fake_registers fake;
	struct flash_chip chip;
	uint8_t data[1] = {0};

	(void)state;
	start(&fake, &chip, "MX66L51235F/MX25L51245G");
	assert_int_equal(flash_open(&fake.flash), 0);
	assert_sent(&fake, "2b; ");
	assert_int_equal(chip.driver->read(&fake.flash, 0x3fffffe, data, 1), 0);
	assert_sent(&fake, "13 03 ff ff fe; ");
	data[0] = 0;
	assert_int_equal(chip.driver->program(&fake.flash, 0x3fffffe, data, 1), 0);
	assert_sent(&fake, "06; 12 03 ff ff fe 00; 05; ");
	assert_int_equal(chip.driver->erase(&fake.flash, &chip.erase[2], 0x3ff0000), 0);
	assert_sent(&fake, "06; dc 03 ff 00 00; 05; ");
	assert_int_equal(chip.driver->erase(&fake.flash, &chip.erase[3], 0), 0);
	assert_sent(&fake, "06; c7; 05; ");
	assert_int_equal(flash_close(&fake.flash), 0);
	assert_sent(&fake, "");
}

static void programmer_too_small_for_the_addresses_is_refused(void **state)
{
	struct fake_registers fake;
	struct flash_chip chip;

	(void)state;
	start(&fake, &chip, "W25Q256JV_Q");
	fake.base.write_bytes_max = 5;
	assert_int_equal(flash_open(&fake.flash), -ENOTSUP);
	assert_true(logged(&fake.captured, "too few"));
	assert_sent(&fake, "");
	fake.base.write_bytes_max = 6;
	assert_int_equal(flash_open(&fake.flash), 0);
}

/* The write enable must wait, too, until the part accepts writes after power-up. */
static void address_mode_that_wants_write_enable_waits_for_power_up(void **state)
{
	struct fake_registers fake;
	struct flash_chip chip;

	(void)state;
	start(&fake, &chip, "N25Q256..3E");
	fake.answers[0x70][0] = 0x80;
	fake.now_ns = NS_PER_MS;
	fake.base.powered_ns = NS_PER_MS;
	assert_int_equal(flash_open(&fake.flash), 0);
	assert_in_range(fake.now_ns, NS_PER_MS + POWER_UP_WRITE_US_MAX * NS_PER_US, UINT64_MAX);
}

static void obey_register_write(struct fake_registers *fake, const uint8_t *tx, size_t tx_bytes)
{
	if (tx[0] == 0x71)
		fake->answers[0x65][0] = tx[tx_bytes - 1];
}

/* So must the write of the register that makes all sectors alike. */
static void small_sectors_are_switched_off_after_power_up(void **state)
{
	struct fake_registers fake;
	struct flash_chip chip;

	(void)state;
	start(&fake, &chip, "S25FS128S Small Sectors");
	fake.obey = obey_register_write;
	fake.answers[0x65][0] = 0;
	fake.now_ns = NS_PER_MS;
	fake.base.powered_ns = NS_PER_MS;
	assert_int_equal(flash_open(&fake.flash), 0);
	assert_int_equal(fake.answers[0x65][0], 0x08);
	assert_in_range(fake.now_ns, NS_PER_MS + POWER_UP_WRITE_US_MAX * NS_PER_US, UINT64_MAX);
}

#define RESUMED_NS (50 * NS_PER_MS)

static void obey_resume(struct fake_registers *fake, const uint8_t *tx, size_t tx_bytes)
{
	(void)tx_bytes;
	if (tx[0] != 0x7a)
		return;
	fake->answers[0x35][0] = 0;
	fake->busy_until_ns = fake->now_ns + RESUMED_NS;
}

static void suspended_operation_is_let_come_to_its_end(void **state)
{
	struct fake_registers fake;
	struct flash_chip chip;

	(void)state;
	start(&fake, &chip, "W25Q128.V");
	fake.obey = obey_resume;
	fake.answers[0x35][0] = 0x82;
	assert_int_equal(flash_open(&fake.flash), 0);
	assert_true(fake.now_ns >= RESUMED_NS);
	assert_int_equal(fake.sent_while_busy, 0);
	assert_null(strstr(fake.sent, "66;"));
}

/* Obeys the commands that reset; the part is deaf for a time after the last of them. */
static void obey_reset(struct fake_registers *fake, const uint8_t *tx, size_t tx_bytes)
{
	const struct spi25_traits *traits = &fake->flash.chip->spi25;

	(void)tx_bytes;
	if (tx[0] != 0x99 && tx[0] != 0xf0)
		return;
	fake->answers[traits->suspended.opcode][0] = 0;
	fake->deaf_until_ns = fake->now_ns + traits->reset_us_max * NS_PER_US;
}

static void suspension_without_resume_is_reset_and_given_its_time(void **state)
{
	static const char *const names[] = {
		"W25Q128.V", "GD25Q16(B)", "S25FL128S......0", "MT25QL128", "SST26VF064B(A)"};
	struct fake_registers fake;
	struct flash_chip chip;
	uint8_t id[3];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		start(&fake, &chip, names[i]);
		fake.obey = obey_reset;
		fake.answers[chip.spi25.suspended.opcode][0] = chip.spi25.suspended.mask;
		assert_int_equal(flash_open(&fake.flash), 0);
		assert_true(logged(&fake.captured, "resetting"));
		assert_int_equal(spi_command(&fake.flash, (uint8_t[]){0x9f}, 1, id, 3), 0);
		assert_int_equal(fake.sent_while_deaf, 0);
	}
}

static void suspension_that_nothing_ends_is_reported(void **state)
{
	static const char *const names[] = {"W25Q128.V", "AT25SF161"};
	struct fake_registers fake;
	struct flash_chip chip;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		start(&fake, &chip, names[i]);
		fake.answers[0x35][0] = 0x80;
		assert_int_equal(flash_open(&fake.flash), -EIO);
		assert_true(logged(&fake.captured, "cycle its power"));
	}
}

/* The failure of an earlier session is not reported as one of this session. */
static void failure_of_an_earlier_session_is_cleared(void **state)
{
	struct fake_registers fake;
	struct flash_chip chip;

	(void)state;
	start(&fake, &chip, "N25Q128..3E");
	fake.answers[0x70][0] = 0xa0;
	assert_int_equal(flash_open(&fake.flash), 0);
	assert_sent(&fake, "70; 70; 50; 04; ");
}

static uint64_t write_enabled_ns;

/* The first die is done at once, the second one says so when it is asked again. */
static void obey_die_select(struct fake_registers *fake, const uint8_t *tx, size_t tx_bytes)
{
	if (tx[0] == 0x06)
		write_enabled_ns = fake->now_ns;
	if (tx[0] == 0xc2 && tx_bytes == 2)
		fake->answers[0x05][0] = tx[1] == 1 && fake->answers[0xc2][0]++ < 1;
}

static void erase_of_stacked_dies_is_over_when_each_says_so(void **state)
{
	struct fake_registers fake;
	struct flash_chip chip;

	(void)state;
	start(&fake, &chip, "W77Q12NW");
	fake.obey = obey_die_select;
	fake.answers[0xc2][0] = 0;
	fake.now_ns = NS_PER_MS;
	fake.base.powered_ns = NS_PER_MS;
	assert_int_equal(chip.driver->erase(&fake.flash, &chip.erase[3], 0), 0);
	assert_sent(&fake, "06; c7; c2 01; 05; c2 00; 05; c2 01; 05; c2 00; 05; ");
	assert_in_range(
		write_enabled_ns, NS_PER_MS + POWER_UP_WRITE_US_MAX * NS_PER_US, UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(erase_of_stacked_dies_is_over_when_each_says_so),
		cmocka_unit_test(small_part_is_opened_and_closed_without_a_mode),
		cmocka_unit_test(address_mode_is_entered_and_left),
		cmocka_unit_test(address_mode_that_wants_write_enable_gets_it),
		cmocka_unit_test(address_mode_that_wants_write_enable_waits_for_power_up),
		cmocka_unit_test(small_sectors_are_switched_off_after_power_up),
		cmocka_unit_test(part_found_in_address_mode_is_left_in_it),
		cmocka_unit_test(part_that_does_not_tell_its_mode_is_believed),
		cmocka_unit_test(part_that_does_not_enter_its_mode_is_reported_and_left_as_found),
		cmocka_unit_test(mode_is_left_after_an_error_of_any_command),
		cmocka_unit_test(mode_widens_the_usual_commands),
		cmocka_unit_test(part_with_commands_of_its_own_needs_no_mode),
		cmocka_unit_test(programmer_too_small_for_the_addresses_is_refused),
		cmocka_unit_test(suspended_operation_is_let_come_to_its_end),
		cmocka_unit_test(suspension_without_resume_is_reset_and_given_its_time),
		cmocka_unit_test(suspension_that_nothing_ends_is_reported),
		cmocka_unit_test(failure_of_an_earlier_session_is_cleared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
