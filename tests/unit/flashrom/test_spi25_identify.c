/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ways to identify a part that does not answer RDID. */
#include <errno.h>

#include "fake_registers.h"
#include "sfdp_example.h"

static void answer_id(struct fake_registers *fake, uint8_t opcode, const char *id)
{
	memcpy(fake->answers[opcode], id, strlen(id));
}

static int ask(struct fake_registers *fake, const struct identify_method *method, uint32_t *id)
{
	const struct flash_chip chip = {.identify = method, .id = 0x10};

	return method->ask(&fake->flash, &chip, id);
}

static void assert_found_by_id(const char id[6], const char *name)
{
	struct fake_registers fake;

	fake_registers_init(&fake, NULL);
	memcpy(fake.answers[0x9f], id, 6);
	assert_int_equal(flash_probe(&fake.flash, chip_lists, NULL, false), 0);
	assert_string_equal(fake.flash.chip->name, name);
}

static void extended_id_tells_parts_of_one_id_apart(void **state)
{
	(void)state;
	assert_found_by_id("\x01\x20\x18\x4d\x01\x80", "S25FL128S......0");
	assert_found_by_id("\x01\x20\x18\x4d\x00\x80", "S25FL128S......1");
	assert_found_by_id("\x01\x20\x18\x4d\x01\x81", "S25FS128S Small Sectors");
}

static void part_without_rdid_is_found_by_its_signature(void **state)
{
	struct fake_registers fake;

	(void)state;
	fake_registers_init(&fake, NULL);
	answer_id(&fake, 0xab, "\x10");
	assert_int_equal(flash_probe(&fake.flash, chip_lists, NULL, false), 0);
	assert_string_equal(fake.flash.chip->name, "M25P10");
	assert_int_equal(fake.flash.chip->page_bytes, 128);
}

static void signature_of_no_listed_part_is_silence(void **state)
{
	struct fake_registers fake;

	(void)state;
	fake_registers_init(&fake, NULL);
	answer_id(&fake, 0xab, "\x13");
	assert_int_equal(flash_probe(&fake.flash, chip_lists, NULL, false), -ENODEV);
	assert_true(logged(&fake.captured, "nothing answers"));
}

/* An M25P10-A has the same signature, but it answers RDID. */
static void signature_counts_only_without_rdid(void **state)
{
	struct fake_registers fake;
	uint32_t id;

	(void)state;
	fake_registers_init(&fake, NULL);
	answer_id(&fake, 0xab, "\x10");
	answer_id(&fake, 0x90, "\x20\x10");
	answer_id(&fake, 0x9f, "\x20\x20\x11");
	assert_int_equal(ask(&fake, &spi25_res, &id), 0);
	assert_int_equal(id, 0);
	assert_int_equal(ask(&fake, &spi25_rems, &id), 0);
	assert_int_equal(id, 0);
	assert_int_equal(flash_probe(&fake.flash, chip_lists, NULL, false), 0);
	assert_string_equal(fake.flash.chip->name, "M25P10-A");
}

static void rems_gives_manufacturer_and_device(void **state)
{
	struct fake_registers fake;
	uint32_t id;

	(void)state;
	fake_registers_init(&fake, NULL);
	answer_id(&fake, 0x90, "\xbf\x44");
	assert_int_equal(ask(&fake, &spi25_rems, &id), 0);
	assert_int_equal(id, 0xbf44);
	assert_non_null(strstr(fake.sent, "90 00 00 00; "));
}

/* On an empty bus, every method hears nothing, after one wait for a part that may sleep. */
static void empty_bus_is_silent_for_every_method(void **state)
{
	static const struct identify_method *const methods[] = {
		&spi25_rdid, &spi25_rdid_extended, &spi25_rems, &spi25_res, &spi25_sfdp};
	struct fake_registers fake;
	uint32_t id;

	(void)state;
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		fake_registers_init(&fake, NULL);
		assert_int_equal(ask(&fake, methods[i], &id), 0);
		assert_true(id == 0 || id == 0xffff || id == 0xffffff);
		assert_int_equal(fake.waited_us, SPI25_WAKE_US_MAX);
	}
	fake_registers_init(&fake, NULL);
	assert_int_equal(flash_probe(&fake.flash, chip_lists, NULL, false), -ENODEV);
	assert_true(logged(&fake.captured, "nothing answers"));
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

/* A sleeping part answers none of them. */
static void sleeping_part_is_woken_for_every_method(void **state)
{
	struct fake_registers fake;
	uint32_t id;

	(void)state;
	fake_registers_init(&fake, NULL);
	fake.obey = obey_wake;
	assert_int_equal(ask(&fake, &spi25_res, &id), 0);
	assert_int_equal(id, 0x10);
	assert_int_equal(fake.sent_while_deaf, 0);

	fake_registers_init(&fake, NULL);
	fake.obey = obey_wake;
	assert_int_equal(ask(&fake, &spi25_sfdp, &id), 0);
	assert_int_equal(id, SPI25_SFDP_ID);
	assert_int_equal(fake.sent_while_deaf, 0);
}

