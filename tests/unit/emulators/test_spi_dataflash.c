/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bench.h"

#define PAGE_BYTES 528u
#define READY 0x80
#define DIFFERS 0x40
#define DENSITY 0x34
#define PROTECTION_ON 0x02
#define BINARY_PAGES 0x01

BENCH_SET_UP(at45db321d, "AT45DB321D")

/* Returns an address with 13 bits for the page and 10 for the byte. */
static uint32_t at(uint32_t page, uint32_t byte)
{
	return page << 10 | byte;
}

static void send_with_data(
	struct bench *bench, uint8_t opcode, uint32_t address, const uint8_t *data, size_t len)
{
	uint8_t command[4 + 600] = {
		opcode, (uint8_t)(address >> 16), (uint8_t)(address >> 8), (uint8_t)address};

	memcpy(command + 4, data, len);
	bench_send(bench, command, 4 + len, 0);
}

static void send_sequence(struct bench *bench, const uint8_t sequence[4])
{
	bench_send(bench, sequence, 4, 0);
}

static uint8_t status(struct bench *bench)
{
	return bench_register(bench, 0xD7);
}

static uint8_t read_at(struct bench *bench, uint32_t address)
{
	bench_op_at(bench, 0x03, address, 1);
	return bench->reply[0];
}

/* Writes one byte into page @page through buffer 1. */
static void put(struct bench *bench, uint32_t page, uint32_t byte, uint8_t value)
{
	send_with_data(bench, 0x84, byte, &value, 1);
	bench_op_at(bench, 0x83, at(page, 0), 0);
	bench_finish_work(bench);
}

static void status_says_ready_by_its_highest_bit(void **state)
{
	struct bench *bench = *state;

	assert_int_equal(status(bench), READY | DENSITY);
	bench_op_at(bench, 0x81, at(1, 0), 0);
	assert_int_equal(status(bench), DENSITY);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
	bench_finish_work(bench);
	assert_int_equal(status(bench), READY | DENSITY);
}

static void buffer_is_written_to_its_page_with_an_erase(void **state)
{
	struct bench *bench = *state;

	put(bench, 5, 527, 0x12);
	assert_int_equal(read_at(bench, at(5, 527)), 0x12);
	put(bench, 5, 527, 0xFF);
	assert_int_equal(read_at(bench, at(5, 527)), 0xFF);
	assert_int_equal(bench->facts.address, 5 * PAGE_BYTES + 527);
}

static void program_without_erase_only_clears_bits(void **state)
{
	struct bench *bench = *state;
	uint8_t first = 0xF0;
	uint8_t second = 0x3C;

	send_with_data(bench, 0x87, 0, &first, 1);
	bench_op_at(bench, 0x89, at(2, 0), 0);
	assert_int_equal(bench->facts.work_ns, 700 * US);
	bench_finish_work(bench);
	send_with_data(bench, 0x87, 0, &second, 1);
	bench_op_at(bench, 0x89, at(2, 0), 0);
	bench_finish_work(bench);
	assert_int_equal(read_at(bench, at(2, 0)), 0x30);
}

static void page_through_buffer_takes_the_whole_buffer(void **state)
{
	struct bench *bench = *state;
	uint8_t byte = 0x77;

	send_with_data(bench, 0x84, 10, &byte, 1);
	send_with_data(bench, 0x82, at(3, 11), &byte, 1);
	assert_int_equal(bench->facts.work_ns, 10 * MS);
	bench_finish_work(bench);
	assert_int_equal(read_at(bench, at(3, 10)), 0x77);
	assert_int_equal(read_at(bench, at(3, 11)), 0x77);
}

static void buffer_data_past_its_end_wraps(void **state)
{
	static const uint8_t data[] = {0x01, 0x02};
	struct bench *bench = *state;
	uint8_t command[] = {0xD1, 0, 0, 0};

	send_with_data(bench, 0x84, 527, data, 2);
	bench_send(bench, command, sizeof(command), 1);
	assert_int_equal(bench->reply[0], 0x02);
}

