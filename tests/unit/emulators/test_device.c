/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "serprog/device.h"

struct fixture {
	void *memory;
	struct chip chip;
	struct clock clock;
	struct device device;
	struct events executed;
	struct event event;
	uint8_t reply[512];
	size_t reply_len;
};

static void fixture_init(
	struct fixture *fixture, const char *name, const struct device_options *options)
{
	const struct part *part = part_find(name);

	memset(fixture, 0, sizeof(*fixture));
	fixture->memory = calloc(1, chip_memory_bytes(part));
	chip_init(&fixture->chip, part, &(struct corner){.kind = CORNER_TYP}, fixture->memory);
	assert_int_equal(clock_init(&fixture->clock, CLOCK_SOURCE_MONOTONIC), 0);
	assert_int_equal(events_init(&fixture->executed, 1), 0);
	device_init(&fixture->device, &fixture->chip, &fixture->clock, &fixture->executed, options);
}

static int set_up(void **state)
{
	struct fixture *fixture = malloc(sizeof(*fixture));

	fixture_init(fixture, "W25Q128JV", &(struct device_options){0});
	*state = fixture;
	return 0;
}

static int set_up_native_delay(void **state)
{
	struct fixture *fixture = malloc(sizeof(*fixture));

	fixture_init(fixture, "W25Q128JV", &(struct device_options){.native_delay = true});
	*state = fixture;
	return 0;
}

static int set_up_wire_time(void **state)
{
	struct fixture *fixture = malloc(sizeof(*fixture));

	fixture_init(fixture, "W25Q128JV", &(struct device_options){.spi_wire_time = true});
	*state = fixture;
	return 0;
}

static int set_up_part(void **state, const char *name, bool native_delay)
{
	struct fixture *fixture = malloc(sizeof(*fixture));

	fixture_init(fixture, name, &(struct device_options){.native_delay = native_delay});
	*state = fixture;
	return 0;
}

static int set_up_sst39sf040(void **state)
{
	return set_up_part(state, "SST39SF040", false);
}

static int set_up_sst39sf040_native_delay(void **state)
{
	return set_up_part(state, "SST39SF040", true);
}

static int set_up_at29c020(void **state)
{
	return set_up_part(state, "AT29C020", false);
}

static int set_up_sst49lf040(void **state)
{
	return set_up_part(state, "SST49LF040", false);
}

static int set_up_m50fw040(void **state)
{
	return set_up_part(state, "M50FW040", false);
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	events_deinit(&fixture->executed);
	free(fixture->memory);
	free(fixture);
	return 0;
}

static void ask(struct fixture *fixture, const uint8_t *bytes, size_t len)
{
	struct serprog_request request;

	assert_int_equal(
		serprog_parse(bytes, len, &fixture->device.limits, &request), SERPROG_PARSE_DONE);
	fixture->reply_len = device_answer(&fixture->device, &request,
		clock_now_ns(&fixture->clock), fixture->reply, &fixture->event);
}

static void ask_op(struct fixture *fixture, uint8_t op)
{
	ask(fixture, &op, 1);
}

static void assert_nak(const struct fixture *fixture)
{
	assert_int_equal(fixture->reply_len, 1);
	assert_int_equal(fixture->reply[0], SERPROG_NAK);
	assert_false(fixture->event.ack);
}

static bool offers(struct fixture *fixture, uint8_t op)
{
	ask_op(fixture, SERPROG_Q_CMDMAP);
	assert_int_equal(fixture->reply_len, 33);
	return fixture->reply[1 + op / 8] >> op % 8 & 1;
}

static void queries_are_answered_as_the_protocol_says(void **state)
{
	static const struct {
		uint8_t op;
		size_t len;
		uint8_t reply[4];
	} queries[] = {
		{0x00, 1, {0x06}},
		{0x01, 3, {0x06, 1, 0}},
		{0x04, 3, {0x06, 0xFF, 0xFF}},
		{0x05, 2, {0x06, 0x08}},
		{0x08, 4, {0x06, 0x00, 0xF0, 0x00}},
		{0x11, 4, {0x06, 0x00, 0xF0, 0x00}},
		{0x10, 2, {0x15, 0x06}},
	};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
		ask_op(fixture, queries[i].op);
		assert_int_equal(fixture->reply_len, queries[i].len);
		assert_memory_equal(fixture->reply, queries[i].reply, queries[i].len);
		assert_true(fixture->event.ack);
		assert_int_equal(fixture->event.kind, EVENT_SERPROG);
	}
}

