/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "serprog/codec.h"

static const struct serprog_limits limits = {.write_len_max = 16, .read_len_max = 32};

static enum serprog_parse parse(const uint8_t *bytes, size_t len, struct serprog_request *request)
{
	return serprog_parse(bytes, len, &limits, request);
}

/* Every opcode, the length of its arguments, and the value of the arguments 01 02 03 04. */
static const struct {
	uint8_t op;
	const char *name;
	size_t argument_bytes;
	uint32_t value;
} ops[] = {
	{0x00, "NOP", 0, 0},
	{0x01, "Q_IFACE", 0, 0},
	{0x02, "Q_CMDMAP", 0, 0},
	{0x03, "Q_PGMNAME", 0, 0},
	{0x04, "Q_SERBUF", 0, 0},
	{0x05, "Q_BUSTYPE", 0, 0},
	{0x06, "Q_CHIPSIZE", 0, 0},
	{0x07, "Q_OPBUF", 0, 0},
	{0x08, "Q_WRNMAXLEN", 0, 0},
	{0x09, "R_BYTE", 3, 0},
	{0x0A, "R_NBYTES", 6, 0},
	{0x0B, "O_INIT", 0, 0},
	{0x0C, "O_WRITEB", 4, 0},
	{0x0D, "O_WRITEN", 6, 0},
	{0x0E, "O_DELAY", 4, 0x04030201},
	{0x0F, "O_EXEC", 0, 0},
	{0x10, "SYNCNOP", 0, 0},
	{0x11, "Q_RDNMAXLEN", 0, 0},
	{0x12, "S_BUSTYPE", 1, 0x01},
	{0x14, "S_SPI_FREQ", 4, 0x04030201},
	{0x15, "S_PIN_STATE", 1, 0x01},
	{0x16, "S_SPI_CS", 1, 0x01},
	{0x17, "S_SPI_MODE", 1, 0x01},
	{0x18, "S_CS_MODE", 1, 0x01},
};

static void every_opcode_takes_its_arguments_and_no_byte_more(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		uint8_t bytes[] = {ops[i].op, 1, 2, 3, 4, 5, 6, 7, 8};
		struct serprog_request request;

		for (size_t len = 0; len < 1 + ops[i].argument_bytes; len++)
			assert_int_equal(parse(bytes, len, &request), SERPROG_PARSE_MORE);
		assert_int_equal(parse(bytes, sizeof(bytes), &request), SERPROG_PARSE_DONE);
		assert_int_equal(request.op, ops[i].op);
		assert_true(request.known);
		assert_int_equal(request.size_bytes, 1 + ops[i].argument_bytes);
		assert_int_equal(request.value, ops[i].value);
		assert_string_equal(serprog_name(ops[i].op), ops[i].name);
	}
}

static void unknown_opcode_is_one_byte(void **state)
{
	static const uint8_t ops_unknown[] = {0x19, 0x53, 0xFF};

	(void)state;
	for (size_t i = 0; i < sizeof(ops_unknown); i++) {
		uint8_t bytes[] = {ops_unknown[i], 0};
		struct serprog_request request;

		assert_int_equal(parse(bytes, sizeof(bytes), &request), SERPROG_PARSE_DONE);
		assert_false(request.known);
		assert_int_equal(request.size_bytes, 1);
		assert_string_equal(serprog_name(ops_unknown[i]), "UNKNOWN");
	}
}

static void spi_request_split_at_each_byte_waits_for_the_last(void **state)
{
	static const uint8_t bytes[] = {0x13, 4, 0, 0, 8, 0, 0, 0x03, 0x12, 0x34, 0x56};
	struct serprog_request request;

	(void)state;
	for (size_t len = 0; len < sizeof(bytes); len++) {
		memset(&request, 0xEE, sizeof(request));
		assert_int_equal(parse(bytes, len, &request), SERPROG_PARSE_MORE);
		assert_int_equal(request.op, 0xEE); /* written only once the request is complete */
	}
	assert_int_equal(parse(bytes, sizeof(bytes), &request), SERPROG_PARSE_DONE);
	assert_int_equal(request.write_len, 4);
	assert_int_equal(request.read_len, 8);
	assert_ptr_equal(request.data, bytes + 7);
	assert_int_equal(request.size_bytes, sizeof(bytes));
	assert_false(request.oversized);
}

static void spi_request_without_bytes_is_whole(void **state)
{
	static const uint8_t bytes[] = {0x13, 0, 0, 0, 0, 0, 0};
	struct serprog_request request;

	(void)state;
	assert_int_equal(parse(bytes, sizeof(bytes), &request), SERPROG_PARSE_DONE);
	assert_int_equal(request.write_len, 0);
}

static void spi_lengths_at_the_limit_are_taken(void **state)
{
	uint8_t bytes[7 + 16] = {0x13, 16, 0, 0, 32, 0, 0};
	struct serprog_request request;

	(void)state;
	assert_int_equal(parse(bytes, sizeof(bytes), &request), SERPROG_PARSE_DONE);
	assert_false(request.oversized);
	assert_int_equal(request.size_bytes, serprog_request_bytes_max(&limits));
}