static void other_buffer_can_be_used_meanwhile_and_the_busy_one_not(void **state)
{
	struct bench *bench = *state;
	uint8_t byte = 0x55;

	bench_op_at(bench, 0x83, at(1, 0), 0);
	send_with_data(bench, 0x87, 0, &byte, 1);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
	send_with_data(bench, 0x84, 0, &byte, 1);
	assert_int_equal(bench->facts.rule, CHIP_RULE_BUSY);
	assert_int_equal(bench->facts.margin_ns, -(int64_t)(10 * MS));
	bench_op_at(bench, 0xD3, 0, 1);
	assert_int_equal(bench->reply[0], 0x55);
}

static void command_at_the_end_of_an_erase_is_in_time_and_before_it_not(void **state)
{
	struct bench *bench = *state;

	bench_op_at(bench, 0x81, at(1, 0), 0);
	bench->now_ns += 10 * MS - 1;
	read_at(bench, 0);
	assert_int_equal(bench->facts.rule, CHIP_RULE_BUSY);
	assert_int_equal(bench->facts.margin_ns, -1);
	bench->now_ns += 1;
	read_at(bench, 0);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
	assert_int_equal(bench->facts.margin_ns, 0);
}

static void erase_takes_its_own_pages_and_no_more(void **state)
{
	static const struct {
		uint8_t opcode;
		uint32_t page; /* in that page */
		uint32_t first;
		uint32_t last;
	} erases[] = {
		{0x81, 300, 300, 300},
		{0x50, 301, 296, 303},
		{0x7C, 300, 256, 383},
		{0x7C, 3, 0, 7},    /* sector 0a */
		{0x7C, 50, 8, 127}, /* sector 0b */
	};
	struct bench *bench = *state;

	for (size_t i = 0; i < sizeof(erases) / sizeof(erases[0]); i++) {
		uint32_t before = (erases[i].first + 8191) % 8192;

		put(bench, before, 0, 0x00);
		put(bench, erases[i].first, 0, 0x00);
		put(bench, erases[i].last, 0, 0x00);
		put(bench, erases[i].last + 1, 0, 0x00);
		bench_op_at(bench, erases[i].opcode, at(erases[i].page, 0), 0);
		assert_int_equal(bench->facts.work, CHIP_WORK_ERASE);
		bench_finish_work(bench);
		assert_int_equal(read_at(bench, at(before, 0)), 0x00);
		assert_int_equal(read_at(bench, at(erases[i].first, 0)), 0xFF);
		assert_int_equal(read_at(bench, at(erases[i].last, 0)), 0xFF);
		assert_int_equal(read_at(bench, at(erases[i].last + 1, 0)), 0x00);
	}
}

static void chip_erase_needs_all_four_of_its_bytes(void **state)
{
	struct bench *bench = *state;

	put(bench, 8191, 527, 0x00);
	send_sequence(bench, (uint8_t[]){0xC7, 0x94, 0x80, 0x9B});
	assert_int_equal(bench->facts.rule, CHIP_RULE_SEQUENCE);
	assert_int_equal(bench->facts.work, CHIP_WORK_NONE);
	send_sequence(bench, (uint8_t[]){0xC7, 0x94, 0x80, 0x9A});
	assert_int_equal(bench->facts.work, CHIP_WORK_ERASE);
	assert_int_equal(bench->facts.work_grade, GRADE_ASSUMED);
	bench_finish_work(bench);
	assert_int_equal(read_at(bench, at(8191, 527)), 0xFF);
}

static void reads_go_on_through_pages_but_page_reads_stay(void **state)
{
	struct bench *bench = *state;
	uint8_t page_read[8] = {0xD2, 0, 0x06, 0x0F}; /* page 1, byte 527 */
	uint8_t legacy_read[8] = {0xE8, 0, 0x06, 0x0F};

	put(bench, 1, 0, 0x10);
	put(bench, 1, 527, 0x1F);
	put(bench, 2, 0, 0x20);
	bench_op_at(bench, 0x03, at(1, 527), 2);
	assert_memory_equal(bench->reply, ((uint8_t[]){0x1F, 0x20}), 2);
	bench_send(bench, legacy_read, sizeof(legacy_read), 2);
	assert_memory_equal(bench->reply, ((uint8_t[]){0x1F, 0x20}), 2);
	bench_send(bench, page_read, sizeof(page_read), 2);
	assert_memory_equal(bench->reply, ((uint8_t[]){0x1F, 0x10}), 2);
}

