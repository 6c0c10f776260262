/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every kind of write protection is lifted, and restored exactly afterwards. */
#include <errno.h>

#include "fake_registers.h"

FIXTURE(fake_registers, fake_registers_start, NOTHING);

/* Obeys 01h, 31h and 11h, which write the registers of 05h, 35h and 15h. */
static void obey_status(struct fake_registers *fake, const uint8_t *tx, size_t tx_bytes)
{
	if (tx[0] == 0x01)
		fake->answers[0x05][0] = tx[1];
	if (tx[0] == 0x01 && tx_bytes > 2)
		fake->answers[0x35][0] = tx[2];
	if (tx[0] == 0x31)
		fake->answers[0x35][0] = tx[1];
	if (tx[0] == 0x11)
		fake->answers[0x15][0] = tx[1];
}

static void start(struct fake_registers *fake, const char *part, const struct spi25_status *status)
{
	fake_part(fake, part);
	fake->obey = obey_status;
	fake->answers[0x05][0] = status->first;
	fake->answers[0x35][0] = status->second;
	fake->answers[0x15][0] = status->third;
}

static void assert_status(const struct fake_registers *fake, const struct spi25_status *status)
{
	assert_int_equal(fake->answers[0x05][0], status->first);
	assert_int_equal(fake->answers[0x35][0], status->second);
	assert_int_equal(fake->answers[0x15][0], status->third);
}

struct protection_case {
	const char *name;
	struct spi25_status found;
	struct spi25_status lifted;
};

static const struct protection_case cases[] = {
	/* Block bits; QE and the register lock bit keep their values. */
	{"W25Q128.V", {0x9c, 0x02, 0x60}, {0x80, 0x02, 0x60}},
	/* Sector, top/bottom and complement bits: the complement of no block is all blocks. */
	{"W25Q128.V", {0x60, 0x42, 0x60}, {0x00, 0x02, 0x60}},
	/* Individual block locks. */
	{"W25Q128.V", {0x00, 0x02, 0x64}, {0x00, 0x02, 0x60}},
	{"W25Q16.V", {0x1c, 0x42, 0xff}, {0x00, 0x02, 0xff}},
	{"GD25Q127C/GD25Q128C", {0x7c, 0x42, 0xff}, {0x00, 0x02, 0xff}},
	{"GD25Q16(B)", {0x04, 0x00, 0xff}, {0x00, 0x00, 0xff}},
	{"MX25L12833F/MX25L12835F/MX25L12845E/MX25L12865E/MX25L12873F", {0x7c, 0xff, 0xff},
		{0x40, 0xff, 0xff}},
	{"N25Q128..3E", {0x7c, 0xff, 0xff}, {0x00, 0xff, 0xff}},
	{"S25FL128S......1", {0x1c, 0x02, 0xff}, {0x00, 0x02, 0xff}},
	{"S25FL128L", {0x5c, 0x42, 0xff}, {0x00, 0x02, 0xff}},
	{"IS25LP128", {0x7c, 0xff, 0xff}, {0x40, 0xff, 0xff}},
	{"AT25SF161", {0x7c, 0x42, 0xff}, {0x00, 0x02, 0xff}},
	{"EN25QH64", {0x3c, 0xff, 0xff}, {0x00, 0xff, 0xff}},
	{"M25P80", {0x9c, 0xff, 0xff}, {0x80, 0xff, 0xff}},
};

static void protection_bits_are_cleared_and_restored(struct fake_registers *fake)
{
	for (size_t i = 0; i < COUNT(cases); i++) {
		start(fake, cases[i].name, &cases[i].found);
		assert_int_equal(fake_unprotect(fake, false), 0);
		assert_status(fake, &cases[i].lifted);
		assert_int_equal(fake_reprotect(fake), 0);
		assert_status(fake, &cases[i].found);
		assert_int_equal(fake_reprotect(fake), 0);
	}
}

static void part_without_protection_is_not_written(struct fake_registers *fake)
{
	start(fake, "W25Q128.V", &(struct spi25_status){0x80, 0x02, 0x60});
	assert_int_equal(fake_unprotect(fake, false), 0);
	assert_int_equal(fake_reprotect(fake), 0);
	assert_sent(fake, "05; 35; 15; ");
}

