/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A programmer with a chip on a bus of cycles: it answers reads at once, and holds writes and
 * delays until they are executed.
 */
#include "device_fixture.h"

SET_UP(sst39sf040, "SST39SF040", .native_delay = false)
SET_UP(sst39sf040_native_delay, "SST39SF040", .native_delay = true)
SET_UP(at29c020, "AT29C020", .native_delay = false)
SET_UP(sst49lf040, "SST49LF040", .native_delay = false)
SET_UP(m50fw040, "M50FW040", .native_delay = false)

static void put_byte(struct fixture *fixture, uint32_t address, uint8_t value)
{
	const uint8_t request[] = {
		0x0C, (uint8_t)address, (uint8_t)(address >> 8), (uint8_t)(address >> 16), value};

	ask(fixture, request, sizeof(request));
}

static uint8_t get_byte(struct fixture *fixture, uint32_t address)
{
	const uint8_t request[] = {
		0x09, (uint8_t)address, (uint8_t)(address >> 8), (uint8_t)(address >> 16)};

	ask(fixture, request, sizeof(request));
	assert_int_equal(fixture->reply_len, 2);
	assert_int_equal(fixture->reply[0], SERPROG_ACK);
	return fixture->reply[1];
}

static void put_command(struct fixture *fixture, uint32_t base, uint8_t value)
{
	put_byte(fixture, base + 0x5555, 0xAA);
	put_byte(fixture, base + 0x2AAA, 0x55);
	put_byte(fixture, base + 0x5555, value);
}

static void execute(struct fixture *fixture)
{
	ask_op(fixture, SERPROG_O_EXEC);
	assert_true(fixture->event.ack);
	assert_int_equal(fixture->event.kind, EVENT_SERPROG);
}

static const struct event *executed(const struct fixture *fixture, size_t index)
{
	return events_at(&fixture->executed, index);
}

static void writes_wait_for_execution_and_reads_do_not(void **state)
{
	struct fixture *fixture = *state;

	put_command(fixture, 0, 0x90);
	assert_int_equal(fixture->executed.count, 0);
	assert_int_equal(get_byte(fixture, 0), 0xFF);
	execute(fixture);
	assert_int_equal(get_byte(fixture, 0), 0xBF);
	assert_int_equal(get_byte(fixture, 0xF80001), 0xB7); /* the part repeats over all 16 MiB */
	assert_int_equal(fixture->event.kind, EVENT_CYCLE);
	assert_string_equal(fixture->event.chip.name, "ID");
	assert_int_equal(fixture->event.read_len, 1);
	execute(fixture); /* the buffer is empty now */
	assert_int_equal(fixture->executed.count, 1);
}

static void initialised_buffer_executes_nothing(void **state)
{
	struct fixture *fixture = *state;

	put_command(fixture, 0, 0x90);
	ask_op(fixture, SERPROG_O_INIT);
	execute(fixture);
	assert_int_equal(fixture->executed.count, 0);
	assert_int_equal(get_byte(fixture, 0), 0xFF);
}

static void command_is_one_record_with_its_cycles(void **state)
{
	struct fixture *fixture = *state;
	const struct event *event;

	put_command(fixture, 0, 0xA0);
	put_byte(fixture, 0x1234, 0x5A);
	execute(fixture);
	assert_int_equal(fixture->executed.count, 1);
	event = executed(fixture, 0);
	assert_int_equal(event->kind, EVENT_CYCLE);
	assert_true(event->executed);
	assert_string_equal(event->chip.name, "PROGRAM");
	assert_int_equal(event->chip.opcode, 0xA0);
	assert_int_equal(event->chip.address, 0x1234);
	assert_int_equal(event->write_len, 4);
	assert_int_equal(event->wire_ns, 4 * 70);
	assert_int_equal(event->chip.work, CHIP_WORK_PROGRAM);
	assert_int_equal(event->chip.busy_until_ns, event->start_ns + 4 * 70 + 14000);
}

static void delay_acts_between_the_writes_around_it(void **state)
{
	struct fixture *fixture = *state;
	uint64_t start_ns;

	put_command(fixture, 0, 0xA0);
	put_byte(fixture, 0x10, 0x00);
	put_delay(fixture, 14); /* exactly the time that the part needs */
	put_command(fixture, 0, 0xA0);
	put_byte(fixture, 0x11, 0x00);
	put_delay(fixture, 1000);
	start_ns = clock_now_ns(&fixture->clock);
	execute(fixture);
	assert_true(clock_now_ns(&fixture->clock) - start_ns >= 1014000);
	assert_int_equal(fixture->executed.count, 2);
	assert_int_equal(
		executed(fixture, 1)->start_ns - executed(fixture, 0)->start_ns, 4 * 70 + 14000);
	assert_int_equal(executed(fixture, 1)->chip.rule, CHIP_RULE_NONE);
	assert_true(executed(fixture, 1)->chip.owed);
	assert_int_equal(executed(fixture, 1)->chip.margin_ns, 0);
	assert_int_equal(get_byte(fixture, 0x11), 0x00);
}

