/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Firmware that breaks the protocol or extends it. */
#include "device_fixture.h"

#define ID_ACCESS_US 10 /* tIDA of SST29EE010 */
#define LINK(...) .native_delay = true, .link = {.quirks = {__VA_ARGS__}}

SET_UP(sst29ee010, "SST29EE010", .native_delay = true)
SET_UP(delay_at_once, "SST29EE010", LINK(.delay_at_once = 1))
SET_UP(delay_silent, "SST29EE010", LINK(.delay_silent = 1))
SET_UP(delay_down, "SST29EE010", LINK(.delay_down_us = 1000))
SET_UP(delay_up, "SST29EE010", LINK(.delay_up_us = 1000))
SET_UP(exec_acks, "SST29EE010", LINK(.exec_acks = 1))
SET_UP(silent, "W25Q128JV", .link = {.quirks = {.silent = 1}})
SET_UP(ack_bytes, "W25Q128JV", .link = {.quirks = {.ack_bytes = 16}})
SET_UP(real_write, "W25Q128JV", .link = {.quirks = {.real_write_bytes = 8}})
SET_UP(less, "W25Q128JV", .link = {.quirks = {.no_pin_state = 1, .no_bustype = 1}})
SET_UP(spi_modes, "W25Q128JV", .link = {.quirks = {.spi_modes = 1}})
SET_UP(w25q128jv, "W25Q128JV", .native_delay = false)

/* Puts the cycles that enter ID mode into the buffer; returns the number of answered bytes. */
static size_t put_id_entry(struct fixture *fixture)
{
	static const uint8_t cycles[][5] = {{0x0C, 0x55, 0x55, 0x00, 0xAA},
		{0x0C, 0xAA, 0x2A, 0x00, 0x55}, {0x0C, 0x55, 0x55, 0x00, 0x90}};
	size_t bytes = 0;

	for (size_t i = 0; i < sizeof(cycles) / sizeof(cycles[0]); i++) {
		ask(fixture, cycles[i], sizeof(cycles[i]));
		bytes += fixture->reply_len;
	}
	return bytes;
}

/* Enters ID mode, waits exactly as long as it must, and reads; returns the broken rule. */
static enum chip_rule rule_of_a_whole_wait(struct fixture *fixture)
{
	static const uint8_t read[] = {0x09, 0, 0, 0};

	put_id_entry(fixture);
	put_delay(fixture, ID_ACCESS_US);
	ask_op(fixture, SERPROG_O_EXEC);
	assert_true(fixture->event.ack);
	ask(fixture, read, sizeof(read));
	return fixture->event.chip.rule;
}

static void whole_delay_is_in_time(void **state)
{
	assert_int_equal(rule_of_a_whole_wait(*state), CHIP_RULE_NONE);
}

/* Uses a clock that only waits advance, since a busy machine would prolong the wait. */
static void whole_delay_is_too_early_at_the_part(void **state)
{
	struct fixture *fixture = *state;

	clock_init_scripted(&fixture->clock, 1);
	assert_int_equal(rule_of_a_whole_wait(*state), CHIP_RULE_ID_ACCESS);
}

static void delay_at_once_passes_before_its_answer(void **state)
{
	struct fixture *fixture = *state;
	uint64_t start_ns = clock_now_ns(&fixture->clock);

	put_delay(fixture, 2000);
	assert_true(clock_now_ns(&fixture->clock) - start_ns >= 2000000);
	assert_int_equal(fixture->reply_len, 1);
	assert_int_equal(fixture->device.operations.len, 0);
}

static void delay_without_an_answer_is_still_run(void **state)
{
	struct fixture *fixture = *state;

	put_delay(fixture, 1);
	assert_int_equal(fixture->reply_len, 0);
	assert_true(fixture->event.ack);
	assert_int_equal(rule_of_a_whole_wait(fixture), CHIP_RULE_NONE);
}

static void delays_are_rounded_to_the_step(void **state)
{
	static const struct device_quirks down = {.delay_down_us = 1000};
	static const struct device_quirks up = {.delay_up_us = 1000};

	(void)state;
	assert_int_equal(operations_delay_ns(&down, 999), 0);
	assert_int_equal(operations_delay_ns(&down, 1000), 1000000);
	assert_int_equal(operations_delay_ns(&down, 1999), 1000000);
	assert_int_equal(operations_delay_ns(&up, 0), 0);
	assert_int_equal(operations_delay_ns(&up, 1), 1000000);
	assert_int_equal(operations_delay_ns(&up, 1000), 1000000);
	assert_int_equal(operations_delay_ns(&up, UINT32_MAX), UINT64_C(4294968000000));
}

static void execution_answers_for_each_operation(void **state)
{
	static const uint8_t acks[] = {0x06, 0x06, 0x06, 0x06, 0x06};
	struct fixture *fixture = *state;

	assert_int_equal(put_id_entry(fixture), 0);
	put_delay(fixture, ID_ACCESS_US);
	assert_int_equal(fixture->reply_len, 0);
	ask_op(fixture, SERPROG_O_EXEC);
	assert_int_equal(fixture->reply_len, sizeof(acks));
	assert_memory_equal(fixture->reply, acks, sizeof(acks));
	ask_op(fixture, SERPROG_O_EXEC);
	assert_int_equal(fixture->reply_len, 1);
}

