/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>

#include "fake_registers.h"
#include "part_bench.h"
#include "spi25.h"

#define PART "AT45DB321D"
#define PAGE_BYTES 528

FIXTURE(part_bench, NOTHING, part_bench_stop);
FIXTURE(fake_registers, fake_registers_start, NOTHING);

static const char *const corners[] = {"min", "typ", "max"};

static void pages_are_erased_and_programmed_at_every_corner(struct part_bench *bench)
{
	for (size_t i = 0; i < 3; i++) {
		part_bench_start(bench, PART, corners[i]);
		part_bench_find(bench, NULL);
		assert_int_equal(bench->flash.chip->page_bytes, PAGE_BYTES);
		bench->image[5 * PAGE_BYTES - 1] ^= 0xff;
		bench->image[5 * PAGE_BYTES] ^= 0xff;
		part_bench_noise(bench->image + 100 * PAGE_BYTES + 7, 30 * PAGE_BYTES, 2);
		memset(bench->image + 200 * PAGE_BYTES, 0xff, 3 * PAGE_BYTES);
		bench->image[bench->size_bytes - 1] ^= 0xff;
		part_bench_write(bench);
	}
}

static void page_is_erased_even_if_clearing_bits_is_enough(struct part_bench *bench)
{
	part_bench_start(bench, PART, "typ");
	part_bench_find(bench, PART);
	bench->image[3 * PAGE_BYTES] &= 0x0f;
	part_bench_write(bench);
	assert_true(logged(&bench->captured, "with opcode 81"));
}

static void page_longer_than_a_transfer_is_split(struct part_bench *bench)
{
	part_bench_start(bench, PART, "typ");
	bench->wire.write_bytes_max = 11;
	bench->wire.read_bytes_max = 1000;
	part_bench_find(bench, PART);
	part_bench_noise(bench->image + 8000 * PAGE_BYTES, 2 * PAGE_BYTES, 3);
	part_bench_write(bench);
}

static void sleeping_part_is_woken_before_the_next_command(struct part_bench *bench)
{
	static const char *const names[] = {PART, NULL};

	for (size_t i = 0; i < 2; i++) {
		part_bench_start(bench, PART, "typ");
		PART_BENCH_SEND(bench, 0xb9);
		part_bench_pass_us(bench, 10);
		bench->goes_unheard = true;
		part_bench_find(bench, names[i]);
		bench->image[0] ^= 0xff;
		part_bench_write(bench);
		assert_false(logged(&bench->part_captured, "too early"));
	}
}

static void find_erasing_part(struct part_bench *bench, const char *name)
{
	part_bench_start(bench, PART, "max");
	PART_BENCH_SEND(bench, 0x50, 0, 0, 0);
	part_bench_find(bench, name);
	memset(bench->image, 0xff, 8 * PAGE_BYTES);
	part_bench_assert_holds_image(bench);
}

static void erase_of_an_earlier_session_is_waited_for(struct part_bench *bench)
{
	find_erasing_part(bench, PART);
}

/* Queries for other parts come first, and the busy part ignores them. */
static void erasing_part_is_found_without_its_name(struct part_bench *bench)
{
	find_erasing_part(bench, NULL);
	bench->goes_unheard = true;
	bench->image[0] = 0x00;
	part_bench_write(bench);
}

static void error_of_programmer_ends_the_write(struct part_bench *bench)
{
	for (unsigned int nth = 1; nth <= 3; nth++) {
		part_bench_start(bench, PART, "typ");
		part_bench_find(bench, PART);
		bench->fail_countdown = nth; /* buffer, page, status */
		assert_int_equal(
			dataflash_driver.program(&bench->flash, 0, bench->image, PAGE_BYTES), -EIO);
	}
}

/* Some parts of the 25 series erase with D7h. They answer 05h, which DataFlash does not. */
static void part_of_another_kind_is_not_sent_d7h(struct fake_registers *fake)
{
	uint32_t id;

	fake_part(fake, PART);
	memcpy(fake->answers[0x9f], (const uint8_t[]){0x9d, 0x60, 0x18}, 3);
	assert_int_equal(dataflash_id.ask(&fake->flash, &fake->chip, &id), 0);
	assert_int_equal(id, 0x9d6018);
	assert_null(strstr(fake->sent, "d7"));
}

/* Obeys 3Dh, which turns sector protection off and on. */
static void obey_protection(struct fake_registers *fake, const uint8_t *tx, size_t tx_bytes)
{
	if (tx[0] != 0x3d || tx_bytes != 4)
		return;
	if (tx[3] == 0x9a)
		fake->answers[0xd7][0] &= (uint8_t)~0x02;
	if (tx[3] == 0xa9)
		fake->answers[0xd7][0] |= 0x02;
}