static void page_goes_to_a_buffer_and_compares_with_it(void **state)
{
	struct bench *bench = *state;

	put(bench, 4, 9, 0x42);
	bench_op_at(bench, 0x55, at(4, 0), 0);
	assert_int_equal(bench->facts.work, CHIP_WORK_PAGE_READ);
	bench_finish_work(bench);
	bench_op_at(bench, 0xD3, 9, 1);
	assert_int_equal(bench->reply[0], 0x42);
	bench_op_at(bench, 0x61, at(4, 0), 0);
	bench_finish_work(bench);
	assert_int_equal(status(bench), READY | DENSITY);
	bench_op_at(bench, 0x61, at(5, 0), 0);
	bench_finish_work(bench);
	assert_int_equal(status(bench), READY | DIFFERS | DENSITY);
}

static void binary_pages_begin_with_the_next_power_up(void **state)
{
	struct bench *bench = *state;

	put(bench, 1, 0, 0x11);
	send_sequence(bench, (uint8_t[]){0x3D, 0x2A, 0x80, 0xA6});
	bench_finish_work(bench);
	assert_int_equal(status(bench), READY | DENSITY);
	chip_power_cycle(&bench->chip, bench->now_ns);
	assert_int_equal(status(bench), READY | DENSITY | BINARY_PAGES);
	assert_int_equal(read_at(bench, 512), 0x11);
}

static void protection_is_turned_on_and_off_and_covers_no_sector(void **state)
{
	struct bench *bench = *state;

	send_sequence(bench, (uint8_t[]){0x3D, 0x2A, 0x7F, 0xA9});
	assert_int_equal(status(bench), READY | DENSITY | PROTECTION_ON);
	bench_op_at(bench, 0x32, 0, 2);
	assert_memory_equal(bench->reply, ((uint8_t[]){0x00, 0x00}), 2);
	put(bench, 0, 0, 0x12);
	assert_int_equal(read_at(bench, 0), 0x12);
	send_sequence(bench, (uint8_t[]){0x3D, 0x2A, 0x7F, 0x9A});
	assert_int_equal(status(bench), READY | DENSITY);
}

static void wrong_configuration_bytes_change_nothing(void **state)
{
	struct bench *bench = *state;

	send_sequence(bench, (uint8_t[]){0x3D, 0x2A, 0x80, 0xA7});
	assert_int_equal(bench->facts.rule, CHIP_RULE_SEQUENCE);
	chip_power_cycle(&bench->chip, bench->now_ns);
	assert_int_equal(status(bench), READY | DENSITY);
}

static void sleeping_part_hears_release_only_and_needs_its_time(void **state)
{
	struct bench *bench = *state;

	bench_op(bench, 0xB9, 0);
	bench->now_ns += 10 * US;
	assert_int_equal(status(bench), 0xFF);
	assert_int_equal(bench->facts.rule, CHIP_RULE_POWER_DOWN);
	bench_op(bench, 0xAB, 0);
	bench->now_ns += 100 * US - 1;
	status(bench);
	assert_int_equal(bench->facts.rule, CHIP_RULE_RELEASE);
	assert_int_equal(bench->facts.margin_ns, -1);
	bench->now_ns += 1;
	assert_int_equal(status(bench), READY | DENSITY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(at45db321d, status_says_ready_by_its_highest_bit),
		WITH(at45db321d, buffer_is_written_to_its_page_with_an_erase),
		WITH(at45db321d, program_without_erase_only_clears_bits),
		WITH(at45db321d, page_through_buffer_takes_the_whole_buffer),
		WITH(at45db321d, buffer_data_past_its_end_wraps),
		WITH(at45db321d, other_buffer_can_be_used_meanwhile_and_the_busy_one_not),
		WITH(at45db321d, command_at_the_end_of_an_erase_is_in_time_and_before_it_not),
		WITH(at45db321d, erase_takes_its_own_pages_and_no_more),
		WITH(at45db321d, chip_erase_needs_all_four_of_its_bytes),
		WITH(at45db321d, reads_go_on_through_pages_but_page_reads_stay),
		WITH(at45db321d, page_goes_to_a_buffer_and_compares_with_it),
		WITH(at45db321d, binary_pages_begin_with_the_next_power_up),
		WITH(at45db321d, protection_is_turned_on_and_off_and_covers_no_sector),
		WITH(at45db321d, wrong_configuration_bytes_change_nothing),
		WITH(at45db321d, sleeping_part_hears_release_only_and_needs_its_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
