/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * AT25DF: a part of the 25 series with a protection register for each sector of 64 KiB, all of them
 * set at power-up. A status register write sets or clears them together, unless SPRL locks them
 * (AT25DF641 datasheet, "Global Protect/Unprotect").
 */
#include "spi25.h"

#include <assert.h>
#include <string.h>

enum opcode {
	OP_STATUS_WRITE = 0x01,
	OP_SECTOR_PROTECT = 0x36,
	OP_SECTOR_READ = 0x3c,
};

#define SECTOR_BYTES UINT32_C(65536)

#define STATUS_SECTORS 0x0c /* protected: none 00, some 01, all 11 */
#define STATUS_SECTORS_ALL 0x0c
#define STATUS_LOCKED 0x80

/* Bits 5 to 2 of a status register write; any other value leaves the sectors as they are. */
#define GLOBAL_UNPROTECT 0x00
#define GLOBAL_PROTECT 0x3c
#define GLOBAL_LEAVE 0x04

static uint32_t sector_count(const struct flash_chip *chip)
{
	return chip->size_bytes / SECTOR_BYTES;
}

static int write_status(struct flash *flash, uint8_t status)
{
	const uint8_t tx[] = {OP_STATUS_WRITE, status};

	return spi25_busy_command(
		flash, tx, sizeof(tx), &flash->chip->spi25.status_write, "a status register write");
}

static int read_sector(struct flash *flash, uint32_t sector, uint8_t *blocks)
{
	uint8_t tx[SPI25_HEADER_BYTES_MAX], set;
	const size_t header = spi25_header(flash->chip, tx, OP_SECTOR_READ, sector * SECTOR_BYTES);
	const int error = spi_command(flash, tx, header, &set, 1);

	if (error == 0 && set != 0)
		blocks[sector / 8] |= (uint8_t)(1u << sector % 8);
	return error;
}

static int read_sectors(struct flash *flash, uint8_t *blocks)
{
	int error = 0;

	assert(sector_count(flash->chip) <= 8 * PROTECTION_BLOCK_BYTES_MAX);
	for (uint32_t sector = 0; sector < sector_count(flash->chip) && error == 0; sector++)
		error = read_sector(flash, sector, blocks);
	return error;
}

static int protect_sector(struct flash *flash, uint32_t sector)
{
	uint8_t tx[SPI25_HEADER_BYTES_MAX];
	const size_t header =
		spi25_header(flash->chip, tx, OP_SECTOR_PROTECT, sector * SECTOR_BYTES);

	return spi25_busy_command(flash, tx, header, &flash->chip->spi25.status_write,
		"a write of a sector's protection");
}

static int protect_sectors(struct flash *flash, const uint8_t *blocks)
{
	int error = 0;

	for (uint32_t sector = 0; sector < sector_count(flash->chip) && error == 0; sector++) {
		if ((blocks[sector / 8] & 1u << sector % 8) != 0)
			error = protect_sector(flash, sector);
	}
	return error;
}

static bool all_protected(uint8_t status)
{
	return (status & STATUS_SECTORS) == STATUS_SECTORS_ALL;
}

/* While SPRL is set, a status register write only clears SPRL, so a second one is needed. */
static int unprotect_all(struct flash *flash, bool force)
{
	uint8_t status = flash->protection.status;
	int error = 0;

	if ((status & STATUS_LOCKED) != 0)
		error = write_status(flash, GLOBAL_UNPROTECT);
	if (error == 0)
		error = write_status(flash, GLOBAL_UNPROTECT);
	if (error == 0)
		error = spi25_status_read(flash, &status);
	if (error == 0 && (status & STATUS_SECTORS) != 0)
		error = spi25_report_protected(flash, force);
	return error;
}

static int at25df_unprotect(struct flash *flash, bool force)
{
	struct protection *protection = &flash->protection;
	int error;

	*protection = (struct protection){0};
	error = spi25_status_read(flash, &protection->status);
	if (error != 0 || (protection->status & STATUS_SECTORS) == 0)
		return error;
	log_debug(flash->log, "Lifting sector protection (status register 0x%02x).\n",
		protection->status);
	if (!all_protected(protection->status))
		error = read_sectors(flash, protection->blocks);
	if (error != 0)
		return error;
	protection->lifted = true;
	return unprotect_all(flash, force);
}

static int at25df_reprotect(struct flash *flash)
{
	const struct protection *protection = &flash->protection;
	const uint8_t locked = protection->status & STATUS_LOCKED;
	int error;

	if (!protection->lifted)
		return 0;
	flash->protection.lifted = false;
	if (all_protected(protection->status))
		return write_status(flash, locked | GLOBAL_PROTECT);
	error = protect_sectors(flash, protection->blocks);
	return error == 0 && locked != 0 ? write_status(flash, locked | GLOBAL_LEAVE) : error;
}

const struct chip_driver at25df_driver = {
	.open = spi25_open,
	.close = spi25_close,
	.read = spi25_read,
	.program = spi25_program,
	.erase = spi25_erase,
	.unprotect = at25df_unprotect,
	.reprotect = at25df_reprotect,
};
