/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "spi25.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

enum opcode {
	OP_STATUS_WRITE = 0x01,
	OP_PAGE_PROGRAM = 0x02,
	OP_READ = 0x03,
	OP_STATUS_READ = 0x05,
	OP_WRITE_ENABLE = 0x06,
	OP_STATUS_2_READ = 0x35,
	OP_JEDEC_ID = 0x9f,
	OP_RELEASE_POWER_DOWN = 0xab,
};

#define STATUS_BUSY 0x01
#define STATUS_FLOATING 0xff

#define ID_LOW UINT32_C(0x000000)
#define ID_HIGH UINT32_C(0xffffff)

#define ADDRESS_BYTES 3
#define HEADER_BYTES (1 + ADDRESS_BYTES)
#define PAGE_BYTES_MAX 512

/* What a part found busy before it is known may have been doing; a chip erase takes minutes. */
static const struct busy_time unknown_operation = {.typ_us = 800000, .max_us = 250000000};

int spi_command(
	struct flash *flash, const uint8_t *tx, size_t tx_bytes, uint8_t *rx, size_t rx_bytes)
{
	return flash->programmer->ops->spi_command(flash->programmer, tx, tx_bytes, rx, rx_bytes);
}

int spi_simple_command(struct flash *flash, uint8_t opcode)
{
	return spi_command(flash, &opcode, 1, NULL, 0);
}

static void put_header(uint8_t *tx, uint8_t opcode, uint32_t address)
{
	tx[0] = opcode;
	tx[1] = (uint8_t)(address >> 16);
	tx[2] = (uint8_t)(address >> 8);
	tx[3] = (uint8_t)address;
}

static size_t min_size(size_t a, size_t b)
{
	return a < b ? a : b;
}

int spi25_status_read(struct flash *flash, uint8_t *status)
{
	const uint8_t opcode = OP_STATUS_READ;

	return spi_command(flash, &opcode, 1, status, 1);
}

static int ask_ready(struct flash *flash, uint32_t address, bool *ready)
{
	uint8_t status;
	const int error = spi25_status_read(flash, &status);

	(void)address;
	if (error == 0)
		*ready = (status & STATUS_BUSY) == 0;
	return error;
}

int spi25_busy_command(struct flash *flash, const uint8_t *tx, size_t tx_bytes,
	const struct busy_time *busy, const char *what)
{
	int error = spi_simple_command(flash, OP_WRITE_ENABLE);

	if (error == 0)
		error = spi_command(flash, tx, tx_bytes, NULL, 0);
	if (error == 0)
		error = busy_wait(flash, busy, what, ask_ready, 0);
	return error;
}

static int read_id(struct flash *flash, uint32_t *jedec_id)
{
	const uint8_t opcode = OP_JEDEC_ID;
	uint8_t id[3];
	const int error = spi_command(flash, &opcode, 1, id, sizeof(id));

	if (error == 0)
		*jedec_id = (uint32_t)id[0] << 16 | (uint32_t)id[1] << 8 | id[2];
	return error;
}

static bool is_silence(uint32_t jedec_id)
{
	return jedec_id == ID_LOW || jedec_id == ID_HIGH;
}

/* A part that an interrupted session left erasing ignores everything but status reads. */
static int wait_for_earlier_operation(struct flash *flash)
{
	uint8_t status;
	const int error = spi25_status_read(flash, &status);

	if (error != 0 || status == STATUS_FLOATING || (status & STATUS_BUSY) == 0)
		return error;
	log_info(flash->log, "The chip is busy with an earlier operation, waiting for its end.\n");
	return busy_wait(flash, &unknown_operation, "this session", ask_ready, 0);
}

/* Powered down, a part answers to nothing, not even status reads: only here is a wait blind. */
static int wake(struct flash *flash)
{
	const int error = spi_simple_command(flash, OP_RELEASE_POWER_DOWN);

	return error == 0 ? flash_wait_us(flash, SPI25_WAKE_US_MAX) : error;
}

static int ask_rdid(struct flash *flash, const struct flash_chip *chip, uint32_t *id)
{
	int error = wait_for_earlier_operation(flash);

	(void)chip;
	if (error == 0)
		error = read_id(flash, id);
	if (error != 0 || !is_silence(*id))
		return error;
	error = wake(flash);
	return error == 0 ? read_id(flash, id) : error;
}

const struct identify_method spi25_rdid = {
	.ask = ask_rdid,
};

static int spi25_read(struct flash *flash, uint32_t address, uint8_t *data, size_t bytes)
{
	while (bytes > 0) {
		const size_t chunk = min_size(bytes, flash->programmer->read_bytes_max);
		uint8_t tx[HEADER_BYTES];
		int error;

		put_header(tx, OP_READ, address);
		error = spi_command(flash, tx, sizeof(tx), data, chunk);
		if (error != 0)
			return error;
		address += (uint32_t)chunk;
		data += chunk;
		bytes -= chunk;
	}
	return 0;
}

static int program_once(struct flash *flash, uint32_t address, const uint8_t *data, size_t bytes)
{
	uint8_t tx[HEADER_BYTES + PAGE_BYTES_MAX];

	put_header(tx, OP_PAGE_PROGRAM, address);
	memcpy(tx + HEADER_BYTES, data, bytes);
	return spi25_busy_command(
		flash, tx, HEADER_BYTES + bytes, &flash->chip->program, "a page program");
}

/* A programmer of little memory takes a page in parts. */
static int spi25_program(struct flash *flash, uint32_t address, const uint8_t *data, size_t bytes)
{
	const size_t most = flash->programmer->write_bytes_max - HEADER_BYTES;

	assert(bytes <= PAGE_BYTES_MAX);
	while (bytes > 0) {
		const size_t chunk = min_size(bytes, most);
		const int error = program_once(flash, address, data, chunk);

		if (error != 0)
			return error;
		address += (uint32_t)chunk;
		data += chunk;
		bytes -= chunk;
	}
	return 0;
}

static int spi25_erase(struct flash *flash, const struct chip_erase *erase, uint32_t address)
{
	const bool whole_chip = erase->block_bytes == flash->chip->size_bytes;
	uint8_t tx[HEADER_BYTES];

	put_header(tx, erase->opcode, address);
	return spi25_busy_command(
		flash, tx, whole_chip ? 1 : HEADER_BYTES, &erase->busy, "an erase");
}

int spi25_status_write(struct flash *flash, uint8_t status)
{
	const struct spi25_traits *traits = &flash->chip->spi25;
	const uint8_t opcode = OP_STATUS_2_READ;
	uint8_t tx[3] = {OP_STATUS_WRITE, status};
	size_t tx_bytes = 2;

	if (traits->status_two_bytes) {
		const int error = spi_command(flash, &opcode, 1, &tx[2], 1);

		if (error != 0)
			return error;
		tx_bytes = 3;
	}
	return spi25_busy_command(
		flash, tx, tx_bytes, &traits->status_write, "a status register write");
}

const struct chip_driver spi25_driver = {
	.read = spi25_read,
	.program = spi25_program,
	.erase = spi25_erase,
	.unprotect = spi25_unprotect,
	.reprotect = spi25_reprotect,
};