static void spi_lengths_past_the_limit_are_skipped_unread(void **state)
{
	static const uint8_t too_long[][7] = {
		{0x13, 17, 0, 0, 0, 0, 0},
		{0x13, 0xFF, 0xFF, 0xFF, 0, 0, 0},
		{0x13, 1, 0, 0, 33, 0, 0},
		{0x13, 1, 0, 0, 0xFF, 0xFF, 0xFF},
	};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct serprog_request request;

		assert_int_equal(parse(too_long[i], 7, &request), SERPROG_PARSE_DONE);
		assert_true(request.oversized);
		assert_null(request.data);
		assert_int_equal(request.size_bytes, 7);
		assert_int_equal(request.skip_bytes, request.write_len);
	}
}

static void write_past_the_limit_is_skipped_with_its_bytes(void **state)
{
	static const uint8_t bytes[] = {0x0D, 5, 1, 0, 0, 0, 0};
	struct serprog_request request;

	(void)state;
	assert_int_equal(parse(bytes, sizeof(bytes), &request), SERPROG_PARSE_DONE);
	assert_true(request.oversized);
	assert_int_equal(request.size_bytes, 7);
	assert_int_equal(request.skip_bytes, 0x105);
}

static void write_of_bytes_split_at_each_byte_waits_for_the_last(void **state)
{
	static const uint8_t bytes[] = {0x0D, 3, 0, 0, 0x56, 0x34, 0x12, 0xA1, 0xA2, 0xA3};
	struct serprog_request request;

	(void)state;
	for (size_t len = 0; len < sizeof(bytes); len++)
		assert_int_equal(parse(bytes, len, &request), SERPROG_PARSE_MORE);
	assert_int_equal(parse(bytes, sizeof(bytes), &request), SERPROG_PARSE_DONE);
	assert_int_equal(request.address, 0x123456);
	assert_int_equal(request.write_len, 3);
	assert_ptr_equal(request.data, bytes + 7);
	assert_ptr_equal(request.bytes, bytes);
	assert_int_equal(request.size_bytes, sizeof(bytes));
}

static void write_of_a_byte_has_an_address_and_that_byte(void **state)
{
	static const uint8_t bytes[] = {0x0C, 0x56, 0x34, 0x12, 0xA1};
	struct serprog_request request;

	(void)state;
	assert_int_equal(parse(bytes, sizeof(bytes), &request), SERPROG_PARSE_DONE);
	assert_int_equal(request.address, 0x123456);
	assert_int_equal(request.write_len, 1);
	assert_int_equal(request.data[0], 0xA1);
}

static void reads_have_an_address_and_a_length(void **state)
{
	static const uint8_t one[] = {0x09, 0x56, 0x34, 0x12};
	static const uint8_t some[] = {0x0A, 0x56, 0x34, 0x12, 32, 0, 0};
	static const uint8_t many[] = {0x0A, 0x56, 0x34, 0x12, 33, 0, 0};
	struct serprog_request request;

	(void)state;
	assert_int_equal(parse(one, sizeof(one), &request), SERPROG_PARSE_DONE);
	assert_int_equal(request.address, 0x123456);
	assert_int_equal(request.read_len, 1);
	assert_int_equal(parse(some, sizeof(some), &request), SERPROG_PARSE_DONE);
	assert_int_equal(request.address, 0x123456);
	assert_int_equal(request.read_len, 32);
	assert_false(request.oversized);
	assert_int_equal(parse(many, sizeof(many), &request), SERPROG_PARSE_DONE);
	assert_true(request.oversized);
	assert_int_equal(request.skip_bytes, 0); /* a read has no data after it */
}

static void numbers_are_written_low_byte_first(void **state)
{
	static const uint8_t expected[] = {4, 3, 2, 1};
	uint8_t out[4];

	(void)state;
	assert_int_equal(serprog_put_u16(out, 0x0304), 2);
	assert_memory_equal(out, expected, 2);
	assert_int_equal(serprog_put_u24(out, 0x020304), 3);
	assert_memory_equal(out, expected, 3);
	assert_int_equal(serprog_put_u32(out, 0x01020304), 4);
	assert_memory_equal(out, expected, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_opcode_takes_its_arguments_and_no_byte_more),
		cmocka_unit_test(unknown_opcode_is_one_byte),
		cmocka_unit_test(spi_request_split_at_each_byte_waits_for_the_last),
		cmocka_unit_test(spi_request_without_bytes_is_whole),
		cmocka_unit_test(spi_lengths_at_the_limit_are_taken),
		cmocka_unit_test(spi_lengths_past_the_limit_are_skipped_unread),
		cmocka_unit_test(write_past_the_limit_is_skipped_with_its_bytes),
		cmocka_unit_test(write_of_bytes_split_at_each_byte_waits_for_the_last),
		cmocka_unit_test(write_of_a_byte_has_an_address_and_that_byte),
		cmocka_unit_test(reads_have_an_address_and_a_length),
		cmocka_unit_test(numbers_are_written_low_byte_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