/* Obeys while WP# is low: only the second register can be written. */
static void obey_second_only(struct fake_registers *fake, const uint8_t *tx, size_t tx_bytes)
{
	if (tx[0] == 0x01 && tx_bytes > 2)
		fake->answers[0x35][0] = tx[2];
}

static void protection_that_partly_stays_is_reported_and_restored(struct fake_registers *fake)
{
	static const struct spi25_status found = {0x9c, 0x42, 0x60};

	for (unsigned int force = 0; force < 2; force++) {
		start(fake, "W25Q128.V", &found);
		fake->obey = obey_second_only;
		assert_int_equal(fake_unprotect(fake, force), force ? 0 : -EPERM);
		assert_true(logged(&fake->captured, "stays write-protected"));
		assert_int_equal(fake->answers[0x35][0], 0x02);
		assert_int_equal(fake_reprotect(fake), 0);
		assert_status(fake, &found);
	}
}

static void protection_is_restored_after_an_error_of_any_command(struct fake_registers *fake)
{
	static const struct spi25_status found = {0x1c, 0x42, 0x64};

	for (unsigned int nth = 1; nth <= 12; nth++) {
		start(fake, "W25Q128.V", &found);
		fake->fail_countdown = nth;
		assert_int_equal(fake_unprotect(fake, false), -EIO);
		assert_int_equal(fake_reprotect(fake), 0);
		assert_status(fake, &found);
	}
}

/* Obeys 42h, which writes the block lock register of an SST26VF064B, and 98h, which clears it. */
static void obey_locks(struct fake_registers *fake, const uint8_t *tx, size_t tx_bytes)
{
	if (tx[0] == 0x42)
		memcpy(fake->answers[0x72], tx + 1, tx_bytes - 1);
	if (tx[0] == 0x98)
		memset(fake->answers[0x72], 0, 18);
}

static void block_locks_are_cleared_and_restored(struct fake_registers *fake)
{
	uint8_t found[18];

	fake_part(fake, "SST26VF064B(A)");
	fake->obey = obey_locks;
	for (uint8_t i = 0; i < sizeof(found); i++)
		found[i] = (uint8_t)(0x55 + i);
	memcpy(fake->answers[0x72], found, sizeof(found));
	assert_int_equal(fake_unprotect(fake, false), 0);
	assert_sent(fake, "72; 06; 98; 05; 72; ");
	assert_int_equal(fake->answers[0x72][0], 0);
	assert_int_equal(fake_reprotect(fake), 0);
	assert_memory_equal(fake->answers[0x72], found, sizeof(found));
}

static void blocks_without_locks_are_not_written(struct fake_registers *fake)
{
	fake_part(fake, "SST26VF064B(A)");
	memset(fake->answers[0x72], 0, 18);
	assert_int_equal(fake_unprotect(fake, false), 0);
	assert_int_equal(fake_reprotect(fake), 0);
	assert_sent(fake, "72; ");
}

static void unreadable_block_locks_are_cleared_and_not_restored(struct fake_registers *fake)
{
	fake_part(fake, "SST26VF064B(A)");
	assert_int_equal(fake_unprotect(fake, false), 0);
	assert_int_equal(fake_reprotect(fake), 0);
	assert_sent(fake, "72; 06; 98; 05; 72; ");
}

static void block_locks_longer_than_a_transfer_are_refused(struct fake_registers *fake)
{
	fake_part(fake, "SST26VF064B(A)");
	fake->base.write_bytes_max = 18;
	assert_int_equal(fake_unprotect(fake, false), -ENOTSUP);
	fake->base.write_bytes_max = 19;
	fake->base.read_bytes_max = 17;
	assert_int_equal(fake_unprotect(fake, false), -ENOTSUP);
	assert_sent(fake, "");
	fake->base.read_bytes_max = 18;
	assert_int_equal(fake_unprotect(fake, false), 0);
}

static void block_lock_that_stays_is_reported(struct fake_registers *fake)
{
	fake_part(fake, "SST26VF064B(A)");
	memset(fake->answers[0x72], 0, 18);
	fake->answers[0x72][17] = 0x01;
	assert_int_equal(fake_unprotect(fake, false), -EPERM);
	assert_int_equal(fake_unprotect(fake, true), 0);
	assert_true(logged(&fake->captured, "stays write-protected:"));
}

/* The sector registers of an AT25DF641, one bit each, in the unused answer of 36h. */
#define SECTORS 128
#define SECTOR_MAP_BYTES (SECTORS / 8)

