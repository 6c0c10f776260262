/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "spi25.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

enum opcode {
	OP_PAGE_PROGRAM = 0x02,
	OP_READ = 0x03,
	OP_WRITE_ENABLE = 0x06,
	OP_PAGE_PROGRAM_4 = 0x12,
	OP_READ_4 = 0x13,
	OP_SELECT_DIE = 0xc2,
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

static bool has_4_byte_opcodes(const struct flash_chip *chip)
{
	return chip->spi25.addresses == SPI25_ADDRESS_4_OPCODES;
}

int spi25_read(struct flash *flash, uint32_t address, uint8_t *data, size_t bytes)
{
	const uint8_t opcode = has_4_byte_opcodes(flash->chip) ? OP_READ_4 : OP_READ;

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
	const uint8_t opcode =
		has_4_byte_opcodes(flash->chip) ? OP_PAGE_PROGRAM_4 : OP_PAGE_PROGRAM;
	uint8_t tx[SPI25_HEADER_BYTES_MAX + SPI25_PAGE_BYTES_MAX];
	const size_t header = spi25_header(flash->chip, tx, opcode, address);

	memcpy(tx + header, data, bytes);
	return spi25_busy_command(
		flash, tx, header + bytes, &flash->chip->program, "a page program");
}

/* Splits what exceeds the longest transfer of the programmer into several page programs. */
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

/*
 * Winbond's stacks have several dies behind one chip select. All dies execute a command without an
 * address, but only one answers a status read: the die of the last address, or the selected one.
 */
static int select_die(struct flash *flash, uint8_t die)
{
	const uint8_t tx[] = {OP_SELECT_DIE, die};

	return spi_command(flash, tx, sizeof(tx), NULL, 0);
}

static int ask_die(struct flash *flash, uint8_t die, bool *ready)
{
	const int error = select_die(flash, die);

	return error == 0 ? spi25_ask_ready(flash, 0, ready) : error;
}

/* Goes from the last die down to the first, which stays selected, as after power-up. */
static int ask_all_ready(struct flash *flash, uint32_t address, bool *ready)
{
	int error = 0;

	(void)address;
	*ready = true;
	for (uint8_t die = flash->chip->spi25.dies; error == 0 && die > 0; die--) {
		bool die_ready = false;

		error = ask_die(flash, die - 1, &die_ready);
		*ready = *ready && die_ready;
	}
	return error;
}

/* Erases the whole chip, and waits until each of its dies is ready. */
static int erase_dies(struct flash *flash, const struct chip_erase *erase)
{
	int error = flash_await_power(flash, POWER_UP_WRITE_US_MAX);

	if (error == 0)
		error = spi_hold_command(flash, OP_WRITE_ENABLE);
	if (error == 0)
		error = spi_simple_command(flash, erase->opcode);
	return error == 0 ? busy_wait(flash, &erase->busy, "an erase", ask_all_ready, 0) : error;
}

int spi25_erase(struct flash *flash, const struct chip_erase *erase, uint32_t address)
{
	const bool whole_chip = erase->block_bytes == flash->chip->size_bytes;
	uint8_t tx[SPI25_HEADER_BYTES_MAX];
	const size_t header = spi25_header(flash->chip, tx, erase->opcode, address);

	if (whole_chip && flash->chip->spi25.dies > 0)
		return erase_dies(flash, erase);
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