static void name_is_padded_to_sixteen_bytes(void **state)
{
	struct fixture *fixture = *state;

	ask_op(fixture, SERPROG_Q_PGMNAME);
	assert_int_equal(fixture->reply_len, 17);
	assert_string_equal((const char *)fixture->reply + 1, "serprog-emu");
	assert_int_equal(fixture->reply[16], 0);
}

static void delay_is_not_offered_and_refused_by_default(void **state)
{
	static const uint8_t delay[] = {0x0E, 1, 0, 0, 0};
	struct fixture *fixture = *state;

	assert_false(offers(fixture, SERPROG_O_DELAY));
	assert_false(offers(fixture, SERPROG_O_EXEC));
	assert_true(offers(fixture, SERPROG_O_SPIOP));
	ask(fixture, delay, sizeof(delay));
	assert_nak(fixture);
	ask_op(fixture, SERPROG_O_EXEC);
	assert_nak(fixture);
}

static void every_opcode_that_is_not_offered_is_refused(void **state)
{
	struct fixture *fixture = *state;

	for (unsigned int op = 0; op < 256; op++) {
		uint8_t bytes[16] = {(uint8_t)op};

		if (offers(fixture, (uint8_t)op))
			continue;
		ask(fixture, bytes, sizeof(bytes));
		assert_nak(fixture);
	}
}

static void native_delays_add_up_and_end_never_early(void **state)
{
	static const uint8_t delay[] = {0x0E, 0xE8, 0x03, 0, 0}; /* 1000 us */
	struct fixture *fixture = *state;
	uint64_t start_ns;

	assert_true(offers(fixture, SERPROG_O_DELAY));
	ask(fixture, delay, sizeof(delay));
	ask(fixture, delay, sizeof(delay));
	start_ns = clock_now_ns(&fixture->clock);
	ask_op(fixture, SERPROG_O_EXEC);
	assert_true(clock_now_ns(&fixture->clock) - start_ns >= 2000000);
	assert_int_equal(fixture->device.operations.len, 0);
	assert_int_equal(fixture->executed.count, 0);
}

static void native_delays_past_the_buffer_are_refused(void **state)
{
	static const uint8_t delay[] = {0x0E, 1, 0, 0, 0};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < 4096 / 5; i++)
		ask(fixture, delay, sizeof(delay));
	assert_true(fixture->event.ack);
	ask(fixture, delay, sizeof(delay));
	assert_nak(fixture);
	ask_op(fixture, SERPROG_O_INIT);
	ask(fixture, delay, sizeof(delay));
	assert_true(fixture->event.ack);
}

static void spi_request_reaches_the_chip(void **state)
{
	static const uint8_t rdid[] = {0x13, 1, 0, 0, 3, 0, 0, 0x9F};
	static const uint8_t expected[] = {0x06, 0xEF, 0x40, 0x18};
	struct fixture *fixture = *state;

	ask(fixture, rdid, sizeof(rdid));
	assert_int_equal(fixture->reply_len, sizeof(expected));
	assert_memory_equal(fixture->reply, expected, sizeof(expected));
	assert_int_equal(fixture->event.kind, EVENT_SPI);
	assert_int_equal(fixture->event.write_len, 1);
	assert_int_equal(fixture->event.read_len, 3);
	assert_int_equal(fixture->event.wire_ns, 0);
}

static void spi_request_of_no_or_too_many_bytes_is_refused(void **state)
{
	static const uint8_t nothing[] = {0x13, 0, 0, 0, 3, 0, 0};
	static const uint8_t too_many[] = {0x13, 1, 0xF0, 0, 0, 0, 0};
	struct fixture *fixture = *state;

	ask(fixture, nothing, sizeof(nothing));
	assert_nak(fixture);
	ask(fixture, too_many, sizeof(too_many));
	assert_nak(fixture);
	assert_int_equal(fixture->event.kind, EVENT_SERPROG);
}

