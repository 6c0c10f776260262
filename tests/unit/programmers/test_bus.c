/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bus_fixture.h"

#define TIDA_NS UINT64_C(10000)

static int sst29ee010(void **state)
{
	return put_on_bus(state, "SST29EE010", RECORDS_MAX);
}

static int s25fs128s(void **state)
{
	return put_on_bus(state, "S25FS128S", RECORDS_MAX);
}

static int sst39sf040(void **state)
{
	return put_on_bus(state, "SST39SF040", RECORDS_MAX);
}

static int sst39sf040_of_two_records(void **state)
{
	return put_on_bus(state, "SST39SF040", 2);
}

static void read_before_id_is_ready_is_a_violation(void **state)
{
	struct fixture *fixture = *state;
	uint64_t entered_ns;

	command(fixture, 0x90);
	entered_ns = fixture->now_ns - 1;
	fixture->now_ns = entered_ns + TIDA_NS - 1;
	get(fixture, 0);
	assert_int_equal(record_count(fixture), 2);
	assert_int_equal(record(fixture, 1)->chip.rule, CHIP_RULE_ID_ACCESS);
	assert_int_equal(record(fixture, 1)->chip.margin_ns, -1);
}

static void read_when_id_is_ready_is_in_time(void **state)
{
	struct fixture *fixture = *state;

	command(fixture, 0x90);
	fixture->now_ns += TIDA_NS - 1; /* 1 ns after the last cycle */
	assert_int_equal(get(fixture, 0), 0xBF);
	assert_int_equal(record_count(fixture), 2);
	assert_int_equal(record(fixture, 1)->chip.rule, CHIP_RULE_NONE);
	assert_int_equal(record(fixture, 1)->chip.margin_ns, 0);
}

static void cycles_of_a_command_are_one_record(void **state)
{
	struct fixture *fixture = *state;
	const struct event *event;

	command(fixture, 0xA0);
	put(fixture, 0x1234, 0x5A);
	assert_int_equal(record_count(fixture), 1);
	event = record(fixture, 0);
	assert_int_equal(event->kind, EVENT_CYCLE);
	assert_string_equal(event->chip.name, "PROGRAM");
	assert_int_equal(event->chip.address, 0x1234);
	assert_int_equal(event->write_len, 4);
	assert_int_equal(event->wire_ns, 0);
	assert_int_equal(event->read_ns, 1000000);
	assert_int_equal(event->empty_ns, 1000000);
	assert_int_equal(event->start_ns, 1000000);
	assert_int_equal(event->reply_ns, 1000003);
	assert_int_equal(event->chip.busy_until_ns - event->chip.work_ns, 1000003);
}

static void next_command_is_another_record(void **state)
{
	struct fixture *fixture = *state;

	command(fixture, 0xA0);
	put(fixture, 0x10, 0x5A);
	fixture->now_ns += 1000000;
	command(fixture, 0xA0);
	put(fixture, 0x10, 0x00);
	assert_int_equal(record_count(fixture), 2);
	assert_true(record(fixture, 1)->chip.owed);
}

static void bytes_of_a_page_are_one_record_that_ends_with_the_last(void **state)
{
	struct fixture *fixture = *state;
	uint64_t begun_ns;

	command(fixture, 0xA0);
	for (uint32_t i = 0; i < 128; i++)
		put(fixture, i, (uint8_t)i);
	assert_int_equal(record_count(fixture), 1);
	assert_int_equal(record(fixture, 0)->write_len, 131);
	begun_ns = record(fixture, 0)->chip.busy_until_ns - record(fixture, 0)->chip.work_ns;
	assert_true(begun_ns > record(fixture, 0)->reply_ns);
}

static void command_that_breaks_a_rule_is_a_record_of_its_own(void **state)
{
	struct fixture *fixture = *state;

	command(fixture, 0xA0);
	put(fixture, 0x10, 0x5A);
	put(fixture, 0x5555, 0xAA);
	put(fixture, 0x2AAA, 0x55);
	assert_int_equal(record_count(fixture), 3);
	assert_int_equal(record(fixture, 1)->chip.rule, CHIP_RULE_BUSY);
	assert_int_equal(record(fixture, 1)->write_len, 1);
	assert_int_equal(record(fixture, 2)->chip.rule, CHIP_RULE_BUSY);
}

static void reads_of_neighbours_are_one_record(void **state)
{
	struct fixture *fixture = *state;

	for (uint32_t i = 0; i < 4096; i++)
		assert_int_equal(get(fixture, 0x100 + i), 0xFF);
	get(fixture, 0x100);
	assert_int_equal(record_count(fixture), 2);
	assert_int_equal(record(fixture, 0)->read_len, 4096);
	assert_int_equal(record(fixture, 0)->chip.address, 0x100);
	assert_int_equal(record(fixture, 1)->read_len, 1);
}