static void initialised_buffer_has_nothing_to_answer_for(void **state)
{
	struct fixture *fixture = *state;

	put_id_entry(fixture);
	ask_op(fixture, SERPROG_O_INIT);
	ask_op(fixture, SERPROG_O_EXEC);
	assert_int_equal(fixture->reply_len, 1);
}

static void opcode_that_is_not_offered_has_no_answer(void **state)
{
	static const uint8_t unoffered[][8] = {{0x06}, {0x0E}, {0x17}, {0x53}, {0xFF}};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(unoffered) / sizeof(unoffered[0]); i++) {
		ask(fixture, unoffered[i], sizeof(unoffered[i]));
		assert_int_equal(fixture->reply_len, 0);
		assert_false(fixture->event.ack);
	}
	ask(fixture, (const uint8_t[]){0x12, 0x01}, 2); /* a bus that the device does not have */
	assert_nak(fixture);
}

static void read_in_pieces_has_an_ack_before_each(void **state)
{
	static const uint8_t short_read[] = {0x13, 4, 0, 0, 16, 0, 0, 0x03, 0, 0, 0};
	static const uint8_t long_read[] = {0x13, 4, 0, 0, 33, 0, 0, 0x03, 0, 0, 0};
	struct fixture *fixture = *state;

	array_program(&fixture->chip.array, 0, (const uint8_t[]){0x10}, 1);
	array_program(&fixture->chip.array, 16, (const uint8_t[]){0x11}, 1);
	array_program(&fixture->chip.array, 32, (const uint8_t[]){0x12}, 1);
	ask(fixture, short_read, sizeof(short_read));
	assert_int_equal(fixture->reply_len, 1 + 16);
	ask(fixture, long_read, sizeof(long_read));
	assert_int_equal(fixture->reply_len, 1 + 33 + 3);
	assert_memory_equal(fixture->reply, ((uint8_t[]){0x06, 0x06, 0x10, 0xFF}), 4);
	assert_memory_equal(fixture->reply + 18, ((uint8_t[]){0x06, 0x11, 0xFF}), 3);
	assert_memory_equal(fixture->reply + 35, ((uint8_t[]){0x06, 0x12}), 2);
}

static void bytes_past_the_real_buffer_are_lost_and_acknowledged(void **state)
{
	static const uint8_t enable[] = {0x13, 1, 0, 0, 0, 0, 0, 0x06};
	static const uint8_t program[] = {
		0x13, 10, 0, 0, 0, 0, 0, 0x02, 0, 0, 0, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06};
	struct fixture *fixture = *state;
	uint8_t content[6];

	ask(fixture, enable, sizeof(enable));
	ask(fixture, program, sizeof(program));
	assert_int_equal(fixture->reply[0], SERPROG_ACK);
	assert_int_equal(fixture->event.write_len, 8);
	chip_settle(&fixture->chip, UINT64_MAX);
	array_read(&fixture->chip.array, 0, content, sizeof(content));
	assert_memory_equal(content, ((uint8_t[]){0x01, 0x02, 0x03, 0x04, 0xFF, 0xFF}), 6);
}

static void command_map_lacks_what_the_firmware_lacks(void **state)
{
	struct fixture *fixture = *state;

	assert_false(offers(fixture, SERPROG_S_PIN_STATE));
	assert_false(offers(fixture, SERPROG_S_BUSTYPE));
	assert_true(offers(fixture, SERPROG_S_SPI_CS));
	ask(fixture, (const uint8_t[]){0x15, 1}, 2);
	assert_nak(fixture);
}

static void modes_of_spi_are_taken_where_they_are_offered(void **state)
{
	struct fixture *fixture = *state;

	for (uint8_t op = 0x17; op <= 0x18; op++) {
		assert_true(offers(fixture, op));
		ask(fixture, (const uint8_t[]){op, 0}, 2);
		assert_true(fixture->event.ack);
		ask(fixture, (const uint8_t[]){op, 1}, 2);
		assert_nak(fixture);
	}
}

static void modes_of_spi_are_refused_as_a_rule(void **state)
{
	struct fixture *fixture = *state;

	for (uint8_t op = 0x17; op <= 0x18; op++) {
		assert_false(offers(fixture, op));
		ask(fixture, (const uint8_t[]){op, 0}, 2);
		assert_nak(fixture);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(sst29ee010, whole_delay_is_in_time),
		WITH(delay_at_once, whole_delay_is_too_early_at_the_part),
		WITH(delay_down, whole_delay_is_too_early_at_the_part),
		WITH(delay_up, whole_delay_is_in_time),
		WITH(delay_at_once, delay_at_once_passes_before_its_answer),
		WITH(delay_silent, delay_without_an_answer_is_still_run),
		cmocka_unit_test(delays_are_rounded_to_the_step),
		WITH(exec_acks, execution_answers_for_each_operation),
		WITH(exec_acks, initialised_buffer_has_nothing_to_answer_for),
		WITH(silent, opcode_that_is_not_offered_has_no_answer),
		WITH(ack_bytes, read_in_pieces_has_an_ack_before_each),
		WITH(real_write, bytes_past_the_real_buffer_are_lost_and_acknowledged),
		WITH(less, command_map_lacks_what_the_firmware_lacks),
		WITH(spi_modes, modes_of_spi_are_taken_where_they_are_offered),
		WITH(w25q128jv, modes_of_spi_are_refused_as_a_rule),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
