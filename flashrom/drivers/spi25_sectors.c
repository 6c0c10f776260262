/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Small sectors beside large ones (S25FS-S): there D8h erases only the rest of a large sector. A
 * bit of a configuration register makes all sectors equal. Only the volatile copy of the register
 * is written, which takes effect at once; the stored value stays as it is.
 */
#include <errno.h>

#include "spi25.h"

enum opcode {
	OP_WRITE_ENABLE = 0x06,
	OP_REGISTER_READ = 0x65,
	OP_REGISTER_WRITE = 0x71,
};

static int read_register(struct flash *flash, uint8_t *value)
{
	uint8_t tx[SPI25_HEADER_BYTES_MAX + 1] = {0};
	const uint32_t address = flash->chip->spi25.uniform_sectors.address;
	const size_t header = spi25_header(flash->chip, tx, OP_REGISTER_READ, address);

	return spi_command(flash, tx, header + 1, value, 1);
}

static int write_register(struct flash *flash, uint8_t value)
{
	uint8_t tx[SPI25_HEADER_BYTES_MAX + 1] = {0};
	const uint32_t address = flash->chip->spi25.uniform_sectors.address;
	const size_t header = spi25_header(flash->chip, tx, OP_REGISTER_WRITE, address);
	int error = flash_await_power(flash, POWER_UP_WRITE_US_MAX);

	tx[header] = value;
	if (error == 0)
		error = spi_simple_command(flash, OP_WRITE_ENABLE);
	return error == 0 ? spi_command(flash, tx, header + 1, NULL, 0) : error;
}

static int report_stays(const struct flash *flash)
{
	log_error(flash->log,
		"The chip keeps its small sectors: check that -c names the right chip.\n");
	return -EIO;
}

int spi25_make_sectors_uniform(struct flash *flash)
{
	const uint8_t mask = flash->chip->spi25.uniform_sectors.mask;
	uint8_t value = mask;
	int error = mask == 0 ? 0 : read_register(flash, &value);

	if (error != 0 || (value & mask) == mask)
		return error;
	flash->spi25.sectors_made_uniform = true;
	error = write_register(flash, value | mask);
	if (error == 0)
		error = read_register(flash, &value);
	return error == 0 && (value & mask) == 0 ? report_stays(flash) : error;
}

int spi25_restore_sectors(struct flash *flash)
{
	const uint8_t mask = flash->chip->spi25.uniform_sectors.mask;
	uint8_t value;
	int error;

	if (!flash->spi25.sectors_made_uniform)
		return 0;
	flash->spi25.sectors_made_uniform = false;
	error = read_register(flash, &value);
	return error == 0 ? write_register(flash, value & (uint8_t)~mask) : error;
}
