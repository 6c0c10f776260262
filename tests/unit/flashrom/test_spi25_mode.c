/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Address modes, suspensions and resets, at the beginning and end of a session. */
#include <errno.h>

#include "fake_registers.h"

FIXTURE(fake_registers, fake_registers_start, NOTHING);

static void obey_address_mode(struct fake_registers *fake, const uint8_t *tx, size_t tx_bytes)
{
	const struct spi25_bits mode = fake->flash.chip->spi25.address_mode;

	(void)tx_bytes;
	if (tx[0] == 0xb7)
		fake->answers[mode.opcode][0] |= mode.mask;
	if (tx[0] == 0xe9)
		fake->answers[mode.opcode][0] &= (uint8_t)~mode.mask;
}

static void start(struct fake_registers *fake, const char *name)
{
	fake_part(fake, name);
	fake->obey = obey_address_mode;
	fake->answers[fake->chip.spi25.suspended.opcode][0] = 0;
	fake->answers[fake->chip.spi25.address_mode.opcode][0] = 0;
}

/*
 * The bytes that a session sends when it is opened and when it is closed. If `opcode` is not 0, it
 * reads `answer`.
 */
struct session {
	const char *part;
	const char *opened, *closed;
	uint8_t opcode, answer;
	bool keeps_its_mode;
	int error;
};

static void session_is_opened_and_closed(void **state)
{
	const struct session *row = *state;
	struct fake_registers fake;

	start(&fake, row->part);
	if (row->opcode != 0)
		fake.answers[row->opcode][0] = row->answer;
	if (row->keeps_its_mode)
		fake.obey = NULL;
	assert_int_equal(flash_open(&fake.flash), row->error);
	assert_int_equal(logged(&fake.captured, "does not enter its mode"), row->error != 0);
	assert_sent(&fake, row->opened);
	assert_int_equal(flash_close(&fake.flash), 0);
	assert_sent(&fake, row->closed);
	assert_int_equal(flash_close(&fake.flash), 0);
	assert_sent(&fake, "");
}

static void address_mode_is_left_after_an_error_of_any_command(struct fake_registers *fake)
{
	static const bool entered[] = {false, false, false, true};

	for (unsigned int nth = 1; nth <= 4; nth++) {
		start(fake, "W25Q256FV");
		fake->fail_countdown = nth;
		assert_int_equal(flash_open(&fake->flash), -EIO);
		fake->sent[0] = '\0';
		assert_int_equal(flash_close(&fake->flash), 0);
		assert_int_equal(fake->answers[0x15][0], 0);
		if (entered[nth - 1])
			assert_sent(fake, "e9; ");
	}
}

static void address_mode_adds_a_byte_to_the_usual_commands(struct fake_registers *fake)
{
	uint8_t data[2];

	start(fake, "W25Q256FV");
	assert_int_equal(fake->chip.driver->read(&fake->flash, 0x1234567, data, 2), 0);
	assert_sent(fake, "03 01 23 45 67; ");
	data[0] = 0xaa;
	assert_int_equal(fake->chip.driver->program(&fake->flash, 0x1ffffff, data, 1), 0);
	assert_sent(fake, "06; 02 01 ff ff ff aa; 05; ");
	assert_int_equal(fake_erase(fake, 0, 0x1000000), 0);
	assert_sent(fake, "06; 20 01 00 00 00; 05; ");
}

static void part_with_4_byte_commands_needs_no_mode(struct fake_registers *fake)
{
	uint8_t data[1];

	start(fake, "MX66L51235F/MX25L51245G");
	assert_int_equal(fake->chip.driver->read(&fake->flash, 0x3fffffe, data, 1), 0);
	assert_sent(fake, "13 03 ff ff fe; ");
	data[0] = 0;
	assert_int_equal(fake->chip.driver->program(&fake->flash, 0x3fffffe, data, 1), 0);
	assert_sent(fake, "06; 12 03 ff ff fe 00; 05; ");
	assert_int_equal(fake_erase(fake, 2, 0x3ff0000), 0);
	assert_sent(fake, "06; dc 03 ff 00 00; 05; ");
	assert_int_equal(fake_erase(fake, 3, 0), 0);
	assert_sent(fake, "06; c7; 05; ");
}

static void programmer_too_small_for_the_addresses_is_refused(struct fake_registers *fake)
{
	start(fake, "W25Q256JV_Q");
	fake->base.write_bytes_max = 5;
	assert_int_equal(flash_open(&fake->flash), -ENOTSUP);
	assert_true(logged(&fake->captured, "too few"));
	assert_sent(fake, "");
	fake->base.write_bytes_max = 6;
	assert_int_equal(flash_open(&fake->flash), 0);
}

/* After power-up, this write enable must also wait until the part accepts writes. */
static void address_mode_that_needs_write_enable_waits_for_power_up(struct fake_registers *fake)
{
	fake_part_just_powered(fake, "N25Q256..3E");
	fake->obey = obey_address_mode;
	fake->answers[0x70][0] = 0x80;
	assert_int_equal(flash_open(&fake->flash), 0);
	assert_write_power_awaited(fake);
}

static void obey_register_write(struct fake_registers *fake, const uint8_t *tx, size_t tx_bytes)
{
	if (tx[0] == 0x71)
		fake->answers[0x65][0] = tx[tx_bytes - 1];
}

