/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "spi25.h"

#include <assert.h>
#include <string.h>

enum opcode {
	OP_PAGE_PROGRAM = 0x02,
	OP_READ = 0x03,
	OP_PAGE_PROGRAM_4 = 0x12,
	OP_READ_4 = 0x13,
};

size_t spi25_header_bytes(const struct flash_chip *chip)
{
	return chip->spi25.addresses == SPI25_ADDRESS_3 ? 4 : 5;
}

size_t spi25_header(const struct flash_chip *chip, uint8_t *tx, uint8_t opcode, uint32_t address)
{
	const size_t bytes = spi25_header_bytes(chip);

	tx[0] = opcode;
	for (size_t i = bytes - 1; i > 0; i--) {
		tx[i] = (uint8_t)address;
		address >>= 8;
	}
	return bytes;
}

static bool has_own_opcodes(const struct flash_chip *chip)
{
	return chip->spi25.addresses == SPI25_ADDRESS_4_OPCODES;
}

int spi25_read(struct flash *flash, uint32_t address, uint8_t *data, size_t bytes)
{
	const uint8_t opcode = has_own_opcodes(flash->chip) ? OP_READ_4 : OP_READ;

	while (bytes > 0) {
		const size_t chunk = min_size(bytes, flash->programmer->read_bytes_max);
		uint8_t tx[SPI25_HEADER_BYTES_MAX];
		const size_t header = spi25_header(flash->chip, tx, opcode, address);
		const int error = spi_command(flash, tx, header, data, chunk);

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
	const uint8_t opcode = has_own_opcodes(flash->chip) ? OP_PAGE_PROGRAM_4 : OP_PAGE_PROGRAM;
	uint8_t tx[SPI25_HEADER_BYTES_MAX + SPI25_PAGE_BYTES_MAX];
	const size_t header = spi25_header(flash->chip, tx, opcode, address);

	memcpy(tx + header, data, bytes);
	return spi25_busy_command(
		flash, tx, header + bytes, &flash->chip->program, "a page program");
}

/* A programmer with little memory gets a page in pieces. */
int spi25_program(struct flash *flash, uint32_t address, const uint8_t *data, size_t bytes)
{
	const size_t most = flash->programmer->write_bytes_max - spi25_header_bytes(flash->chip);

	assert(bytes <= SPI25_PAGE_BYTES_MAX);
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

int spi25_erase(struct flash *flash, const struct chip_erase *erase, uint32_t address)
{
	const bool whole_chip = erase->block_bytes == flash->chip->size_bytes;
	uint8_t tx[SPI25_HEADER_BYTES_MAX];
	const size_t header = spi25_header(flash->chip, tx, erase->opcode, address);

	if (whole_chip && flash->chip->spi25.dies > 0)
		return spi25_erase_dies(flash, erase);
	return spi25_busy_command(flash, tx, whole_chip ? 1 : header, &erase->busy, "an erase");
}

const struct chip_driver spi25_driver = {
	.open = spi25_open,
	.close = spi25_close,
	.read = spi25_read,
	.program = spi25_program,
	.erase = spi25_erase,
	.unprotect = spi25_unprotect,
	.reprotect = spi25_reprotect,
};
