/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <assert.h>
#include <string.h>

#include "spi25.h"

enum opcode {
	OP_READ = 0x03,
	OP_BUFFER_WRITE = 0x84,
	OP_BUFFER_TO_ERASED_PAGE = 0x88,
	OP_STATUS_READ = 0xd7,
};

#define STATUS_POWER_OF_TWO 0x01
#define STATUS_PROTECTED 0x02
#define STATUS_READY 0x80

#define HEADER_BYTES 4

/* The operation of an unknown part. The longest one, a chip erase, takes minutes. */
static const struct busy_time unknown_operation = {.typ_us = 45000, .max_us = 250000000};

static int read_status(struct flash *flash, uint8_t *status)
{
	const uint8_t opcode = OP_STATUS_READ;

	return spi_command(flash, &opcode, 1, status, 1);
}

static int ask_ready(struct flash *flash, uint32_t address, bool *ready)
{
	uint8_t status;
	const int error = read_status(flash, &status);

	(void)address;
	if (error == 0)
		*ready = (status & STATUS_READY) != 0;
	return error;
}

/* A busy part answers its status read (D7h), but not RDID. */
static int wait_for_earlier_operation(struct flash *flash)
{
	uint8_t status;
	const int error = read_status(flash, &status);

	if (error != 0 || status == SPI25_FLOATING || (status & STATUS_READY) != 0)
		return error;
	log_info(flash->log, "The chip is busy with an earlier operation, waiting for its end.\n");
	return busy_wait(flash, &unknown_operation, "this session", ask_ready, 0);
}

/*
 * Without -c the part may be one of the 25 series, some of which erase with D7h, the status read of
 * DataFlash. So 05h is sent first: the 25 series answers it, and DataFlash does not.
 */
static int wait_if_of_this_kind(struct flash *flash)
{
	uint8_t status = SPI25_FLOATING;
	const int error = flash->is_named ? 0 : spi25_status_read(flash, &status);

	if (error != 0 || status != SPI25_FLOATING)
		return error;
	return wait_for_earlier_operation(flash);
}

static int ask_id(struct flash *flash, const struct flash_chip *chip, uint32_t *id)
{
	const int error = wait_if_of_this_kind(flash);

	return error == 0 ? spi25_rdid.ask(flash, chip, id) : error;
}

static uint32_t without_extra(uint32_t bytes)
{
	return bytes / 33 * 32;
}

/* The table has the pages of the factory: 33 bytes for every 32 of a power of two, such as 264. */
static int describe(struct flash *flash, struct flash_chip *chip)
{
	uint8_t status;
	const int error = read_status(flash, &status);

	if (error != 0 || (status & STATUS_POWER_OF_TWO) == 0)
		return error;
	chip->size_bytes = without_extra(chip->size_bytes);
	chip->page_bytes = without_extra(chip->page_bytes);
	for (size_t i = 0; i < chip_erase_count(chip); i++)
		chip->erase[i].block_bytes = without_extra(chip->erase[i].block_bytes);
	return 0;
}

const struct identify_method dataflash_id = {
	.ask = ask_id,
	.describe = describe,
};

/* Returns how many bits of an address select a byte within a page. */
static unsigned int offset_bits(uint32_t page_bytes)
{
	unsigned int bits = 0;

	while (UINT32_C(1) << bits < page_bytes)
		bits++;
	return bits;
}

static void put_header(uint8_t *tx, uint8_t opcode, const struct flash_chip *chip, uint32_t address)
{
	const uint32_t page = address / chip->page_bytes;
	const uint32_t offset = address % chip->page_bytes;
	const uint32_t code = page << offset_bits(chip->page_bytes) | offset;

	tx[0] = opcode;
	tx[1] = (uint8_t)(code >> 16);
	tx[2] = (uint8_t)(code >> 8);
	tx[3] = (uint8_t)code;
}