static void polls_are_one_record_until_the_part_is_ready(void **state)
{
	struct fixture *fixture = *state;

	command(fixture, 0xA0);
	put(fixture, 0x10, 0x5A);
	for (int i = 0; i < 100; i++)
		get(fixture, 0x10);
	fixture->now_ns += 1000000;
	assert_int_equal(get(fixture, 0x10), 0x5A);
	assert_int_equal(get(fixture, 0x10), 0x5A);
	assert_int_equal(record_count(fixture), 4);
	assert_string_equal(record(fixture, 1)->chip.name, "STATUS");
	assert_int_equal(record(fixture, 1)->read_len, 100);
	assert_string_equal(record(fixture, 2)->chip.name, "READ");
	assert_int_equal(record(fixture, 2)->read_len, 1);
	assert_int_equal(record(fixture, 3)->read_len, 1);
}

static void read_that_settles_a_wait_begins_a_record(void **state)
{
	struct fixture *fixture = *state;

	command(fixture, 0x90);
	fixture->now_ns += 2 * TIDA_NS;
	get(fixture, 0);
	command(fixture, 0xF0);
	fixture->now_ns += 2 * TIDA_NS;
	get(fixture, 1);
	assert_int_equal(record_count(fixture), 4);
	assert_true(record(fixture, 3)->chip.owed);
}

static void too_many_records_silence_the_part(void **state)
{
	struct fixture *fixture = *state;

	for (int i = 0; i < 10; i++) {
		get(fixture, 0x100);
		get(fixture, 0x10);
	}
	command(fixture, 0xA0);
	put(fixture, 0x10, 0x00);
	fixture->now_ns += 1000000;
	assert_int_equal(get(fixture, 0x10), 0xFF);
	assert_int_equal(record_count(fixture), 4);
	assert_int_equal(record(fixture, 3)->kind, EVENT_GAVE_UP);
	assert_int_equal(record(fixture, 3)->bound, 2);
	assert_true(bus_is_clean(&fixture->bus));
}

static void transfers_past_the_limit_are_answered_by_nobody(void **state)
{
	struct fixture *fixture = *state;
	uint8_t reply = 0;
	const uint8_t command[] = {0x05};
	struct chip_transfer transfer = {.command = command, .command_len = sizeof(command)};

	fixture->bus.gave_up = true;
	bus_transfer(&fixture->bus, &transfer);
	transfer.reply = &reply;
	transfer.reply_len = sizeof(reply);
	bus_transfer(&fixture->bus, &transfer);
	assert_int_equal(reply, 0xFF);
	assert_int_equal(record_count(fixture), 0);
}

static void clock_that_goes_back_is_not_clean(void **state)
{
	struct fixture *fixture = *state;

	get(fixture, 0);
	fixture->now_ns -= 2;
	get(fixture, 1);
	assert_false(bus_is_clean(&fixture->bus));
	assert_int_equal(record_count(fixture), 1);
	assert_int_equal(record(fixture, 0)->reply_ns, record(fixture, 0)->read_ns);
}

static void part_is_found_in_its_state_by_the_first_command(void **state)
{
	struct fixture *fixture = *state;
	uint8_t flags;

	fixture->bus.start_state = START_DEAF_SUSPENDED;
	bus_select(&fixture->bus, fixture->now_ns);
	bus_exchange(&fixture->bus, fixture->now_ns + 100, 0x07);
	flags = bus_exchange(&fixture->bus, fixture->now_ns + 200, 0);
	bus_deselect(&fixture->bus, fixture->now_ns + 300);
	assert_int_equal(flags & 0x01, 0x01);
	assert_int_equal(record_count(fixture), 2);
	assert_int_equal(record(fixture, 0)->kind, EVENT_STARTS);
	assert_int_equal(record(fixture, 0)->read_ns, fixture->now_ns);
	assert_int_equal(record(fixture, 1)->chip.rule, CHIP_RULE_NONE);
}

#define ON(part_, test_) cmocka_unit_test_setup_teardown(test_, part_, take_off_bus)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON(sst29ee010, read_before_id_is_ready_is_a_violation),
		ON(sst29ee010, read_when_id_is_ready_is_in_time),
		ON(sst39sf040, cycles_of_a_command_are_one_record),
		ON(sst39sf040, next_command_is_another_record),
		ON(sst29ee010, bytes_of_a_page_are_one_record_that_ends_with_the_last),
		ON(sst39sf040, command_that_breaks_a_rule_is_a_record_of_its_own),
		ON(sst39sf040, reads_of_neighbours_are_one_record),
		ON(sst39sf040, polls_are_one_record_until_the_part_is_ready),
		ON(sst29ee010, read_that_settles_a_wait_begins_a_record),
		ON(sst39sf040_of_two_records, too_many_records_silence_the_part),
		ON(s25fs128s, transfers_past_the_limit_are_answered_by_nobody),
		ON(sst39sf040, clock_that_goes_back_is_not_clean),
		ON(s25fs128s, part_is_found_in_its_state_by_the_first_command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