static void spi_frequency_is_capped_by_the_part_and_zero_refused(void **state)
{
	static const uint8_t zero[] = {0x14, 0, 0, 0, 0};
	static const uint8_t slow[] = {0x14, 0x40, 0x42, 0x0F, 0};
	static const uint8_t fast[] = {0x14, 0xFF, 0xFF, 0xFF, 0xFF};
	static const uint8_t capped[] = {0x06, 0x40, 0x6B, 0xED, 0x07}; /* 133 MHz */
	struct fixture *fixture = *state;

	ask(fixture, zero, sizeof(zero));
	assert_nak(fixture);
	ask(fixture, slow, sizeof(slow));
	assert_memory_equal(fixture->reply + 1, slow + 1, 4);
	ask(fixture, fast, sizeof(fast));
	assert_int_equal(fixture->reply_len, sizeof(capped));
	assert_memory_equal(fixture->reply, capped, sizeof(capped));
}

static void bus_other_than_spi_is_refused(void **state)
{
	static const uint8_t parallel[] = {0x12, 0x01};
	static const uint8_t spi[] = {0x12, 0x08};
	struct fixture *fixture = *state;

	ask(fixture, parallel, sizeof(parallel));
	assert_nak(fixture);
	ask(fixture, spi, sizeof(spi));
	assert_true(fixture->event.ack);
}

static void wire_time_passes_before_the_reply(void **state)
{
	static const uint8_t frequency[] = {0x14, 0x40, 0x42, 0x0F, 0}; /* 1 MHz */
	static const uint8_t rdid[] = {0x13, 1, 0, 0, 124, 0, 0, 0x9F}; /* 1000 bits */
	struct fixture *fixture = *state;
	uint64_t start_ns;

	ask(fixture, rdid, sizeof(rdid));
	assert_int_equal(fixture->event.wire_ns, 0); /* no frequency yet */
	ask(fixture, frequency, sizeof(frequency));
	start_ns = clock_now_ns(&fixture->clock);
	ask(fixture, rdid, sizeof(rdid));
	assert_true(fixture->event.wire_ns >= 1000000);
	assert_true(clock_now_ns(&fixture->clock) - start_ns >= 1000000);
}

static void reconnected_host_finds_no_settings_of_the_one_before(void **state)
{
	static const uint8_t frequency[] = {0x14, 0x40, 0x42, 0x0F, 0};
	struct fixture *fixture = *state;

	ask(fixture, frequency, sizeof(frequency));
	device_reconnect(&fixture->device);
	assert_int_equal(fixture->device.spi_clock_hz, 0);
}

static void put_byte(struct fixture *fixture, uint32_t address, uint8_t value)
{
	const uint8_t request[] = {
		0x0C, (uint8_t)address, (uint8_t)(address >> 8), (uint8_t)(address >> 16), value};

	ask(fixture, request, sizeof(request));
}

static void put_delay(struct fixture *fixture, uint16_t us)
{
	const uint8_t request[] = {0x0E, (uint8_t)us, (uint8_t)(us >> 8), 0, 0};

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

static void programmer_has_the_bus_of_its_chip_alone(void **state)
{
	struct fixture *fixture = *state;
	uint8_t bus = fixture->chip.part->parallel->bus == PARALLEL_BUS_PARALLEL ? 0x01
		      : fixture->chip.part->parallel->bus == PARALLEL_BUS_LPC    ? 0x02
										 : 0x04;

	ask_op(fixture, SERPROG_Q_BUSTYPE);
	assert_int_equal(fixture->reply[1], bus);
	for (uint8_t bit = 0x01; bit <= 0x08; bit <<= 1) {
		uint8_t request[] = {0x12, bit};

		ask(fixture, request, sizeof(request));
		assert_int_equal(fixture->event.ack, bit == bus);
	}
	assert_false(offers(fixture, SERPROG_O_SPIOP));
	assert_false(offers(fixture, SERPROG_S_SPI_FREQ));
	assert_false(offers(fixture, SERPROG_S_SPI_CS));
	assert_int_equal(offers(fixture, SERPROG_Q_CHIPSIZE), bus == 0x01);
}

static void cycles_are_offered_and_delays_only_if_native(void **state)
{
	static const uint8_t ops[] = {0x07, 0x08, 0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x0F, 0x11};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(ops); i++)
		assert_true(offers(fixture, ops[i]));
	assert_int_equal(offers(fixture, SERPROG_O_DELAY), fixture->device.options.native_delay);
	put_delay(fixture, 1);
	assert_int_equal(fixture->event.ack, fixture->device.options.native_delay);
}