/* The write that makes all sectors equal must also wait until the part accepts writes. */
static void small_sectors_are_switched_off_after_power_up(struct fake_registers *fake)
{
	fake_part_just_powered(fake, "S25FS128S Small Sectors");
	fake->obey = obey_register_write;
	fake->answers[fake->chip.spi25.suspended.opcode][0] = 0;
	fake->answers[0x65][0] = 0;
	assert_int_equal(flash_open(&fake->flash), 0);
	assert_int_equal(fake->answers[0x65][0], 0x08);
	assert_write_power_awaited(fake);
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

static void suspended_operation_is_resumed_and_waited_for(struct fake_registers *fake)
{
	start(fake, "W25Q128.V");
	fake->obey = obey_resume;
	fake->answers[0x35][0] = 0x82;
	assert_int_equal(flash_open(&fake->flash), 0);
	assert_true(fake->now_ns >= RESUMED_NS);
	assert_int_equal(fake->sent_while_busy, 0);
	assert_null(strstr(fake->sent, "66;"));
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

static void suspension_without_resume_is_reset_and_waited_for(struct fake_registers *fake)
{
	static const char *const names[] = {
		"W25Q128.V", "GD25Q16(B)", "S25FL128S......0", "MT25QL128", "SST26VF064B(A)"};
	uint8_t id[3];

	for (size_t i = 0; i < COUNT(names); i++) {
		const struct spi25_bits *suspended = &fake->chip.spi25.suspended;

		start(fake, names[i]);
		fake->obey = obey_reset;
		fake->answers[suspended->opcode][0] = suspended->mask;
		assert_int_equal(flash_open(&fake->flash), 0);
		assert_true(logged(&fake->captured, "resetting"));
		assert_int_equal(spi_command(&fake->flash, (uint8_t[]){0x9f}, 1, id, 3), 0);
		assert_int_equal(fake->sent_while_deaf, 0);
	}
}

static void suspension_that_nothing_ends_is_reported(struct fake_registers *fake)
{
	static const char *const names[] = {"W25Q128.V", "AT25SF161"};

	for (size_t i = 0; i < COUNT(names); i++) {
		start(fake, names[i]);
		fake->answers[0x35][0] = 0x80;
		assert_int_equal(flash_open(&fake->flash), -EIO);
		assert_true(logged(&fake->captured, "cycle its power"));
	}
}

/* The first die is ready at once, the second one at its second status read. */
static void obey_die_select(struct fake_registers *fake, const uint8_t *tx, size_t tx_bytes)
{
	if (tx[0] == 0xc2 && tx_bytes == 2)
		fake->answers[0x05][0] = tx[1] == 1 && fake->answers[0xc2][0]++ < 1;
}

static void erase_of_stacked_dies_ends_when_all_are_ready(struct fake_registers *fake)
{
	fake_part_just_powered(fake, "W77Q12NW");
	fake->obey = obey_die_select;
	fake->answers[0xc2][0] = 0;
	assert_int_equal(fake_erase(fake, 3, 0), 0);
	assert_sent(fake, "06; c7; c2 01; 05; c2 00; 05; c2 01; 05; c2 00; 05; ");
	assert_write_power_awaited(fake);
}

#define SESSION(name, part_, ...)                                                                  \
	ROW(session_is_opened_and_closed, session, name, .part = part_, __VA_ARGS__)

static const struct CMUnitTest tests[] = {
	SESSION(small_part_needs_no_mode, "M25P80", "", ""),
	SESSION(address_mode_is_entered_and_left, "W25Q256FV", "35; 15; b7; 15; ", "e9; "),
	SESSION(address_mode_that_needs_write_enable_gets_it, "N25Q256..3E",
		"70; 70; 70; 06; b7; 70; ", "06; e9; ", 0x70, 0x80),
	SESSION(part_found_in_address_mode_is_left_in_it, "W25Q256FV", "35; 15; ", "", 0x15, 0x01),
	SESSION(mode_that_cannot_be_read_is_assumed_to_be_entered, "MX25L25635E", "2b; b7; 2b; ",
		"e9; ", 0x2b, 0xff, .keeps_its_mode = true),
	SESSION(part_that_does_not_enter_its_mode_is_reported, "W25Q256FV", "35; 15; b7; 15; ",
		"e9; ", .keeps_its_mode = true, .error = -EIO),
	SESSION(part_with_4_byte_commands_keeps_its_mode, "MX66L51235F/MX25L51245G", "2b; ", ""),
	/* The failure of an earlier session is not reported as one of this session. */
	SESSION(failure_of_an_earlier_session_is_cleared, "N25Q128..3E", "70; 70; 50; 04; ", "",
		0x70, 0xa0),
	CASE_ON(fake_registers, erase_of_stacked_dies_ends_when_all_are_ready),
	CASE_ON(fake_registers, address_mode_that_needs_write_enable_waits_for_power_up),
	CASE_ON(fake_registers, small_sectors_are_switched_off_after_power_up),
	CASE_ON(fake_registers, address_mode_is_left_after_an_error_of_any_command),
	CASE_ON(fake_registers, address_mode_adds_a_byte_to_the_usual_commands),
	CASE_ON(fake_registers, part_with_4_byte_commands_needs_no_mode),
	CASE_ON(fake_registers, programmer_too_small_for_the_addresses_is_refused),
	CASE_ON(fake_registers, suspended_operation_is_resumed_and_waited_for),
	CASE_ON(fake_registers, suspension_without_resume_is_reset_and_waited_for),
	CASE_ON(fake_registers, suspension_that_nothing_ends_is_reported),
};

RUN_CASES(tests)
