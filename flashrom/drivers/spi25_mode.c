/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ends the modes in which an earlier session may have left a part, and sets the modes that the
 * driver needs between open and close.
 */
#include <errno.h>

#include "spi25.h"

enum opcode {
	OP_WRITE_ENABLE = 0x06,
	OP_REGISTER_READ = 0x65,
	OP_RESET_ENABLE = 0x66,
	OP_REGISTER_WRITE = 0x71,
	OP_RESET = 0x99,
	OP_ENTER_4_BYTE_MODE = 0xb7,
	OP_EXIT_4_BYTE_MODE = 0xe9,
	OP_RESET_SPANSION = 0xf0,
};

/* The suspended operation may be any erase but a chip erase, which cannot be suspended. */
static const struct busy_time resumed_operation = {.typ_us = 20000, .max_us = 5000000};

static bool is_suspended(struct flash *flash, int *error)
{
	bool suspended, known;

	*error = spi25_bits_read(flash, flash->chip->spi25.suspended, &suspended, &known);
	return *error == 0 && suspended;
}

static int resume(struct flash *flash)
{
	const int error = spi_simple_command(flash, flash->chip->spi25.resume_opcode);

	log_info(flash->log,
		"The chip has a suspended operation: resuming it and waiting for its end.\n");
	if (error != 0)
		return error;
	return busy_wait(flash, &resumed_operation, "a suspended operation", spi25_ask_ready, 0);
}

static int send_reset(struct flash *flash)
{
	int error;

	if (flash->chip->spi25.reset == SPI25_RESET_F0)
		return spi_simple_command(flash, OP_RESET_SPANSION);
	error = spi_simple_command(flash, OP_RESET_ENABLE);
	return error == 0 ? spi_simple_command(flash, OP_RESET) : error;
}

static int report_suspended(const struct flash *flash)
{
	log_error(flash->log, "The chip stays in a suspended operation: cycle its power.\n");
	return -EIO;
}

static int reset(struct flash *flash)
{
	const int error = send_reset(flash);

	log_warning(flash->log, "The suspended operation cannot be resumed; resetting the chip.\n");
	if (error != 0)
		return error;
	return flash_wait_us(flash, flash->chip->spi25.reset_us_max);
}

static int reset_suspended(struct flash *flash)
{
	int error = flash->chip->spi25.reset == SPI25_RESET_NONE ? report_suspended(flash)
								 : reset(flash);

	if (error == 0 && is_suspended(flash, &error))
		error = report_suspended(flash);
	return error;
}

/*
 * A suspended erase is resumed rather than reset: a reset would leave a block half erased, whose
 * bytes may read differently each time.
 */
static int end_suspension(struct flash *flash)
{
	int error;

	if (!is_suspended(flash, &error))
		return error;
	error = resume(flash);
	if (error == 0 && is_suspended(flash, &error))
		error = reset_suspended(flash);
	return error;
}

static int send_mode_command(struct flash *flash, uint8_t opcode)
{
	int error = 0;

	if (flash->chip->spi25.mode_write_enable)
		error = flash_await_power(flash, POWER_UP_WRITE_US_MAX);
	if (error == 0 && flash->chip->spi25.mode_write_enable)
		error = spi_simple_command(flash, OP_WRITE_ENABLE);
	return error == 0 ? spi_simple_command(flash, opcode) : error;
}

static int report_no_mode(const struct flash *flash)
{
	log_error(flash->log,
		"The chip does not enter its mode for addresses of four bytes: check that -c names "
		"the right chip.\n");
	return -EIO;
}

/* A part found in the mode stays in it. If its mode cannot be read, it is assumed to obey. */
static int enter_address_mode(struct flash *flash)
{
	const struct spi25_bits mode = flash->chip->spi25.address_mode;
	bool entered, known;
	int error;

	if (flash->chip->spi25.addresses != SPI25_ADDRESS_4_MODE)
		return 0;
	error = spi25_bits_read(flash, mode, &entered, &known);
	if (error != 0 || entered)
		return error;
	flash->spi25.address_mode_entered = true;
	error = send_mode_command(flash, OP_ENTER_4_BYTE_MODE);
	if (error == 0)
		error = spi25_bits_read(flash, mode, &entered, &known);
	return error == 0 && known && !entered ? report_no_mode(flash) : error;
}

/*
 * The S25FS-S has small sectors inside one large sector, of which D8h erases only the rest. A bit
 * of a configuration register makes all sectors equal. Only the volatile copy of the register is
 * written, which takes effect at once; the non-volatile copy stays as it is.
 */
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

static int make_sectors_uniform(struct flash *flash)
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

static int restore_sectors(struct flash *flash)
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

static int check_programmer(const struct flash *flash)
{
	if (flash->programmer->write_bytes_max > spi25_header_bytes(flash->chip))
		return 0;
	log_error(flash->log,
		"%s sends %zu bytes at a time, too few to write to a chip of this size.\n",
		flash->programmer->name, flash->programmer->write_bytes_max);
	return -ENOTSUP;
}

int spi25_open(struct flash *flash)
{
	int error = check_programmer(flash);

	if (error == 0)
		error = end_suspension(flash);
	if (error == 0)
		error = spi25_clear_failed(flash);
	if (error == 0)
		error = enter_address_mode(flash);
	if (error == 0)
		error = make_sectors_uniform(flash);
	return error;
}

/*
 * After a timeout the part may still be busy and ignore this command. It is sent nevertheless,
 * since nothing better can be done.
 */
static int leave_address_mode(struct flash *flash)
{
	if (!flash->spi25.address_mode_entered)
		return 0;
	flash->spi25.address_mode_entered = false;
	return send_mode_command(flash, OP_EXIT_4_BYTE_MODE);
}

int spi25_close(struct flash *flash)
{
	const int error = restore_sectors(flash);
	const int mode_error = leave_address_mode(flash);

	return error != 0 ? error : mode_error;
}