static uint8_t *sector_map(struct fake_registers *fake)
{
	return fake->answers[0x36];
}

static bool is_set(struct fake_registers *fake, unsigned int sector)
{
	return (sector_map(fake)[sector / 8] >> sector % 8 & 1) != 0;
}

static void show_sectors(struct fake_registers *fake)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < SECTORS; i++)
		count += is_set(fake, i);
	fake->answers[0x05][0] &= 0x80;
	fake->answers[0x05][0] |= count == 0 ? 0x00 : count == SECTORS ? 0x0c : 0x04;
}

static void write_at25df_status(struct fake_registers *fake, uint8_t status)
{
	const bool locked = (fake->answers[0x05][0] & 0x80) != 0;

	fake->answers[0x05][0] = status & 0x80;
	if (!locked && (status & 0x3c) == 0x3c)
		memset(sector_map(fake), 0xff, SECTOR_MAP_BYTES);
	if (!locked && (status & 0x3c) == 0x00)
		memset(sector_map(fake), 0x00, SECTOR_MAP_BYTES);
}

static void obey_sectors(struct fake_registers *fake, const uint8_t *tx, size_t tx_bytes)
{
	if (tx[0] == 0x01)
		write_at25df_status(fake, tx[1]);
	if (tx[0] == 0x36 && (fake->answers[0x05][0] & 0x80) == 0)
		sector_map(fake)[tx[1] / 8] |= (uint8_t)(1u << tx[1] % 8);
	/* Sets the answer to the next 3Ch, since sectors are read in order. */
	if (tx[0] == 0x3c && tx_bytes == 4)
		fake->answers[0x3c][0] = is_set(fake, (tx[1] + 1u) % SECTORS) ? 0xff : 0x00;
	show_sectors(fake);
}

static void start_sectors(struct fake_registers *fake, const uint8_t *map, bool locked)
{
	fake_part(fake, "AT25DF641(A)");
	fake->obey = obey_sectors;
	fake->answers[0x05][0] = locked ? 0x80 : 0x00;
	memcpy(sector_map(fake), map, SECTOR_MAP_BYTES);
	show_sectors(fake);
	fake->answers[0x3c][0] = is_set(fake, 0) ? 0xff : 0x00;
}

static void sectors_are_unlocked_and_restored(struct fake_registers *fake)
{
	static const uint8_t patterns[] = {0xff, 0x00, 0xa5, 0x01};
	uint8_t found[SECTOR_MAP_BYTES], status;

	for (unsigned int i = 0; i < 2 * sizeof(patterns); i++) {
		memset(found, patterns[i / 2], sizeof(found));
		start_sectors(fake, found, i % 2 != 0);
		status = fake->answers[0x05][0];
		assert_int_equal(fake_unprotect(fake, false), 0);
		assert_int_equal(fake->answers[0x05][0] & 0x0c, 0);
		assert_int_equal(fake_reprotect(fake), 0);
		assert_memory_equal(sector_map(fake), found, sizeof(found));
		assert_int_equal(fake->answers[0x05][0], status);
	}
}

static void sectors_that_stay_locked_are_reported(struct fake_registers *fake)
{
	fake_part(fake, "AT25DF641(A)");
	fake->answers[0x05][0] = 0x8c;
	assert_int_equal(fake_unprotect(fake, false), -EPERM);
	assert_true(logged(&fake->captured, "stays write-protected"));
}

static const struct CMUnitTest tests[] = {
	CASE_ON(fake_registers, protection_bits_are_cleared_and_restored),
	CASE_ON(fake_registers, part_without_protection_is_not_written),
	CASE_ON(fake_registers, protection_that_partly_stays_is_reported_and_restored),
	CASE_ON(fake_registers, protection_is_restored_after_an_error_of_any_command),
	CASE_ON(fake_registers, block_locks_are_cleared_and_restored),
	CASE_ON(fake_registers, blocks_without_locks_are_not_written),
	CASE_ON(fake_registers, unreadable_block_locks_are_cleared_and_not_restored),
	CASE_ON(fake_registers, block_locks_longer_than_a_transfer_are_refused),
	CASE_ON(fake_registers, block_lock_that_stays_is_reported),
	CASE_ON(fake_registers, sectors_are_unlocked_and_restored),
	CASE_ON(fake_registers, sectors_that_stay_locked_are_reported),
};

RUN_CASES(tests)
