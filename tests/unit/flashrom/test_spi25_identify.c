/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Identification of parts for which the three bytes of RDID are not enough. */
#include <errno.h>

#include "fake_registers.h"
#include "sfdp_example.h"

FIXTURE(fake_registers, fake_registers_start, NOTHING);

static void answer_id(struct fake_registers *fake, uint8_t opcode, const char *id)
{
	memcpy(fake->answers[opcode], id, strlen(id));
}

static uint32_t ask(struct fake_registers *fake, const struct identify_method *method)
{
	const struct flash_chip chip = {.identify = method, .id = 0x10};
	uint32_t id;

	assert_int_equal(method->ask(&fake->flash, &chip, &id), 0);
	return id;
}

static int probe(struct fake_registers *fake, const char *name)
{
	return flash_probe(&fake->flash, chip_lists, name, false);
}

static void assert_found(struct fake_registers *fake, const char *name)
{
	assert_int_equal(probe(fake, NULL), 0);
	assert_string_equal(fake->flash.chip->name, name);
}

static void extended_id_distinguishes_parts_with_one_id(struct fake_registers *fake)
{
	static const struct {
		const char *id, *name;
	} parts[] = {
		{"\x01\x20\x18\x4d\x01\x80", "S25FL128S......0"},
		{"\x01\x20\x18\x4d\x00\x80", "S25FL128S......1"},
		{"\x01\x20\x18\x4d\x01\x81", "S25FS128S Small Sectors"},
	};

	for (size_t i = 0; i < COUNT(parts); i++) {
		fake_registers_start(fake);
		memcpy(fake->answers[0x9f], parts[i].id, 6);
		assert_found(fake, parts[i].name);
	}
}

static void part_without_rdid_is_found_by_its_signature(struct fake_registers *fake)
{
	answer_id(fake, 0xab, "\x10");
	assert_found(fake, "M25P10");
	assert_int_equal(fake->flash.chip->page_bytes, 128);
}

static void unlisted_signature_counts_as_silence(struct fake_registers *fake)
{
	answer_id(fake, 0xab, "\x13");
	assert_int_equal(probe(fake, NULL), -ENODEV);
	assert_true(logged(&fake->captured, "nothing answers"));
}

/* An M25P10-A has the same signature, but it answers RDID. */
static void signature_counts_only_without_rdid(struct fake_registers *fake)
{
	answer_id(fake, 0xab, "\x10");
	answer_id(fake, 0x9f, "\x20\x20\x11");
	assert_int_equal(ask(fake, &spi25_res), 0);
	assert_found(fake, "M25P10-A");
}

/* On an empty bus, every method waits once for a part that may sleep, and reads no ID. */
static void empty_bus_is_silent_for_every_method(struct fake_registers *fake)
{
	static const struct identify_method *const methods[] = {
		&spi25_rdid, &spi25_rdid_extended, &spi25_res, &spi25_sfdp};

	for (size_t i = 0; i < COUNT(methods); i++) {
		uint32_t id;

		fake_registers_start(fake);
		id = ask(fake, methods[i]);
		assert_true(id == 0 || id == 0xffff || id == 0xffffff);
		assert_int_equal(fake->waited_us, SPI25_WAKE_US_MAX);
	}
	fake_registers_start(fake);
	assert_int_equal(probe(fake, NULL), -ENODEV);
	assert_true(logged(&fake->captured, "nothing answers"));
}

static void obey_wake(struct fake_registers *fake, const uint8_t *tx, size_t tx_bytes)
{
	if (tx[0] != 0xab || tx_bytes != 1)
		return;
	fake->deaf_until_ns = fake->now_ns + SPI25_WAKE_US_MAX * NS_PER_US;
	answer_id(fake, 0xab, "\x10");
	fake->sfdp = sfdp_example;
	fake->sfdp_bytes = sizeof(sfdp_example);
}

static void sleeping_part_is_woken_for_every_method(struct fake_registers *fake)
{
	static const struct identify_method *const methods[] = {&spi25_res, &spi25_sfdp};
	static const uint32_t ids[] = {0x10, SPI25_SFDP_ID};

	for (size_t i = 0; i < COUNT(methods); i++) {
		fake_registers_start(fake);
		fake->obey = obey_wake;
		assert_int_equal(ask(fake, methods[i]), ids[i]);
		assert_int_equal(fake->sent_while_deaf, 0);
	}
}