/* Finds a part with that status. If bit 0 is set, its pages have 512 bytes. */
static void find_with_status(struct fake_registers *fake, uint8_t status)
{
	fake_registers_start(fake);
	fake->obey = obey_protection;
	memcpy(fake->answers[0x9f], (const uint8_t[]){0x1f, 0x27, 0x01, 0x00, 0x00}, 5);
	memset(fake->answers[0xd7], status, FAKE_ANSWER_BYTES);
	memset(fake->answers[0x05], 0xff, FAKE_ANSWER_BYTES);
	assert_int_equal(flash_probe(&fake->flash, chip_lists, NULL, false), 0);
	fake->sent[0] = '\0';
}

static void pages_of_512_bytes_are_found_and_addressed(struct fake_registers *fake)
{
	static const uint8_t page[512];
	const struct flash_chip *chip;

	find_with_status(fake, 0xb5);
	chip = fake->flash.chip;
	assert_string_equal(chip->name, PART);
	assert_int_equal(chip->size_bytes, 4194304);
	assert_int_equal(chip->page_bytes, 512);
	assert_int_equal(dataflash_driver.program(&fake->flash, 0x3ffe00, page, sizeof(page)), 0);
	assert_non_null(strstr(fake->sent, "88 3f fe 00; "));
	assert_int_equal(dataflash_driver.erase(&fake->flash, &chip->erase[1], 0x001000), 0);
	assert_non_null(strstr(fake->sent, "50 00 10 00; "));
	assert_int_equal(chip->erase[1].block_bytes, 4096);
}

static void pages_of_528_bytes_are_addressed_1024_apart(struct fake_registers *fake)
{
	static const uint32_t addresses[] = {527, 528, 4325375};
	uint8_t byte;

	find_with_status(fake, 0xb4);
	assert_int_equal(fake->flash.chip->page_bytes, PAGE_BYTES);
	for (size_t i = 0; i < COUNT(addresses); i++)
		assert_int_equal(dataflash_driver.read(&fake->flash, addresses[i], &byte, 1), 0);
	assert_sent(fake, "03 00 02 0f; 03 00 04 00; 03 7f fe 0f; ");
}

static void protection_is_lifted_and_restored(struct fake_registers *fake)
{
	find_with_status(fake, 0xb6);
	assert_int_equal(dataflash_driver.unprotect(&fake->flash, false), 0);
	assert_int_equal(fake->answers[0xd7][0], 0xb4);
	assert_int_equal(dataflash_driver.reprotect(&fake->flash), 0);
	assert_int_equal(fake->answers[0xd7][0], 0xb6);
	fake->sent[0] = '\0';
	assert_int_equal(dataflash_driver.reprotect(&fake->flash), 0);
	assert_sent(fake, "");
}

static void part_without_protection_is_not_sent_3dh(struct fake_registers *fake)
{
	find_with_status(fake, 0xb4);
	assert_int_equal(dataflash_driver.unprotect(&fake->flash, false), 0);
	assert_int_equal(dataflash_driver.reprotect(&fake->flash), 0);
	assert_null(strstr(fake->sent, "3d"));
}

/* While WP# is low, the sectors stay protected against all commands. */
static void protection_that_stays_is_an_error_unless_forced(struct fake_registers *fake)
{
	fake_part(fake, PART);
	memset(fake->answers[0xd7], 0xb6, FAKE_ANSWER_BYTES);
	assert_int_equal(fake_unprotect(fake, false), -EPERM);
	assert_int_equal(fake_unprotect(fake, true), 0);
	assert_true(logged(&fake->captured, "stays write-protected"));
}

static const struct CMUnitTest tests[] = {
	CASE_ON(part_bench, pages_are_erased_and_programmed_at_every_corner),
	CASE_ON(part_bench, page_is_erased_even_if_clearing_bits_is_enough),
	CASE_ON(part_bench, page_longer_than_a_transfer_is_split),
	CASE_ON(part_bench, sleeping_part_is_woken_before_the_next_command),
	CASE_ON(part_bench, erase_of_an_earlier_session_is_waited_for),
	CASE_ON(part_bench, erasing_part_is_found_without_its_name),
	CASE_ON(fake_registers, part_of_another_kind_is_not_sent_d7h),
	CASE_ON(part_bench, error_of_programmer_ends_the_write),
	CASE_ON(fake_registers, pages_of_512_bytes_are_found_and_addressed),
	CASE_ON(fake_registers, pages_of_528_bytes_are_addressed_1024_apart),
	CASE_ON(fake_registers, protection_is_lifted_and_restored),
	CASE_ON(fake_registers, part_without_protection_is_not_sent_3dh),
	CASE_ON(fake_registers, protection_that_stays_is_an_error_unless_forced),
};

RUN_CASES(tests)