static void delay_that_is_too_short_convicts_each_cycle_it_let_through(void **state)
{
	struct fixture *fixture = *state;

	put_command(fixture, 0, 0xA0);
	put_byte(fixture, 0x10, 0x00);
	put_delay(fixture, 13);
	put_command(fixture, 0, 0xA0);
	put_byte(fixture, 0x11, 0x00);
	execute(fixture);
	assert_int_equal(fixture->executed.count, 5);
	for (size_t i = 1; i < 5; i++) {
		assert_int_equal(executed(fixture, i)->chip.rule, CHIP_RULE_BUSY);
		assert_int_equal(
			executed(fixture, i)->chip.margin_ns, -1000 + 70 * ((int64_t)i - 1));
		assert_int_equal(executed(fixture, i)->write_len, 1);
	}
}

static void bytes_of_a_page_are_one_record(void **state)
{
	uint8_t request[7 + 256] = {0x0D, 0x00, 0x01, 0x00, 0x00, 0x02, 0x00};
	struct fixture *fixture = *state;

	memset(request + 7, 0x5A, 256);
	put_command(fixture, 0, 0xA0);
	ask(fixture, request, sizeof(request));
	assert_true(fixture->event.ack);
	execute(fixture);
	assert_int_equal(fixture->executed.count, 1);
	assert_string_equal(executed(fixture, 0)->chip.name, "PAGE_WRITE");
	assert_int_equal(executed(fixture, 0)->write_len, 3 + 256);
	assert_int_equal(executed(fixture, 0)->chip.address, 0x200);
	assert_int_equal(executed(fixture, 0)->chip.work, CHIP_WORK_PROGRAM);
	chip_settle(&fixture->chip, executed(fixture, 0)->chip.busy_until_ns);
	assert_int_equal(get_byte(fixture, 0x2FF), 0x5A);
}

static void operations_past_the_buffer_are_refused(void **state)
{
	struct fixture *fixture = *state;

	for (size_t i = 0; i < 4096 / 5; i++) {
		put_byte(fixture, 0, 0xF0);
		assert_true(fixture->event.ack);
	}
	put_byte(fixture, 0, 0xF0);
	assert_nak(fixture);
	execute(fixture);
	assert_int_equal(fixture->executed.count, 4096 / 5);
	put_byte(fixture, 0, 0xF0);
	assert_true(fixture->event.ack);
}

static void lengths_of_nothing_and_past_the_limits_are_refused(void **state)
{
	static const uint8_t requests[][7] = {
		{0x0D, 0, 0, 0, 0, 0, 0},       /* write nothing */
		{0x0D, 0xFA, 0x0F, 0, 0, 0, 0}, /* one byte more than fits */
		{0x0A, 0, 0, 0, 0, 0, 0},       /* read nothing */
		{0x0A, 0, 0, 0, 1, 0xF0, 0},    /* one byte more than the limit */
	};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < 4; i++) {
		ask(fixture, requests[i], 7);
		assert_nak(fixture);
	}
	execute(fixture);
	assert_int_equal(fixture->executed.count, 0);
}

static void bytes_are_read_in_a_row_from_the_top_of_the_space(void **state)
{
	static const uint8_t request[] = {0x0A, 0xFE, 0xFF, 0xFF, 2, 0, 0};
	static const uint8_t data[] = {0x12, 0x34};
	struct fixture *fixture = *state;

	array_load(&fixture->chip.array, 0x7FFFE, data, 2);
	ask(fixture, request, sizeof(request));
	assert_int_equal(fixture->reply_len, 3);
	assert_memory_equal(fixture->reply + 1, data, 2);
	assert_int_equal(fixture->event.read_len, 2);
	assert_int_equal(fixture->event.chip.address, 0x7FFFE);
	assert_int_equal(fixture->event.chip.status, 0x34);
	assert_int_equal(fixture->event.wire_ns, 2 * fixture->chip.part->parallel->cycle_ns);
}

static void registers_of_an_fwh_part_are_4_mib_below_its_array(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(get_byte(fixture, 0xBC0000), 0x20);
	assert_int_equal(get_byte(fixture, 0xBF0002), 0x01);
	put_byte(fixture, 0xBF0002, 0x00);
	execute(fixture);
	assert_int_equal(get_byte(fixture, 0xBF0002), 0x00);
	assert_int_equal(get_byte(fixture, 0xFF0002), 0xFF);
}

static void reconnected_host_finds_an_empty_buffer(void **state)
{
	struct fixture *fixture = *state;

	put_command(fixture, 0, 0x90);
	device_reconnect(&fixture->device);
	execute(fixture);
	assert_int_equal(fixture->executed.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(sst39sf040, writes_wait_for_execution_and_reads_do_not),
		WITH(sst39sf040, initialised_buffer_executes_nothing),
		WITH(sst39sf040, command_is_one_record_with_its_cycles),
		WITH(sst39sf040_native_delay, delay_acts_between_the_writes_around_it),
		WITH(sst39sf040_native_delay,
			delay_that_is_too_short_convicts_each_cycle_it_let_through),
		WITH(at29c020, bytes_of_a_page_are_one_record),
		WITH(sst39sf040, operations_past_the_buffer_are_refused),
		WITH(sst39sf040, lengths_of_nothing_and_past_the_limits_are_refused),
		WITH(sst39sf040, bytes_are_read_in_a_row_from_the_top_of_the_space),
		WITH(sst49lf040, bytes_are_read_in_a_row_from_the_top_of_the_space),
		WITH(m50fw040, registers_of_an_fwh_part_are_4_mib_below_its_array),
		WITH(sst39sf040, reconnected_host_finds_an_empty_buffer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