/* A read that reaches the end of a page continues with the next page. */
static int dataflash_read(struct flash *flash, uint32_t address, uint8_t *data, size_t bytes)
{
	for (size_t at = 0; at < bytes;) {
		const size_t chunk = min_size(bytes - at, flash->programmer->read_bytes_max);
		uint8_t tx[HEADER_BYTES];
		int error;

		put_header(tx, OP_READ, flash->chip, address + (uint32_t)at);
		error = spi_command(flash, tx, sizeof(tx), data + at, chunk);
		if (error != 0)
			return error;
		at += chunk;
	}
	return 0;
}

/* Fills the part's buffer; this does not make the part busy. */
static int fill_buffer(struct flash *flash, const uint8_t *data, size_t bytes)
{
	const size_t most = flash->programmer->write_bytes_max - HEADER_BYTES;
	uint8_t tx[HEADER_BYTES + DATAFLASH_PAGE_BYTES_MAX];

	for (size_t at = 0; at < bytes;) {
		const size_t chunk = min_size(bytes - at, most);
		int error;

		put_header(tx, OP_BUFFER_WRITE, flash->chip, (uint32_t)at);
		memcpy(tx + HEADER_BYTES, data + at, chunk);
		error = spi_command(flash, tx, HEADER_BYTES + chunk, NULL, 0);
		if (error != 0)
			return error;
		at += chunk;
	}
	return 0;
}

static int page_command(struct flash *flash, uint8_t opcode, uint32_t address,
	const struct busy_time *busy, const char *what)
{
	uint8_t tx[HEADER_BYTES];
	int error;

	put_header(tx, opcode, flash->chip, address);
	error = spi_command(flash, tx, sizeof(tx), NULL, 0);
	return error == 0 ? busy_wait(flash, busy, what, ask_ready, 0) : error;
}

static int dataflash_program(
	struct flash *flash, uint32_t address, const uint8_t *data, size_t bytes)
{
	const struct flash_chip *chip = flash->chip;
	int error;

	assert(bytes == chip->page_bytes && bytes <= DATAFLASH_PAGE_BYTES_MAX);
	error = fill_buffer(flash, data, bytes);
	if (error != 0)
		return error;
	return page_command(
		flash, OP_BUFFER_TO_ERASED_PAGE, address, &chip->program, "a page program");
}

static int dataflash_erase(struct flash *flash, const struct chip_erase *erase, uint32_t address)
{
	return page_command(flash, erase->opcode, address, &erase->busy, "an erase");
}

/* Enables or disables the protection of the sectors that the sector protection register selects. */
static int set_protection(struct flash *flash, bool enabled)
{
	const uint8_t tx[] = {0x3d, 0x2a, 0x7f, enabled ? 0xa9 : 0x9a};

	return spi_command(flash, tx, sizeof(tx), NULL, 0);
}

static int read_protection(struct flash *flash, uint8_t *status, bool *enabled)
{
	const int error = read_status(flash, status);

	if (error == 0)
		*enabled = (*status & STATUS_PROTECTED) != 0;
	return error;
}

static int dataflash_unprotect(struct flash *flash, bool force)
{
	uint8_t status;
	bool enabled;
	int error = read_protection(flash, &status, &enabled);

	if (error != 0 || !enabled)
		return error;
	log_debug(flash->log, "Disabling sector protection (status register 0x%02x).\n", status);
	flash->protection = (struct protection){.lifted = true};
	error = set_protection(flash, false);
	if (error == 0)
		error = read_protection(flash, &status, &enabled);
	if (error == 0 && enabled)
		error = spi25_report_protected(flash, force);
	return error;
}

static int dataflash_reprotect(struct flash *flash)
{
	if (!flash->protection.lifted)
		return 0;
	flash->protection.lifted = false;
	return set_protection(flash, true);
}

const struct chip_driver dataflash_driver = {
	.read = dataflash_read,
	.program = dataflash_program,
	.erase = dataflash_erase,
	.unprotect = dataflash_unprotect,
	.reprotect = dataflash_reprotect,
};