static void sizes_of_buffer_writes_and_part_are_told(void **state)
{
	struct fixture *fixture = *state;

	ask_op(fixture, SERPROG_Q_OPBUF);
	assert_memory_equal(fixture->reply, "\x06\x00\x10", 3);
	ask_op(fixture, SERPROG_Q_WRNMAXLEN);
	assert_memory_equal(fixture->reply, "\x06\xF9\x0F\x00", 4);
	ask_op(fixture, SERPROG_Q_CHIPSIZE);
	assert_memory_equal(fixture->reply, "\x06\x13", 2);
	assert_int_equal(fixture->reply_len, 2);
}

static void writes_wait_for_execution_and_reads_do_not(void **state)
{
	struct fixture *fixture = *state;

	put_command(fixture, 0, 0x90);
	assert_int_equal(fixture->executed.count, 0);
	assert_int_equal(get_byte(fixture, 0), 0xFF);
	execute(fixture);
	assert_int_equal(get_byte(fixture, 0), 0xBF);
	assert_int_equal(get_byte(fixture, 0xF80001), 0xB7); /* seen all over 16 MiB */
	assert_int_equal(fixture->event.kind, EVENT_CYCLE);
	assert_string_equal(fixture->event.chip.name, "ID");
	assert_int_equal(fixture->event.read_len, 1);
	execute(fixture); /* the buffer is empty by now */
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
	put_delay(fixture, 14); /* just what the part takes */
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
		{0x0A, 0, 0, 0, 1, 0xF0, 0},    /* one byte more than promised */
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

#define WITH(set_up_fn, test) cmocka_unit_test_setup_teardown(test, set_up_fn, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(set_up, queries_are_answered_as_the_protocol_says),
		WITH(set_up, name_is_padded_to_sixteen_bytes),
		WITH(set_up, delay_is_not_offered_and_refused_by_default),
		WITH(set_up, every_opcode_that_is_not_offered_is_refused),
		WITH(set_up_native_delay, native_delays_add_up_and_end_never_early),
		WITH(set_up_native_delay, native_delays_past_the_buffer_are_refused),
		WITH(set_up, spi_request_reaches_the_chip),
		WITH(set_up, spi_request_of_no_or_too_many_bytes_is_refused),
		WITH(set_up, spi_frequency_is_capped_by_the_part_and_zero_refused),
		WITH(set_up, bus_other_than_spi_is_refused),
		WITH(set_up_wire_time, wire_time_passes_before_the_reply),
		WITH(set_up, reconnected_host_finds_no_settings_of_the_one_before),
		WITH(set_up_sst39sf040, every_opcode_that_is_not_offered_is_refused),
		WITH(set_up_sst39sf040, programmer_has_the_bus_of_its_chip_alone),
		WITH(set_up_sst49lf040, programmer_has_the_bus_of_its_chip_alone),
		WITH(set_up_m50fw040, programmer_has_the_bus_of_its_chip_alone),
		WITH(set_up_sst39sf040, cycles_are_offered_and_delays_only_if_native),
		WITH(set_up_sst39sf040_native_delay, cycles_are_offered_and_delays_only_if_native),
		WITH(set_up_sst39sf040, sizes_of_buffer_writes_and_part_are_told),
		WITH(set_up_sst39sf040, writes_wait_for_execution_and_reads_do_not),
		WITH(set_up_sst39sf040, initialised_buffer_executes_nothing),
		WITH(set_up_sst39sf040, command_is_one_record_with_its_cycles),
		WITH(set_up_sst39sf040_native_delay, delay_acts_between_the_writes_around_it),
		WITH(set_up_sst39sf040_native_delay,
			delay_that_is_too_short_convicts_each_cycle_it_let_through),
		WITH(set_up_at29c020, bytes_of_a_page_are_one_record),
		WITH(set_up_sst39sf040, operations_past_the_buffer_are_refused),
		WITH(set_up_sst39sf040, lengths_of_nothing_and_past_the_limits_are_refused),
		WITH(set_up_sst39sf040, bytes_are_read_in_a_row_from_the_top_of_the_space),
		WITH(set_up_sst49lf040, bytes_are_read_in_a_row_from_the_top_of_the_space),
		WITH(set_up_m50fw040, registers_of_an_fwh_part_are_4_mib_below_its_array),
		WITH(set_up_sst39sf040, reconnected_host_finds_an_empty_buffer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