static void start_sfdp(struct fake_registers *fake)
{
	fake_registers_init(fake, NULL);
	answer_id(fake, 0x9f, "\x12\x34\x18");
	fake->sfdp = sfdp_example;
	fake->sfdp_bytes = sizeof(sfdp_example);
}

static void unknown_part_is_taken_as_it_describes_itself(void **state)
{
	struct fake_registers fake;

	(void)state;
	start_sfdp(&fake);
	assert_int_equal(flash_probe(&fake.flash, chip_lists, NULL, false), 0);
	assert_string_equal(fake.flash.chip->vendor, "Unknown");
	assert_string_equal(fake.flash.chip->name, "SFDP-capable chip");
	assert_int_equal(fake.flash.chip->size_bytes, 16777216);
	assert_int_equal(chip_erase_count(fake.flash.chip), 4);
	assert_true(logged(&fake.captured, "16384 kB"));
}

/* A programmer must be able to receive three bytes at a time, but no more. */
static void small_programmer_reads_tables_in_parts(void **state)
{
	struct fake_registers fake;

	(void)state;
	start_sfdp(&fake);
	fake.base.read_bytes_max = 3;
	fake.base.write_bytes_max = 5;
	assert_int_equal(flash_probe(&fake.flash, chip_lists, NULL, false), 0);
	assert_int_equal(fake.flash.chip->size_bytes, 16777216);
	assert_int_equal(fake.flash.chip->erase[3].busy.typ_us, 40000000);
}

/* Nearly all parts have SFDP tables, but the lists are better for the parts in them. */
static void known_part_is_not_asked_to_describe_itself(void **state)
{
	struct fake_registers fake;

	(void)state;
	start_sfdp(&fake);
	answer_id(&fake, 0x9f, "\xef\x40\x18");
	assert_int_equal(flash_probe(&fake.flash, chip_lists, NULL, false), 0);
	assert_string_equal(fake.flash.chip->name, "W25Q128.V");
	assert_null(strstr(fake.sent, "5a "));
}

static void known_part_may_be_asked_to_describe_itself(void **state)
{
	struct fake_registers fake;

	(void)state;
	start_sfdp(&fake);
	answer_id(&fake, 0x9f, "\xef\x40\x18");
	assert_int_equal(flash_probe(&fake.flash, chip_lists, "SFDP-capable chip", false), 0);
	assert_int_equal(fake.flash.chip->size_bytes, 16777216);
}

static void description_that_makes_no_sense_is_refused(void **state)
{
	struct fake_registers fake;

	(void)state;
	start_sfdp(&fake);
	fake.sfdp_bytes = 0x24; /* one double word of the table; the rest reads as ones */
	assert_int_equal(flash_probe(&fake.flash, chip_lists, NULL, false), -EINVAL);
	assert_null(fake.flash.chip);
	assert_true(logged(&fake.captured, "describes itself (SFDP), but"));
}

/* The ID that was read is reported, although later methods read nothing. */
static void unknown_part_without_tables_is_reported_with_its_id(void **state)
{
	struct fake_registers fake;

	(void)state;
	fake_registers_init(&fake, NULL);
	answer_id(&fake, 0x9f, "\x12\x34\x18");
	assert_int_equal(flash_probe(&fake.flash, chip_lists, NULL, false), -ENODEV);
	assert_true(logged(&fake.captured, "123418"));
}

static void parts_that_share_an_id_are_listed(void **state)
{
	struct fake_registers fake;

	(void)state;
	fake_registers_init(&fake, NULL);
	answer_id(&fake, 0x9f, "\xef\x40\x17");
	assert_int_equal(flash_probe(&fake.flash, chip_lists, NULL, false), -ENOTUNIQ);
	assert_true(logged(&fake.captured, "\"W25Q64BV/W25Q64CV/W25Q64FV\" \"W25Q64JV-.Q\"\n"));
	assert_int_equal(flash_probe(&fake.flash, chip_lists, "W25Q64JV-.Q", false), 0);
	assert_string_equal(fake.flash.chip->name, "W25Q64JV-.Q");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(extended_id_tells_parts_of_one_id_apart),
		cmocka_unit_test(part_without_rdid_is_found_by_its_signature),
		cmocka_unit_test(signature_of_no_listed_part_is_silence),
		cmocka_unit_test(signature_counts_only_without_rdid),
		cmocka_unit_test(rems_gives_manufacturer_and_device),
		cmocka_unit_test(empty_bus_is_silent_for_every_method),
		cmocka_unit_test(sleeping_part_is_woken_for_every_method),
		cmocka_unit_test(unknown_part_is_taken_as_it_describes_itself),
		cmocka_unit_test(small_programmer_reads_tables_in_parts),
		cmocka_unit_test(known_part_is_not_asked_to_describe_itself),
		cmocka_unit_test(known_part_may_be_asked_to_describe_itself),
		cmocka_unit_test(description_that_makes_no_sense_is_refused),
		cmocka_unit_test(unknown_part_without_tables_is_reported_with_its_id),
		cmocka_unit_test(parts_that_share_an_id_are_listed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