static void start_sfdp(struct fake_registers *fake, const char *id)
{
	answer_id(fake, 0x9f, id);
	fake->sfdp = sfdp_example;
	fake->sfdp_bytes = sizeof(sfdp_example);
}

static void unknown_part_is_used_as_its_sfdp_describes_it(struct fake_registers *fake)
{
	start_sfdp(fake, "\x12\x34\x18");
	assert_found(fake, "SFDP-capable chip");
	assert_string_equal(fake->flash.chip->vendor, "Unknown");
	assert_int_equal(fake->flash.chip->size_bytes, 16777216);
	assert_int_equal(chip_erase_count(fake->flash.chip), 4);
	assert_true(logged(&fake->captured, "16384 kB"));
}

/* A programmer need not be able to receive more than three bytes at a time. */
static void sfdp_longer_than_a_transfer_is_read_in_parts(struct fake_registers *fake)
{
	start_sfdp(fake, "\x12\x34\x18");
	fake->base.read_bytes_max = 3;
	fake->base.write_bytes_max = 5;
	assert_int_equal(probe(fake, NULL), 0);
	assert_int_equal(fake->flash.chip->size_bytes, 16777216);
	assert_int_equal(fake->flash.chip->erase[3].busy.typ_us, 40000000);
}

/* Nearly all parts have SFDP tables, but the entries of the lists are better. */
static void sfdp_of_a_listed_part_is_read_only_on_request(struct fake_registers *fake)
{
	start_sfdp(fake, "\xef\x40\x18");
	assert_found(fake, "W25Q128.V");
	assert_null(strstr(fake->sent, "5a "));
	assert_int_equal(probe(fake, "SFDP-capable chip"), 0);
	assert_int_equal(fake->flash.chip->size_bytes, 16777216);
}

static void invalid_sfdp_is_refused(struct fake_registers *fake)
{
	start_sfdp(fake, "\x12\x34\x18");
	fake->sfdp_bytes = 0x24; /* one double word of the table; the rest reads as ones */
	assert_int_equal(probe(fake, NULL), -EINVAL);
	assert_null(fake->flash.chip);
	assert_true(logged(&fake->captured, "describes itself (SFDP), but"));
}

/* The ID that was read is reported, although later methods read nothing. */
static void unknown_part_without_tables_is_reported_with_its_id(struct fake_registers *fake)
{
	answer_id(fake, 0x9f, "\x12\x34\x18");
	assert_int_equal(probe(fake, NULL), -ENODEV);
	assert_true(logged(&fake->captured, "123418"));
}

static void parts_that_share_an_id_are_listed(struct fake_registers *fake)
{
	answer_id(fake, 0x9f, "\xef\x40\x17");
	assert_int_equal(probe(fake, NULL), -ENOTUNIQ);
	assert_true(logged(&fake->captured, "\"W25Q64BV/W25Q64CV/W25Q64FV\" \"W25Q64JV-.Q\"\n"));
	assert_int_equal(probe(fake, "W25Q64JV-.Q"), 0);
	assert_string_equal(fake->flash.chip->name, "W25Q64JV-.Q");
}

static const struct CMUnitTest tests[] = {
	CASE_ON(fake_registers, extended_id_distinguishes_parts_with_one_id),
	CASE_ON(fake_registers, part_without_rdid_is_found_by_its_signature),
	CASE_ON(fake_registers, unlisted_signature_counts_as_silence),
	CASE_ON(fake_registers, signature_counts_only_without_rdid),
	CASE_ON(fake_registers, empty_bus_is_silent_for_every_method),
	CASE_ON(fake_registers, sleeping_part_is_woken_for_every_method),
	CASE_ON(fake_registers, unknown_part_is_used_as_its_sfdp_describes_it),
	CASE_ON(fake_registers, sfdp_longer_than_a_transfer_is_read_in_parts),
	CASE_ON(fake_registers, sfdp_of_a_listed_part_is_read_only_on_request),
	CASE_ON(fake_registers, invalid_sfdp_is_refused),
	CASE_ON(fake_registers, unknown_part_without_tables_is_reported_with_its_id),
	CASE_ON(fake_registers, parts_that_share_an_id_are_listed),
};

RUN_CASES(tests)
